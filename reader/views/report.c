/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The table of functions, or of objects, threads, processes, pairs of caller and function: calls and times.
 *
 * A total is the time within a function, also when it calls itself: only the outermost call of a thread counts to it. Times
 * of single calls go into a histogram whose classes are at most 1.6 % wide, from which p50 and p99 are read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/views/views.h"

#define CLASS_BITS	6u		/* classes a power of two: 64 */
#define CLASSES		((64u - CLASS_BITS + 1) << CLASS_BITS)

struct row {
	struct spi_hash_link link;
	const struct call_function *function, *caller;
	const struct call_thread *thread;
	const struct call_process *process;
	const char *object;
	uint32_t number;
	uint64_t calls;
	int64_t total, self, min, max;	/* ns; total: of outermost calls */
	int64_t sum;			/* of all calls */
	uint32_t *classes;		/* how many calls took so long; from the first block on */
	uint32_t first_class, class_count;
};

/* Open calls of a thread by row, so that the outermost one is known. */
struct thread_rows {
	uint32_t *open;
	uint32_t room;
};

struct report {
	enum report_by by;
	struct row **rows;
	uint32_t count, room;
	struct row **of_function;	/* BY_FUNCTION: by its number */
	uint32_t function_room;
	struct spi_hash table;
	struct spi_hash_link *buckets[16384];
	struct thread_rows *threads;	/* by number */
	uint32_t thread_room;
	uint64_t lost, missing, no_exit, open;
};

struct report *report_make(enum report_by by)
{
	struct report *r = calloc(1, sizeof(*r));

	if (r) {
		r->by = by;
		r->table = (struct spi_hash) SPI_HASH_OVER(r->buckets);
	}
	return r;
}

void report_free(struct report *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->count; i++) {
		free(r->rows[i]->classes);
		free(r->rows[i]);
	}
	for (uint32_t i = 0; i < r->thread_room; i++)
		free(r->threads[i].open);
	free(r->threads);
	free(r->of_function);
	free(r->rows);
	free(r);
}

/* Room for the entry `at` of an array, new ones zeroed: 0 or -1. */
static int array_reach(void *array, uint32_t *room, uint32_t at, size_t size)
{
	uint32_t more = *room ? *room : 64;
	char *grown;

	if (at < *room)
		return 0;
	while (more <= at)
		more *= 2;
	grown = realloc(*(void **) array, more * size);
	if (!grown)
		return -1;
	memset(grown + *room * size, 0, (more - *room) * size);
	*(void **) array = grown;
	*room = more;
	return 0;
}

/* ---- rows ---- */

static struct row *row_add(struct report *r)
{
	struct row *row = array_reach(&r->rows, &r->room, r->count, sizeof(*r->rows)) < 0 ? NULL : calloc(1, sizeof(*row));

	if (!row)
		return NULL;
	row->number = r->count;
	row->min = INT64_MAX;
	r->rows[r->count++] = row;
	return row;
}

static struct row *row_of_function(struct report *r, const struct call_function *f)
{
	struct row **row;

	if (array_reach(&r->of_function, &r->function_room, f->number, sizeof(*r->of_function)) < 0)
		return NULL;
	row = &r->of_function[f->number];
	if (!*row && (*row = row_add(r)))
		(*row)->function = f;
	return *row;
}

/* The call around the call's own; NULL: none is shown. entry: the call is not on the stack's top any more. */
static const struct call_function *caller_of(const struct call *call)
{
	const struct call_thread *t = call->thread;
	uint32_t at = t->depth;

	if (call->kind == CALL_ENTRY)
		at--;
	while (at && !t->stack[at - 1].number)
		at--;
	return at ? t->stack[at - 1].function : NULL;
}

static struct row *row_of(struct report *r, const struct call *call)
{
	const struct row key = {
		.function = r->by == BY_CALLER ? call->function : NULL,
		.caller = r->by == BY_CALLER ? caller_of(call) : NULL,
		.thread = r->by == BY_THREAD ? call->thread : NULL,
		.process = r->by == BY_PROCESS ? call->thread->process : NULL,
		.object = r->by == BY_OBJECT ? call->function->object : "",
	};
	uint64_t hash;
	struct row *row;

	if (r->by == BY_FUNCTION)
		return row_of_function(r, call->function);
	hash = spi_hash_number(spi_hash_text((uintptr_t) key.function ^ spi_hash_number((uintptr_t) key.caller) ^
		(uintptr_t) key.thread ^ (uintptr_t) key.process, key.object));
	row = spi_hash_find(&r->table, hash);
	while (row && (row->function != key.function || row->caller != key.caller || row->thread != key.thread ||
			row->process != key.process || strcmp(row->object, key.object)))
		row = spi_hash_again(&row->link);
	if (row)
		return row;
	row = row_add(r);
	if (!row)
		return NULL;
	row->function = key.function;
	row->caller = key.caller;
	row->thread = key.thread;
	row->process = key.process;
	row->object = key.object;
	spi_hash_add(&r->table, &row->link, hash);
	return row;
}

/* ---- times ---- */

static uint32_t class_of(int64_t ns)
{
	const uint64_t value = ns > 0 ? (uint64_t) ns : 0;
	const unsigned int bits = value ? 64 - (unsigned int) __builtin_clzll(value) : 0;
	const unsigned int shift = bits > CLASS_BITS + 1 ? bits - CLASS_BITS - 1 : 0;

	return (shift << CLASS_BITS) + (uint32_t) (value >> shift);
}

/* The middle of a class, in ns. */
static int64_t class_value(uint32_t class)
{
	const unsigned int shift = class >> CLASS_BITS ? (class >> CLASS_BITS) - 1 : 0;
	const uint64_t low = (uint64_t) (class - (shift << CLASS_BITS)) << shift;

	return (int64_t) (low + ((UINT64_C(1) << shift) - 1) / 2);
}

static int time_add(struct row *row, int64_t ns)
{
	const uint32_t class = class_of(ns);

	row->sum += ns;
	if (ns < row->min)
		row->min = ns;
	if (ns > row->max)
		row->max = ns;
	if (class - row->first_class >= row->class_count) {
		/* blocks of one power of two, as far as there are calls */
		uint32_t low = class & ~((1u << CLASS_BITS) - 1), high = low + (1u << CLASS_BITS);
		uint32_t *more;

		if (row->class_count && row->first_class < low)
			low = row->first_class;
		if (row->class_count && row->first_class + row->class_count > high)
			high = row->first_class + row->class_count;
		more = calloc(high - low, sizeof(*more));
		if (!more)
			return -ENOMEM;
		if (row->class_count)
			memcpy(more + (row->first_class - low), row->classes, row->class_count * sizeof(*more));
		free(row->classes);
		row->classes = more;
		row->first_class = low;
		row->class_count = high - low;
	}
	row->classes[class - row->first_class]++;
	return 0;
}

static int64_t quantile(const struct row *row, double q)
{
	uint64_t wanted = (uint64_t) ((double) (row->calls - 1) * q), seen = 0;
	int64_t value;

	for (uint32_t i = 0; i < row->class_count; i++) {
		seen += row->classes[i];
		if (seen > wanted) {
			value = class_value(row->first_class + i);
			return value < row->min ? row->min : value > row->max ? row->max : value;
		}
	}
	return 0;
}

/* ---- calls ---- */

static uint32_t *open_of(struct report *r, const struct call *call, const struct row *row)
{
	struct thread_rows *t;

	if (array_reach(&r->threads, &r->thread_room, call->thread->number, sizeof(*r->threads)) < 0)
		return NULL;
	t = &r->threads[call->thread->number];
	return array_reach(&t->open, &t->room, row->number, sizeof(*t->open)) < 0 ? NULL : &t->open[row->number];
}

int report_take(void *report, const struct call *call)
{
	struct report *r = report;
	struct row *row;
	uint32_t *open;

	if (call->kind == CALL_LOST) {
		r->lost += call->lost;
		r->missing += !call->lost;
		return 0;
	}
	if (call->kind == CALL_EXIT && call->begin == INT64_MIN)
		return 0;
	row = row_of(r, call);
	open = row ? open_of(r, call, row) : NULL;
	if (!open)
		return -ENOMEM;
	if (call->kind == CALL_ENTRY) {
		++*open;
		return 0;
	}
	if (call->kind == CALL_EXIT && *open)
		--*open;
	r->no_exit += call->left == CALL_NO_EXIT;
	r->open += call->left == CALL_OPEN;
	row->calls++;
	row->self += call->self;
	if (!*open)
		row->total += call->ns - call->begin;
	return time_add(row, call->ns - call->begin);
}

/* ---- writing ---- */

static const char *const by_names[] = { "function", "object", "thread", "process", "caller" };
static const char *const sort_names[] = { "total", "self", "calls", "average", "min", "max", "p50", "p99", "name" };

static int name_find(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return (int) i;
	return -1;
}

int report_by_read(const char *name)
{
	return name_find(by_names, sizeof(by_names) / sizeof(by_names[0]), name);
}

int report_sort_read(const char *name)
{
	return name_find(sort_names, sizeof(sort_names) / sizeof(sort_names[0]), name);
}

static void row_name(const struct row *row, enum report_by by, char *text, size_t size)
{
	switch (by) {
	case BY_FUNCTION:
		snprintf(text, size, "%s", row->function->name);
		break;
	case BY_CALLER:
		snprintf(text, size, "%s -> %s", row->caller ? row->caller->name : "(top)", row->function->name);
		break;
	case BY_OBJECT:
		snprintf(text, size, "%s", *row->object ? row->object : "(typed events)");
		break;
	case BY_THREAD:
		if (row->thread->tid >= 0)
			snprintf(text, size, "%s%s%" PRId64, row->thread->process->name, *row->thread->process->name ? ":" : "",
				row->thread->tid);
		else
			snprintf(text, size, "(threads of one buffer)");
		break;
	case BY_PROCESS:
		snprintf(text, size, "%s%s%" PRId64, row->process->name, *row->process->name ? ":" : "", row->process->pid);
		break;
	}
}

static const char *row_object(const struct row *row)
{
	return row->function ? row->function->object : "";
}

static enum report_sort sorting;
static enum report_by sorting_by;

static int64_t sort_value(const struct row *row)
{
	switch (sorting) {
	case SORT_SELF:
		return row->self;
	case SORT_CALLS:
		return (int64_t) row->calls;
	case SORT_AVERAGE:
		return row->calls ? row->sum / (int64_t) row->calls : 0;
	case SORT_MIN:
		return row->min;
	case SORT_MAX:
		return row->max;
	case SORT_P50:
		return quantile(row, 0.5);
	case SORT_P99:
		return quantile(row, 0.99);
	default:
		return row->total;
	}
}

static int row_compare(const void *a, const void *b)
{
	const struct row *x = *(const struct row *const *) a, *y = *(const struct row *const *) b;
	char one[4400], other[4400];
	int64_t v = 0, w = 0;

	if (sorting != SORT_NAME) {
		v = sort_value(x);
		w = sort_value(y);
	}
	if (v != w)
		return v > w ? -1 : 1;
	row_name(x, sorting_by, one, sizeof(one));
	row_name(y, sorting_by, other, sizeof(other));
	return strcmp(one, other);
}

static void text_write(const struct report *r, uint32_t limit, FILE *out)
{
	char total[32], self[32], average[32], min[32], max[32], p50[32], p99[32], name[4400];
	const size_t before = 10 + 7 * 11 + 2;

	fprintf(out, "%s%10s %10s %10s %10s %10s %10s %10s %10s  %s%s\n", colour_begin(COLOUR_HEAD), "calls", "total", "self",
		"average", "min", "max", "p50", "p99", by_names[r->by], colour_end(COLOUR_HEAD));
	for (uint32_t i = 0; i < r->count && (!limit || i < limit); i++) {
		const struct row *row = r->rows[i];
		const char *object = row_object(row);
		int room = terminal.width > before + 20 ? (int) (terminal.width - before) : 100000;

		if (!row->calls)
			continue;
		duration_text(row->total, total, sizeof(total));
		duration_text(row->self, self, sizeof(self));
		duration_text(row->sum / (int64_t) row->calls, average, sizeof(average));
		duration_text(row->min, min, sizeof(min));
		duration_text(row->max, max, sizeof(max));
		duration_text(quantile(row, 0.5), p50, sizeof(p50));
		duration_text(quantile(row, 0.99), p99, sizeof(p99));
		row_name(row, r->by, name, sizeof(name));
		fprintf(out, "%10" PRIu64 " %10s %10s %10s %10s %10s %10s %10s  %s%.*s%s", row->calls, total, self, average, min, max,
			p50, p99, colour_begin(COLOUR_FUNCTION), room, name, colour_end(COLOUR_FUNCTION));
		if (*object && (int) (strlen(name) + strlen(object)) + 3 < room)
			fprintf(out, " %s[%s]%s", colour_begin(COLOUR_DIM), object, colour_end(COLOUR_DIM));
		putc('\n', out);
	}
}

static void row_values(const struct row *row, FILE *out, const char *format, const char *const *names)
{
	const int64_t values[] = { row->total, row->self, row->calls ? row->sum / (int64_t) row->calls : 0, row->min, row->max,
		quantile(row, 0.5), quantile(row, 0.99) };

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		names ? fprintf(out, format, names[i], values[i]) : fprintf(out, format, values[i]);
}

static void json_write(const struct report *r, uint32_t limit, FILE *out)
{
	static const char *const names[] = { "total", "self", "average", "min", "max", "p50", "p99" };
	char name[4400];
	const char *between = "";

	fprintf(out, "{\"by\":\"%s\",\"rows\":[", by_names[r->by]);
	for (uint32_t i = 0; i < r->count && (!limit || i < limit); i++) {
		const struct row *row = r->rows[i];

		if (!row->calls)
			continue;
		row_name(row, r->by, name, sizeof(name));
		fprintf(out, "%s\n{\"name\":", between);
		json_string(out, name);
		if (*row_object(row)) {
			fputs(",\"object\":", out);
			json_string(out, row_object(row));
		}
		fprintf(out, ",\"calls\":%" PRIu64, row->calls);
		row_values(row, out, ",\"%s\":%" PRId64, names);
		putc('}', out);
		between = ",";
	}
	fprintf(out, "],\n\"lost_events\":%" PRIu64 ",\"gaps\":%" PRIu64 ",\"exits_missing\":%" PRIu64 ",\"open\":%" PRIu64 "}\n",
		r->lost, r->missing, r->no_exit, r->open);
}

static void csv_write(const struct report *r, uint32_t limit, FILE *out)
{
	char name[4400];

	fprintf(out, "%s,object,calls,total,self,average,min,max,p50,p99\n", by_names[r->by]);
	for (uint32_t i = 0; i < r->count && (!limit || i < limit); i++) {
		const struct row *row = r->rows[i];

		if (!row->calls)
			continue;
		row_name(row, r->by, name, sizeof(name));
		csv_field(out, name);
		putc(',', out);
		csv_field(out, row_object(row));
		fprintf(out, ",%" PRIu64, row->calls);
		row_values(row, out, ",%" PRId64, NULL);
		putc('\n', out);
	}
}

int report_write(struct report *r, const struct report *other, enum report_sort sort, uint32_t limit, enum format format,
	FILE *out)
{
	sorting = sort;
	sorting_by = r->by;
	if (r->count)
		qsort(r->rows, r->count, sizeof(*r->rows), row_compare);
	if (format == FORMAT_JSON) {
		json_write(r, limit, out);
		return ferror(out) ? -EPIPE : 0;
	}
	if (format == FORMAT_CSV) {
		csv_write(r, limit, out);
		return ferror(out) ? -EPIPE : 0;
	}
	text_write(r, limit, out);
	if (r->lost)
		fprintf(out, "%" PRIu64 " events are lost: calls are missing above\n", r->lost);
	if (r->missing)
		fprintf(out, "calls are missing in %" PRIu64 " places: they were lost, or the rule was off then\n", r->missing);
	if (r->no_exit)
		fprintf(out, "%" PRIu64 " calls have no exit: their time goes to where the next call around them ends\n", r->no_exit);
	if (r->open)
		fprintf(out, "%" PRIu64 " calls are open at the end: their time goes to there\n", r->open);
	return ferror(out) ? -EPIPE : 0;
}
