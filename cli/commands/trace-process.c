/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * `lttng trace -f FUNC -p PID`: the agent is injected into running processes, and the instrumentation
 * is taken out again at the end. Several processes share one session and one set of agents.
 *
 * An agent has one controller. When the session daemon's plugin has an agent in any of the
 * processes, since another rule concerns that process, the session is made of requests to the plugin
 * instead (run/scope.h), and the plugin's status tells what it did.
 */
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cli/base/say.h"
#include "cli/base/signals.h"
#include "cli/commands/commands.h"
#include "cli/run/run.h"
#include "cli/run/scope.h"
#include "cli/run/targets.h"
#include "cli/ui/trace-options.h"
#include "injector/control/control.h"
#include "injector/inject/inject.h"


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
	if (event == RUN_EVENT_READER)
		return 1;
	if (spi_control_count(run->agents.control))
		return 0;
	if (ts->count == 1)
		say_warning("%s executed another program, which is not traced", ts->list[0].title);
	else
		say_warning("the processes that are left executed other programs, which are not traced");
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

/*
 * Until ^C, the end of all processes, or the deadline, which counts from when all of them are recorded. Returns the exit
 * status.
 */
static int targets_attend(struct targets *ts, struct run *run)
{
	struct run_settling settling = run_settling_begin(run, ts->count);
	struct target *last;
	int signal = 0;

	for (;;) {
		switch (run_wait(run, ts->epoll, run_settling_wait(&settling), &signal, NULL)) {
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
			break;
		case RUN_EVENT_READER:
			return 0;
		case RUN_EVENT_ERROR:
			say_error("%s: the connection to the tracer in it broke", ts->list[0].title);
			return TRACE_STATUS_ERROR;
		case RUN_EVENT_AGENTS:
			break;
		}
		if (run->agents.hopeless && !run->agents.ready && !targets_unsettled(ts, run)) {
			say_error("%s", run->agents.failure);
			return TRACE_STATUS_ERROR;
		}
		if (run_settling_over(&settling, targets_unsettled(ts, run)))
			return 0;
		if (!spi_control_count(run->agents.control) && targets_gone(ts, run))
			return ts->ended == ts->count ? targets_ended(run, &ts->list[0]) : 0;
	}
}

static int targets_run(struct targets *ts, struct run *run)
{
	const char *socket;
	int ret;

	/* Without it, what they execute is not followed, and a process cannot connect again: nothing else is missing. */
	spi_control_listen(run->agents.control, &socket);
	if (run->options->process)
		spi_control_welcome(run->agents.control, SPI_WELCOME_EXEC, run->options->string_max);
	if (ts->list[0].funcs) {
		run->agents.sets = ts->sets;
		run->agents.set_count = ts->count;
	}
	for (unsigned int i = 0; i < ts->count; i++)
		funcs_tell_lacks(run->funcs, run->func_count, &ts->list[i].objects, run->agents.control);
	ret = targets_attach(ts, run);
	if (ret)
		return ret;
	ret = targets_attend(ts, run);
	targets_report_unsettled(ts, run);
	return ret;
}

/* ---- the plugin's way ---------------------------------------------------- */

/*
 * Until ^C, the end of all processes, or the deadline, which counts from when all of them are recorded. Returns the exit
 * status.
 */
static int plugin_attend(struct targets *ts, struct run *run, const struct scope *scope)
{
	struct run_settling settling = run_settling_begin(run, ts->count);
	int signal = 0;

	for (;;) {
		switch (run_wait(run, ts->epoll, run_settling_wait(&settling), &signal, NULL)) {
		case RUN_EVENT_SIGNAL:
			if (signal != SIGINT)
				run->killed_by = signal;
			return 0;
		case RUN_EVENT_PROCESS:
			targets_reap(ts);
			if (ts->ended < ts->count)
				break;
			if (settling.is_over)
				return 0;
			say_error("%s ended before it was instrumented", ts->list[0].title);
			return TRACE_STATUS_ERROR;
		case RUN_EVENT_READER:
			return 0;
		case RUN_EVENT_ERROR:
			return TRACE_STATUS_ERROR;
		case RUN_EVENT_TIME:
		case RUN_EVENT_AGENTS:
			break;
		}
		if (run_settling_over(&settling, settling.is_over ? 0 : scope_unsettled(scope, run->session.name, run_now() < settling.refused)))
			return 0;
		if (settling.is_over)
			run_announce(run);
	}
}

/* An agent has one controller; where it is the plugin, the session asks the plugin. */
static int plugin_run(struct targets *ts, struct run *run, const struct scope *scope)
{
	int status = plugin_attend(ts, run, scope);

	scope_end(scope, run);
	return status;
}

/* How many processes the session is limited to. Children are recorded, too, whose numbers nobody knows yet. */
static unsigned int process_limit(const struct trace_options *o)
{
	unsigned int follows = ~o->asked.unfollowed & (SPI_FOLLOW_FORK | SPI_FOLLOW_EXEC);

	return follows || o->asked.ipc ? 0 : o->pid_count;
}

/* Of those that a NAME means, some may not be traced: they were named, and the others are. */
static void options_take_targets(struct trace_options *o, const struct targets *ts)
{
	unsigned int i;

	for (i = 0; i < ts->count; i++)
		o->pids[i] = ts->list[i].pid;
	o->pid_count = ts->count;
}

int trace_process(struct trace_options *options)
{
	struct targets targets = { .epoll = -1 };
	struct scope scope = { .rows = 0 };
	struct run run;
	int status, killed_by, broken;

	status = run_init(&run, options);
	if (status == 0)
		status = targets_prepare(&targets, &run);
	if (status == 0)
		options_take_targets(options, &targets);
	if (status == 0 && options->asked.ipc && !run.is_payload)
		status = scope_wait_plugin(&run, "--ipc");
	if (status == 0 && !run.is_payload && !options->process &&
			(options->asked.ipc || scope_driven(options->pids, options->pid_count))) {
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
