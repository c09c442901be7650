/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The page of flame graphs, which speedscope shows: profiles of all threads and of each, as flame graph (calls of the
 * same path are one frame, as wide as their time together) and as flame chart (each call where it was in time).
 *
 * The page stays small whatever the trace is: a flame graph's frames below a share of its width become one, and a flame
 * chart has the longest calls only. The profiles' names say so. What a tooltip says of a function is of all its calls.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/pages/pages.h"
#include "reader/views/report.h"

#define FRAMES_MOST	30000u		/* of a flame graph */
#define CALLS_MOST	100000u		/* of all flame charts */
#define THREADS_MOST	100u		/* with profiles of their own: those with the most calls */

struct chart_call {
	int64_t begin, end;
	uint32_t thread, function;
};

struct flame_thread {
	struct paths *paths;
	const struct call_thread *thread;
	uint64_t calls, in_chart;
};

struct flame {
	struct report *report;
	struct flame_thread *threads;	/* by number */
	uint32_t thread_room;
	struct chart_call *chart;
	uint32_t chart_count;
	int64_t least;			/* ns: the flame charts have calls that are as long, or longer */
	uint64_t calls;
	int64_t first;			/* ns from origin: of the earliest call */
	const char *between;		/* profiles */
};

struct flame *flame_make(void)
{
	struct flame *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->report = report_make(BY_FUNCTION);
	f->chart = malloc(CALLS_MOST * sizeof(*f->chart));
	f->first = INT64_MAX;
	if (f->report && f->chart)
		return f;
	flame_free(f);
	return NULL;
}

void flame_free(struct flame *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->thread_room; i++)
		paths_free(f->threads[i].paths);
	report_free(f->report);
	free(f->threads);
	free(f->chart);
	free(f);
}

/* ---- calls ---- */

static struct flame_thread *thread_get(struct flame *f, const struct call_thread *thread)
{
	struct flame_thread *t;

	if (thread->number >= f->thread_room) {
		uint32_t room = thread->number * 2 + 16;
		struct flame_thread *more = realloc(f->threads, room * sizeof(*more));

		if (!more)
			return NULL;
		memset(more + f->thread_room, 0, (room - f->thread_room) * sizeof(*more));
		f->threads = more;
		f->thread_room = room;
	}
	t = &f->threads[thread->number];
	t->thread = thread;
	if (!t->paths)
		t->paths = paths_make();
	return t->paths ? t : NULL;
}

/* Shorter calls leave the charts until half of the room is free. */
static void chart_thin(struct flame *f)
{
	uint32_t kept = f->chart_count;

	while (kept > CALLS_MOST / 2) {
		kept = 0;
		f->least = f->least ? f->least * 2 : 16;
		for (uint32_t i = 0; i < f->chart_count; i++)
			if (f->chart[i].end - f->chart[i].begin >= f->least)
				f->chart[kept++] = f->chart[i];
		f->chart_count = kept;
	}
}

static void chart_add(struct flame *f, const struct call *call)
{
	if (call->begin < f->first)
		f->first = call->begin;
	f->calls++;
	if (call->ns - call->begin < f->least)
		return;
	if (f->chart_count == CALLS_MOST)
		chart_thin(f);
	f->chart[f->chart_count++] = (struct chart_call) { call->begin, call->ns, call->thread->number,
		call->function->number };
}

int flame_take(void *flame, const struct call *call)
{
	struct flame *f = flame;
	struct flame_thread *t;
	int r = report_take(f->report, call);

	if (r < 0 || call->kind == CALL_LOST)
		return r;
	t = thread_get(f, call->thread);
	if (!t)
		return -ENOMEM;
	if (call->kind != CALL_ENTRY && call->begin != INT64_MIN) {
		chart_add(f, call);
		t->calls++;
	}
	return paths_take(t->paths, call);
}

/* ---- a flame graph ---- */

static int paths_add(struct paths *to, const struct paths *from)
{
	struct path **copies = calloc(from->count + 1, sizeof(struct path *));
	int r = copies ? 0 : -ENOMEM;

	for (const struct path *node = from->top.child; r == 0 && node; node = path_next(node, &from->top)) {
		struct path *copy = path_below(to, node->parent == &from->top ? &to->top : copies[node->parent->number],
			node->function);

		if (!copy) {
			r = -ENOMEM;
			break;
		}
		copies[node->number] = copy;
		copy->calls += node->calls;
		copy->total += node->total;
		copy->self += node->self;
	}
	free(copies);
	to->top.total += from->top.total;
	return r;
}

/* Frames of the least width that are few enough. */
static int64_t least_width(const struct paths *p)
{
	int64_t least = 1 + p->top.total / 200000;
	uint64_t count = p->count;

	for (; p->count > FRAMES_MOST; least *= 2) {
		count = 0;
		for (const struct path *node = p->top.child; node; node = path_next(node, &p->top))
			count += node->total >= least;
		if (count <= FRAMES_MOST)
			return least;
	}
	return 0;
}

static void event_write(FILE *out, const char **between, char kind, uint64_t frame, int64_t at)
{
	fprintf(out, "%s{\"type\":\"%c\",\"frame\":%" PRIu64 ",\"at\":%" PRId64 "}", *between, kind, frame, at);
	*between = ",\n";
}

/* `folded` is the frame that stands for those below the least width. It comes behind the others of its caller. */
static int64_t node_write(FILE *out, const char **between, const struct path *node, int64_t at, int64_t least,
	uint32_t folded)
{
	const int64_t end = at + node->total;
	int64_t small = 0;

	if (node->function)
		event_write(out, between, 'O', node->function->number, at);
	for (const struct path *child = node->child; child; child = child->next) {
		if (child->total < least)
			small += child->total;
		else
			at = node_write(out, between, child, at, least, folded);
	}
	if (small && at + small <= end) {
		event_write(out, between, 'O', folded, at);
		event_write(out, between, 'C', folded, at + small);
	}
	if (at > end)		/* whole calls of one thread that overlap */
		return at;
	if (node->function)
		event_write(out, between, 'C', node->function->number, end);
	return end;
}

static void profile_begin(struct flame *f, FILE *out, const char *name, int64_t end)
{
	fprintf(out, "%s\n{\"type\":\"evented\",\"name\":", f->between);
	json_string(out, name);
	fprintf(out, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":%" PRId64 ",\"events\":[\n", end);
	f->between = ",";
}

static void graph_profile(struct flame *f, FILE *out, const char *who, struct paths *paths, uint32_t folded)
{
	const int64_t least = least_width(paths);
	const char *between = "";
	char name[400], shortest[32];

	paths_sort(paths);
	duration_text(least, shortest);
	snprintf(name, sizeof(name), "%s: flame graph%s%s%s", who, least ? ", frames below " : "", least ? shortest : "",
		least ? " folded" : "");
	profile_begin(f, out, name, paths->top.total);
	node_write(out, &between, &paths->top, 0, least, folded);
	fputs("]}", out);
}

/* ---- a flame chart ---- */

static int chart_compare(const void *a, const void *b)
{
	const struct chart_call *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end;
}

static int chart_profile(struct flame *f, FILE *out, const char *who, const struct chart_call *calls, uint32_t count)
{
	uint32_t *open = malloc((count + 1) * sizeof(*open)), depth = 0;
	const char *between = "";
	char name[400], shortest[32];
	int64_t end = 0;

	if (!open)
		return -ENOMEM;
	duration_text(f->least, shortest);
	snprintf(name, sizeof(name), "%s: flame chart%s%s%s", who, f->least ? ", calls of " : "", f->least ? shortest : "",
		f->least ? " and more" : "");
	for (uint32_t i = 0; i < count; i++)
		end = calls[i].end - f->first > end ? calls[i].end - f->first : end;
	profile_begin(f, out, name, end);
	for (uint32_t i = 0; i <= count; i++) {
		while (depth && (i == count || calls[open[depth - 1]].end <= calls[i].begin)) {
			const struct chart_call *done = &calls[open[--depth]];

			event_write(out, &between, 'C', done->function, done->end - f->first);
		}
		/* Two whole calls of one thread that overlap are none that nest. */
		if (i == count || (depth && calls[open[depth - 1]].end < calls[i].end))
			continue;
		event_write(out, &between, 'O', calls[i].function, calls[i].begin - f->first);
		open[depth++] = i;
	}
	fputs("]}", out);
	free(open);
	return 0;
}

/* ---- the page ---- */

static void frames_write(const struct flame *f, const struct calls *calls, FILE *out)
{
	char total[32], self[32], text[5000];

	fputs("{\"frames\":[", out);
	for (uint32_t i = 0; i < calls->function_count; i++) {
		const struct row *row = i < f->report->function_room ? f->report->of_function[i] : NULL;
		const struct call_function *function = calls->function_list[i];

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		json_string(out, *function->name ? function->name : "?");
		if (row) {
			duration_text(row->total, total);
			duration_text(row->self, self);
			/* A tooltip is FILE:LINE. */
			snprintf(text, sizeof(text), "%s%stotal %s, self %s, calls", function->object,
				*function->object ? ": " : "", total, self);
			fputs(",\"file\":", out);
			json_string(out, text);
			fprintf(out, ",\"line\":%" PRIu64, row->calls);
		}
		putc('}', out);
	}
	fprintf(out, "%s{\"name\":\"(smaller frames)\"}]}", calls->function_count ? ",\n" : "");
}

static int by_calls(const void *a, const void *b)
{
	const struct flame_thread *x = a, *y = b;

	return x->calls > y->calls ? -1 : x->calls < y->calls;
}

static const struct chart_call *chart_of(const struct flame *f, uint32_t thread, uint32_t *count)
{
	uint32_t from = 0, to;

	while (from < f->chart_count && f->chart[from].thread != thread)
		from++;
	for (to = from; to < f->chart_count && f->chart[to].thread == thread; )
		to++;
	*count = to - from;
	return f->chart + from;
}

static int profiles_write(struct flame *f, uint32_t folded, FILE *out)
{
	struct paths *all = paths_make();
	uint32_t threads = 0, count;
	char who[300];
	int r = all ? 0 : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < f->thread_room; i++) {
		if (!f->threads[i].paths)
			continue;
		threads += f->threads[i].calls > 0;
		r = paths_end(f->threads[i].paths);
		if (r == 0)
			r = paths_add(all, f->threads[i].paths);
		if (r == 0)
			all->beyond += f->threads[i].paths->beyond;
	}
	if (r == 0)
		paths_tell(all);
	snprintf(who, sizeof(who), "all threads");
	if (threads > THREADS_MOST)
		snprintf(who, sizeof(who), "all %" PRIu32 " threads (of %u also each)", threads, THREADS_MOST);
	if (r == 0 && threads > 1)
		graph_profile(f, out, who, all, folded);
	if (f->thread_room)
		qsort(f->threads, f->thread_room, sizeof(*f->threads), by_calls);
	qsort(f->chart, f->chart_count, sizeof(*f->chart), chart_compare);
	for (uint32_t i = 0; r == 0 && i < threads && i < THREADS_MOST; i++) {
		const struct flame_thread *t = &f->threads[i];
		const struct chart_call *calls = chart_of(f, t->thread->number, &count);

		snprintf(who, sizeof(who), "%s%sthread %" PRId64, t->thread->process->name,
			*t->thread->process->name ? " " : "", t->thread->tid);
		graph_profile(f, out, who, t->paths, folded);
		r = chart_profile(f, out, who, calls, count);
	}
	paths_free(all);
	return r;
}

struct flame_given {
	struct flame *flame;
	const struct calls *calls;
};

static int flame_frames(void *given, FILE *out)
{
	const struct flame_given *g = given;

	frames_write(g->flame, g->calls, out);
	return 0;
}

static int flame_profiles(void *given, FILE *out)
{
	const struct flame_given *g = given;

	g->flame->between = "";
	return profiles_write(g->flame, g->calls->function_count, out);
}

int flame_write(struct flame *f, const struct calls *calls, const char *title, FILE *page)
{
	struct flame_given given = { f, calls };

	return page_graphs_write(title, f->calls, flame_frames, flame_profiles, &given, page);
}
