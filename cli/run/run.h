/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * One run of the tracer, as COMMAND and -p PID share it: where the trace goes, the session, the viewer,
 * the agents. They are set up in order, and taken away in the opposite order whatever happened.
 */
#ifndef SPI_CLI_RUN_H
#define SPI_CLI_RUN_H

#include <stdint.h>
#include <sys/types.h>

#include "cli/daemon/session.h"
#include "cli/daemon/start.h"
#include "cli/functions/func.h"
#include "cli/functions/prototypes.h"
#include "cli/run/agents.h"
#include "cli/run/news.h"
#include "cli/run/report.h"
#include "cli/run/finder.h"
#include "cli/run/peers.h"
#include "cli/view/viewer.h"

struct objects;
struct trace_options;

struct run {
	const struct trace_options *options;
	int signals;		/* descriptor of signals_take() */
	int killed_by;		/* signal that ended us before our time; 0: none */
	int is_payload;		/* payloads get the calls, */
	int is_recording;	/* LTTng does; 0: there is no session */
	int is_killed;		/* it was the program that did */
	int broken;		/* the trace is not what was asked for */
	char *output;		/* absolute path of -o, or NULL: live */
	uint32_t number;	/* by which its session knows its processes; 24 bits, never 0 */
	int is_temporary;	/* the directory is removed at the end, after it was read */
	int output_made;	/* the directory is ours to remove while it is empty */
	struct func *funcs;	/* the FUNCs, and behind them the roots of trees */
	unsigned int func_count;
	struct prototype_files prototypes;	/* those that can be used */
	/* NULL, or what makes the rules in the session; 0, or negative after one line was said. */
	int (*enable)(struct run *run);
	void *data;		/* of who set it */
	struct relay relay;
	struct session session;
	struct viewer viewer;
	struct agents agents;
	struct finder finder;	/* of processes for payloads, once it is asked */
	struct peers peers;
	struct report report;
	struct news news;
	int consumer;		/* of consumer_open(); -1 */
};

/* run_init() - signals, FUNCs, the output directory. Returns 0 or an exit status after one line was said. */
int run_init(struct run *run, const struct trace_options *options);

/* run_resolve() - see func_resolve(); every FUNC. 0, or an exit status. */
int run_resolve(struct run *run, struct objects *objects, const char *whose, int stripped);

/* run_daemon() - the tracing group and a session daemon; run_begin() does it too. 0, -EINTR, or negative, said. */
int run_daemon(struct run *run);

/*
 * run_begin() - daemons, session and viewer; events are recorded when it returns
 * 0. The session is limited to the `count` processes of `vpids`; 0: no limit.
 * Otherwise an exit status.
 */
int run_begin(struct run *run, const char *subject, const pid_t *vpids, unsigned int count);

/*
 * run_announce() - tell the user where the trace is; from now on he is told how
 * it ends, too. Happens by itself when the first agent has its rules in force: a
 * failure before that is one line and nothing else.
 */
void run_announce(struct run *run);

enum run_event {
	RUN_EVENT_ERROR = -1,	/* the agents cannot be reached any more */
	RUN_EVENT_AGENTS,	/* something came from the agents */
	RUN_EVENT_PROCESS,	/* `process` polled readable: it ended */
	RUN_EVENT_SIGNAL,	/* *signal arrived */
	RUN_EVENT_TIME,		/* `deadline` passed */
	RUN_EVENT_READER,	/* nobody reads our stdout any more: the live view has ended, and the run is to */
};

/* run_wait() - the next event. `process` is a pidfd; `deadline` in ms of run_now(), -1: none. */
enum run_event run_wait(struct run *run, int process, int64_t deadline, int *signal, int *sender);
int64_t run_now(void);

/*
 * run_settling_*() - --duration counts from when all that was found at the start is recorded, but waits for that with a bound,
 * which is said when it is reached. run_settling_wait() is the `deadline` for run_wait(); run_settling_over() is told how
 * many processes are not recorded yet, and returns 1 when the time is over.
 */
struct run_settling {
	const struct run *run;
	int64_t refused, bound, end;	/* ms of run_now(); refused: from then on for good, not to be tried again soon; end -1: it never ends by itself */
	int is_over;			/* all are recorded, or the bound was reached */
};
struct run_settling run_settling_begin(const struct run *run, unsigned int processes);
int64_t run_settling_wait(struct run_settling *settling);
int run_settling_over(struct run_settling *settling, unsigned int unsettled);

/* run_interrupted() - a blocking step gave -EINTR: note which signal it was. Returns TRACE_STATUS_ERROR. */
int run_interrupted(struct run *run);

/* run_end() - stop and take away everything; says the summary when the user was told that tracing began. Again, it does nothing. */
void run_end(struct run *run);

#endif /* SPI_CLI_RUN_H */
