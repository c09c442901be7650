/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Descriptors, threads and mappings that are there, as text, JSON and CSV. */
#include <inttypes.h>
#include <stdlib.h>
#include "reader/base/text.h"
#include "reader/leaks/leaks.h"

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

static void kind_text(const struct leak_process *p, enum leak_kind kind, uint32_t count, uint64_t bytes, FILE *out)
{
	fprintf(out, "  %s: %" PRIu32, kind_titles[kind], count);
	if (kind == LEAK_MAPPING)
		fprintf(out, ", %" PRIu64 " bytes", bytes);
	fprintf(out, "; made: %" PRIu64 "; given back: %" PRIu64, p->opened[kind], p->closed[kind]);
	if (p->unknown[kind])
		fprintf(out, "; given back that were made before, or by what is not recorded: %" PRIu64,
			p->unknown[kind]);
	putc('\n', out);
}

static void resource_text(const struct leak_resource *r, const struct leak_form *f)
{
	char number[24];

	resource_number(r, number, sizeof(number));
	fprintf(f->out, "    %-18s ", number);
	if (r->kind == LEAK_MAPPING)
		fprintf(f->out, "%12" PRIu64 "  ", r->size);
	fprintf(f->out, "%s\n", r->text);
	leak_stack_write(r->stack, f);
}

static void resource_json(const struct leak_resource *r, const struct leak_form *f)
{
	char number[24];

	resource_number(r, number, sizeof(number));
	fprintf(f->out, "{\"kind\":\"%s\",\"number\":\"%s\",\"size\":%" PRIu64 ",\"ns\":%" PRId64 ",\"made_by\":",
		kind_names[r->kind], number, r->size, r->ns);
	json_string(f->out, r->text);
	fputs(",\"stack\":", f->out);
	leak_stack_json(r->stack, f);
	fputs("}", f->out);
}

static void resource_csv(const struct leak_process *p, const struct leak_resource *r, const struct leak_form *f)
{
	char number[24];

	resource_number(r, number, sizeof(number));
	csv_field(f->out, p->name);
	fprintf(f->out, ",%" PRId64 ",%s,%s,%" PRIu64 ",%" PRId64 ",", p->pid, kind_names[r->kind], number, r->size,
		r->ns);
	csv_field(f->out, r->text);
	putc(',', f->out);
	leak_stack_csv(r->stack, f);
	putc('\n', f->out);
}

static void counts_json(const struct leak_process *p, FILE *out)
{
	for (unsigned int k = 0; k < LEAK_KINDS; k++)
		fprintf(out, ",\"%ss\":{\"made\":%" PRIu64 ",\"given_back\":%" PRIu64 ",\"unknown_given_back\":%" PRIu64 "}",
			kind_names[k], p->opened[k], p->closed[k], p->unknown[k]);
	fprintf(out, ",\"break_bytes\":%" PRIu64 ",\"break_most_bytes\":%" PRIu64 ",\"there\":[",
		p->break_now - p->break_low, p->break_most - p->break_low);
}

/* All of a kind, which stand together. */
static const struct leak_resource *kind_write(const struct leak_process *p, enum leak_kind kind,
	const struct leak_resource *first, const struct leak_form *f)
{
	const struct leak_resource *const end = p->resources + p->resource_count, *r = first;
	uint32_t count = 0, shown;
	uint64_t bytes = 0;

	for (; r < end && r->kind == kind; r++, count++)
		bytes += r->size;
	shown = f->limit && f->limit < count ? f->limit : count;
	if (f->format == FORMAT_TEXT)
		kind_text(p, kind, count, bytes, f->out);
	for (r = first; r < first + shown; r++) {
		if (f->format == FORMAT_TEXT) {
			resource_text(r, f);
		} else if (f->format == FORMAT_JSON) {
			fputs(r == p->resources ? "\n" : ",\n", f->out);
			resource_json(r, f);
		} else {
			resource_csv(p, r, f);
		}
	}
	if (shown < count && f->format == FORMAT_TEXT)
		fprintf(f->out, "    ... and %" PRIu32 " more: --limit 0 shows all\n", count - shown);
	return first + count;
}

static int process_write(struct leaks *l, struct leak_process *p, const struct leak_form *f)
{
	const struct leak_resource *next = p->resources;

	(void) l;
	if (p->resource_count)
		qsort(p->resources, p->resource_count, sizeof(*p->resources), resource_compare);
	if (f->format == FORMAT_TEXT)
		leak_title_write(p, f->out);
	if (f->format == FORMAT_JSON)
		counts_json(p, f->out);
	for (unsigned int k = 0; k < LEAK_KINDS; k++)
		next = kind_write(p, (enum leak_kind) k, next, f);
	if (f->format == FORMAT_TEXT && p->break_low)
		fprintf(f->out, "  by brk() and sbrk(): %" PRIu64 " bytes, %" PRIu64 " at most\n",
			p->break_now - p->break_low, p->break_most - p->break_low);
	return 0;
}

int leaks_resources_write(struct leaks *l, const struct leak_form *f)
{
	return leaks_each(l, f, "process,pid,kind,number,size,ns,made_by,by\n", process_write);
}
