/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Speedscope's format: a profile a thread, with an "O" event where a call begins and a "C" event where the call ends.
 *
 * Threads come mixed, and the format has them one after the other: what comes waits in a temporary file, in blocks of
 * one thread each. Whole calls, which come when they end, are kept in memory and put in order at the end. Speedscope
 * takes profiles only whose calls nest, so calls that do not are cut to do so.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "reader/base/text.h"
#include "reader/exports/export.h"

#define BLOCK	512u			/* records */

struct point {
	int64_t ns;
	uint32_t function;
	uint32_t is_end;
};

struct kept_call {
	int64_t begin, end;
	uint32_t thread, function;
};

struct lane {				/* a thread's */
	struct point *points;		/* the latest, not written yet */
	uint32_t count;
	uint32_t *blocks;		/* where in the file the others are */
	uint32_t block_count, block_room;
};

struct speedscope {
	FILE *out;
	const struct calls *calls;
	const char *name;
	int file;
	uint32_t blocks;		/* in the file */
	struct lane *lanes;		/* by thread's number */
	uint32_t lane_room;
	struct kept_call *wholes;
	size_t whole_count, whole_room, whole_at;
	uint32_t *frames;		/* by function's number: frame + 1 */
	uint32_t frame_count;
	/* the profile that is being written */
	uint32_t *stack;
	size_t depth, stack_room;
	uint64_t events;
	int64_t last;
};

struct speedscope *speedscope_make(FILE *out, const struct calls *calls, const char *name)
{
	const char *directory = getenv("TMPDIR");
	struct speedscope *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->out = out;
	s->calls = calls;
	s->name = name;
	s->file = open(directory && *directory ? directory : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (s->file < 0) {
		say_error("%s: no temporary file: %s", directory && *directory ? directory : "/tmp", strerror(errno));
		free(s);
		return NULL;
	}
	return s;
}

void speedscope_free(struct speedscope *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->lane_room; i++) {
		free(s->lanes[i].points);
		free(s->lanes[i].blocks);
	}
	free(s->lanes);
	free(s->wholes);
	free(s->frames);
	free(s->stack);
	close(s->file);
	free(s);
}

/* ---- in ---- */

static struct lane *lane_of(struct speedscope *s, uint32_t number)
{
	if (number >= s->lane_room) {
		uint32_t room = s->lane_room ? s->lane_room : 64;
		struct lane *more;

		while (room <= number)
			room *= 2;
		more = realloc(s->lanes, room * sizeof(*more));
		if (!more)
			return NULL;
		memset(more + s->lane_room, 0, (room - s->lane_room) * sizeof(*more));
		s->lanes = more;
		s->lane_room = room;
	}
	if (!s->lanes[number].points)
		s->lanes[number].points = malloc(BLOCK * sizeof(*s->lanes[number].points));
	return s->lanes[number].points ? &s->lanes[number] : NULL;
}

static int block_write(struct speedscope *s, struct lane *lane)
{
	const size_t size = BLOCK * sizeof(*lane->points);
	const char *at = (const char *) lane->points;

	if (lane->block_count == lane->block_room) {
		uint32_t room = lane->block_room ? lane->block_room * 2 : 16;
		uint32_t *more = realloc(lane->blocks, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		lane->blocks = more;
		lane->block_room = room;
	}
	for (size_t done = 0; done < size; ) {
		ssize_t n = pwrite(s->file, at + done, size - done, (off_t) (s->blocks * size + done));

		if (n < 0 && errno != EINTR) {
			say_error("the temporary file of --speedscope: %s", strerror(errno));
			return -EINVAL;
		}
		done += n > 0 ? (size_t) n : 0;
	}
	lane->blocks[lane->block_count++] = s->blocks++;
	lane->count = 0;
	return 0;
}

static int whole_keep(struct speedscope *s, const struct call *call)
{
	if (s->whole_count == s->whole_room) {
		size_t room = s->whole_room ? s->whole_room * 2 : 1024;
		struct kept_call *more = realloc(s->wholes, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->wholes = more;
		s->whole_room = room;
	}
	s->wholes[s->whole_count++] = (struct kept_call) { call->begin, call->ns, call->thread->number,
		call->function->number };
	return lane_of(s, call->thread->number) ? 0 : -ENOMEM;
}

int speedscope_take(void *speedscope, const struct call *call)
{
	struct speedscope *s = speedscope;
	struct lane *lane;

	if (call->kind == CALL_LOST || (call->kind == CALL_EXIT && call->begin == INT64_MIN))
		return 0;
	if (call->kind == CALL_WHOLE)
		return whole_keep(s, call);
	lane = lane_of(s, call->thread->number);
	if (!lane)
		return -ENOMEM;
	lane->points[lane->count++] = (struct point) { call->ns, call->function->number, call->kind == CALL_EXIT };
	return lane->count == BLOCK ? block_write(s, lane) : 0;
}

/* ---- out ---- */

static void event_put(struct speedscope *s, char type, uint32_t function, int64_t ns)
{
	if (!s->frames[function])
		s->frames[function] = ++s->frame_count;
	if (s->events++ && ns < s->last)
		ns = s->last;
	s->last = ns;
	fprintf(s->out, "%s{\"type\":\"%c\",\"frame\":%u,\"at\":%" PRId64 "}", s->events > 1 ? ",\n" : "\n", type,
		s->frames[function] - 1, ns);
}

static int frame_open(struct speedscope *s, uint32_t function, int64_t ns)
{
	if (s->depth == s->stack_room) {
		size_t room = s->stack_room ? s->stack_room * 2 : 256;
		uint32_t *more = realloc(s->stack, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->stack = more;
		s->stack_room = room;
	}
	s->stack[s->depth++] = function;
	event_put(s, 'O', function, ns);
	return 0;
}

/* The innermost call of the function ends, and what it called; there may be none, where it was cut. */
static void frame_close(struct speedscope *s, uint32_t function, int64_t ns)
{
	size_t at = s->depth;

	while (at && s->stack[at - 1] != function)
		at--;
	while (at && s->depth >= at)
		event_put(s, 'C', s->stack[--s->depth], ns);
}

static int whole_compare(const void *a, const void *b)
{
	const struct kept_call *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end;
}

struct opened {
	const struct kept_call **at;	/* whole calls that are open, by end, the earliest last */
	size_t count, room;
};

/* Whole calls of the thread that begin or end by then. */
static int wholes_put(struct speedscope *s, struct opened *open, uint32_t thread, int64_t until)
{
	const int64_t origin = s->calls->merge.first_ns;

	for (;;) {
		const struct kept_call *next = s->whole_at < s->whole_count ? &s->wholes[s->whole_at] : NULL;
		const struct kept_call *top = open->count ? open->at[open->count - 1] : NULL;

		next = next && next->thread == thread && next->begin <= until ? next : NULL;
		if (top && top->end <= until && (!next || top->end <= next->begin)) {
			frame_close(s, top->function, top->end - origin);
			open->count--;
			continue;
		}
		if (!next)
			return 0;
		if (open->count == open->room) {
			size_t room = open->room ? open->room * 2 : 64;
			const struct kept_call **more = realloc(open->at, room * sizeof(*more));

			if (!more)
				return -ENOMEM;
			open->at = more;
			open->room = room;
		}
		open->at[open->count++] = next;
		s->whole_at++;
		if (frame_open(s, next->function, next->begin - origin) < 0)
			return -ENOMEM;
	}
}

static int points_put(struct speedscope *s, struct opened *open, uint32_t thread, const struct point *points,
	uint32_t count)
{
	const int64_t origin = s->calls->merge.first_ns;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < count; i++) {
		r = wholes_put(s, open, thread, points[i].ns);
		if (r == 0 && points[i].is_end)
			frame_close(s, points[i].function, points[i].ns - origin);
		else if (r == 0)
			r = frame_open(s, points[i].function, points[i].ns - origin);
	}
	return r;
}

static int lane_put(struct speedscope *s, uint32_t number)
{
	struct lane *lane = &s->lanes[number];
	const size_t size = BLOCK * sizeof(*lane->points);
	struct point *points = malloc(size);
	struct opened open = { .at = NULL };
	int r = points ? 0 : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < lane->block_count; i++)
		r = pread(s->file, points, size, (off_t) (lane->blocks[i] * size)) == (ssize_t) size ?
			points_put(s, &open, number, points, BLOCK) : -EIO;
	if (r == 0)
		r = points_put(s, &open, number, lane->points, lane->count);
	if (r == 0)
		r = wholes_put(s, &open, number, INT64_MAX);
	while (r == 0 && s->depth)
		event_put(s, 'C', s->stack[--s->depth], s->last);
	free(open.at);
	free(points);
	return r;
}

static void profile_name(const struct speedscope *s, const struct call_thread *t)
{
	const struct call_process *p = t->process;
	char name[120];

	if (t->tid < 0)
		snprintf(name, sizeof(name), "%s %" PRId64 ", threads of one buffer", p->name, p->pid);
	else
		snprintf(name, sizeof(name), "%s %" PRId64 ":%" PRId64, p->name, p->pid, t->tid);
	json_string(s->out, name);
}

static void frames_put(struct speedscope *s)
{
	const char *between = "\n";
	const struct call_function **used = calloc(s->frame_count + 1, sizeof(*used));

	for (uint32_t i = 0; used && i < s->calls->function_count; i++)
		if (s->frames[i])
			used[s->frames[i] - 1] = s->calls->function_list[i];
	for (uint32_t i = 0; used && i < s->frame_count; i++) {
		fprintf(s->out, "%s{\"name\":", between);
		json_string(s->out, used[i]->name);
		if (used[i]->file) {
			function_place_json(used[i], s->out);
		} else if (*used[i]->path) {
			fputs(",\"file\":", s->out);
			json_string(s->out, used[i]->path);
		}
		putc('}', s->out);
		between = ",\n";
	}
	free(used);
}

int speedscope_end(struct speedscope *s)
{
	const char *between = "\n";
	int r = 0;

	s->frames = calloc(s->calls->function_count + 1, sizeof(*s->frames));
	if (!s->frames)
		return -ENOMEM;
	if (s->whole_count)
		qsort(s->wholes, s->whole_count, sizeof(*s->wholes), whole_compare);
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"lttng-spi\",\n\"name\":",
		s->out);
	json_string(s->out, s->name);
	fputs(",\n\"profiles\":[", s->out);
	for (uint32_t i = 0; r == 0 && i < s->calls->thread_count && i < s->lane_room; i++) {
		if (!s->lanes[i].points)
			continue;
		fprintf(s->out, "%s{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"name\":", between);
		between = ",\n";
		profile_name(s, s->calls->thread_list[i]);
		fputs(",\"startValue\":0,\"events\":[", s->out);
		s->events = 0;
		s->last = 0;
		r = lane_put(s, i);
		fprintf(s->out, "\n],\"endValue\":%" PRId64 "}", s->last);
	}
	fputs("\n],\n\"shared\":{\"frames\":[", s->out);
	frames_put(s);
	fputs("\n]}}\n", s->out);
	return r < 0 ? r : output_status(s->out);
}
