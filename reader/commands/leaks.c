/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* `lttng-spi leaks`: what was allocated and not given back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "reader/base/text.h"
#include "reader/commands/reading.h"
#include "reader/pages/pages.h"
#include "reader/leaks/leaks.h"

#define ROWS	20u

enum what { MEMORY, RESOURCES, TIMES, FOLDED, PAGE };

static struct {
	enum what what;
	enum leak_by by;
	enum leak_sort sort;
	uint32_t limit;
	int has_limit;
	const char *at;
} asked;

static int name_take(const char *option, const char *value, const char *const *names, unsigned int count,
	const char *all)
{
	for (unsigned int i = 0; i < count; i++)
		if (!strcmp(names[i], value))
			return (int) i;
	say_error("--%s %s: %s", option, value, all);
	return -1;
}

static int option_take(struct reading *r, int option, const char *value)
{
	static const char *const bys[] = { "stack", "function", "object", "thread" };
	static const char *const sorts[] = { "bytes", "blocks", "peak", "calls", "allocated", "lifetime" };
	char *end;
	int n;

	switch (option) {
	case 'b':
		n = name_take("by", value, bys, 4, "stack, function, object or thread");
		asked.by = (enum leak_by) n;
		return n < 0 ? -1 : 1;
	case 's':
		n = name_take("sort", value, sorts, 6, "bytes, blocks, peak, calls, allocated or lifetime");
		asked.sort = (enum leak_sort) n;
		return n < 0 ? -1 : 1;
	case 'n':
		asked.limit = (uint32_t) strtoul(value, &end, 10);
		asked.has_limit = 1;
		if (end != value && !*end)
			return 1;
		say_error("--limit %s: not a number of rows", value);
		return -1;
	case 'a':
		asked.at = value;
		return 1;
	case 'R':
		asked.what = RESOURCES;
		return 1;
	case 'T':
		asked.what = TIMES;
		return 1;
	case 'F':
		asked.what = FOLDED;
		return 1;
	case 'P':
		asked.what = PAGE;
		return 1;
	}
	return 0;
}

/* Options that mean calls. */
static int is_wrong(const struct reading *r)
{
	const char *wrong = *r->functions ? "--function" : *r->callers ? "--caller" : *r->objects ? "--object" :
		*r->threads ? "--thread" : r->from ? "--from" : r->to ? "--to" : r->longer ? "--longer" : r->depth ? "--depth" :
		r->only_errors ? "--error" : NULL;

	if (wrong)
		say_error("leaks has no %s: --process, --by, --at choose", wrong);
	else if (reading_is_live(r))
		say_error("leaks: a live session has no end: record to a directory");
	else if (asked.what == PAGE && !page_is_built(PAGE_FLAME))
		say_error("this build has no page of flame graphs: `make pages` adds it; --folded is there");
	else if (asked.what == PAGE && !r->output && isatty(STDOUT_FILENO))
		say_error("leaks --flame writes a page for a browser: give its file, -o FILE.html or > FILE.html");
	else
		return 0;
	return 1;
}

static int nothing(void *data, const struct call *call)
{
	(void) data;
	(void) call;
	return 0;
}

static int leaks_out(struct leaks *l, const struct reading *r)
{
	const struct leak_form form = { .format = r->format, .sort = asked.sort, .has_lines = r->has_lines, .out = r->out,
		.limit = asked.has_limit || r->format != FORMAT_TEXT ? asked.limit : ROWS };

	switch (asked.what) {
	case RESOURCES:
		return leaks_resources_write(l, &form);
	case TIMES:
		return leaks_times_write(l, &form);
	case FOLDED:
		return leaks_folded_write(l, r->out);
	case PAGE:
		return leaks_page_write(l, r->directories[0], r->out);
	default:
		return leaks_write(l, &form);
	}
}

static void missing_say(const struct leaks *l)
{
	if (!l->events)
		say_warning("no allocation in the trace: it is recorded by `lttng trace --memory`, or with "
			"liblttng-ust-libc-wrapper.so and the events lttng_ust_libc:*%s",
			l->processes ? ", and --process may leave it out" : "");
	if (l->lost == UINT64_MAX)
		say_warning("LTTng discarded packets: blocks whose end is in them are shown as live");
	else if (l->lost)
		say_warning("LTTng discarded %llu events at least: blocks whose end is one of them are shown as live",
			(unsigned long long) l->lost);
}

int command_leaks(int argc, char **argv)
{
	static const struct option own[] = {
		{ "by", required_argument, NULL, 'b' },
		{ "sort", required_argument, NULL, 's' },
		{ "limit", required_argument, NULL, 'n' },
		{ "at", required_argument, NULL, 'a' },
		{ "resources", no_argument, NULL, 'R' },
		{ "times", no_argument, NULL, 'T' },
		{ "folded", no_argument, NULL, 'F' },
		{ "flame", no_argument, NULL, 'P' },
		{ NULL, 0, NULL, 0 },
	};
	struct reading r = { .command = "leaks", .formats = 7, .is_without_calls = 1 };
	struct leaks *l = malloc(sizeof(*l));
	int status = l ? reading_options(&r, argc, argv, own, option_take) : 1;

	if (status < 0) {
		free(l);
		return reading_help("leaks [--process NAME] [--by stack|function|object|thread]\n"
			"          [--sort bytes|blocks|peak|calls|allocated|lifetime] [--limit N] [--at TIME] [--lines]\n"
			"          [--format text|json|csv] [-o FILE] DIR...\n"
			"       lttng-spi leaks --resources|--times [--format text|json|csv] DIR...\n"
			"       lttng-spi leaks --folded|--flame [-o FILE] DIR...\n"
			"Prints what was allocated and not given back, by the stacks that allocated it: live bytes and\n"
			"blocks, bytes when the process had most, allocations, how long blocks lived that were given back;\n"
			"and what was given back twice or never allocated. The trace is one of `lttng trace --memory`.\n"
			"--at TIME: what was live then. --resources: descriptors, threads and mappings. --times: live bytes\n"
			"over time. --folded, --flame: live bytes, for flame graph tools and as a page for a browser.\n"
			"Of the filters it has --process.\n");
	}
	if (status || is_wrong(&r) || reading_output_open(&r) < 0) {
		free(l);
		return 1;
	}
	leaks_init(l, &r.calls);
	l->by = asked.what == PAGE || asked.what == FOLDED ? LEAK_BY_STACK : asked.by;
	l->at_text = asked.at;
	l->processes = *r.processes ? r.processes : NULL;
	r.see = leaks_see;
	r.seer = l;
	status = reading_run(&r, nothing, NULL);
	if (!status) {
		if (!r.output && r.format == FORMAT_TEXT && asked.what < FOLDED)
			pager_begin();
		status = reading_end(&r, leaks_out(l, &r));
		missing_say(l);
	}
	status = status || l->is_bad_time;
	leaks_free(l);
	free(l);
	return status;
}
