/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * `lttng trace -f FUNC --exec NAME`: all processes of a name, running and future ones, in one session.
 *
 * The front end could not know of a process before its main(); the session daemon's plugin does. So
 * this session's rules are requests (the reserved form of rules/event-name.h, whose scope is the
 * names). The plugin instruments, lets the agents go, and takes the instrumentation out when the
 * session is gone (run/scope.h).
 */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <lttng/lttng.h>

#include "cli/base/say.h"
#include "cli/base/signals.h"
#include "cli/commands/commands.h"
#include "cli/run/run.h"
#include "cli/run/scope.h"
#include "cli/ui/trace-options.h"

/* Until ^C or the deadline, which counts from when all that ran at the start are recorded. Returns the exit status. */
static int exec_attend(struct run *run, const struct scope *scope)
{
	struct run_settling settling = run_settling_begin(run, 0);
	int signal = 0;

	for (;;) {
		switch (run_wait(run, -1, run_settling_wait(&settling), &signal, NULL)) {
		case RUN_EVENT_SIGNAL:
			/* ^C is how one ends this; other signals mean us. */
			if (signal != SIGINT)
				run->killed_by = signal;
			return 0;
		case RUN_EVENT_READER:
			return 0;
		case RUN_EVENT_ERROR:
			return TRACE_STATUS_ERROR;
		case RUN_EVENT_TIME:
		case RUN_EVENT_AGENTS:
		case RUN_EVENT_PROCESS:
			break;
		}
		if (run_settling_over(&settling, settling.is_over ? 0 : scope_unsettled(scope, run->session.name, run_now() < settling.refused)))
			return 0;
	}
}

/* Nothing was traced: a name that no process had, or that none of those had which may be traced. */
static int exec_say_none(const struct run *run)
{
	const struct trace_options *o = run->options;

	if (run->report.is_met || run->report.is_unknown || run->killed_by)
		return 0;
	say_error("--exec %s%s: no process of %s was traced", o->exec, o->asked.exec.count > 1 ? "..." : "",
		o->asked.exec.count > 1 ? "these names" : "this name");
	return TRACE_STATUS_ERROR;
}

int trace_exec(const struct trace_options *options)
{
	struct scope scope = { .rows = 0 };
	struct run run;
	int status, killed_by, broken;

	status = run_init(&run, options);
	if (status == 0)
		status = scope_prepare(&scope, options);
	if (status == 0)
		status = scope_wait_plugin(&run, "--exec");
	run.enable = scope_enable;
	run.data = &scope;
	if (status == 0)
		status = run_begin(&run, options->exec, NULL, 0);
	if (status == 0) {
		run_announce(&run);
		status = exec_attend(&run, &scope);
		scope_end(&scope, &run);
		status = status ? status : exec_say_none(&run);
	}
	run_end(&run);
	scope_free(&scope);
	killed_by = run.killed_by;
	broken = run.broken;
	if (killed_by)
		signals_die(killed_by);
	return status ? status : broken ? TRACE_STATUS_ERROR : 0;
}
