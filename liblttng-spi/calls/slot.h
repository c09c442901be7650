/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Return slots on the path of a call: whether there is one, pushing and popping it. Part of calls/point.h, which
 * includes this file; calls/slots.c has the slow sides.
 */
#ifndef SPI_SLOT_H
#define SPI_SLOT_H

#include "liblttng-spi/calls/point.h"

/*
 * Set up the calling thread, reclaim slots that longjmp or a switched stack left
 * behind, or grow the range; -1 when the call must not get a slot. Slow path;
 * async-signal-safe.
 */
struct spi_slot *spi_thread_slow(uint64_t p);	/* as spi_slot_ready() */

/*
 * A tail call: what it is made from has its slot at the same place of the stack, and that holds the slot's own address
 * still. (An endless chain is folded where a chunk of slots ends: slots.c.)
 */
SPI_INLINE int spi_slot_is_chained(const struct spi_slot *top, uint64_t p)
{
	return top->p == p && top->state == SPI_SLOT_LIVE && *(const uint64_t *) p == spi_slot_code(top) + SPI_SLOT_RETURN;
}

/*
 * spi_slot_ready() - make sure that a slot can be pushed for a call whose return
 * address is at stack address p, after those below it (addresses < p) were
 * reclaimed. Returns the slot to fill, or NULL: record without exit.
 */
SPI_INLINE struct spi_slot *spi_slot_ready(struct spi_thread *t, uint64_t p)
{
	struct spi_slot *cur = t->cur;

	if (spi_unlikely(!cur || cur == t->end || (cur > t->base && cur[-1].p <= p && !spi_slot_is_chained(cur - 1, p))))
		return spi_thread_slow(p);
	return cur;
}

/*
 * The top of the thread's slots moves, if nobody has moved it since it was read: a signal's handler may leave slots there
 * when it returns, of calls that it left by longjmp(), or of a coroutine that goes on later. One instruction, as the handler
 * is the same thread's.
 */
SPI_INLINE int spi_slot_top_move(struct spi_thread *t, struct spi_slot *from, struct spi_slot *to)
{
	return spi_local_move((void **) &t->cur, from, to);
}

/* It was moved: another slot for a call at p, for good; NULL: none. */
struct spi_slot *spi_slot_claim(uint64_t p);

/*
 * spi_slot_push() - publish the slot that spi_slot_ready() gave, or, when a handler has left others there since, another one:
 * what belongs into it besides is to be written afterwards. The top moves
 * first, so a signal handler in between does not use this slot; p (DEAD until then) says next whose it is, should the
 * handler leave the call; and the target (0 until then) comes last. 0: there is none (*place is a slot that nobody looks at).
 */
SPI_INLINE uint64_t spi_slot_push(struct spi_thread *t, struct spi_slot **place, struct spi_point *point, struct spi_frame *frame)
{
	struct spi_slot *slot = *place;

	if (spi_unlikely(!spi_slot_top_move(t, slot, slot + 1))) {
		static struct spi_slot nobodys;

		slot = spi_slot_claim((uint64_t) &frame->ra);
		if (!slot) {
			*place = &nobodys;
			return 0;
		}
		*place = slot;
	}
	slot->p = (uint64_t) &frame->ra;
	spi_barrier();
	slot->ra = frame->ra;
	slot->exit = point->exit_thunk;
	slot->point = point;
	spi_barrier();
	slot->target = point->body;
	return spi_slot_code(slot);
}

/* NULL: it is popped, and free ones lie below it. */
void spi_slot_pop_slow(struct spi_slot *slot, uint64_t p);
/* Before the exit of a call whose slot is not the top one is recorded. */
void spi_slot_leave_above(struct spi_slot *slot);

/* The top slot is no more in use: p first, as handlers may come. What the ledger looks at stays, the point among it. */
SPI_INLINE void spi_slot_put_away(struct spi_slot *slot)
{
	slot->p = SPI_SLOT_DEAD;
	spi_barrier();
	slot->target = 0;
	slot->state = SPI_SLOT_LIVE;
	spi_barrier();
}

/* spi_slot_pop() - the call of `slot` is over and accounted for. */
SPI_INLINE void spi_slot_pop(struct spi_thread *t, struct spi_slot *slot)
{
	uint64_t p = slot->p;

	if (spi_likely(slot + 1 == t->cur)) {
		spi_slot_put_away(slot);
		if (spi_unlikely(!spi_slot_top_move(t, slot + 1, slot))) {
			slot->state = SPI_SLOT_FREE;
			spi_barrier();
			slot->p = p;
			spi_slot_pop_slow(slot, p);
		} else if (spi_unlikely(slot > t->base && slot[-1].state != SPI_SLOT_LIVE)) {
			spi_slot_pop_slow(NULL, p);
		}
	} else {
		spi_slot_pop_slow(slot, p);
	}
}

#endif /* SPI_SLOT_H */
