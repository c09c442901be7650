/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What was not given back, as text, JSON and CSV. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/views/leaks.h"

#define TIME_ROWS	40u
#define TIME_BAR	50u
#define INCIDENTS_SHOWN	10u

/* ---- stacks ---- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* " at FILE:LINE", or " in INLINED inlined at FILE:LINE"; "": not known, or not wanted. */
static const char *place_text(const struct leak_frame *f, int has_lines, char *text, size_t size)
{
	const struct source_place *place = has_lines ? names_place_lines(f->object, f->offset) : NULL;

	*text = 0;
	if (place && place->lines[0].inlined)
		snprintf(text, size, " in %s inlined at %s:%u", place->lines[0].inlined,
			last_part(place->lines[0].file), place->lines[0].line);
	else if (place)
		snprintf(text, size, " at %s:%u", last_part(place->lines[0].file), place->lines[0].line);
	return text;
}

static void frame_write(struct leak_frame *f, int has_lines, FILE *out)
{
	char place[700];

	fprintf(out, "%s%s%s%s%s%s\n", colour_begin(COLOUR_FUNCTION), leak_frame_text(f), colour_end(COLOUR_FUNCTION),
		colour_begin(COLOUR_DIM), place_text(f, has_lines, place, sizeof(place)), colour_end(COLOUR_DIM));
}

/* A line each. */
static void stack_write(const struct leak_stack *s, int has_lines, FILE *out)
{
	for (uint32_t i = 0; i < s->count; i++) {
		fputs(i ? "      <- " : "      ", out);
		frame_write(s->frames[i], has_lines, out);
	}
	if (!s->count)
		fputs("      (not known)\n", out);
}

static void stack_json(const struct leak_stack *s, int has_lines, FILE *out)
{
	char function[1600];

	fputs("[", out);
	for (uint32_t i = 0; s && i < s->count; i++) {
		struct leak_frame *f = s->frames[i];
		const struct source_place *place = has_lines ? names_place_lines(f->object, f->offset) : NULL;

		leak_frame_function(f, function, sizeof(function));
		fprintf(out, "%s{\"function\":", i ? "," : "");
		json_string(out, function);
		fputs(",\"object\":", out);
		json_string(out, leak_frame_object(f));
		fprintf(out, ",\"address\":\"0x%" PRIx64 "\"", f->offset);
		if (place && place->lines[0].inlined) {
			fputs(",\"inlined\":", out);
			json_string(out, place->lines[0].inlined);
		}
		if (place) {
			fputs(",\"file\":", out);
			json_string(out, place->lines[0].file);
			fprintf(out, ",\"line\":%u", place->lines[0].line);
		}
		fputs("}", out);
	}
	fputs("]", out);
}

/* FUNCTION+OFFSET [OBJECT] at FILE:LINE <- ... */
static void stack_csv(const struct leak_stack *s, int has_lines, FILE *out)
{
	char place[700], *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	for (uint32_t i = 0; memory && s && i < s->count; i++)
		fprintf(memory, "%s%s%s", i ? " <- " : "", leak_frame_text(s->frames[i]),
			place_text(s->frames[i], has_lines, place, sizeof(place)));
	if (memory)
		fclose(memory);
	csv_field(out, text ? text : "");
	free(text);
}

/* ---- order ---- */

static enum leak_sort sorting;

static uint64_t value_of(const struct leak_group *g)
{
	switch (sorting) {
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

static int group_compare(const void *a, const void *b)
{
	const struct leak_group *x = *(const struct leak_group *const *) a, *y = *(const struct leak_group *const *) b;

	if (value_of(x) != value_of(y))
		return value_of(x) > value_of(y) ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->key ? strcmp(x->key, y->key) : frames_compare(x->stack, y->stack);
}

/* Is the group in a table that is sorted so? By what is live only those that have something live are. */
static int is_shown(const struct leak_group *g)
{
	return sorting == LEAK_SORT_BYTES || sorting == LEAK_SORT_BLOCKS ? g->blocks != 0 : 1;
}

/* ---- memory, as text ---- */

static const char *begun_text(const struct leak_process *p)
{
	static const char *const texts[] = {
		[BEGUN_FROM_START] = "", [BEGUN_ATTACHED] = ", attached to: what it had before is not counted",
		[BEGUN_FORKED] = ", forked: what its parent had is not counted",
		[BEGUN_UNKNOWN] = ", whose beginning is not in the trace",
	};

	return texts[p->begun];
}

static void title_write(const struct leaks *l, const struct leak_process *p, FILE *out)
{
	char when[32];

	fprintf(out, "%s%s (%" PRId64 ")%s%s%s\n", colour_begin(COLOUR_HEAD), *p->name ? p->name : "process", p->pid,
		p->is_over ? ", until it executed another program" : "", begun_text(p), colour_end(COLOUR_HEAD));
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

static void wrong_write(const struct leak_process *p, int has_lines, FILE *out)
{
	static const char *const texts[] = {
		[WRONG_DOUBLE] = "given back twice", [WRONG_FOREIGN] = "given back and never allocated",
	};
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
				frame_write(w->at->frames[0], has_lines, out);
			else
				fputs("?\n", out);
			if (w->got && w->got->count) {
				fputs("      allocated by ", out);
				frame_write(w->got->frames[0], has_lines, out);
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

static void rows_write(struct leak_group **groups, uint32_t count, uint32_t limit, int has_lines, FILE *out)
{
	uint32_t shown = 0, all = 0;

	for (uint32_t i = 0; i < count; i++)
		all += (uint32_t) is_shown(groups[i]);
	if (!all)
		return;
	fprintf(out, "%s%12s %8s %11s %9s %11s %10s %10s%s\n", colour_begin(COLOUR_HEAD), "live bytes", "blocks",
		"at most",
		"allocated", "bytes", "p50 life", "max life", colour_end(COLOUR_HEAD));
	for (uint32_t i = 0; i < count && (!limit || shown < limit); i++) {
		struct leak_group *g = groups[i];

		if (!is_shown(g))
			continue;
		shown++;
		fprintf(out, "%12" PRIu64 " %8" PRIu64 " %11" PRIu64 " %9" PRIu64 " %11" PRIu64, g->bytes, g->blocks,
			g->peak_bytes, g->calls, g->got);
		lifetime_write(g, out);
		if (g->key)
			fprintf(out, "  %s", g->key);
		putc('\n', out);
		if (g->stack)
			stack_write(g->stack, has_lines, out);
	}
	if (shown < all)
		fprintf(out, "  ... and %" PRIu32 " more: --limit 0 shows all\n", all - shown);
}

/* ---- memory, as JSON and CSV ---- */

static void group_json(const struct leak_group *g, int has_lines, FILE *out)
{
	fprintf(out, "{\"bytes\":%" PRIu64 ",\"blocks\":%" PRIu64 ",\"peak_bytes\":%" PRIu64 ",\"peak_blocks\":%" PRIu64
		",\"allocations\":%" PRIu64 ",\"allocated_bytes\":%" PRIu64 ",\"freed\":%" PRIu64, g->bytes, g->blocks, g->peak_bytes,
		g->peak_blocks, g->calls, g->got, g->freed);
	if (leak_lifetime(g) >= 0)
		fprintf(out, ",\"lifetime_p50_ns\":%" PRId64 ",\"lifetime_max_ns\":%" PRId64, leak_lifetime(g),
			g->longest);
	if (g->key) {
		fputs(",\"name\":", out);
		json_string(out, g->key);
	} else {
		fputs(",\"stack\":", out);
		stack_json(g->stack, has_lines, out);
	}
	fputs("}", out);
}

static void process_json(const struct leak_process *p, FILE *out)
{
	static const char *const begun[] = { "start", "attached", "forked", "unknown" };

	fputs("{\"process\":", out);
	json_string(out, p->name);
	fprintf(out, ",\"pid\":%" PRId64 ",\"begun\":\"%s\",\"executed_another\":%s", p->pid, begun[p->begun],
		p->is_over ? "true" : "false");
}

static void incidents_json(const struct leak_process *p, enum leak_wrong what, int has_lines, FILE *out)
{
	const char *between = "";

	fputs("[", out);
	for (uint32_t i = 0; i < p->incident_count; i++) {
		const struct leak_incident *w = &p->incidents[i];

		if (w->what != what)
			continue;
		fprintf(out, "%s\n{\"address\":\"0x%" PRIx64 "\",\"ns\":%" PRId64 ",\"by\":", between, w->address,
			w->ns);
		stack_json(w->at, has_lines, out);
		if (w->got) {
			fputs(",\"allocated_by\":", out);
			stack_json(w->got, has_lines, out);
		}
		fputs("}", out);
		between = ",";
	}
	fputs("]", out);
}

static void memory_json(const struct leaks *l, const struct leak_process *p, struct leak_group **groups, uint32_t count,
	uint32_t limit, int has_lines, FILE *out)
{
	uint32_t shown = 0;

	process_json(p, out);
	fprintf(out, ",\"bytes\":%" PRIu64 ",\"blocks\":%" PRIu64 ",\"peak_bytes\":%" PRIu64 ",\"peak_blocks\":%" PRIu64
		",\"peak_ns\":%" PRId64 ",\"allocations\":%" PRIu64 ",\"allocated_bytes\":%" PRIu64 ",\"freed\":%" PRIu64
		",\"failed\":%" PRIu64 ",\"older_freed\":%" PRIu64 ",\"internal_freed\":%" PRIu64 ",\"unseen_freed\":%" PRIu64
		",\"in_use_before\":%" PRIu64, p->bytes, p->live, p->peak_bytes, p->peak_blocks, p->peak_ns, p->calls, p->got,
		p->freed, p->failed, p->older, p->internal, p->unseen, p->in_use);
	if (l->lost == UINT64_MAX)
		fputs(",\"lost_events\":null", out);
	else
		fprintf(out, ",\"lost_events\":%" PRIu64, l->lost);
	fprintf(out, ",\"double_frees\":%" PRIu64 ",\"foreign_frees\":%" PRIu64 ",\n\"double\":",
		p->wrong[WRONG_DOUBLE], p->wrong[WRONG_FOREIGN]);
	incidents_json(p, WRONG_DOUBLE, has_lines, out);
	fputs(",\"foreign\":", out);
	incidents_json(p, WRONG_FOREIGN, has_lines, out);
	fputs(",\n\"groups\":[", out);
	for (uint32_t i = 0; i < count && (!limit || shown < limit); i++) {
		if (!is_shown(groups[i]))
			continue;
		fputs(shown++ ? ",\n" : "\n", out);
		group_json(groups[i], has_lines, out);
	}
	fputs("]}", out);
}

static void memory_csv(const struct leak_process *p, struct leak_group **groups, uint32_t count, uint32_t limit,
	int has_lines, FILE *out)
{
	uint32_t shown = 0;

	for (uint32_t i = 0; i < count && (!limit || shown < limit); i++) {
		const struct leak_group *g = groups[i];

		if (!is_shown(g))
			continue;
		shown++;
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
			stack_csv(g->stack, has_lines, out);
		putc('\n', out);
	}
}

int leaks_write(struct leaks *l, enum leak_sort sort, uint32_t limit, enum format format, int has_lines, FILE *out)
{
	const char *between = "";

	sorting = sort;
	if (format == FORMAT_JSON)
		fputs("[", out);
	if (format == FORMAT_CSV)
		fputs("process,pid,bytes,blocks,peak_bytes,peak_blocks,allocations,allocated_bytes,lifetime_p50_ns,"
			"lifetime_max_ns,by\n", out);
	for (struct leak_process *p = l->list; p; p = p->next) {
		uint32_t count;
		struct leak_group **groups = leaks_groups(l, p, &count);

		if (!groups)
			return -ENOMEM;
		qsort(groups, count, sizeof(struct leak_group *), group_compare);
		if (format == FORMAT_JSON) {
			fprintf(out, "%s\n", between);
			memory_json(l, p, groups, count, limit, has_lines, out);
		} else if (format == FORMAT_CSV) {
			memory_csv(p, groups, count, limit, has_lines, out);
		} else {
			fputs(between, out);
			title_write(l, p, out);
			wrong_write(p, has_lines, out);
			rows_write(groups, count, limit, has_lines, out);
		}
		between = format == FORMAT_JSON ? "," : "\n";
		leaks_groups_free(groups, count);
		if (output_status(out) < 0)
			return output_status(out);
	}
	if (format == FORMAT_JSON)
		fputs("\n]\n", out);
	return output_status(out);
}

/* ---- descriptors, threads, mappings ---- */

static const char *const kind_names[LEAK_KINDS] = { "descriptor", "thread", "mapping" };
static const char *const kind_titles[LEAK_KINDS] = {
	"descriptors open", "threads neither joined nor detached", "mappings" };

static int resource_compare(const void *a, const void *b)
{
	const struct leak_resource *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->kind == LEAK_MAPPING && x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static void resource_number(const struct leak_resource *r, char *text, size_t size)
{
	if (r->kind == LEAK_DESCRIPTOR)
		snprintf(text, size, "%" PRIu64, r->from);
	else
		snprintf(text, size, "0x%" PRIx64, r->from);
}

static void resources_text(const struct leak_process *p, enum leak_kind kind, uint32_t limit, int has_lines, FILE *out)
{
	uint32_t count = 0, shown = 0;
	uint64_t bytes = 0;
	char number[24];

	for (uint32_t i = 0; i < p->resource_count; i++)
		if (p->resources[i].kind == kind) {
			count++;
			bytes += p->resources[i].size;
		}
	fprintf(out, "  %s: %" PRIu32, kind_titles[kind], count);
	if (kind == LEAK_MAPPING)
		fprintf(out, ", %" PRIu64 " bytes", bytes);
	fprintf(out, "; made: %" PRIu64 "; given back: %" PRIu64, p->opened[kind], p->closed[kind]);
	if (p->unknown[kind])
		fprintf(out, "; given back that were made before, or by what is not recorded: %" PRIu64,
			p->unknown[kind]);
	putc('\n', out);
	for (uint32_t i = 0; i < p->resource_count && (!limit || shown < limit); i++) {
		const struct leak_resource *r = &p->resources[i];

		if (r->kind != kind)
			continue;
		shown++;
		resource_number(r, number, sizeof(number));
		fprintf(out, "    %-18s ", number);
		if (kind == LEAK_MAPPING)
			fprintf(out, "%12" PRIu64 "  ", r->size);
		fprintf(out, "%s\n", r->text ? r->text : "");
		stack_write(r->stack, has_lines, out);
	}
	if (shown < count)
		fprintf(out, "    ... and %" PRIu32 " more: --limit 0 shows all\n", count - shown);
}

static void resource_json(const struct leak_resource *r, int has_lines, FILE *out)
{
	char number[24];

	resource_number(r, number, sizeof(number));
	fprintf(out, "{\"kind\":\"%s\",\"number\":\"%s\",\"size\":%" PRIu64 ",\"ns\":%" PRId64 ",\"made_by\":",
		kind_names[r->kind], number, r->size, r->ns);
	json_string(out, r->text ? r->text : "");
	fputs(",\"stack\":", out);
	stack_json(r->stack, has_lines, out);
	fputs("}", out);
}

static void resource_csv(const struct leak_process *p, const struct leak_resource *r, int has_lines, FILE *out)
{
	char number[24];

	resource_number(r, number, sizeof(number));
	csv_field(out, p->name);
	fprintf(out, ",%" PRId64 ",%s,%s,%" PRIu64 ",%" PRId64 ",", p->pid, kind_names[r->kind], number, r->size,
		r->ns);
	csv_field(out, r->text ? r->text : "");
	putc(',', out);
	stack_csv(r->stack, has_lines, out);
	putc('\n', out);
}

static void counts_json(const struct leak_process *p, FILE *out)
{
	for (unsigned int k = 0; k < LEAK_KINDS; k++)
		fprintf(out, ",\"%ss\":{\"made\":%" PRIu64 ",\"given_back\":%" PRIu64 ",\"unknown_given_back\":%" PRIu64 "}",
			kind_names[k], p->opened[k], p->closed[k], p->unknown[k]);
	fprintf(out, ",\"break_bytes\":%" PRIu64 ",\"break_most_bytes\":%" PRIu64, p->break_now - p->break_low,
		p->break_most - p->break_low);
}

int leaks_resources_write(struct leaks *l, uint32_t limit, enum format format, int has_lines, FILE *out)
{
	const char *between = "";

	if (format == FORMAT_JSON)
		fputs("[", out);
	if (format == FORMAT_CSV)
		fputs("process,pid,kind,number,size,ns,made_by,by\n", out);
	for (struct leak_process *p = l->list; p; p = p->next) {
		if (p->resource_count)
			qsort(p->resources, p->resource_count, sizeof(*p->resources), resource_compare);
		if (format == FORMAT_TEXT) {
			fprintf(out, "%s%s%s (%" PRId64 ")%s%s%s\n", between, colour_begin(COLOUR_HEAD),
				*p->name ? p->name : "process",
				p->pid, p->is_over ? ", until it executed another program" : "", begun_text(p),
				colour_end(COLOUR_HEAD));
			for (unsigned int k = 0; k < LEAK_KINDS; k++)
				resources_text(p, (enum leak_kind) k, limit, has_lines, out);
			if (p->break_low)
				fprintf(out, "  by brk() and sbrk(): %" PRIu64 " bytes, %" PRIu64 " at most\n",
					p->break_now - p->break_low, p->break_most - p->break_low);
		} else if (format == FORMAT_JSON) {
			fprintf(out, "%s\n", between);
			process_json(p, out);
			counts_json(p, out);
			fputs(",\"there\":[", out);
			for (uint32_t i = 0; i < p->resource_count; i++) {
				fputs(i ? ",\n" : "\n", out);
				resource_json(&p->resources[i], has_lines, out);
			}
			fputs("]}", out);
		} else {
			for (uint32_t i = 0; i < p->resource_count; i++)
				resource_csv(p, &p->resources[i], has_lines, out);
		}
		between = format == FORMAT_JSON ? "," : "\n";
	}
	if (format == FORMAT_JSON)
		fputs("\n]\n", out);
	return output_status(out);
}

/* ---- over time ---- */

/* The most within `count` points from `from` on; NULL: nothing happened. */
static const struct leak_point *point_of(const struct leak_process *p, uint32_t from, uint32_t count)
{
	const struct leak_point *most = NULL;

	for (uint32_t i = from; i < from + count && i < LEAK_POINTS; i++)
		if (p->points[i].is_there && (!most || p->points[i].bytes > most->bytes))
			most = &p->points[i];
	return most;
}

static void times_text(const struct leak_process *p, FILE *out)
{
	uint32_t used = 0, each;
	char when[32];

	for (uint32_t i = 0; i < LEAK_POINTS; i++)
		used = p->points[i].is_there ? i + 1 : used;
	each = (used + TIME_ROWS - 1) / TIME_ROWS;
	fprintf(out, "%s%s (%" PRId64 "): live bytes, the most in each time%s\n", colour_begin(COLOUR_HEAD),
		*p->name ? p->name : "process", p->pid, colour_end(COLOUR_HEAD));
	for (uint32_t i = 0; each && i < used; i += each) {
		const struct leak_point *point = point_of(p, i, each);
		unsigned int bar;

		if (!point)
			continue;
		bar = p->peak_bytes ? (unsigned int) ((double) point->bytes * TIME_BAR / (double) p->peak_bytes) : 0;
		time_text(point->ns, when);
		fprintf(out, "  %s %12" PRIu64 " |%.*s\n", when, point->bytes, (int) bar,
			"@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@");
	}
}

int leaks_times_write(struct leaks *l, enum format format, FILE *out)
{
	const char *between = "";

	if (format == FORMAT_CSV)
		fputs("process,pid,ns,bytes,blocks\n", out);
	if (format == FORMAT_JSON)
		fputs("[", out);
	for (const struct leak_process *p = l->list; p; p = p->next) {
		const char *comma = "";

		if (format == FORMAT_TEXT) {
			fputs(between, out);
			times_text(p, out);
		} else if (format == FORMAT_JSON) {
			fprintf(out, "%s\n", between);
			process_json(p, out);
			fputs(",\"points\":[", out);
		}
		for (uint32_t i = 0; format != FORMAT_TEXT && i < LEAK_POINTS; i++) {
			const struct leak_point *point = &p->points[i];

			if (!point->is_there)
				continue;
			if (format == FORMAT_CSV) {
				csv_field(out, p->name);
				fprintf(out, ",%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64 "\n", p->pid, point->ns,
					point->bytes, point->blocks);
			} else {
				fprintf(out, "%s{\"ns\":%" PRId64 ",\"bytes\":%" PRIu64 ",\"blocks\":%" PRIu64 "}",
					comma, point->ns, point->bytes, point->blocks);
				comma = ",";
			}
		}
		if (format == FORMAT_JSON)
			fputs("]}", out);
		between = format == FORMAT_JSON ? "," : "\n";
	}
	if (format == FORMAT_JSON)
		fputs("\n]\n", out);
	return output_status(out);
}

/* ---- for flame graph tools ---- */

int leaks_folded_write(struct leaks *l, FILE *out)
{
	char function[1600];

	for (struct leak_process *p = l->list; p; p = p->next)
		for (uint32_t i = 0; i < p->group_count; i++) {
			const struct leak_group *g = p->list[i];

			if (!g->bytes)
				continue;
			for (uint32_t k = g->stack->count; k--;) {
				leak_frame_function(g->stack->frames[k], function, sizeof(function));
				for (char *c = function; *c; c++)
					*c = *c == ';' ? ':' : *c;
				fprintf(out, "%s%s", function, k ? ";" : "");
			}
			fprintf(out, " %" PRIu64 "\n", g->bytes);
		}
	return output_status(out);
}
