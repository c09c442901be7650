/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The live view: babeltrace2 prints the events on our stdout while they come. */
#ifndef SPI_CLI_VIEWER_H
#define SPI_CLI_VIEWER_H

#include <sys/types.h>

struct session;

struct viewer {
	pid_t pid;
	pid_t sieve;		/* what stands between it and our stdout; 0: nothing */
	unsigned int port, filters;
	int err;		/* a memfd: its stderr; 0: none */
	int failed;		/* it has ended, and not as it should */
};

/* ---- viewer.c ---- */

#define VIEWER_EXPAND	1u	/* compact records become entries and exits again */
#define VIEWER_NAMES	2u	/* addresses of calls are shown with function and source line; see sieve.h */

/*
 * viewer_start() - `s` exists on the relay daemon at `port`; `filters` is what happens to the events before they are
 * printed, VIEWER_*. Returns 0 or a negative errno after one line was said.
 */
int viewer_start(struct viewer *viewer, const struct session *s, unsigned int port, unsigned int filters);

/* ---- viewer-end.c ---- */

/*
 * viewer_attached() - wait until it has the session open and its metadata, which
 * is complete when recording has stopped; before that the session must not be
 * destroyed. 0, -EINTR, or a negative errno when it ended. One that failed and had
 * printed nothing is started again.
 */
int viewer_attached(struct viewer *viewer, const struct session *s, int stop_fd);

/*
 * viewer_finish() - the session is destroyed: wait until all was printed. A
 * viewer whose reader is slow has all the time it needs; one that does nothing
 * is ended. Returns 0 when it printed all, else a negative errno.
 */
int viewer_finish(struct viewer *viewer, int stop_fd);
void viewer_end(struct viewer *viewer);

#endif /* SPI_CLI_VIEWER_H */
