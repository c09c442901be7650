/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The page of messages between processes over time. reader/pages/web/flow*.js draws it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "reader/base/text.h"
#include "reader/pages/messages.h"
#include "reader/pages/pages.h"

struct flow_page {
	struct messages messages;
	struct flow *flow;		/* while the page is written */
	const char *title;
};

struct flow_page *flow_page_make(void)
{
	return calloc(1, sizeof(struct flow_page));
}

int flow_page_take(void *page, const struct flow_message *message)
{
	struct flow_page *p = page;

	return messages_take(&p->messages, message);
}

static int about_write(void *page, FILE *out)
{
	struct flow_page *p = page;
	const struct calls *calls = p->flow->calls;
	const int64_t origin = p->messages.first;
	int r;

	fputs("{\"title\":", out);
	json_string(out, p->title);
	page_date_write(origin, out);
	fprintf(out, ",\"first\":0,\"last\":%" PRId64 ",\n\"processes\":[", p->messages.last - origin);
	for (uint32_t i = 0; i < calls->process_count; i++) {
		fputs(i ? ",\n[" : "\n[", out);
		json_string(out, calls->process_list[i]->name);
		fprintf(out, ",%" PRId64 "]", calls->process_list[i]->pid);
	}
	fputs("],\n\"threads\":[", out);
	for (uint32_t i = 0; i < calls->thread_count; i++)
		fprintf(out, "%s[%" PRIu32 ",%" PRId64 "]", i ? "," : "", calls->thread_list[i]->process->number,
			calls->thread_list[i]->tid);
	putc(']', out);
	r = messages_write(&p->messages, origin, out);
	fputs(",\n", out);
	if (r == 0)
		r = flow_json_members(p->flow, 0, out);
	putc('}', out);
	return r;
}

int flow_page_write(struct flow_page *p, struct flow *flow, const char *title, FILE *out)
{
	p->flow = flow;
	p->title = title;
	return page_write(PAGE_FLOW, "id=\"about\"", about_write, p, out);
}

void flow_page_free(struct flow_page *p)
{
	if (p)
		messages_free(&p->messages);
	free(p);
}
