/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Memory that was not given back, as text, JSON and CSV. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/leaks/leaks.h"

#define INCIDENTS_SHOWN	10u

/* ---- order ---- */

static uint64_t value_of(const struct leak_group *g, enum leak_sort sort)
{
	switch (sort) {
	case LEAK_SORT_BLOCKS:
		return g->blocks;
	case LEAK_SORT_PEAK:
		return g->peak_bytes;
	case LEAK_SORT_CALLS:
		return g->calls;
	case LEAK_SORT_GOT:
		return g->got;
	case LEAK_SORT_LIFETIME:
		return (uint64_t) g->longest;
	default:
		return g->bytes;
	}
}

static int frames_compare(const struct leak_stack *a, const struct leak_stack *b)
{
	for (uint32_t i = 0; i < a->count && i < b->count; i++)
		if (a->frames[i] != b->frames[i])
			return a->frames[i]->number < b->frames[i]->number ? -1 : 1;
	return a->count < b->count ? -1 : a->count > b->count;
}

/* Is the group in a table that is sorted so? By what is live only those that have something live are. */
static int is_shown(const struct leak_group *g, const struct leak_form *f)
{
	return f->sort == LEAK_SORT_BYTES || f->sort == LEAK_SORT_BLOCKS ? g->blocks != 0 : 1;
}

/* Those that are not shown come last. */
static int group_compare(const void *a, const void *b, void *form)
{
	const struct leak_group *x = *(const struct leak_group *const *) a, *y = *(const struct leak_group *const *) b;

	const struct leak_form *f = form;
	const uint64_t v = value_of(x, f->sort), w = value_of(y, f->sort);

	if (is_shown(x, f) != is_shown(y, f))
		return is_shown(x, f) ? -1 : 1;
	if (v != w)
		return v > w ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->key ? strcmp(x->key, y->key) : frames_compare(x->stack, y->stack);
}

/* ---- text ---- */

static const char *begun_text(const struct leak_process *p)
{
	static const char *const texts[] = {
		[BEGUN_FROM_START] = "", [BEGUN_ATTACHED] = ", attached to: what it had before is not counted",
		[BEGUN_FORKED] = ", forked: what its parent had is not counted",
		[BEGUN_UNKNOWN] = ", whose beginning is not in the trace",
	};

	return texts[p->begun];
}

void leak_title_write(const struct leak_process *p, FILE *out)
{
	fprintf(out, "%s%s (%" PRId64 ")%s%s%s\n", colour_begin(COLOUR_HEAD), *p->name ? p->name : "process", p->pid,
		p->is_over ? ", until it executed another program" : "", begun_text(p), colour_end(COLOUR_HEAD));
}

static void totals_write(const struct leaks *l, const struct leak_process *p, FILE *out)
{
	char when[32];

	fprintf(out, "  live %s: %" PRIu64 " bytes in %" PRIu64 " blocks", l->at == INT64_MAX ? "at the end" : "then",
		p->bytes, p->live);
	if (p->peak_bytes) {
		time_text(p->peak_ns, when);
		fprintf(out, "; most: %" PRIu64 " bytes in %" PRIu64 " blocks, %s", p->peak_bytes, p->peak_blocks,
			when);
	}
	fprintf(out, "\n  allocated: %" PRIu64 " blocks, %" PRIu64 " bytes; given back: %" PRIu64 "\n", p->calls,
		p->got, p->freed);
	if (p->failed)
		fprintf(out, "  allocations that failed: %" PRIu64 "\n", p->failed);
	if (p->in_use)
		fprintf(out, "  in use before, and not counted: about %" PRIu64 " bytes\n", p->in_use);
	if (p->internal)
		fprintf(out, "  blocks of libc's own that were given back, and are not recorded: %" PRIu64 "\n",
			p->internal);
	if (p->older)
		fprintf(out, "  blocks given back that were there before: %" PRIu64 "\n", p->older);
	if (p->unseen)
		fprintf(out, "  blocks whose end is not in the trace, as their address was got again: %" PRIu64 "\n",
			p->unseen);
}

static void wrong_write(const struct leak_process *p, const struct leak_form *f)
{
	static const char *const texts[] = {
		[WRONG_DOUBLE] = "given back twice", [WRONG_FOREIGN] = "given back and never allocated",
	};
	FILE *out = f->out;
	char when[32];

	for (unsigned int what = 0; what < WRONGS; what++) {
		uint32_t shown = 0;

		if (!p->wrong[what])
			continue;
		fprintf(out, "  %s%s: %" PRIu64 "%s\n", colour_begin(COLOUR_ERROR), texts[what], p->wrong[what],
			colour_end(COLOUR_ERROR));
		for (uint32_t i = 0; i < p->incident_count && shown < INCIDENTS_SHOWN; i++) {
			const struct leak_incident *w = &p->incidents[i];

			if (w->what != what)
				continue;
			shown++;
			time_text(w->ns, when);
			fprintf(out, "    0x%" PRIx64 " %s by ", w->address, when);
			if (w->at->count)
				leak_frame_write(w->at->frames[0], f);
			else
				fputs("?\n", out);
			if (w->got && w->got->count) {
				fputs("      allocated by ", out);
				leak_frame_write(w->got->frames[0], f);
			}
		}
	}
}

static void lifetime_write(const struct leak_group *g, FILE *out)
{
	char p50[32] = "-", longest[32] = "-";

	if (leak_lifetime(g) >= 0) {
		duration_text(leak_lifetime(g), p50);
		duration_text(g->longest, longest);
	}
	fprintf(out, " %10s %10s", p50, longest);
}

static void rows_write(struct leak_group **groups, uint32_t count, uint32_t shown, const struct leak_form *f)
{
	FILE *out = f->out;

	if (!count)
		return;
	fprintf(out, "%s%12s %8s %11s %9s %11s %10s %10s%s\n", colour_begin(COLOUR_HEAD), "live bytes", "blocks",
		"at most", "allocated", "bytes", "p50 life", "max life", colour_end(COLOUR_HEAD));
	for (uint32_t i = 0; i < shown; i++) {
		const struct leak_group *g = groups[i];

		fprintf(out, "%12" PRIu64 " %8" PRIu64 " %11" PRIu64 " %9" PRIu64 " %11" PRIu64, g->bytes, g->blocks,
			g->peak_bytes, g->calls, g->got);
		lifetime_write(g, out);
		if (g->key)
			fprintf(out, "  %s", g->key);
		putc('\n', out);
		if (g->stack)
			leak_stack_write(g->stack, f);
	}
	if (shown < count)
		fprintf(out, "  ... and %" PRIu32 " more: --limit 0 shows all\n", count - shown);
}

/* ---- JSON ---- */

static void group_json(const struct leak_group *g, const struct leak_form *f)
{
	FILE *out = f->out;

	fprintf(out, "{\"bytes\":%" PRIu64 ",\"blocks\":%" PRIu64 ",\"peak_bytes\":%" PRIu64 ",\"peak_blocks\":%" PRIu64
		",\"allocations\":%" PRIu64 ",\"allocated_bytes\":%" PRIu64 ",\"freed\":%" PRIu64, g->bytes, g->blocks,
		g->peak_bytes, g->peak_blocks, g->calls, g->got, g->freed);
	if (leak_lifetime(g) >= 0)
		fprintf(out, ",\"lifetime_p50_ns\":%" PRId64 ",\"lifetime_max_ns\":%" PRId64, leak_lifetime(g),
			g->longest);
	if (g->key) {
		fputs(",\"name\":", out);
		json_string(out, g->key);
	} else {
		fputs(",\"stack\":", out);
		leak_stack_json(g->stack, f);
	}
	fputs("}", out);
}

static void process_json(const struct leak_process *p, FILE *out)
{
	static const char *const begun[] = { "start", "attached", "forked", "unknown" };

	fputs("\n{\"process\":", out);
	json_string(out, p->name);
	fprintf(out, ",\"pid\":%" PRId64 ",\"begun\":\"%s\",\"executed_another\":%s", p->pid, begun[p->begun],
		p->is_over ? "true" : "false");
}

static void incidents_json(const struct leak_process *p, enum leak_wrong what, const struct leak_form *f)
{
	FILE *out = f->out;
	const char *between = "";

	fputs("[", out);
	for (uint32_t i = 0; i < p->incident_count; i++) {
		const struct leak_incident *w = &p->incidents[i];

		if (w->what != what)
			continue;
		fprintf(out, "%s\n{\"address\":\"0x%" PRIx64 "\",\"ns\":%" PRId64 ",\"by\":", between, w->address,
			w->ns);
		leak_stack_json(w->at, f);
		if (w->got) {
			fputs(",\"allocated_by\":", out);
			leak_stack_json(w->got, f);
		}
		fputs("}", out);
		between = ",";
	}
	fputs("]", out);
}

static void memory_json(const struct leaks *l, const struct leak_process *p, struct leak_group **groups, uint32_t shown,
	const struct leak_form *f)
{
	FILE *out = f->out;

	fprintf(out, ",\"bytes\":%" PRIu64 ",\"blocks\":%" PRIu64 ",\"peak_bytes\":%" PRIu64 ",\"peak_blocks\":%" PRIu64
		",\"peak_ns\":%" PRId64 ",\"allocations\":%" PRIu64 ",\"allocated_bytes\":%" PRIu64 ",\"freed\":%" PRIu64
		",\"failed\":%" PRIu64 ",\"older_freed\":%" PRIu64 ",\"internal_freed\":%" PRIu64
		",\"unseen_freed\":%" PRIu64 ",\"in_use_before\":%" PRIu64, p->bytes, p->live, p->peak_bytes,
		p->peak_blocks, p->peak_ns, p->calls, p->got, p->freed, p->failed, p->older, p->internal, p->unseen, p->in_use);
	if (l->lost == UINT64_MAX)
		fputs(",\"lost_events\":null", out);
	else
		fprintf(out, ",\"lost_events\":%" PRIu64, l->lost);
	fprintf(out, ",\"double_frees\":%" PRIu64 ",\"foreign_frees\":%" PRIu64 ",\n\"double\":",
		p->wrong[WRONG_DOUBLE], p->wrong[WRONG_FOREIGN]);
	incidents_json(p, WRONG_DOUBLE, f);
	fputs(",\"foreign\":", out);
	incidents_json(p, WRONG_FOREIGN, f);
	fputs(",\n\"groups\":[", out);
	for (uint32_t i = 0; i < shown; i++) {
		fputs(i ? ",\n" : "\n", out);
		group_json(groups[i], f);
	}
}

/* ---- CSV ---- */

static void memory_csv(const struct leak_process *p, struct leak_group **groups, uint32_t shown, const struct leak_form *f)
{
	FILE *out = f->out;

	for (uint32_t i = 0; i < shown; i++) {
		const struct leak_group *g = groups[i];

		csv_field(out, p->name);
		fprintf(out, ",%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
			p->pid, g->bytes, g->blocks, g->peak_bytes, g->peak_blocks, g->calls, g->got);
		if (leak_lifetime(g) >= 0)
			fprintf(out, "%" PRId64 ",%" PRId64 ",", leak_lifetime(g), g->longest);
		else
			fputs(",,", out);
		if (g->key)
			csv_field(out, g->key);
		else
			leak_stack_csv(g->stack, f);
		putc('\n', out);
	}
}

/* ---- all ---- */

static int memory_write(struct leaks *l, struct leak_process *p, const struct leak_form *f)
{
	uint32_t all, count = 0, shown;
	struct leak_group **groups = leaks_groups(l, p, &all);

	if (!groups)
		return -ENOMEM;
	qsort_r(groups, all, sizeof(struct leak_group *), group_compare, (void *) (uintptr_t) f);
	while (count < all && is_shown(groups[count], f))
		count++;
	shown = f->limit && f->limit < count ? f->limit : count;
	if (f->format == FORMAT_JSON) {
		memory_json(l, p, groups, shown, f);
	} else if (f->format == FORMAT_CSV) {
		memory_csv(p, groups, shown, f);
	} else {
		leak_title_write(p, f->out);
		totals_write(l, p, f->out);
		wrong_write(p, f);
		rows_write(groups, count, shown, f);
	}
	leaks_groups_free(groups, all);
	return output_status(f->out);
}

int leaks_write(struct leaks *l, const struct leak_form *f)
{
	return leaks_each(l, f, "process,pid,bytes,blocks,peak_bytes,peak_blocks,allocations,allocated_bytes,"
		"lifetime_p50_ns,lifetime_max_ns,by\n", memory_write);
}

int leaks_each(struct leaks *l, const struct leak_form *f, const char *columns, leak_write_fn *write)
{
	const char *between = "";
	int r = 0;

	if (f->format == FORMAT_JSON)
		fputs("[", f->out);
	if (f->format == FORMAT_CSV)
		fputs(columns, f->out);
	for (struct leak_process *p = l->list; r == 0 && p; p = p->next) {
		if (f->format != FORMAT_CSV)
			fputs(between, f->out);
		if (f->format == FORMAT_JSON)
			process_json(p, f->out);
		r = write(l, p, f);
		if (f->format == FORMAT_JSON)
			fputs("]}", f->out);
		between = f->format == FORMAT_JSON ? "," : "\n";
	}
	if (f->format == FORMAT_JSON)
		fputs("\n]\n", f->out);
	return r < 0 ? r : output_status(f->out);
}
