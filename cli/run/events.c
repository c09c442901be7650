/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Which events the session of a run records. */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <lttng/lttng.h>

#include "cli/run/internal.h"
#include "cli/ui/trace-options.h"
#include "payloads/process-news.h"

#define RUN_PRECISE_RULES	16u	/* more FUNCs than this are enabled by one `spi:*` */

/*
 * These rules are only to record: the agents are driven from here. A name that
 * begins with `spi:` and a literal character would ask a session daemon with the
 * plugin to instrument the function in every process that it knows; `spi*:` and
 * `spi:*` ask for nothing (rules/event-name.h), and match the same events.
 */
int run_enable_functions(struct run *run)
{
	unsigned int i, count = run->options->func_count;
	char pattern[LTTNG_SYMBOL_NAME_LEN];
	int ret, precise = count <= RUN_PRECISE_RULES;

	if (run->options->memory) {
		ret = session_enable(&run->session, "lttng_ust_libc:*");
		return ret ? ret : session_enable(&run->session, "spi_resource:*");
	}

	for (i = 0; i < count; i++)
		precise &= run->funcs[i].is_plain && strlen(run->funcs[i].pattern) < 200;
	ret = precise ? 0 : session_enable(&run->session, "spi:*");
	for (i = 0; precise && ret == 0 && i < count; i++) {
		snprintf(pattern, sizeof(pattern), "spi*:%s*", run->funcs[i].pattern);
		ret = session_enable(&run->session, pattern);
	}
	return ret;
}

/*
 * What lttng-ust says of a process and its libraries: every registered process says it in each session, so with our own
 * processes' alone (tp/module/state-dump.c). Those that the daemon's broker drives are of no run.
 */
static int run_enable_state(struct run *run, const char *pattern)
{
	char filter[40];

	if (run->enable)
		return session_enable(&run->session, pattern);
	snprintf(filter, sizeof(filter), "$app.spi:run == \"r%06x\"", run->number);
	return session_enable_filtered(&run->session, pattern, filter);
}

/* The calls of trees, packed or not, and where libraries are that are loaded later. */
static int run_enable_trees(struct run *run)
{
	const struct spi_rule *asked = &run->options->asked;
	int ret = 0;

	if (!run->options->tree.count)
		return asked->backtrace || run->options->memory ? run_enable_state(run, "lttng_ust_lib:*") : 0;
	/* what the addresses mean, before the first of them */
	if (!run->enable && !asked->compact)
		ret = session_enable(&run->session, "spi_tree:function");
	if (ret == 0 && !run->enable)
		ret = session_enable(&run->session, asked->compact ? "spi_tree:*" : "lttng_ust_cyg_profile:func_*");
	if (ret == 0 && !run->enable && asked->budget && !asked->compact)
		ret = session_enable(&run->session, "spi_tree:budget");
	if (ret == 0 && !run->enable && asked->ipc)
		ret = session_enable(&run->session, "spi_ipc:*");
	return ret ? ret : run_enable_state(run, "lttng_ust_lib:*");
}

void run_number_take(struct run *run)
{
	if (getrandom(&run->number, sizeof(run->number), 0) < 0)
		run->number = (uint32_t) getpid();
	run->number &= 0xffffff;
	run->number += !run->number;
}

/* Other runs at the same time have the same events; a session with these records its own processes' (tp/ust/runs.c). */
static int run_enable_own(struct run *run)
{
	char name[24];
	int ret;

	/* What the daemon's broker drives belongs to no run: tags keep that apart. */
	if (run->enable)
		return 0;
	run_number_take(run);
	snprintf(name, sizeof(name), "spi_run:r%06x", run->number);
	ret = session_enable(&run->session, name);
	return ret ? ret : session_enable(&run->session, "spi_run:any");
}

int run_enable_others(struct run *run)
{
	int ret = run_enable_own(run);

	/* Exits that were made up for a call which did not return. */
	if (ret == 0)
		ret = session_enable(&run->session, "spi_call:*");
	/* What was asked for, kept with the trace. (Rules that the broker drives are told to who asks for them.) */
	if (ret == 0 && run->output && !run->enable)
		ret = session_enable(&run->session, "spi_rule:*");
	if (ret == 0 && run->options->process && run->output)
		ret = session_enable(&run->session, "spi_process:*");
	/* Where which library is, for readers that turn addresses into names. */
	if (ret == 0 && ((run->output && run->func_count > PROCESS_NAMES_COUNT * !!run->options->process) || run->options->tree.count || run->options->asked.backtrace))
		ret = run_enable_state(run, "lttng_ust_statedump:*");
	return ret ? ret : run_enable_trees(run);
}
