/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Which functions, processes and threads are chosen: looked at once for each. */
#include <stdio.h>
#include <stdlib.h>
#include "reader/calls/calls.h"
#include "rules/glob.h"

static int matches(const char *const *patterns, const char *text)
{
	if (!patterns)
		return 1;
	while (*patterns && !spi_glob_match(*patterns, text))
		patterns++;
	return *patterns != NULL;
}

/* OBJECT:FUNCTION too, as in rules. */
static int matches_function(const char *const *patterns, const struct call_function *f)
{
	char text[4400];

	if (!patterns || matches(patterns, f->name))
		return 1;
	snprintf(text, sizeof(text), "%s:%s", f->object, f->name);
	return matches(patterns, text);
}

void filter_function(const struct call_filter *filter, struct call_function *f)
{
	f->chosen = matches_function(filter->functions, f) && matches(filter->objects, f->object);
	f->is_caller = filter->callers && matches_function(filter->callers, f);
}

void filter_process(const struct call_filter *filter, struct call_process *p)
{
	char pid[24];

	snprintf(pid, sizeof(pid), "%lld", (long long) p->pid);
	p->chosen = matches(filter->processes, pid) || matches(filter->processes, p->name);
}

void filter_thread(const struct call_filter *filter, struct call_thread *t)
{
	char tid[24];

	snprintf(tid, sizeof(tid), "%lld", (long long) t->tid);
	t->chosen = matches(filter->threads, tid);
}
