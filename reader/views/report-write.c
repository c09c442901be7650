/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The table as text, JSON and CSV. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/views/report.h"

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

const char *report_by_name(enum report_by by)
{
	return by_names[by];
}

void row_name(const struct row *row, enum report_by by, char *text, size_t size)
{
	switch (by) {
	case BY_FUNCTION:
		snprintf(text, size, "%s", row->function->name);
		break;
	case BY_CALLER:
		snprintf(text, size, "%s -> %s", row->caller ? row->caller->name : "(top)", row->function->name);
		break;
	case BY_OBJECT:
		snprintf(text, size, "%s", *row->object ? row->object : "(not known)");
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

const char *row_object(const struct row *row)
{
	return row->function ? row->function->object : "";
}

static enum report_sort sorting;
static enum report_by sorting_by;

static int64_t sort_value(const struct row *row, enum report_sort sort)
{
	switch (sort) {
	case SORT_SELF:
		return row->self;
	case SORT_CALLS:
		return (int64_t) row->calls;
	case SORT_AVERAGE:
		return row->calls ? row->times.sum / (int64_t) row->calls : 0;
	case SORT_MIN:
		return row->times.min;
	case SORT_MAX:
		return row->times.max;
	case SORT_P50:
		return times_quantile(&row->times, 0.5);
	case SORT_P99:
		return times_quantile(&row->times, 0.99);
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
		v = sort_value(x, sorting);
		w = sort_value(y, sorting);
	}
	if (v != w)
		return v > w ? -1 : 1;
	row_name(x, sorting_by, one, sizeof(one));
	row_name(y, sorting_by, other, sizeof(other));
	return strcmp(one, other);
}

/* The name, the line where there is one, the object where there is room. */
static void name_write(const struct row *row, enum report_by by, int room, FILE *out)
{
	const char *object = row_object(row);
	char name[4400], place[600] = "";
	int length;

	row_name(row, by, name, sizeof(name));
	if (row->function)
		call_function_place(row->function, place, sizeof(place));
	length = (int) (strlen(name) + strlen(place));
	fprintf(out, "%s%.*s%s%s%s%s", colour_begin(COLOUR_FUNCTION), room, name, colour_end(COLOUR_FUNCTION),
		colour_begin(COLOUR_DIM), place, colour_end(COLOUR_DIM));
	if (*object && length + (int) strlen(object) + 3 < room)
		fprintf(out, " %s[%s]%s", colour_begin(COLOUR_DIM), object, colour_end(COLOUR_DIM));
	putc('\n', out);
}

/* Columns of times in their order, each with how many there have to be room for before it is left out on a terminal. */
static const struct {
	enum report_sort sort;
	unsigned int rank;
} times[] = { { SORT_TOTAL, 1 }, { SORT_SELF, 2 }, { SORT_AVERAGE, 3 }, { SORT_MIN, 6 }, { SORT_MAX, 4 }, { SORT_P50, 7 },
	{ SORT_P99, 5 } };
#define TIMES		(sizeof(times) / sizeof(times[0]))
#define NAME_LEAST	30u

/* How many columns of times a terminal has room for; what the table is sorted by is always there. */
static unsigned int times_shown(void)
{
	unsigned int n = TIMES;

	while (terminal.width && n > 2 && terminal.width < 10 + n * 11 + 2 + NAME_LEAST)
		n--;
	return n;
}

static void text_write(const struct report *r, uint32_t limit, FILE *out)
{
	const unsigned int shown = times_shown();
	unsigned int before = 10 + 2;
	char text[32];

	fprintf(out, "%s%10s", colour_begin(COLOUR_HEAD), "calls");
	for (size_t k = 0; k < TIMES; k++)
		if (times[k].rank <= shown || times[k].sort == sorting) {
			fprintf(out, " %10s", sort_names[times[k].sort]);
			before += 11;
		}
	fprintf(out, "  %s%s\n", by_names[r->by], colour_end(COLOUR_HEAD));
	for (uint32_t i = 0; i < r->count && (!limit || i < limit); i++) {
		const struct row *row = r->rows[i];

		if (!row->calls)
			continue;
		fprintf(out, "%10" PRIu64, row->calls);
		for (size_t k = 0; k < TIMES; k++)
			if (times[k].rank <= shown || times[k].sort == sorting) {
				duration_text(sort_value(row, times[k].sort), text);
				fprintf(out, " %10s", text);
			}
		fputs("  ", out);
		name_write(row, r->by, terminal.width > before + 20 ? (int) (terminal.width - before) : 100000, out);
	}
}

static void row_values(const struct row *row, FILE *out, const char *format, const char *const *names)
{
	const int64_t values[] = { row->total, row->self, row->calls ? row->times.sum / (int64_t) row->calls : 0, row->times.min, row->times.max,
		times_quantile(&row->times, 0.5), times_quantile(&row->times, 0.99) };

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
		if (row->function)
			function_place_json(row->function, out);
		fprintf(out, ",\"calls\":%" PRIu64, row->calls);
		row_values(row, out, ",\"%s\":%" PRId64, names);
		putc('}', out);
		between = ",";
	}
	fprintf(out, "],\n\"lost_events\":%" PRIu64 ",\"gaps\":%" PRIu64 ",\"exits_missing\":%" PRIu64 ",\"open\":%" PRIu64
		"}\n", r->lost, r->missing, r->no_exit, r->open);
}

static void csv_write(const struct report *r, uint32_t limit, FILE *out)
{
	char name[4400];

	fprintf(out, "%s,object,calls,total,self,average,min,max,p50,p99%s\n", by_names[r->by],
		r->has_lines ? ",file,line" : "");
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
		if (r->has_lines) {
			putc(',', out);
			csv_field(out, row->function && row->function->file ? row->function->file : "");
			fprintf(out, ",%u", row->function ? row->function->line : 0);
		}
		putc('\n', out);
	}
}

int report_write(struct report *r, struct report *other, enum report_sort sort, uint32_t limit, enum format format,
	FILE *out)
{
	if (other)
		return report_diff_write(r, other, sort, limit, format, out);
	sorting = sort;
	sorting_by = r->by;
	if (r->count)
		qsort(r->rows, r->count, sizeof(*r->rows), row_compare);
	if (format == FORMAT_JSON) {
		json_write(r, limit, out);
		return output_status(out);
	}
	if (format == FORMAT_CSV) {
		csv_write(r, limit, out);
		return output_status(out);
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
	return output_status(out);
}
