/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What became of the request: how many events, what was lost, and by name and
 * reason each function that was asked for and is not instrumented.
 */
#ifndef SPI_CLI_RUN_REPORT_H
#define SPI_CLI_RUN_REPORT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/run/budget.h"
#include "cli/run/hot.h"
#include "liblttng-spi/base/agent-proto.h"

struct declined {
	char *object, *function, *reason;
};

struct report {
	uint64_t entries, exits;	/* recorded, all processes */
	uint64_t lost_calls;		/* nothing of the call is there */
	uint64_t lost_by[SPI_LOST_REASONS];	/* for which reason, where it is not that the buffers had no room; and those apart */
	uint64_t lost_exits;		/* never made up for */
	uint64_t no_exit;		/* calls recorded without their exit: no return slot was free */
	uint64_t nested;		/* calls made by the tracer itself */
	uint64_t bad_strings;
	uint64_t discarded;		/* LTTng's own count */
	uint64_t functions;		/* instrumented; with trees: places in the code */
	int generic;			/* some are recorded as addresses */
	int one_event;
	int is_cut;			/* a program that was killed has left a buffer that LTTng cannot read */
	int trees;			/* call trees were asked for */
	int is_twice;			/* `functions` has each for the payload and for its record */
	struct hot_list hot;
	struct budget budget;
	int by_daemon;			/* the session daemon's plugin traced: events are not counted here */
	int is_unknown;			/* then: it does not say what it traced, and a note says why */
	int is_met;			/* a process was traced, or one was there that has a name that was asked for */
	uint64_t seen;			/* then: events of those processes, for whichever session, and calls lost */
	unsigned int processes;		/* then: those that were traced at the end */
	unsigned int ended;		/* and those that had ended before */
	pid_t *pids;			/* numbers of those at the end */
	unsigned int pid_count;
	char *notes[16];		/* what the agents remarked, each once */
	unsigned int note_count;
	char **unrecorded;		/* processes that nothing was recorded of, each with the reason */
	unsigned int unrecorded_count;
	struct declined *declined;
	size_t declined_count, declined_room;
};

/* report_declined() - remember one; -ENOMEM when that is impossible. */
int report_declined(struct report *r, const char *object, const char *function, const char *reason);
/* report_note() - remember a remark for the summary. */
void report_note(struct report *r, const char *text);
/* report_unrecorded() - a process that was asked for, and that nothing was recorded of; title "": the reason names it. */
#define REPORT_NOT_YET "its functions were still being instrumented when the recording ended"
void report_unrecorded(struct report *r, const char *title, const char *reason);
/* report_process() - one that was traced; report_has_process() - was it? */
void report_process(struct report *r, pid_t pid);
int report_has_process(const struct report *r, pid_t pid);
/* report_add_status() - take a process's last counters. */
void report_add_status(struct report *r, const volatile struct spi_status_page *page);

/* report_write_file() - all declined functions to DIR/not-instrumented.txt. Returns 0 or a negative errno. */
int report_write_file(struct report *r, const char *directory);
/* report_has_nothing() - nothing was instrumented anywhere: what was asked for was not done. */
int report_has_nothing(const struct report *r);
/* report_is_empty() - trees were asked for, by this command alone, and there was no call to record. */
int report_is_empty(const struct report *r);
/* report_say() - the summary on stderr. `directory` has the file of the above; NULL: there is none. */
void report_say(struct report *r, const char *directory);
/* The same of a run in which payloads got the calls: what was not instrumented, and what the agents had to say. */
void report_say_instrumented(struct report *r, const char *directory);
void report_free(struct report *r);

#endif /* SPI_CLI_RUN_REPORT_H */
