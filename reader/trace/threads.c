/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Threads: their batches, unpacked a record at a time, and their stacks of open
 * calls, so that what comes out is balanced whatever is missing.
 *
 * A batch says how deep the stack is where it begins. Calls that are open there and
 * were not seen to begin (before the session, in a lost batch, in the parent of a
 * fork) lie on the stack as unknown ones, whose exits nobody is shown; calls that
 * a lost batch has ended are closed where the next one begins. A batch that says that nothing follows closes all;
 * should something follow (the process was about to execute another program, and
 * could not), these calls are entered again.
 *
 * Threads that have a record lie in a heap by its time.
 */
#include <stdlib.h>
#include <string.h>
#include "reader/trace/trace.h"

#define STACK_MOST	(UINT64_C(1) << 24)
#define SLOPE_BITS	40u

/* ---- the heap ---- */

static int heap_before(const struct thread *a, const struct thread *b)
{
	return a->record.ns < b->record.ns;
}

static void heap_put(struct merge *m, uint64_t at, struct thread *thread)
{
	m->heap[at] = thread;
	thread->heap_index = at;
}

static void heap_up(struct merge *m, struct thread *thread)
{
	uint64_t at = thread->heap_index;

	while (at && heap_before(thread, m->heap[(at - 1) / 2])) {
		heap_put(m, at, m->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	heap_put(m, at, thread);
}

static void heap_down(struct merge *m, struct thread *thread)
{
	uint64_t at = thread->heap_index, child;

	while ((child = 2 * at + 1) < m->heap_size) {
		if (child + 1 < m->heap_size && heap_before(m->heap[child + 1], m->heap[child]))
			child++;
		if (!heap_before(m->heap[child], thread))
			break;
		heap_put(m, at, m->heap[child]);
		at = child;
	}
	heap_put(m, at, thread);
}

static int heap_add(struct merge *m, struct thread *thread)
{
	if (m->heap_size == m->heap_room) {
		uint64_t room = m->heap_room ? m->heap_room * 2 : 64;
		struct thread **more = realloc(m->heap, room * sizeof(*more));

		if (!more)
			return -1;
		m->heap = more;
		m->heap_room = room;
	}
	heap_put(m, m->heap_size++, thread);
	heap_up(m, thread);
	return 0;
}

static void heap_drop(struct merge *m, struct thread *thread)
{
	struct thread *last = m->heap[--m->heap_size];

	if (last == thread)
		return;
	heap_put(m, thread->heap_index, last);
	heap_up(m, last);
	heap_down(m, last);
}

struct thread *thread_top(const struct merge *m)
{
	return m->heap_size ? m->heap[0] : NULL;
}

/* ---- the stack ---- */

static int frame_push(struct thread *t, uint32_t number, const struct site *site, uint64_t call_site, uint32_t shown)
{
	if (t->size == t->room) {
		uint64_t room = t->room ? t->room * 2 : 64;
		struct frame *more = realloc(t->stack, room * sizeof(*more));

		if (!more)
			return -1;
		t->stack = more;
		t->room = room;
	}
	t->stack[t->size++] = (struct frame) { site ? site->address : 0, call_site, site ? site->function : NULL, number,
		shown };
	return 0;
}

/* Take the top frame off: 1 when its exit is to be shown. */
static int frame_pop(struct thread *t, int left)
{
	const struct frame *f = &t->stack[--t->size];

	t->record.address = f->address;
	t->record.call_site = f->call_site;
	t->record.function = f->function;
	t->record.is_entry = 0;
	t->record.left = left;
	return (int) f->shown;
}

/* ---- unpacking ---- */

static uint64_t take(struct batch *b, uint64_t *at, unsigned int bytes)
{
	uint64_t value = 0;

	if (b->size - *at < bytes) {
		*at = b->size;
		return 0;
	}
	memcpy(&value, b->data + *at, bytes);
	*at += bytes;
	return value;
}

static int64_t time_of(const struct thread *t, const struct batch *b)
{
	uint64_t span = b->end_tick - b->begin_tick, d = t->tick - b->begin_tick;
	int64_t ns = b->end_ns;

	if (d < span)
		ns = b->begin_ns + (int64_t) ((__int128) b->slope * (__int128) d >> SLOPE_BITS);
	return ns > t->last_ns ? ns : t->last_ns + 1;
}

/* What became of the stack since the thread's batch before. */
static int batch_begin(struct merge *m, struct thread *t, struct batch *b)
{
	uint64_t depth = b->depth < STACK_MOST ? b->depth : STACK_MOST;

	t->open_to = 0;
	t->left = t->left_inner = RECORD_CLOSED;
	if (!t->seen || !b->seq) {
		t->close_to = 0;
	} else if (t->ended && b->seq == t->expected) {
		t->close_to = UINT64_MAX;	/* it was not the end: what was closed then is open again */
		t->open_to = t->ended < depth ? t->ended : depth;
	} else if (b->seq != t->expected) {
		m->gaps++;
		t->close_to = b->low < depth ? b->low : depth;
	} else {
		t->close_to = depth;
	}
	t->seen = 1;
	t->ended = 0;
	t->expected = b->seq + 1;
	t->at = 0;
	t->tick = b->begin_tick;
	t->begun = 1;
	if (b->end_tick > b->begin_tick)
		b->slope = (int64_t) (((__int128) (b->end_ns - b->begin_ns) << SLOPE_BITS) / (b->end_tick - b->begin_tick));
	return 0;
}

/*
 * A call that a batch which said that it was the last has closed; its frame is above the stack still. 1: to be shown.
 */
static int enter_again(struct thread *t)
{
	const struct frame *f = &t->stack[t->size++];

	t->record.address = f->address;
	t->record.call_site = f->call_site;
	t->record.function = f->function;
	t->record.is_entry = 1;
	return (int) f->shown;
}

/* The stack is as low as it has to be; now to what the batch says. */
static int stack_fill(struct thread *t, const struct batch *b)
{
	while (t->size < b->depth && t->size < STACK_MOST)
		if (frame_push(t, 0, NULL, 0, 0) < 0)
			return -1;
	return 0;
}

static int enter(struct merge *m, struct thread *t, const struct batch *b, uint32_t number, uint64_t call_site)
{
	const struct site *site = number < b->image->room ? &b->image->sites[number] : NULL;

	if (!site || !site->address) {
		m->unknown++;
		return frame_push(t, number, NULL, 0, 0);
	}
	if (site->call_site)
		call_site = site->call_site;
	if (frame_push(t, number, site, call_site, 1) < 0)
		return -1;
	t->record.address = site->address;
	t->record.call_site = call_site;
	t->record.function = site->function;
	t->record.is_entry = 1;
	return 1;
}

/* The exit of a call with this number: of the top one, or of one below, whose inner ones are over as well. */
static int leave(struct merge *m, struct thread *t, uint32_t number, int left)
{
	uint64_t at = t->size;

	if (at && (t->stack[at - 1].number == number || !t->stack[at - 1].number))
		return frame_pop(t, left);
	while (at && t->stack[at - 1].number != number)
		at--;
	if (!at) {
		m->orphans++;
		return 0;
	}
	t->close_to = at - 1;
	t->left = left;
	t->left_inner = RECORD_CLOSED;
	return 0;
}

/* One record of the batch: 1 when it is to be shown, 0 when not, -1 without memory. */
static int unpack(struct merge *m, struct thread *t, struct batch *b)
{
	uint64_t head = take(b, &t->at, 2), number, site;
	int left = SPI_LEFT_RETURN;

	t->tick += head >> 2;
	switch (head & 3) {
	case TP_PACKED_EXIT:
		if (t->size)
			return frame_pop(t, SPI_LEFT_RETURN);
		m->orphans++;
		return 0;
	case TP_PACKED_ENTRY16:
		return enter(m, t, b, (uint32_t) take(b, &t->at, 2), 0);
	case TP_PACKED_ENTRY32:
		return enter(m, t, b, (uint32_t) take(b, &t->at, 4), 0);
	}
	switch (take(b, &t->at, 1)) {
	case TP_PACKED_TICKS:
		t->tick += take(b, &t->at, 4);
		return 0;
	case TP_PACKED_LEFT32:
		left = (int) take(b, &t->at, 1);
		/* fall through */
	case TP_PACKED_EXIT32:
		return leave(m, t, (uint32_t) take(b, &t->at, 4), left);
	case TP_PACKED_ENTRY_AT:
		number = take(b, &t->at, 4);
		site = take(b, &t->at, 8);
		return enter(m, t, b, (uint32_t) number, site);
	default:
		t->at = b->size;	/* padding, or a kind of the future */
		return 0;
	}
}

static void batch_free(const struct merge *m, struct batch *b)
{
	if (m->batch_drop)
		m->batch_drop(b);
	free(b);
}

/* Find the next record to be shown: 1, 0 when there is none, or -1. `first` stays while its record is to be put out. */
static int thread_next(struct merge *m, struct thread *t)
{
	for (;;) {
		struct batch *b = t->first;
		int r;

		if (!b)
			return 0;
		if (!t->begun)
			batch_begin(m, t, b);
		r = 0;
		if (t->size > t->close_to) {
			r = frame_pop(t, t->size - 1 == t->close_to ? t->left : t->left_inner);
		} else if (t->size < t->open_to) {
			r = enter_again(t);
		} else {
			t->open_to = 0;
			if (t->begun == 1 && stack_fill(t, b) < 0)
				return -1;
			t->begun = 2;
			t->close_to = UINT64_MAX;
			if (t->at + 2 <= b->size) {
				r = unpack(m, t, b);
			} else if ((b->flags & TP_BATCH_END) && t->size) {
				t->ended = t->size;
				t->close_to = 0;
				t->left = t->left_inner = SPI_LEFT_PROCESS_END;
				t->tick = b->end_tick;
				continue;
			} else {
				t->first = b->next;
				if (!t->first)
					t->last = NULL;
				t->begun = 0;
				batch_free(m, b);
			}
		}
		if (r < 0)
			return -1;
		if (r) {
			t->record.ns = t->last_ns = time_of(t, b);
			return 1;
		}
	}
}

int thread_advance(struct merge *m, struct thread *t)
{
	int r;

	if (t->has_record)
		heap_drop(m, t);
	t->has_record = 0;
	r = thread_next(m, t);
	if (r <= 0)
		return r;
	t->has_record = 1;
	return heap_add(m, t);
}

/* ---- */

static struct thread *thread_get(struct merge *m, struct process *process, uint32_t tid)
{
	uint64_t hash = spi_hash_number((uintptr_t) process ^ tid);
	struct thread *t;

	for (t = spi_hash_find(&m->threads, hash); t; t = spi_hash_again(&t->link))
		if (t->process == process && t->tid == tid)
			return t;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->process = process;
	t->tid = tid;
	t->last_ns = INT64_MIN / 2;
	t->close_to = UINT64_MAX;
	if (!m->threads.size)
		m->threads = (struct spi_hash) SPI_HASH_OVER(m->thread_buckets);
	spi_hash_add(&m->threads, &t->link, hash);
	return t;
}

/* When all threads of a process have come to their end, what follows is another program's. */
static void thread_count(struct process *process, struct thread *t, int is_live)
{
	if (t->is_live != is_live)
		process->threads += is_live ? 1 : (uint64_t) -1;
	t->is_live = is_live;
	if (!process->threads)
		process->begun = process->batches;
}

int thread_batch(struct merge *m, struct process *process, uint32_t tid, struct batch *b)
{
	struct thread *t = thread_get(m, process, tid);

	if (!t) {
		batch_free(m, b);
		return -1;
	}
	thread_count(process, t, !(b->flags & TP_BATCH_END));
	b->next = NULL;
	if (t->last)
		t->last->next = b;
	else
		t->first = b;
	t->last = b;
	return t->has_record ? 0 : thread_advance(m, t);
}

void threads_free(struct merge *m)
{
	for (struct thread *t = spi_hash_next(&m->threads, NULL), *next; t; t = next) {
		next = spi_hash_next(&m->threads, &t->link);
		for (struct batch *b = t->first, *after; b; b = after) {
			after = b->next;
			batch_free(m, b);
		}
		free(t->stack);
		free(t);
	}
	free(m->heap);
}
