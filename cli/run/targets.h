/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The running processes that -p means. Each is held by a pidfd from the first look on, so no other
 * process that gets its number is ever meant.
 */
#ifndef SPI_CLI_RUN_TARGETS_H
#define SPI_CLI_RUN_TARGETS_H

#include <stdint.h>
#include <sys/types.h>

#include "cli/functions/func.h"
#include "cli/functions/objects.h"
#include "cli/run/agents.h"

struct run;

struct target {
	pid_t pid;
	int pidfd;
	char name[64];		/* comm */
	char title[96];		/* "comm (PID)" for messages */
	int stripped;
	struct objects objects;
	struct func *funcs;	/* as this process has them; NULL: it was alone, and has the run's */
	unsigned int func_count;
	int found;		/* of them */
	int is_over;		/* it has ended, or cannot be attached to */
	int is_settled;		/* that, or its rules were answered once */
};

struct targets {
	struct target *list;
	struct agents_set *sets;
	unsigned int count;
	unsigned int ended;	/* is_over */
	int epoll;		/* over the pidfds */
};

/*
 * targets_prepare() - look at all of them, and which FUNCs each has: one that none
 * has, and one that has none, is an error. Nothing is touched. 0 or an exit status. Of those
 * that a NAME means, the ones that cannot be traced are said, and left out of the list.
 */
int targets_prepare(struct targets *ts, struct run *run);
void targets_free(struct targets *ts);

/* targets_reap() - those that ended are watched no longer, and counted. Returns the last of them, or NULL. */
struct target *targets_reap(struct targets *ts);

/*
 * targets_attach() - an agent into each, side by side. One of several that cannot be attached to is in the summary, with the
 * reason; 0, or an exit status when there is none that can, after that was said.
 */
int targets_attach(struct targets *ts, struct run *run);
/* targets_unsettled() - how many are not recorded yet; targets_report_unsettled() - which, for the summary. */
unsigned int targets_unsettled(struct targets *ts, const struct run *run);
void targets_report_unsettled(struct targets *ts, struct run *run);

#endif /* SPI_CLI_RUN_TARGETS_H */
