/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The page of flame graphs with live bytes: a frame is as wide as what it, and what it has called, has live. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "reader/base/text.h"
#include "reader/pages/pages.h"

#define STACKS_MOST	30000u		/* of a process: those with the most bytes; the name says so */

static int by_bytes(const void *a, const void *b)
{
	const struct leak_group *x = *(const struct leak_group *const *) a, *y = *(const struct leak_group *const *) b;

	return x->bytes > y->bytes ? -1 : x->bytes < y->bytes;
}

static int frames_write(void *leaks, FILE *out)
{
	const struct leaks *l = leaks;
	struct leak_frame **by_number = calloc(l->frame_count + 1, sizeof(struct leak_frame *));
	char text[1600];

	if (!by_number)
		return -ENOMEM;
	for (struct leak_frame *f = spi_hash_next(&l->frames, NULL); f; f = spi_hash_next(&l->frames, &f->link))
		by_number[f->number] = f;
	fputs("{\"frames\":[", out);
	for (uint32_t i = 0; i < l->frame_count; i++) {
		leak_frame_function(by_number[i], text, sizeof(text));
		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		json_string(out, text);
		fputs(",\"file\":", out);
		json_string(out, leak_frame_object(by_number[i]));
		putc('}', out);
	}
	fputs("]}", out);
	free(by_number);
	return 0;
}

static void profile_write(const struct leak_process *p, uint32_t count, int which, FILE *out)
{
	const uint32_t most = count < STACKS_MOST ? count : STACKS_MOST;
	char name[200];

	if (which == 0) {
		snprintf(name, sizeof(name), "%s (%" PRId64 "): live bytes%s", *p->name ? p->name : "process", p->pid,
			most < count ? ", the largest stacks" : "");
		fputs("\n{\"type\":\"sampled\",\"name\":", out);
		json_string(out, name);
		fputs(",\"unit\":\"bytes\",\"startValue\":0,\"endValue\":", out);
		fprintf(out, "%" PRIu64 ",\"samples\":[", p->bytes);
	} else {
		fputs("],\"weights\":[", out);
	}
	for (uint32_t i = 0; i < most; i++) {
		const struct leak_group *g = p->list[i];

		if (which) {
			fprintf(out, "%s%" PRIu64, i ? "," : "", g->bytes);
			continue;
		}
		fputs(i ? ",\n[" : "\n[", out);
		for (uint32_t k = g->stack->count; k--;)
			fprintf(out, "%" PRIu32 "%s", g->stack->frames[k]->number, k ? "," : "");
		putc(']', out);
	}
	if (which)
		fputs("]}", out);
}

static int profiles_write(void *leaks, FILE *out)
{
	struct leaks *l = leaks;
	const char *between = "";

	for (struct leak_process *p = l->list; p; p = p->next) {
		uint32_t live = 0;

		if (p->group_count)
			qsort(p->list, p->group_count, sizeof(struct leak_group *), by_bytes);
		while (live < p->group_count && p->list[live]->bytes)
			live++;
		fputs(between, out);
		profile_write(p, live, 0, out);
		profile_write(p, live, 1, out);
		between = ",";
	}
	return 0;
}

int leaks_page_write(struct leaks *l, const char *title, FILE *page)
{
	return page_graphs_write(title, l->events, frames_write, profiles_write, l, page);
}
