/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The table of functions, or of objects, threads, processes, pairs of caller and function: calls and times.
 *
 * A total is the time within a function, also when it calls itself: only the outermost call of a thread counts to it.
 * Times of single calls go into a histogram whose classes are at most 1.6 % wide, from which p50 and p99 are read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "reader/views/report.h"

struct report *report_make(enum report_by by)
{
	struct report *r = calloc(1, sizeof(*r));

	if (r) {
		r->by = by;
		r->table = (struct spi_hash) SPI_HASH_OVER(r->buckets);
	}
	return r;
}

void report_lines(struct report *r)
{
	r->has_lines = 1;
}

void report_free(struct report *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->count; i++) {
		times_free(&r->rows[i]->times);
		free(r->rows[i]);
	}
	for (uint32_t i = 0; i < r->thread_room; i++) {
		for (uint32_t k = 0; k < r->threads[i].counted_room; k++)
			free(r->threads[i].counted[k].calls);
		free(r->threads[i].counted);
		free(r->threads[i].open);
	}
	free(r->threads);
	free(r->of_function);
	free(r->rows);
	free(r);
}

static int array_grow(void *array, uint32_t *room, uint32_t at, size_t size)
{
	uint32_t more = *room ? *room : 64;
	char *grown;

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

/* Room for the entry `at` of an array, new ones zeroed: 0 or -1. */
static inline int array_reach(void *array, uint32_t *room, uint32_t at, size_t size)
{
	return at < *room ? 0 : array_grow(array, room, at, size);
}

/* ---- rows ---- */

static struct row *row_add(struct report *r)
{
	struct row *row = array_reach(&r->rows, &r->room, r->count, sizeof(*r->rows)) < 0 ? NULL : calloc(1, sizeof(*row));

	if (!row)
		return NULL;
	row->number = r->count;
	row->times.min = INT64_MAX;
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

/* ---- calls ---- */

static uint32_t *open_of(struct report *r, const struct call *call, const struct row *row)
{
	struct thread_rows *t;

	if (array_reach(&r->threads, &r->thread_room, call->thread->number, sizeof(*r->threads)) < 0)
		return NULL;
	t = &r->threads[call->thread->number];
	return array_reach(&t->open, &t->room, row->number, sizeof(*t->open)) < 0 ? NULL : &t->open[row->number];
}

/* A whole call comes when it ends, behind the calls that it made: the row's own among them count no more. */
static int whole_count(struct report *r, const struct call *call, struct row *row)
{
	struct thread_rows *t = &r->threads[call->thread->number];
	const struct counted_call now = { call->begin, call->ns - call->begin };
	struct counted *c;

	if (array_reach(&t->counted, &t->counted_room, row->number, sizeof(*t->counted)) < 0)
		return -ENOMEM;
	c = &t->counted[row->number];
	while (c->count && c->calls[c->count - 1].begin >= now.begin)
		row->total -= c->calls[--c->count].duration;
	if (c->count == c->room) {
		const size_t room = c->room ? c->room * 2 : 16;
		struct counted_call *more = realloc(c->calls, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		c->calls = more;
		c->room = room;
	}
	c->calls[c->count++] = now;
	row->total += now.duration;
	return 0;
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
	if (call->kind == CALL_WHOLE && !*open && whole_count(r, call, row) < 0)
		return -ENOMEM;
	if (call->kind != CALL_WHOLE && !*open)
		row->total += call->ns - call->begin;
	return times_add(&row->times, call->ns - call->begin);
}
