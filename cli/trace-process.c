/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * `lttng trace -f FUNC -p PID`: the agent is injected into processes that run,
 * and the instrumentation taken out again at the end. Several processes share one
 * session and one set of agents.
 *
 * An agent has one controller. When the session daemon's plugin has one in any of
 * the processes, since another rule concerns it, the session is made of requests
 * to the plugin instead (scope.h), and what it did is read from its status.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/run.h"
#include "cli/say.h"
#include "cli/scope.h"
#include "cli/signals.h"
#include "cli/targets.h"
#include "cli/trace.h"
#include "injector/control.h"
#include "injector/inject.h"

#define SETTLE_MS	15000
#define SETTLE_POLL_MS	20

/* No agent is there any more. Returns 1 when nothing is left to wait for. */
static int targets_gone(struct targets *ts, struct run *run)
{
	int64_t limit = run_now() + 1000;
	int signal = 0;
	enum run_event event;

	/* They may be about to end: then the pidfds say so at once. Or a program that is followed has just begun. */
	do
		event = run_wait(run, ts->epoll, limit, &signal, NULL);
	while (event == RUN_EVENT_AGENTS && !spi_control_count(run->agents.control) && run_now() < limit);
	if (event == RUN_EVENT_PROCESS) {
		targets_reap(ts);
		return ts->ended == ts->count;
	}
	if (spi_control_count(run->agents.control))
		return 0;
	if (ts->count == 1)
		say_warning("%s: its agent is gone: the process executed another program", ts->list[0].title);
	else
		say_warning("the agents are gone: the processes that are left executed other programs");
	return 1;
}

/* All of them have ended. Returns the exit status. */
static int targets_ended(const struct run *run, const struct target *last)
{
	if (run->agents.ready)
		return 0;
	say_error("%s ended before it was instrumented", last->title);
	return TRACE_STATUS_ERROR;
}

/* Until ^C, the end of all processes, or the deadline. Returns the exit status. */
static int targets_attend(struct targets *ts, struct run *run)
{
	int64_t deadline = -1;
	struct target *last;
	int signal = 0;

	for (;;) {
		switch (run_wait(run, ts->epoll, deadline, &signal, NULL)) {
		case RUN_EVENT_SIGNAL:
			/* ^C is how one ends this; other signals mean us. */
			if (signal != SIGINT)
				run->killed_by = signal;
			return 0;
		case RUN_EVENT_PROCESS:
			last = targets_reap(ts);
			if (ts->ended < ts->count)
				break;
			return targets_ended(run, last ? last : &ts->list[0]);
		case RUN_EVENT_TIME:
			return 0;
		case RUN_EVENT_ERROR:
			say_error("%s: its agent cannot be reached any more", ts->list[0].title);
			return TRACE_STATUS_ERROR;
		case RUN_EVENT_AGENTS:
			break;
		}
		if (run->agents.hopeless) {
			say_error("%s", run->agents.failure);
			return TRACE_STATUS_ERROR;
		}
		if (deadline < 0 && (unsigned int) run->agents.ready + ts->ended >= ts->count &&
		    run->options->duration >= 0)
			deadline = run_now() + run->options->duration;
		if (!spi_control_count(run->agents.control) && targets_gone(ts, run))
			return ts->ended == ts->count ? targets_ended(run, &ts->list[0]) : 0;
	}
}

static int targets_run(struct targets *ts, struct run *run)
{
	const char *socket;
	unsigned int i;

	/* Without it, what they execute is not followed, and a process cannot connect again: nothing else is missing. */
	spi_control_listen(run->agents.control, &socket);
	if (ts->count > 1) {
		run->agents.sets = ts->sets;
		run->agents.set_count = ts->count;
	}
	for (i = 0; i < ts->count; i++) {
		struct target *t = &ts->list[i];
		int fd = -1, ret = target_inject(t, SPI_INJECT_ATTACH, &fd);

		if (ret)
			return ret;
		if (!spi_control_adopt(run->agents.control, fd, t->pid)) {
			say_error("%s: its agent cannot be reached: %s", t->title, strerror(errno));
			return TRACE_STATUS_ERROR;
		}
	}
	return targets_attend(ts, run);
}

/* ---- the plugin's way ---------------------------------------------------- */

/* All of them instrumented, or known not to be. Returns 1; 0 when it is over before that, with *status. */
static int plugin_settle(struct targets *ts, struct run *run, const struct scope *scope, int *status)
{
	int64_t limit = run_now() + SETTLE_MS;
	int signal = 0;

	while (scope_settled(scope) < ts->count - ts->ended) {
		switch (run_wait(run, ts->epoll, run_now() + SETTLE_POLL_MS, &signal, NULL)) {
		case RUN_EVENT_SIGNAL:
			if (signal != SIGINT)
				run->killed_by = signal;
			*status = 0;
			return 0;
		case RUN_EVENT_PROCESS:
			targets_reap(ts);
			if (ts->ended < ts->count)
				break;
			say_error("%s ended before it was instrumented", ts->list[0].title);
			*status = TRACE_STATUS_ERROR;
			return 0;
		default:
			break;
		}
		if (run_now() >= limit) {
			say_warning("not all processes are instrumented yet: lttng list --spi tells more");
			break;
		}
	}
	return 1;
}

/* Until ^C, the end of all processes, or the deadline. Returns the exit status. */
static int plugin_attend(struct targets *ts, struct run *run)
{
	int64_t deadline = run->options->duration < 0 ? -1 : run_now() + run->options->duration;
	int signal = 0;

	for (;;) {
		switch (run_wait(run, ts->epoll, deadline, &signal, NULL)) {
		case RUN_EVENT_SIGNAL:
			if (signal != SIGINT)
				run->killed_by = signal;
			return 0;
		case RUN_EVENT_PROCESS:
			targets_reap(ts);
			if (ts->ended == ts->count)
				return 0;
			break;
		case RUN_EVENT_TIME:
			return 0;
		case RUN_EVENT_ERROR:
			return TRACE_STATUS_ERROR;
		case RUN_EVENT_AGENTS:
			break;
		}
	}
}

/* An agent has one controller; where it is the plugin, the session asks the plugin. */
static int plugin_run(struct targets *ts, struct run *run, const struct scope *scope)
{
	int status;

	if (!plugin_settle(ts, run, scope, &status))
		return status;
	run_announce(run);
	status = plugin_attend(ts, run);
	scope_end(scope, run);
	return status;
}

/*
 * How many processes the session is limited to. A tree goes into children, whose
 * numbers nobody knows yet.
 */
static unsigned int process_limit(const struct trace_options *o)
{
	unsigned int follows = ~o->tree.options.unfollowed & (SPI_TREE_FORK | SPI_TREE_EXEC);

	return o->tree.count && follows ? 0 : o->pid_count;
}

int trace_process(const struct trace_options *options)
{
	struct targets targets = { .epoll = -1 };
	struct scope scope = { .rows = 0 };
	struct run run;
	int status, killed_by, broken;

	status = run_init(&run, options);
	if (status == 0)
		status = targets_prepare(&targets, &run);
	if (status == 0 && scope_driven(options->pids, options->pid_count)) {
		status = scope_prepare(&scope, options);
		run.enable = scope_enable;
		run.data = &scope;
	}
	if (status == 0)
		status = run_begin(&run, targets.list[0].name, options->pids, process_limit(options));
	if (status == 0)
		status = run.enable ? plugin_run(&targets, &run, &scope) : targets_run(&targets, &run);
	run_end(&run);
	targets_free(&targets);
	scope_free(&scope);
	killed_by = run.killed_by;
	broken = run.broken;
	if (killed_by)
		signals_die(killed_by);
	return status ? status : broken ? TRACE_STATUS_ERROR : 0;
}
