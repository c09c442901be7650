/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The table beside that of another trace: what changed, the largest change first. Rows of both are the same when their
 * names and objects are; several of one name and object are added up.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/views/report.h"

struct sums {
	int64_t calls, total, self, average;	/* ns */
	int64_t time;				/* of all calls */
};

struct change {
	const struct row *row;
	char *name;
	const char *object;
	struct sums before, after;
};

struct changes {
	struct change *at;
	size_t count;
};

static enum report_sort sorting;

/* ---- rows ---- */

static int add_rows(struct changes *c, const struct report *r, int is_after)
{
	char name[4400];

	for (uint32_t i = 0; i < r->count; i++) {
		const struct row *row = r->rows[i];
		struct change *change = &c->at[c->count];
		struct sums *sums = is_after ? &change->after : &change->before;

		if (!row->calls)
			continue;
		row_name(row, r->by, name, sizeof(name));
		*change = (struct change) { .row = row, .name = strdup(name), .object = r->by == BY_OBJECT ? "" : row_object(row) };
		*sums = (struct sums) { (int64_t) row->calls, row->total, row->self, 0, row->times.sum };
		if (!change->name)
			return -ENOMEM;
		c->count++;
	}
	return 0;
}

static int name_compare(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	const int r = strcmp(x->name, y->name);

	return r ? r : strcmp(x->object, y->object);
}

static void sums_add(struct sums *to, const struct sums *from)
{
	to->calls += from->calls;
	to->total += from->total;
	to->self += from->self;
	to->time += from->time;
}

/* Those of one name become one; the row is the later trace's, where there is one. */
static void changes_join(struct changes *c)
{
	size_t n = 0;

	if (c->count)
		qsort(c->at, c->count, sizeof(*c->at), name_compare);
	for (size_t i = 0; i < c->count; i++) {
		struct change *last = &c->at[n ? n - 1 : 0];

		if (!n || name_compare(last, &c->at[i])) {
			c->at[n++] = c->at[i];
			continue;
		}
		if (!last->after.calls)
			last->row = c->at[i].row;
		sums_add(&last->before, &c->at[i].before);
		sums_add(&last->after, &c->at[i].after);
		free(c->at[i].name);
	}
	c->count = n;
	for (size_t i = 0; i < n; i++) {
		struct sums *before = &c->at[i].before, *after = &c->at[i].after;

		before->average = before->calls ? before->time / before->calls : 0;
		after->average = after->calls ? after->time / after->calls : 0;
	}
}

static int64_t change_value(const struct change *c)
{
	switch (sorting) {
	case SORT_SELF:
		return llabs(c->after.self - c->before.self);
	case SORT_CALLS:
		return llabs(c->after.calls - c->before.calls);
	case SORT_AVERAGE:
		return llabs(c->after.average - c->before.average);
	case SORT_NAME:
		return 0;
	default:
		return llabs(c->after.total - c->before.total);
	}
}

static int change_compare(const void *a, const void *b)
{
	const int64_t x = change_value(a), y = change_value(b);

	return x != y ? (x > y ? -1 : 1) : name_compare(a, b);
}

static const char *state_of(const struct change *c)
{
	return !c->before.calls ? "new" : !c->after.calls ? "gone" : "both";
}

/* ---- text ---- */

/* "-": what was nothing has no percentage. */
static void percent_text(int64_t before, int64_t after, char *text, size_t size)
{
	const double percent = before ? 100.0 * (double) (after - before) / (double) before : 0;

	if (!before)
		snprintf(text, size, "-");
	else
		snprintf(text, size, percent < 9999 ? "%+.1f %%" : "%+.1e %%", percent);
}

static void pair_write(int64_t before, int64_t after, int is_time, FILE *out)
{
	const int64_t change = after - before;
	char value[40], percent[40];

	*value = change < 0 ? '-' : '+';
	if (is_time)
		duration_text(llabs(change), value + 1);
	else
		snprintf(value + 1, sizeof(value) - 1, "%lld", llabs(change));
	percent_text(before, after, percent, sizeof(percent));
	fprintf(out, "%11s %10s ", value, percent);
}

static void text_write(const struct changes *c, enum report_by by, uint32_t limit, FILE *out)
{
	char place[600];

	fprintf(out, "%s%11s %10s %11s %10s %11s %10s %11s %10s  %s%s\n", colour_begin(COLOUR_HEAD), "calls", "", "total", "",
		"self", "", "average", "", report_by_name(by), colour_end(COLOUR_HEAD));
	for (size_t i = 0; i < c->count && (!limit || i < limit); i++) {
		const struct change *change = &c->at[i];
		const char *state = state_of(change);

		pair_write(change->before.calls, change->after.calls, 0, out);
		pair_write(change->before.total, change->after.total, 1, out);
		pair_write(change->before.self, change->after.self, 1, out);
		pair_write(change->before.average, change->after.average, 1, out);
		fprintf(out, " %s%s%s", colour_begin(COLOUR_FUNCTION), change->name, colour_end(COLOUR_FUNCTION));
		if (change->row->function)
			fputs(call_function_place(change->row->function, place, sizeof(place)), out);
		if (*change->object)
			fprintf(out, " %s[%s]%s", colour_begin(COLOUR_DIM), change->object, colour_end(COLOUR_DIM));
		fprintf(out, "%s%s%s\n", *state == 'b' ? "" : " (", *state == 'b' ? "" : state, *state == 'b' ? "" : ")");
	}
}

static void notes_write(const struct report *r, const char *which, FILE *out)
{
	if (r->lost)
		fprintf(out, "%" PRIu64 " events of the %s trace are lost: calls are missing above\n", r->lost, which);
	if (r->missing)
		fprintf(out, "calls of the %s trace are missing in %" PRIu64 " places\n", which, r->missing);
}

/* ---- JSON, CSV ---- */

#define METRICS	4
static const char *const metrics[METRICS] = { "calls", "total", "self", "average" };

static int64_t metric(const struct sums *s, int i)
{
	return i == 0 ? s->calls : i == 1 ? s->total : i == 2 ? s->self : s->average;
}

static void json_write(const struct changes *c, const struct report *r, const struct report *before, uint32_t limit,
	FILE *out)
{
	fprintf(out, "{\"by\":\"%s\",\"rows\":[", report_by_name(r->by));
	for (size_t i = 0; i < c->count && (!limit || i < limit); i++) {
		const struct change *change = &c->at[i];

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		json_string(out, change->name);
		if (*change->object) {
			fputs(",\"object\":", out);
			json_string(out, change->object);
		}
		if (change->row->function)
			function_place_json(change->row->function, out);
		fprintf(out, ",\"state\":\"%s\"", state_of(change));
		for (int k = 0; k < METRICS; k++) {
			const int64_t was = metric(&change->before, k), is = metric(&change->after, k);

			fprintf(out, ",\"%s\":{\"before\":%" PRId64 ",\"after\":%" PRId64 ",\"change\":%" PRId64 ",\"percent\":",
				metrics[k], was, is, is - was);
			if (was)
				fprintf(out, "%.3f}", 100.0 * (double) (is - was) / (double) was);
			else
				fputs("null}", out);
		}
		putc('}', out);
	}
	fprintf(out, "],\n\"lost_events\":{\"before\":%" PRIu64 ",\"after\":%" PRIu64 "},\"gaps\":{\"before\":%" PRIu64
		",\"after\":%" PRIu64 "}}\n", before->lost, r->lost, before->missing, r->missing);
}

static void csv_write(const struct changes *c, enum report_by by, uint32_t limit, FILE *out)
{
	fprintf(out, "%s,object,state", report_by_name(by));
	for (int k = 0; k < METRICS; k++)
		fprintf(out, ",%s_before,%s,%s_change,%s_percent", metrics[k], metrics[k], metrics[k], metrics[k]);
	putc('\n', out);
	for (size_t i = 0; i < c->count && (!limit || i < limit); i++) {
		const struct change *change = &c->at[i];

		csv_field(out, change->name);
		putc(',', out);
		csv_field(out, change->object);
		fprintf(out, ",%s", state_of(change));
		for (int k = 0; k < METRICS; k++) {
			const int64_t was = metric(&change->before, k), is = metric(&change->after, k);

			fprintf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",", was, is, is - was);
			if (was)
				fprintf(out, "%.3f", 100.0 * (double) (is - was) / (double) was);
		}
		putc('\n', out);
	}
}

int report_diff_write(struct report *r, struct report *before, enum report_sort sort, uint32_t limit,
	enum format format, FILE *out)
{
	struct changes c = { .at = calloc((size_t) r->count + before->count + 1, sizeof(*c.at)) };
	int status = c.at ? add_rows(&c, before, 0) : -ENOMEM;

	if (status == 0)
		status = add_rows(&c, r, 1);
	if (status == 0) {
		changes_join(&c);
		sorting = sort;
		if (c.count)
			qsort(c.at, c.count, sizeof(*c.at), change_compare);
		if (format == FORMAT_JSON) {
			json_write(&c, r, before, limit, out);
		} else if (format == FORMAT_CSV) {
			csv_write(&c, r->by, limit, out);
		} else {
			text_write(&c, r->by, limit, out);
			notes_write(before, "earlier", out);
			notes_write(r, "later", out);
		}
	}
	for (size_t i = 0; i < c.count; i++)
		free(c.at[i].name);
	free(c.at);
	return status < 0 ? status : output_status(out);
}
