/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* `lttng-spi calls`, `report`, `graph`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/commands/reading.h"

static int no_option(struct reading *r, int option, const char *value)
{
	return 0;
}

/* ---- calls ---- */

int command_calls(int argc, char **argv)
{
	struct reading r = { .command = "calls", .formats = 3, .has_events = 1 };
	struct calls_view *view;
	int status = reading_options(&r, argc, argv, NULL, no_option);

	if (status < 0)
		return reading_help("calls [FILTERS] [--format text|json] [-o FILE] DIR...\n"
			"Prints the calls of a trace, a line for each end of a call, one for both when nothing came between.\n"
			"Events that are no calls are lines at their place: messages, a program's own tracepoints.\n");
	if (status || reading_output_open(&r) < 0)
		return 1;
	view = calls_view_make(r.out, r.format);
	if (!view)
		return 1;
	r.idle = calls_view_idle;
	r.idle_data = view;
	if (!r.output && r.format == FORMAT_TEXT && !reading_is_live(&r))
		pager_begin();
	status = reading_run(&r, calls_view_take, view);
	if (!status)
		status = reading_end(&r, calls_view_flush(view));
	calls_view_free(view);
	return status;
}

/* ---- report ---- */

static enum report_by by;
static enum report_sort sort;
static uint32_t limit;
static const char *diff;

static int report_option(struct reading *r, int option, const char *value)
{
	char *end;
	int n;

	switch (option) {
	case 'b':
		n = report_by_read(value);
		if (n < 0)
			say_error("--by %s: function, object, thread, process or caller", value);
		by = (enum report_by) n;
		return n < 0 ? -1 : 1;
	case 's':
		n = report_sort_read(value);
		if (n < 0)
			say_error("--sort %s: total, self, calls, average, min, max, p50, p99 or name", value);
		sort = (enum report_sort) n;
		return n < 0 ? -1 : 1;
	case 'n':
		limit = (uint32_t) strtoul(value, &end, 10);
		if (end != value && !*end && *value != '-')
			return 1;
		say_error("--limit %s: not a number of rows", value);
		return -1;
	case 'd':
		diff = value;
		return 1;
	}
	return 0;
}

int command_report(int argc, char **argv)
{
	static const struct option own[] = {
		{ "by", required_argument, NULL, 'b' },
		{ "sort", required_argument, NULL, 's' },
		{ "limit", required_argument, NULL, 'n' },
		{ "diff", required_argument, NULL, 'd' },
		{ NULL, 0, NULL, 0 },
	};
	struct reading r = { .command = "report", .formats = 7 }, other = { .command = "report" };
	struct report *report, *before = NULL;
	int status = reading_options(&r, argc, argv, own, report_option);

	if (status < 0)
		return reading_help("report [FILTERS] [--by function|object|thread|process|caller] [--sort COLUMN] [--limit N]\n"
			"           [--diff OTHER] [--format text|json|csv] [-o FILE] DIR...\n"
			"Prints a table of functions: calls, total and self time, average, minimum, maximum, p50, p99.\n"
			"Times in JSON and CSV are in nanoseconds. --diff OTHER: what has changed since the\n"
			"trace OTHER, in calls, total and self time, and average, the largest change first.\n");
	if (!status && diff && sort != SORT_TOTAL && sort != SORT_SELF && sort != SORT_CALLS && sort != SORT_AVERAGE &&
			sort != SORT_NAME) {
		say_error("--sort with --diff: total, self, calls, average or name");
		return 1;
	}
	if (status || reading_output_open(&r) < 0)
		return 1;
	report = report_make(by);
	if (!report)
		return 1;
	if (r.has_lines)
		report_lines(report);
	if (diff) {
		other = r;
		memset(other.directories, 0, sizeof(other.directories));
		other.directories[0] = diff;
		before = report_make(by);
		status = before ? reading_run(&other, report_take, before) : 1;
	}
	if (!status)
		status = reading_run(&r, report_take, report);
	if (!status) {
		if (!r.output && r.format == FORMAT_TEXT && !reading_is_live(&r))
			pager_begin();
		status = reading_end(&r, report_write(report, before, sort, limit, r.format, r.out));
	}
	if (before)
		calls_free(&other.calls);
	report_free(report);
	report_free(before);
	return status;
}

/* ---- graph ---- */

static const char *graph_function;

int command_graph(int argc, char **argv)
{
	struct reading r = { .command = "graph", .formats = 3 };
	struct paths *paths;
	int status = reading_options(&r, argc, argv, NULL, no_option);

	if (status < 0)
		return reading_help("graph [FILTERS] [--format text|json] [-o FILE] DIR [FUNCTION]\n"
			"Prints which function calls which, with calls and times. FUNCTION, a name or a pattern: its callers and its callees.\n");
	if (status)
		return 1;
	if (r.directory_count > 2) {
		say_error("graph takes one directory and one function");
		return 1;
	}
	graph_function = r.directories[1];
	r.directories[1] = NULL;
	paths = reading_output_open(&r) < 0 ? NULL : paths_make();
	if (!paths)
		return 1;
	status = reading_run(&r, paths_take, paths);
	if (!status) {
		int w = paths_end(paths);

		if (!r.output && r.format == FORMAT_TEXT)
			pager_begin();
		if (w == 0)
			w = graph_write(paths, graph_function, r.format, r.out);
		status = reading_end(&r, w == -ENOENT ? 0 : w);
		if (w == -ENOENT) {
			say_error("%s: no call of a function of this name in the trace", graph_function);
			status = 1;
		}
	}
	paths_free(paths);
	return status;
}
