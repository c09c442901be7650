/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* `lttng-spi flow`: messages between processes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "reader/base/text.h"
#include "reader/commands/reading.h"
#include "reader/pages/pages.h"
#include "reader/flow/flow.h"

static enum what { EDGES, MESSAGES, DOT, PAGE } what;

static int option_take(struct reading *r, int option, const char *value)
{
	enum what wished = option == 'M' ? MESSAGES : option == 'D' ? DOT : PAGE;

	(void) value;
	if (option == 'J') {
		r->format = FORMAT_JSON;
		return 1;
	}
	if (!strchr("MDP", option))
		return 0;
	if (what && what != wished) {
		say_error("flow writes one of --messages, --dot and --html at a time");
		return -1;
	}
	what = wished;
	return 1;
}

/* Options that mean functions. */
static int is_wrong(const struct reading *r)
{
	const char *wrong = *r->functions ? "--function" : *r->callers ? "--caller" : *r->objects ? "--object" :
		r->only_errors ? "--error" : r->has_lines ? "--lines" : NULL;

	if (wrong)
		say_error("flow has no %s: --process, --thread, --from, --to, --longer and --depth choose", wrong);
	else if (reading_is_live(r))
		say_error("flow: a live session has no end: record to a directory");
	else if (what == PAGE && !r->output && isatty(STDOUT_FILENO))
		say_error("flow --html writes a page for a browser: give its file, -o FILE.html or > FILE.html");
	else
		return 0;
	return 1;
}

static int message_take(void *reading, const struct flow_message *message)
{
	const struct reading *r = reading;

	return flow_message_write(message, r->format, r->out);
}

static int nothing(void *data, const struct call *call)
{
	(void) data;
	(void) call;
	return 0;
}

static int flow_out(struct flow *f, struct flow_page *page, const struct reading *r)
{
	char title[1000];

	switch (what) {
	case MESSAGES:
		return output_status(r->out);
	case DOT:
		return flow_dot_write(f, r->out);
	case PAGE:
		reading_title(r, title, sizeof(title));
		return flow_page_write(page, f, title, r->out);
	default:
		return r->format == FORMAT_JSON ? flow_json_write(f, r->depth, r->out) : flow_write(f, r->depth, r->out);
	}
}

static void missing_say(const struct flow *f)
{
	const uint64_t *counts = f->counts;

	if (!counts[COUNT_SENDS] && !counts[COUNT_RECEIVES])
		say_warning("no message in the trace: they are recorded by `lttng trace --tree --ipc`");
	else if (!counts[COUNT_MESSAGES] && !counts[COUNT_AMBIGUOUS])
		say_warning("no message of the trace has both its ends in it and passes the filters");
	if (counts[COUNT_LOST] == UINT64_MAX)
		say_warning("LTTng discarded packets: messages whose other end is in them are counted as not sent or not received");
	else if (counts[COUNT_LOST])
		say_warning("LTTng discarded %llu events at least: messages whose other end is one of them are counted as not sent "
			"or not received", (unsigned long long) counts[COUNT_LOST]);
}

static int flow_read(struct reading *r, struct flow *f, struct flow_page *page)
{
	int status;

	reading_flow(r, f, what == MESSAGES ? message_take : page ? flow_page_take : NULL, page ? (void *) page : r);
	f->longer = r->longer;
	r->longer = 0;			/* it is of calls there, and means a pass of its own */
	if (!r->output && r->format == FORMAT_TEXT && what <= MESSAGES)
		pager_begin();
	status = reading_run(r, nothing, NULL);
	if (status)
		return status;
	status = flow_end(f);
	status = reading_end(r, status < 0 ? status : flow_out(f, page, r));
	if (!status)
		missing_say(f);
	return status;
}

int command_flow(int argc, char **argv)
{
	static const struct option own[] = {
		{ "messages", no_argument, NULL, 'M' },
		{ "dot", no_argument, NULL, 'D' },
		{ "html", no_argument, NULL, 'P' },
		{ "json", no_argument, NULL, 'J' },
		{ NULL, 0, NULL, 0 },
	};
	struct reading r = { .command = "flow", .formats = 3, .is_without_calls = 1 };
	struct flow_page *page = NULL;
	struct flow *f;
	int status = reading_options(&r, argc, argv, own, option_take);

	if (status < 0)
		return reading_help("flow [FILTERS] [--format text|json] [-o FILE] DIR...\n"
			"       lttng-spi flow --messages|--dot|--html [FILTERS] [-o FILE] DIR...\n"
			"Prints who sent messages to whom: messages, bytes, and how long they took, from the beginning of the\n"
			"send to the return of the receive that has the last byte; which process called which because of what;\n"
			"and which processes were brought in by a message. Several traces are read as one.\n"
			"      --messages        a line a message, with both its ends\n"
			"      --dot             a graph for Graphviz: processes, and messages between them\n"
			"      --html            one page for a browser: messages over time\n"
			"      --json            --format json\n"
			"Of the filters it has --process, --thread, --from, --to, --longer, which choose messages, and --depth,\n"
			"of calls in one another.\n");
	if (status || is_wrong(&r) || reading_output_open(&r) < 0)
		return 1;
	f = flow_make(&r.calls);
	if (what == PAGE)
		page = flow_page_make();
	if (!f || (what == PAGE && !page)) {
		say_error("no memory");
		status = 1;
	} else {
		status = flow_read(&r, f, page);
	}
	flow_page_free(page);
	flow_free(f);
	return status;
}
