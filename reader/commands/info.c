/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* `lttng-spi info`: what was recorded. */
#include <stdio.h>
#include "reader/base/text.h"
#include "reader/commands/reading.h"
#include "reader/views/info.h"

static int no_option(struct reading *r, int option, const char *value)
{
	return 0;
}

static int declined_read(struct info *info, const struct reading *r)
{
	char path[4200];
	int status = 0;

	for (int i = 0; status == 0 && i < r->directory_count; i++) {
		snprintf(path, sizeof(path), "%s/not-instrumented.txt", r->directories[i]);
		status = info_declined_read(info, path);
	}
	return status;
}

int command_info(int argc, char **argv)
{
	struct reading r = { .command = "info", .formats = 3 };
	struct facts facts;
	struct info info = { .calls = &r.calls, .facts = &facts };
	int status = reading_options(&r, argc, argv, NULL, no_option);

	if (status < 0)
		return reading_help("info [FILTERS] [--format text|json] [-o FILE] DIR...\n"
			"Says what was recorded: when and where, processes and programs, events by kind, objects with their\n"
			"build-ids, what is missing, and what was not instrumented and why.\n");
	if (status || reading_output_open(&r) < 0)
		return 1;
	facts_init(&facts, &r.calls);
	r.see = facts_see;
	r.seer = &facts;
	status = reading_run(&r, info_take, &info);
	if (!status) {
		int w = declined_read(&info, &r);

		if (!r.output && r.format == FORMAT_TEXT)
			pager_begin();
		status = reading_end(&r, w ? w : info_write(&info, r.format, r.out));
	}
	facts_free(&facts);
	info_free(&info);
	return status;
}
