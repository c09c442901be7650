/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Live bytes over time: the most in each of LEAK_POINTS stretches, which become twice as long when they are full. */
#include <inttypes.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/leaks/leaks.h"

#define TIME_ROWS	40u
#define TIME_BAR	50u

void leak_time_take(struct leak_process *p, int64_t ns)
{
	uint64_t at = (uint64_t) (ns - p->points_from) / (uint64_t) p->point_ns;
	struct leak_point *point;

	while (at >= LEAK_POINTS) {
		for (uint32_t i = 0; i < LEAK_POINTS / 2; i++) {
			const struct leak_point *a = &p->points[2 * i], *b = a + 1;

			p->points[i] = b->is_there && (!a->is_there || b->bytes >= a->bytes) ? *b : *a;
		}
		memset(p->points + LEAK_POINTS / 2, 0, LEAK_POINTS / 2 * sizeof(*p->points));
		p->point_ns *= 2;
		at = (uint64_t) (ns - p->points_from) / (uint64_t) p->point_ns;
	}
	point = &p->points[at];
	if (!point->is_there || p->bytes >= point->bytes)
		*point = (struct leak_point) { ns, p->bytes, p->live, 1 };
}

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

static int times_write(struct leaks *l, struct leak_process *p, const struct leak_form *f)
{
	const char *comma = "";

	(void) l;
	if (f->format == FORMAT_TEXT)
		times_text(p, f->out);
	if (f->format == FORMAT_JSON)
		fputs(",\"points\":[", f->out);
	for (uint32_t i = 0; f->format != FORMAT_TEXT && i < LEAK_POINTS; i++) {
		const struct leak_point *point = &p->points[i];

		if (!point->is_there)
			continue;
		if (f->format == FORMAT_CSV) {
			csv_field(f->out, p->name);
			fprintf(f->out, ",%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64 "\n", p->pid, point->ns,
				point->bytes, point->blocks);
		} else {
			fprintf(f->out, "%s{\"ns\":%" PRId64 ",\"bytes\":%" PRIu64 ",\"blocks\":%" PRIu64 "}", comma,
				point->ns, point->bytes, point->blocks);
			comma = ",";
		}
	}
	return 0;
}

int leaks_times_write(struct leaks *l, const struct leak_form *f)
{
	return leaks_each(l, f, "process,pid,ns,bytes,blocks\n", times_write);
}
