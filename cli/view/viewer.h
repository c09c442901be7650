/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The live view: babeltrace2 prints the events on our stdout while they come, or lttng-spi the calls. */
#ifndef SPI_CLI_VIEW_VIEWER_H
#define SPI_CLI_VIEW_VIEWER_H

#include <stdint.h>
#include <sys/types.h>
#include "cli/ui/trace-options.h"

struct session;

struct viewer {
	pid_t pid;
	pid_t sieve;		/* what stands between it and our stdout; 0: nothing */
	const char *program;	/* the name of what prints */
	enum trace_view view;	/* what is printed */
	unsigned int port, filters;
	const char *directory;	/* where the relay daemon writes this session and no other, the run's; NULL: somewhere else */
	int from_files;		/* it has ended and had printed nothing: once the session is destroyed another one reads it there */
	int err;		/* a memfd: its stderr; 0: none */
	int io;			/* its /proc/PID/io, which is root's alone to open once it has ended; 0: none */
	int failed;		/* it has ended, and not as it should */
	int left;		/* it has ended, because the reader of our stdout had gone */
	unsigned long printed;	/* bytes, when it had ended */
};

/* ---- viewer.c ---- */

#define VIEWER_EXPAND	1u	/* compact records become entries and exits again */
#define VIEWER_CALLERS	4u	/* backtraces are shown with the functions' names; see sieve.h */
#define VIEWER_RULES	8u	/* the events that tell of rules are not shown; see sieve.h */
#define VIEWER_NAMES	2u	/* addresses of calls are shown with function and source line; see sieve.h */

/*
 * viewer_start() - `s` exists on the relay daemon at `port`; viewer->view is what to print; `filters` is what happens to
 * events before babeltrace2 prints them, VIEWER_*. With `from_files` it reads `directory` instead. Returns 0 or a negative errno after one line was said.
 */
int viewer_start(struct viewer *viewer, const struct session *s, unsigned int port, unsigned int filters);

/* ---- viewer-end.c ---- */

/* viewer_look_at() - it was begun just now: from here on what it prints can be counted, also after its end. */
void viewer_look_at(struct viewer *viewer);

/*
 * viewer_wait_session() - wait until it has the session open, `most_ms` at most. What the relay daemon had got before that it
 * does not see. 0, -EINTR, -ECHILD when it has ended, or another negative errno.
 */
int viewer_wait_session(struct viewer *viewer, const struct session *s, int most_ms, int stop_fd);

/*
 * viewer_attached() - wait until it has the session open and its metadata, which
 * is complete when recording has stopped; before that the session must not be
 * destroyed. 0, -EINTR, or a negative errno when it ended. Where one has
 * printed nothing, viewer_finish() starts another one.
 */
int viewer_attached(struct viewer *viewer, const struct session *s, int stop_fd);

/*
 * viewer_finish() - the session is destroyed: wait until all was printed. A
 * viewer whose reader is slow has all the time it needs; one that does nothing
 * is ended. `events`: how many were recorded; it is told when none of them was
 * printed. Returns 0 when it printed all, else a negative errno.
 */
int viewer_finish(struct viewer *viewer, uint64_t events, int stop_fd);
void viewer_end(struct viewer *viewer);
/* viewer_print_files() - print what is in `directory`: 0 or a negative errno after one line was said. */
int viewer_print_files(struct viewer *viewer, const char *directory, int stop_fd);

#endif /* SPI_CLI_VIEW_VIEWER_H */
