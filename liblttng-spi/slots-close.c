/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The calling thread's calls that have their exits before they are over: when it
 * executes another program, and that may fail; and in copies of the process that
 * are not traced. Their slots stay, as the calls may return by them, but stand for
 * `closed`, whose exit records nothing. Any state of the program, as in slots.c.
 */
#include "liblttng-spi/steps.h"
#include "liblttng-spi/threads-internal.h"

/* What a call's slot stands for once its exit is recorded, while the call itself may still return by it. */
static void closed_exit(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	(void) frame;
	(void) vec;
	(void) stride;
	spi_slot_pop(&spi_thread, slot);
}

static void closed_left(struct spi_slot *slot, enum spi_left how)
{
	(void) slot;
	(void) how;
}

static struct spi_point closed = { .exit = closed_exit, .left = closed_left };

/*
 * The thread is about to execute another program: the calls that it is in get their exits. Those of compact records are
 * ended by the reader, with the thread's last batch. Should that fail, they return by their slots as ever.
 */
void spi_calls_close(void)
{
	struct spi_thread *t = &spi_thread;
	uint64_t old;
	uint32_t tree = t->tree;

	if (!t->cur || t->busy)
		return;
	old = spi_signals_hold(~UINT64_C(0));
	for (struct spi_slot *s = spi_thread_top(t); s; s = spi_slot_below(s)) {
		struct spi_point *point = s->point;

		if (s->state != SPI_SLOT_LIVE || s->p == SPI_SLOT_DEAD || !s->target || point == &closed || (point->flags & SPI_POINT_COMPACT))
			continue;
		spi_slot_left(t, s, SPI_LEFT_PROCESS_END);
		s->start = (uint64_t) point;
		s->point = &closed;
		s->exit = (uint64_t) spi_thunk_exit_plain;	/* closed_exit() uses general registers only */
		s->state = SPI_SLOT_LIVE;
	}
	t->tree = tree;			/* the end of its root would end a tree in this thread */
	t->tree_epoch = t->words_epoch = 0;
	spi_signals_release(old);
}

/* In a copy of the process that is not traced: its calls are another's. */
void spi_calls_abandon(void)
{
	struct spi_thread *t = &spi_thread;

	for (struct spi_slot *s = t->cur ? spi_thread_top(t) : NULL; s; s = spi_slot_below(s))
		if (s->state == SPI_SLOT_LIVE && s->p != SPI_SLOT_DEAD && s->target) {
			s->point = &closed;
			s->exit = (uint64_t) spi_thunk_exit_plain;
		}
}

/*
 * Outermost first: each chunk of the thread's knows the one below it, and is told the one above it for that. A handler that comes
 * in between may take chunks above these, and do the same.
 */
void spi_slots_each(void (*show)(struct spi_slot *slot))
{
	struct spi_thread *t = &spi_thread;
	struct spi_slot *top = t->cur ? spi_thread_top(t) : NULL, *s, *end;
	uint32_t last, chunk;

	if (!top)
		return;
	last = spi_chunk_of(top);
	for (chunk = last; spi_chunks[chunk].prev != CHUNK_NONE; chunk = spi_chunks[chunk].prev)
		spi_chunks[spi_chunks[chunk].prev].above = chunk;
	for (;; chunk = spi_chunks[chunk].above) {
		end = chunk == last ? top + 1 : spi_chunk_slots(chunk) + CHUNK_SLOTS;
		for (s = spi_chunk_first(chunk); s < end; s++)
			if (s->state == SPI_SLOT_LIVE && s->p != SPI_SLOT_DEAD && s->target)
				show(s);
		if (chunk == last)
			break;
	}
}

static void call_again(struct spi_slot *slot)
{
	struct spi_point *point = (struct spi_point *) slot->start;

	if (slot->point != &closed)
		return;
	slot->point = point;
	if (spi_payload->enter_again(slot))
		slot->exit = point->exit_thunk;
	else
		slot->point = &closed;		/* what it was called with is not known any more: it counts as over */
}

/* The other program was not executed: entries once more, where all that they say is still known. */
void spi_calls_again(void)
{
	struct spi_thread *t = &spi_thread;
	uint64_t old;

	if (!t->cur || t->busy || !spi_payload || !spi_payload->enter_again)
		return;
	old = spi_signals_hold(~UINT64_C(0));
	spi_busy_begin(t, (uint64_t) __builtin_frame_address(0));
	spi_slots_each(call_again);
	t->busy--;
	spi_signals_release(old);
}
