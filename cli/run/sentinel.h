/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Was a signal sent to the front end alone, or to its process group? In the second case COMMAND has the
 * signal already, and nothing about the signal itself tells. So a child does nothing but stay in the
 * group with all signals blocked: a signal that the child got as well was sent to the group.
 */
#ifndef SPI_CLI_RUN_SENTINEL_H
#define SPI_CLI_RUN_SENTINEL_H

#include <sys/types.h>

struct sentinel {
	pid_t pid;	/* 0: there is none */
	int fd;
};

/* sentinel_begin() - after signals_take(). It ends with us. Without one (no memory, no processes left) nothing is told. */
void sentinel_begin(struct sentinel *s);

/*
 * sentinel_got() - was `signal`, which just came to us, sent to the group? 1, 0, or -1: it cannot be told. More of the
 * same signal that come until that is known are taken together with it, as they are where they are all pending.
 */
int sentinel_got(struct sentinel *s, int signal);

void sentinel_end(struct sentinel *s);

#endif /* SPI_CLI_RUN_SENTINEL_H */
