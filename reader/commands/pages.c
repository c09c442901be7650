/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* `lttng-spi flame`, `timeline`: pages for a browser. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "reader/base/text.h"
#include "reader/commands/reading.h"
#include "reader/pages/pages.h"

/* A page is no text for a terminal: 0, or -1 and a line that says so. */
static int page_open(struct reading *r)
{
	if (r->output || !isatty(STDOUT_FILENO))
		return reading_output_open(r);
	say_error("%s writes a page for a browser: give its file, -o FILE.html or > FILE.html", r->command);
	return -1;
}

/* ---- flame ---- */

static int is_folded;

static int flame_option(struct reading *r, int option, const char *value)
{
	if (option == 'F')
		is_folded = 1;
	return option == 'F';
}

static int folded(struct reading *r)
{
	struct paths *paths = reading_output_open(r) < 0 ? NULL : paths_make();
	int status;

	if (!paths)
		return 1;
	status = reading_run(r, paths_take, paths);
	if (!status) {
		int w = paths_end(paths);

		status = reading_end(r, w ? w : folded_write(paths, r->out));
	}
	paths_free(paths);
	return status;
}

int command_flame(int argc, char **argv)
{
	static const struct option own[] = { { "folded", no_argument, NULL, 'F' }, { NULL, 0, NULL, 0 } };
	struct reading r = { .command = "flame", .formats = 1 };
	struct flame *flame;
	char title[1000];
	int status = reading_options(&r, argc, argv, own, flame_option);

	if (status < 0)
		return reading_help("flame [FILTERS] [-o FILE.html] DIR...        (or > FILE.html)\n"
			"       lttng-spi flame --folded [FILTERS] [-o FILE] DIR...\n"
			"Writes one page for a browser: flame graphs of all threads and of each, flame charts, callers and\n"
			"callees.\n"
			"--folded: folded stacks, FUNCTION;CALLEE;... with the self time in ns, for flame graph tools.\n");
	if (status)
		return 1;
	if (is_folded)
		return folded(&r);
	if (!page_is_built(PAGE_FLAME)) {
		say_error("this build has no page of flame graphs: `make pages` adds it; `timeline`, `graph` and "
			"`flame --folded` are there");
		return 1;
	}
	flame = page_open(&r) < 0 ? NULL : flame_make();
	if (!flame)
		return 1;
	status = reading_run(&r, flame_take, flame);
	if (!status) {
		reading_title(&r, title, sizeof(title));
		status = reading_end(&r, flame_write(flame, &r.calls, title, r.out));
	}
	flame_free(flame);
	return status;
}

/* ---- timeline ---- */

#define PAGE_SIZE	50		/* MB */

static size_t page_size = PAGE_SIZE;

static int timeline_option(struct reading *r, int option, const char *value)
{
	char *end;
	unsigned long size;

	if (option != 'S')
		return 0;
	size = strtoul(value, &end, 10);
	if (end == value || *end || *value == '-' || !size || size > 1000) {
		say_error("--size %s: not a number of MB from 1 to 1000", value);
		return -1;
	}
	page_size = size;
	return 1;
}

int command_timeline(int argc, char **argv)
{
	static const struct option own[] = { { "size", required_argument, NULL, 'S' }, { NULL, 0, NULL, 0 } };
	struct reading r = { .command = "timeline", .formats = 1 };
	struct timeline *timeline;
	struct flow *flow;
	char title[1000];
	int status = reading_options(&r, argc, argv, own, timeline_option);

	if (status < 0)
		return reading_help("timeline [FILTERS] [--size MB] [-o FILE.html] DIR...        (or > FILE.html)\n"
			"Writes one page for a browser: threads over time, from hours to nanoseconds, with values and a table.\n"
			"--size MB: the page is about so large at most, 50. The shortest calls that do not fit are merged.\n");
	if (status)
		return 1;
	timeline = page_open(&r) < 0 ? NULL : timeline_make(page_size * 1000000);
	flow = timeline ? flow_make(&r.calls) : NULL;
	if (!flow) {
		timeline_free(timeline);
		return 1;
	}
	reading_flow(&r, flow, timeline_message, timeline);
	status = reading_run(&r, timeline_take, timeline);
	if (!status) {
		int w = flow_end(flow);

		reading_title(&r, title, sizeof(title));
		status = reading_end(&r, w < 0 ? w : timeline_write(timeline, &r.calls, title, r.out));
	}
	flow_free(flow);
	timeline_free(timeline);
	return status;
}
