/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A thread's stack of return slots: its supply, and the calls that ended without
 * returning.
 *
 * A thread's chunks form a stack; `cur` walks up and down in the top chunk and
 * hops at its ends.
 *
 * A slot whose call was left by longjmp is found when the thread next makes or
 * ends a call: a live slot's return address word stands at its `p`, above the
 * stack pointer of everything the call does, so a call at or above a slot's `p`
 * proves it dead - on one and the same stack. Coroutines and signal stacks break
 * the order, so only slots on the thread's own stack are judged by it; others go
 * when they return, when an unwinder leaves them, or, once the thread runs short
 * of chunks, when their word on the stack is no longer theirs. And a coroutine may run
 * on a variable of a function's: so a slot that is given up by its place gives its return
 * address back, if that is still there, and the call, should it go on, returns without it.
 *
 * Handlers on the alternate signal stack go as that does: what they left there by
 * longjmp() is over when an outer call on it returns, or the thread is back on its own.
 *
 * A program may also copy frames off its stack, go on with other ones at the same
 * place, and put them back later: Python's greenlet does. Nothing that a stack shows
 * proves a slot dead then. So once an object is loaded that is known for it (objects/objects.c, objects/map-read.c),
 * a slot goes when its call returns or is unwound, and those of calls left by longjmp() stay taken.
 *
 * All of it runs with the program in any state: in signal handlers, under its
 * malloc lock, in constructors.
 */
#include <signal.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/internal.h"

#define TAIL_CHAIN_MAX	256u		/* slots at one stack position before endless tail calls are folded */
#define FOREIGN_LOOK	64u		/* slots of other stacks looked past in search of dead ones */

SPI_FORK_DATA uint32_t spi_slots_kept;

void spi_thread_use_chunk(struct spi_thread *t, uint32_t chunk, int at_end)
{
	t->base = spi_chunk_first(chunk);
	t->end = spi_chunk_slots(chunk) + CHUNK_SLOTS;
	t->cur = at_end ? t->end : t->base;
	if (!spi_slots_kept || !at_end)
		t->own->chunk = chunk;		/* else the ledger looks at all that the thread had then */
}

struct spi_slot *spi_thread_top(struct spi_thread *t)
{
	uint32_t prev;

	if (t->cur > t->base)
		return t->cur - 1;
	prev = spi_chunks[spi_chunk_of(t->base)].prev;
	return prev == CHUNK_NONE ? NULL : spi_chunk_slots(prev) + CHUNK_SLOTS - 1;
}

/* Drop the top slot, which is free; hop down when its chunk is used up. */
static void thread_pop(struct spi_thread *t)
{
	if (t->cur == t->base) {
		uint32_t chunk = spi_chunk_of(t->base);

		spi_thread_use_chunk(t, spi_chunks[chunk].prev, 1);
		spi_barrier();
		if (!spi_slots_kept)
			spi_chunk_put(chunk);
	}
	spi_slot_put_away(t->cur - 1);
	t->cur--;
}

/* Does a place on the stack prove anything? */
static int place_tells(const struct spi_thread *t, uint64_t p)
{
	return spi_on_own_stack(t, p) && !spi_stacks_copied;
}

/*
 * May an unwound slot go, seen from a call that is made or ends at p? The
 * unwinder is done with it once something outside of its frame goes on.
 */
static int unwound_is_done(const struct spi_thread *t, const struct spi_slot *slot, uint64_t p)
{
	if (p == SPI_SLOT_DEAD - 1)
		return 1;			/* the thread ends */
	if (slot->p > p)
		return 0;
	return place_tells(t, p) ? place_tells(t, slot->p) : p - slot->p < 65536;
}

/* Drop what is free at the top; p as for unwound_is_done(). */
static void thread_pop_free(struct spi_thread *t, uint64_t p)
{
	struct spi_slot *top;

	while ((top = spi_thread_top(t)) && top->p != SPI_SLOT_DEAD &&
			(top->state == SPI_SLOT_FREE || (top->state == SPI_SLOT_UNWOUND && unwound_is_done(t, top, p))))
		thread_pop(t);
}

/* ---- calls that ended without returning -------------------------------- */

/* Tell the payload, then free the slot; it is popped when it comes to the top. */
void spi_slot_left(struct spi_thread *t, struct spi_slot *slot, enum spi_left how)
{
	const struct spi_point *point = slot->point;

	if (slot->state != SPI_SLOT_LIVE)
		return;
	slot->state = how == SPI_LEFT_UNWOUND && slot->target ? SPI_SLOT_UNWOUND : SPI_SLOT_FREE;
	if (!slot->target)
		return;			/* it was never filled: a handler left who did that */
	spi_busy_begin(t, (uint64_t) __builtin_frame_address(0));
	if (point->left)
		point->left(slot, how);
	spi_barrier();
	t->busy--;
}

/* Is the call of `slot` certainly over, seen from a call whose return address is at p on the same stack? */
static int slot_is_dead(const struct spi_thread *t, const struct spi_slot *slot, uint64_t p)
{
	if (slot->p == p)
		return *(const uint64_t *) p != spi_slot_code(slot) + SPI_SLOT_RETURN;
	return spi_on_own_stack(t, p) && spi_on_own_stack(t, slot->p) && slot->p < p;
}

/*
 * By its place on the stack the call of `slot` was left, by longjmp() or its like. If it was not, as it is a coroutine's that runs on a
 * variable of another function's, or on what was made a signal stack, it will return: so that it does without the slot, which
 * may be another's then.
 */
static void slot_leave(struct spi_thread *t, struct spi_slot *slot, enum spi_left how)
{
	uint64_t word;

	spi_slot_left(t, slot, how);
	if (spi_memory_copy(&word, slot->p, sizeof(word)) == 0 &&
			word == spi_slot_code(slot) + SPI_SLOT_RETURN)
		*(uint64_t *) slot->p = slot->ra;
}

struct spi_slot *spi_slot_below(struct spi_slot *slot)
{
	uint32_t chunk = spi_chunk_of(slot), prev;

	if (slot > spi_chunk_first(chunk))
		return slot - 1;
	prev = spi_chunks[chunk].prev;
	return prev == CHUNK_NONE ? NULL : spi_chunk_slots(prev) + CHUNK_SLOTS - 1;
}

/* The thread's alternate signal stack, if it runs on it, or does not, as is asked for; empty otherwise, or when it may not ask. */
struct signal_stack {
	int is_used, is_known;		/* is_used: what is asked for */
	uint64_t low, high;
};

static int is_on_signal_stack(struct signal_stack *a, uint64_t p)
{
	stack_t stack;

	if (!a->is_known && spi_may(SPI_MAY_ACT) && spi_raw3(SYS_sigaltstack, 0, (uint64_t) &stack, 0) >= 0 &&
			!(stack.ss_flags & SS_DISABLE) && !(stack.ss_flags & SS_ONSTACK) == !a->is_used) {
		a->low = (uint64_t) stack.ss_sp;
		a->high = a->low + stack.ss_size;
	}
	a->is_known = 1;
	return p >= a->low && p < a->high;
}

/*
 * The call of `slot` is over, and the thread is on the same stack. So are the calls above it further down on that
 * stack: on the thread's own one, and with those that a signal's handler made on the alternate one, and left by
 * siglongjmp(); or on the alternate one. Calls on other stacks may go on.
 */
static void slots_leave_above(struct spi_thread *t, const struct spi_slot *slot, struct signal_stack *a)
{
	const int is_own = spi_on_own_stack(t, slot->p);

	for (struct spi_slot *s = spi_thread_top(t); s && s != slot; s = spi_slot_below(s)) {
		if (s->state != SPI_SLOT_LIVE || s->p == SPI_SLOT_DEAD)
			continue;
		if (spi_on_own_stack(t, s->p) ? is_own && s->p <= slot->p :
				is_on_signal_stack(a, s->p) && (is_own || s->p <= slot->p))
			slot_leave(t, s, SPI_LEFT_JUMPED);
	}
}

static void thread_reclaim(struct spi_thread *t, uint64_t p)
{
	struct signal_stack a = { 0 };
	unsigned int foreign = 0;

	for (struct spi_slot *s = spi_thread_top(t); s; s = spi_slot_below(s)) {
		if (s->p == SPI_SLOT_DEAD || s->state != SPI_SLOT_LIVE)
			continue;			/* just taken, or given back, by the code that this signal handler interrupted, or that was left */
		if (slot_is_dead(t, s, p)) {
			if (foreign)
				slots_leave_above(t, s, &a);
			slot_leave(t, s, SPI_LEFT_JUMPED);
		} else if (!spi_on_own_stack(t, s->p) && spi_on_own_stack(t, p) && is_on_signal_stack(&a, s->p)) {
			slot_leave(t, s, SPI_LEFT_JUMPED);	/* a handler's on the alternate stack, which was left by longjmp() */
		} else if (spi_on_own_stack(t, s->p) || !spi_on_own_stack(t, p) || ++foreign > FOREIGN_LOOK)
			break;
	}
	thread_pop_free(t, p);
}

/*
 * A handler leaves what it interrupted, a record of the call at `at`: its own calls are over, on whichever stack. Signals blocked;
 * nobody returns by them any more.
 */
void spi_slots_leave_handler(struct spi_thread *t, uint64_t at, enum spi_left how)
{
	struct signal_stack a = { .is_used = 1 };

	if (!t->cur)
		return;
	for (struct spi_slot *s = spi_thread_top(t); s; s = spi_slot_below(s)) {
		if (s->p == SPI_SLOT_DEAD || (s->state == SPI_SLOT_LIVE && s->p >= at && !is_on_signal_stack(&a, s->p)))
			break;
		if (s->state == SPI_SLOT_LIVE)
			slot_leave(t, s, how);
	}
	thread_pop_free(t, at);
}

/* Slots of stacks that no longer carry their return address: coroutines that were dropped, children of posix_spawn. */
static void thread_collect(struct spi_thread *t, uint64_t p)
{
	for (struct spi_slot *s = spi_thread_top(t); s; s = spi_slot_below(s)) {
		uint64_t word = 0;

		if (s->state != SPI_SLOT_LIVE || s->p == SPI_SLOT_DEAD || !s->target)
			continue;
		if (spi_memory_copy(&word, s->p, sizeof(word)) < 0 || word != spi_slot_code(s) + SPI_SLOT_RETURN)
			spi_slot_left(t, s, SPI_LEFT_JUMPED);
	}
	thread_pop_free(t, p);
}

/*
 * Functions that tail-call each other without end would use a slot a step, all
 * at one stack position: beyond a chain's usual length the innermost is closed
 * and its place given to the next.
 */
static void thread_fold_tail(struct spi_thread *t, uint64_t p)
{
	struct spi_slot *top = spi_thread_top(t), *s = top;
	unsigned int n = 0;

	if (!spi_slot_is_chained(top, p))
		return;
	while (s && s->p == p && s->state == SPI_SLOT_LIVE && n < TAIL_CHAIN_MAX) {
		s = spi_slot_below(s);
		n++;
	}
	if (n < TAIL_CHAIN_MAX)
		return;
	*(uint64_t *) p = top->ra;
	spi_slot_left(t, top, SPI_LEFT_TAIL);
	thread_pop_free(t, p);
}

static int thread_grow(struct spi_thread *t, uint64_t p)
{
	uint32_t chunk = spi_chunk_get();
	struct spi_slot *top;

	if (chunk == CHUNK_NONE) {
		if (spi_stacks_copied)
			return -1;
		thread_collect(t, p);
		if (t->cur < t->end)
			return 0;
		chunk = spi_chunk_get();
		if (chunk == CHUNK_NONE)
			return -1;
	}
	top = spi_thread_top(t);
	spi_chunks[chunk].prev = spi_chunk_of(t->base);
	spi_thread_use_chunk(t, chunk, 0);
	if (top && top->p == p) {
		/* unwinders know a tail call's slot by the one before it in memory: here that is one which nobody uses */
		t->base->p = p;
		t->base->state = SPI_SLOT_FREE;
		t->cur++;
	}
	return 0;
}

/*
 * What it answers is the top as it was while signals were blocked: one that waited is delivered before this returns, and what its
 * handler leaves there is for who finds that the top was moved. To put a slot above that would hide it.
 */
SPI_EXPORT struct spi_slot *spi_thread_slow(uint64_t p)
{
	struct spi_thread *t = &spi_thread;
	uint64_t old;
	struct spi_slot *top, *cur = t->cur;
	int result = 0;

	if (t->busy >= SPI_BUSY_ALWAYS)
		return NULL;
	if (spi_stacks_copied && cur && cur != t->end)
		return cur;
	/* The thread's slots are in order between signals only. */
	old = spi_signals_hold(~UINT64_C(0));
	if (!t->cur)
		result = spi_thread_begin(t);
	if (result == 0) {
		top = spi_thread_top(t);
		if (top && (top->p <= p || t->cur == t->end) && !spi_stacks_copied)
			thread_reclaim(t, p);
		top = spi_thread_top(t);
		if (top && top->p == p)
			thread_fold_tail(t, p);
		if (t->cur == t->end)
			result = thread_grow(t, p);
	}
	cur = t->cur;
	spi_signals_release(old);
	return result == 0 ? cur : NULL;
}

/* The call of `slot` ends, and there are others above it: those on its own stack were left by longjmp() before. */
SPI_EXPORT void spi_slot_leave_above(struct spi_slot *slot)
{
	struct spi_thread *t = &spi_thread;
	struct signal_stack a = { .is_used = !spi_on_own_stack(t, slot->p) };
	uint64_t old;

	if (!t->cur || spi_stacks_copied || (a.is_used && !is_on_signal_stack(&a, slot->p)))
		return;
	old = spi_signals_hold(~UINT64_C(0));
	slots_leave_above(t, slot, &a);
	spi_signals_release(old);
}

/* A slot that is not the top one ended (coroutines), or free ones lie below it. */
SPI_EXPORT void spi_slot_pop_slow(struct spi_slot *slot, uint64_t p)
{
	struct spi_thread *t = &spi_thread;
	uint64_t old;

	old = spi_signals_hold(~UINT64_C(0));
	if (slot && slot->p != SPI_SLOT_DEAD)
		slot->state = SPI_SLOT_FREE;
	thread_pop_free(t, p);
	spi_signals_release(old);
}

SPI_EXPORT struct spi_slot *spi_slot_claim(uint64_t p)
{
	struct spi_thread *t = &spi_thread;
	struct spi_slot *slot;

	do
		slot = spi_slot_ready(t, p);
	while (slot && !spi_slot_top_move(t, slot, slot + 1));
	return slot;
}

/*
 * An unwinder leaves the frame of the live slot that is nearest above the stack pointer. See unwind/unwind.c.
 * 0: that cannot be told from the stack, ask the unwinder which it is.
 */
int spi_thread_unwound(uint64_t sp)
{
	struct spi_thread *t = &spi_thread;
	struct spi_slot *nearest = NULL;
	unsigned int looked = 0;

	if (!t->cur)
		return 1;
	if (spi_stacks_copied)
		return 0;
	for (struct spi_slot *s = spi_thread_top(t); s && looked < 4096; s = spi_slot_below(s), looked++) {
		if (s->state != SPI_SLOT_LIVE || s->p == SPI_SLOT_DEAD || s->p <= sp || !s->target)
			continue;
		if (!nearest || s->p < nearest->p)
			nearest = s;
		/* on one stack the slots are in order: the first is the nearest */
		if (spi_on_own_stack(t, sp) && spi_on_own_stack(t, s->p))
			break;
	}
	if (nearest)
		spi_slot_left(t, nearest, SPI_LEFT_UNWOUND);
	return 1;
}

void spi_slot_unwound(struct spi_slot *slot)
{
	spi_slot_left(&spi_thread, slot, SPI_LEFT_UNWOUND);
}

/* At a thread's end: is the call one of those that the end itself is made in? It will return. */
static int is_under_way(const struct spi_thread *t, const struct spi_slot *s, uint64_t sp)
{
	return s->p > sp && spi_on_own_stack(t, s->p) && spi_on_own_stack(t, sp) &&
		*(const uint64_t *) s->p == spi_slot_code(s) + SPI_SLOT_RETURN;
}

void spi_thread_leave_all(struct spi_thread *t, enum spi_left how)
{
	uint64_t sp = (uint64_t) __builtin_frame_address(0);

	for (struct spi_slot *s = spi_thread_top(t); s; s = spi_slot_below(s))
		if (s->state == SPI_SLOT_LIVE && s->p != SPI_SLOT_DEAD &&
				(how != SPI_LEFT_THREAD_END || !is_under_way(t, s, sp)))
			spi_slot_left(t, s, how);
		else if (how == SPI_LEFT_THREAD_END && s->p == SPI_SLOT_DEAD)	/* a handler left the call that claimed it */
			s->state = SPI_SLOT_FREE, s->p = 0;
	thread_pop_free(t, SPI_SLOT_DEAD - 1);
}
