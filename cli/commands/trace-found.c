/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * `lttng trace --exec NAME --payload`: a broker of this command's own finds the programs (run/finder.h), and the agents
 * are this command's, as with -p PID. Without -o there is no session, and no session daemon.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/say.h"
#include "cli/base/signals.h"
#include "cli/commands/commands.h"
#include "cli/rules/rules.h"
#include "cli/run/finder.h"
#include "cli/run/launch.h"
#include "cli/run/run.h"
#include "cli/ui/rule-options.h"
#include "cli/ui/trace-options.h"
#include "injector/control/control.h"
#include "injector/procfs/procfs.h"

/* The programs are not known yet: each is given all FUNCs. 0, or an exit status. */
static int found_prepare(struct run *run)
{
	const struct trace_options *o = run->options;
	const struct rule_options options = { .asked = o->asked };
	struct rules_wish wish;
	unsigned int i;
	int ret = launch_check() < 0 ? TRACE_STATUS_ERROR : 0;

	for (i = 0; ret == 0 && rules_wish(o->funcs, o->func_count, &o->tree, i, &wish); i++)
		ret = rules_check_world(&options, &wish) < 0 ? TRACE_STATUS_ERROR : 0;
	for (i = 0; ret == 0 && i < run->func_count; i++)
		ret = func_resolve_anywhere(&run->funcs[i]);
	return ret;
}

static void found_say_begin(const struct run *run)
{
	const struct trace_options *o = run->options;

	say("Programs named %s%s get the payload until ^C%s", o->exec, o->asked.exec.count > 1 ? ", ..." : "",
		o->duration < 0 ? "" : " or the end of --duration");
}

/* Until ^C or the deadline, which counts from when all that ran at the start have the payload. The exit status. */
static int found_attend(struct run *run)
{
	struct run_settling settling = run_settling_begin(run, 0);
	int signal = 0, ret, said = 0;

	for (;;) {
		switch (run_wait(run, run->finder.fd, run_settling_wait(&settling), &signal, NULL)) {
		case RUN_EVENT_SIGNAL:
			/* ^C is how one ends this; other signals mean us. */
			if (signal != SIGINT)
				run->killed_by = signal;
			return 0;
		case RUN_EVENT_ERROR:
			say_error("the connection to the traced programs broke");
			return TRACE_STATUS_ERROR;
		case RUN_EVENT_PROCESS:
			ret = finder_hear(&run->finder, run);
			if (ret)
				return ret;
			break;
		case RUN_EVENT_READER:
		case RUN_EVENT_TIME:
		case RUN_EVENT_AGENTS:
			break;
		}
		if (run_settling_over(&settling, run->finder.has_looked ? agents_unsettled(&run->agents) : 1))
			return 0;
		if (settling.is_over && !said++)
			found_say_begin(run);
	}
}

/* Nothing was traced: no process had the name, or only another user's, or those that had it were named. */
static int found_say_none(const struct run *run)
{
	const struct trace_options *o = run->options;
	pid_t *pids = NULL;
	int others;

	if (run->agents.ready || run->killed_by)
		return 0;
	others = run->agents.left ? 0 : spi_names_find(o->exec, &pids);
	free(pids);
	if (others > 0)
		say_error("--exec %s: what runs by this name is another user's: only that user and root can bring a "
			"payload into it", o->exec);
	else
		say_error("--exec %s%s: no process of %s was traced", o->exec, o->asked.exec.count > 1 ? "..." : "",
			o->asked.exec.count > 1 ? "these names" : "this name");
	return TRACE_STATUS_ERROR;
}

int trace_found(const struct trace_options *options)
{
	const char *socket;
	struct run run;
	int status, killed_by, broken;

	status = run_init(&run, options);
	if (status == 0)
		status = found_prepare(&run);
	if (status == 0)
		status = run_begin(&run, options->exec, NULL, 0);
	if (status == 0) {
		run.agents.lets_go = 1;
		/* Without it, what they execute is not followed: nothing else is missing. */
		spi_control_listen(run.agents.control, &socket);
		if (options->process)
			spi_control_welcome(run.agents.control, SPI_WELCOME_EXEC, 0);
		status = finder_begin(&run.finder, &run);
	}
	if (status == 0)
		status = found_attend(&run);
	finder_end(&run.finder, &run);
	if (status == 0)
		status = found_say_none(&run);
	run_end(&run);
	killed_by = run.killed_by;
	broken = run.broken;
	if (killed_by)
		signals_die(killed_by);
	return status ? status : broken ? TRACE_STATUS_ERROR : 0;
}
