/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The running processes that -p names. Each is held by a pidfd from the first
 * look on, so that no other process that gets its number is ever meant.
 */
#ifndef SPI_CLI_TARGETS_H
#define SPI_CLI_TARGETS_H

#include <stdint.h>
#include <sys/types.h>

#include "cli/agents.h"
#include "cli/names.h"
#include "cli/objects.h"

struct run;

struct target {
	pid_t pid;
	int pidfd;
	char name[64];		/* comm */
	char title[96];		/* "comm (PID)" for messages */
	int stripped;
	struct objects objects;
	struct func *funcs;	/* as this process has them */
	unsigned int func_count;
	int found;		/* of them */
};

struct targets {
	struct target *list;
	struct agents_set *sets;
	unsigned int count;
	unsigned int ended;
	int epoll;		/* over the pidfds */
};

/*
 * targets_prepare() - look at all of them, and which FUNCs each has: one that none
 * has, and one that has none, is an error. Nothing is touched. 0 or an exit status.
 */
int targets_prepare(struct targets *ts, struct run *run);
void targets_free(struct targets *ts);

/* targets_reap() - those that ended are watched no longer, and counted. Returns the last of them, or NULL. */
struct target *targets_reap(struct targets *ts);

/* target_inject() - spi_inject() with `flags`; *fd (may be NULL) is the agent's connection. 0 or an exit status. */
int target_inject(const struct target *t, uint32_t flags, int *fd);

#endif /* SPI_CLI_TARGETS_H */
