/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* `lttng-spi export`: a trace in the formats of other tools. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include "reader/base/text.h"
#include "reader/calls/ctf.h"
#include "reader/commands/reading.h"
#include "reader/exports/export.h"

static const struct option own[] = {
	{ "chrome", no_argument, NULL, 'C' },
	{ "speedscope", no_argument, NULL, 'S' },
	{ "callgrind", no_argument, NULL, 'G' },
	{ "ctf", no_argument, NULL, 'T' },
	{ NULL, 0, NULL, 0 },
};

static int target;			/* 0: not said yet */

static int export_option(struct reading *r, int option, const char *value)
{
	if (!strchr("CSGT", option))
		return 0;
	if (target && target != option) {
		say_error("export writes one of --chrome, --speedscope, --callgrind and --ctf at a time");
		return -1;
	}
	target = option;
	return 1;
}

static int chrome_export(struct reading *r)
{
	struct chrome *c = chrome_make(r->out, &r->calls);
	struct flow *flow = flow_make(&r->calls);
	int status = 1;

	if (c && flow) {
		reading_flow(r, flow, chrome_message, c);
		status = reading_run(r, chrome_take, c);
	}
	if (!status) {
		int w = flow_end(flow);

		status = reading_end(r, w < 0 ? w : chrome_end(c));
	}
	flow_free(flow);
	chrome_free(c);
	return status;
}

static int speedscope_export(struct reading *r)
{
	struct speedscope *s = speedscope_make(r->out, &r->calls, r->directories[0]);
	int status = s ? reading_run(r, speedscope_take, s) : 1;

	if (!status)
		status = reading_end(r, speedscope_end(s));
	speedscope_free(s);
	return status;
}

static int callgrind_export(struct reading *r)
{
	struct paths *paths = paths_make();
	int status = paths ? reading_run(r, paths_take, paths) : 1;

	if (!status) {
		int w = paths_end(paths);

		status = reading_end(r, w ? w : callgrind_write(paths, &r->calls, r->directories[0], r->out));
	}
	paths_free(paths);
	return status;
}

static int ctf_export(const struct reading *r)
{
	struct stat st;
	char why[2000];
	int status;

	if (*r->functions || *r->callers || *r->objects || *r->threads || *r->processes || r->from || r->to || r->longer ||
			r->depth || r->only_errors) {
		say_error("export --ctf takes no filters: the whole trace is written");
		return 1;
	}
	if (!r->output) {
		say_error("export --ctf makes a directory: name one that is not there yet with -o");
		return 1;
	}
	if (lstat(r->output, &st) == 0) {
		say_error("%s: %s", r->output, strerror(EEXIST));
		return 1;
	}
	status = ctf_write(r->directories, r->output, why, sizeof(why));
	if (status > 0)
		say_warning("the trace is damaged, what is whole is written: %s", why);
	else if (status < 0)
		say_error("%s", why);
	return status < 0;
}

int command_export(int argc, char **argv)
{
	struct reading r = { .command = "export", .formats = 1 };
	int status = reading_options(&r, argc, argv, own, export_option);

	if (status < 0)
		return reading_help("export --chrome|--speedscope|--callgrind [FILTERS] [-o FILE] DIR...\n"
			"       lttng-spi export --ctf -o NEW-DIR DIR...\n"
			"Writes a trace for other tools:\n"
			"      --chrome          trace-event JSON: Perfetto (ui.perfetto.dev), chrome://tracing\n"
			"      --speedscope      speedscope: a profile a thread\n"
			"      --callgrind       KCachegrind, callgrind_annotate: functions and calls, times in ns\n"
			"      --ctf             CTF that babeltrace2 and Trace Compass read without lttng-spi: compact records\n"
			"                        become events, and each has its function's name\n");
	if (status)
		return 1;
	switch (target) {
	case 'T':
		return ctf_export(&r);
	case 0:
		say_error("export: which format? --chrome, --speedscope, --callgrind or --ctf");
		return 1;
	}
	if (reading_output_open(&r) < 0)
		return 1;
	r.has_lines |= target != 'C';
	return target == 'C' ? chrome_export(&r) : target == 'S' ? speedscope_export(&r) : callgrind_export(&r);
}
