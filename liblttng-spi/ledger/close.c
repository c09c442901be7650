/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Closing calls that are under way: which calls, and when a thread may be looked at. The payload writes the exits
 * (tp/module/close.c), in the order in which the calls would return.
 *
 * No thread is stopped: meanwhile calls return and pop their slots. At the process's end, or an exec, the payload
 * closes recording first; a thread that is in the middle of a record is waited for, not for long. What is left in
 * slots is looked at, not whether the slots are in use; so a thread keeps its chunks, also those that it has left
 * (spi_slots_kept).
 *
 * For rules that end everybody goes on recording. A thread ends its calls under a lock of its own, which is held here
 * while the thread's slots are looked at: once the thread was not busy, and so has seen that it is to take the lock.
 * Only slots of calls on the thread's own stack are looked at, as chunks may change hands.
 */
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/ledger/ledger.h"

#define STEPS_RULES	5000u	/* of 0.1 ms, for all threads: one may wait for a processor, or for a ring */
#define STEPS_LAST	1000u	/* the same at the process's end */
#define STEPS_QUICK	50u	/* these give the processor away instead */

struct calls {
	enum spi_calls_of of;
	uint32_t trees;
};

/* spi_thread_own.awaited */
enum { NOT_AWAITED, SEEN_IDLE, AWAITED };

static SPI_FORK_DATA uint32_t is_closing;	/* calls of rules are being closed */

static void pause_us(long us)
{
	long pause[2] = { 0, us * 1000 };

	spi_sys(SYS_nanosleep, pause, NULL);
}

/* Other threads see what was written before, and what they have written is seen. */
static void others_see(void)
{
	/* lttng-ust registers for it; the store buffers are empty after a while anyway */
	if (spi_sys(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0L, 0L) < 0)
		pause_us(1000);
}

/* ---- which calls ---- */

/*
 * Is there no exit to come? A call that was left by longjmp() counts as over before its exit is recorded: the thread
 * that records it may just be waiting for the lock that is held here.
 */
static int slot_is_over(const struct spi_slot *s, const struct spi_point *point)
{
	if (s->p == SPI_SLOT_DEAD || !point || s->aux == SPI_SLOT_APART)
		return 1;
	return s->state != SPI_SLOT_LIVE && (!s->aux || (point->flags & SPI_POINT_COMPACT));
}

static enum spi_close_in function_in(struct spi_slot *s, const struct spi_point *point, enum spi_calls_of of)
{
	if (of == SPI_CALLS_OF_TREES || (point->flags & SPI_POINT_APART))
		return SPI_CLOSE_IN_NONE;
	if (point->flags & (SPI_POINT_COMPACT | SPI_POINT_ONE_EVENT))
		return of == SPI_CALLS_OF_RULES && !point->users ? SPI_CLOSE_WAIT : SPI_CLOSE_IN_NONE;
	if (!s->aux)
		return SPI_CLOSE_IN_NONE;
	if (of == SPI_CALLS_OF_ALL || !point->users)
		return SPI_CLOSE_IN_ALL;
	return spi_payload->close_call(NULL, s, 0, SPI_CLOSE_IN_LEFT) ? SPI_CLOSE_IN_LEFT : SPI_CLOSE_IN_NONE;
}

/* In which channels is the call to be closed? The slot may become another call's: then the next look tells. */
static enum spi_close_in slot_in(struct spi_slot *s, const struct calls *calls)
{
	const struct spi_point *point = s->point;

	if (calls->of >= SPI_CALLS_OF_THREAD)
		return s->aux && s->aux != SPI_SLOT_APART ? SPI_CLOSE_IN_PROCESS : SPI_CLOSE_IN_NONE;
	if (slot_is_over(s, point))
		return SPI_CLOSE_IN_NONE;
	if (!(point->flags & SPI_POINT_TREE))
		return function_in(s, point, calls->of);
	/* a root's point keeps its tree when that is off */
	if (point->flags & SPI_POINT_COMPACT)
		return calls->trees && !(point->tree_live & ~calls->trees) ? SPI_CLOSE_WAIT : SPI_CLOSE_IN_NONE;
	if (!s->aux || !(s->start & calls->trees))
		return SPI_CLOSE_IN_NONE;
	return calls->of == SPI_CALLS_OF_ALL ? SPI_CLOSE_IN_ALL : SPI_CLOSE_IN_TAGGED;
}

/* Innermost first. copy NULL: how many such calls; otherwise they are closed. */
static uint32_t thread_calls(const struct spi_thread_own *own, const struct calls *calls, const struct spi_thread *copy)
{
	uint32_t chunk = own->chunk, count = 0;

	for (unsigned int n = 0; chunk < CHUNK_COUNT && n < CHUNK_COUNT; chunk = spi_chunks[chunk].prev, n++)
		for (struct spi_slot *s = spi_chunk_slots(chunk) + CHUNK_SLOTS; s-- > spi_chunk_slots(chunk);) {
			enum spi_close_in in = slot_in(s, calls);

			if (in != SPI_CLOSE_IN_NONE && !copy)
				count++;
			else if (in == SPI_CLOSE_IN_PROCESS || (in != SPI_CLOSE_IN_NONE && in != SPI_CLOSE_WAIT &&
					spi_on_own_stack(copy, s->p)))
				spi_payload->close_call(own, s, calls->trees, in);
		}
	return count;
}

uint32_t spi_ledger_open(enum spi_calls_of of, uint32_t trees)
{
	struct calls calls = { of, trees };
	uint32_t count = 0;

	for (struct spi_thread_own *own = spi_threads_first(); own; own = own->next)
		count += own->in_use ? thread_calls(own, &calls, NULL) : 0;
	return count;
}

/* ---- threads ---- */

/* What the thread sees of itself; its memory may go at any moment. */
static int thread_copy(const struct spi_thread_own *own, struct spi_thread *copy)
{
	if (!own->thread || spi_memory_copy(copy, (uint64_t) own->thread, sizeof(*copy)) < 0)
		memset(copy, 0, sizeof(*copy));
	return copy->own == own;
}

/* Is the thread in the middle of a record? */
static int thread_is_busy(const struct spi_thread_own *own)
{
	struct spi_thread copy;

	return thread_copy(own, &copy) && (copy.busy & (SPI_BUSY_ALWAYS - 1));
}

static void thread_close(struct spi_thread_own *own, const struct calls *calls)
{
	struct spi_thread copy;
	const int is_there = thread_copy(own, &copy);

	/* what the thread owes comes first */
	if (calls->of >= SPI_CALLS_OF_THREAD || (is_there && !spi_thread_owes(&copy))) {
		spi_payload->close_thread(own, &copy);
		thread_calls(own, calls, &copy);
	}
}

static int thread_lock(struct spi_thread_own *own)
{
	uint32_t none = SPI_CLOSING_FREE;
	const uint32_t other = SPI_CLOSING_OTHER;

	return __atomic_compare_exchange_n(&own->closing, &none, other, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* 0: not now. */
static int thread_close_soon(struct spi_thread_own *own, const struct calls *calls, int is_last)
{
	if (own->awaited == AWAITED && !thread_is_busy(own))
		own->awaited = SEEN_IDLE;
	if (own->awaited != SEEN_IDLE || (!is_last && !thread_lock(own)))
		return 0;
	thread_close(own, calls);
	if (!is_last)
		__atomic_store_n(&own->closing, SPI_CLOSING_FREE, __ATOMIC_RELEASE);
	return 1;
}

/* Each other thread, in whichever order they may be looked at. At the end also those that never may. */
static void threads_close(const struct calls *calls, int is_last)
{
	const struct spi_thread_own *mine = spi_thread.own;
	const unsigned int most = is_last ? STEPS_LAST : STEPS_RULES;
	unsigned int left = 1;

	for (struct spi_thread_own *own = spi_threads_first(); own; own = own->next)
		own->awaited = own != mine && own->in_use ? AWAITED : NOT_AWAITED;
	for (unsigned int n = 0; left && n < most && (is_last || !spi_slots_kept); n++) {
		left = 0;
		if (n && n < STEPS_QUICK)
			spi_sys(SYS_sched_yield);
		else if (n)
			pause_us(100);
		for (struct spi_thread_own *own = spi_threads_first(); own; own = own->next)
			if (!is_last && spi_slots_kept)
				return;		/* the process ends or executes: another thread closes all calls */
			else if (!own->awaited || !own->in_use || thread_close_soon(own, calls, is_last))
				own->awaited = NOT_AWAITED;
			else
				left++;
	}
	for (struct spi_thread_own *own = spi_threads_first(); own && is_last; own = own->next)
		if (own->awaited)
			thread_close(own, calls);
}

static int others_exist(void)
{
	const struct spi_thread_own *own = spi_threads_first();

	while (own && (own == spi_thread.own || !own->in_use))
		own = own->next;
	return own != NULL;
}

/* ---- the operation ---- */

/* The calling thread's; its signals' handlers wait. */
static void own_close(const struct calls *calls)
{
	struct spi_thread *t = &spi_thread;
	uint64_t held;

	if (!t->cur)
		return;
	held = spi_signals_hold(~UINT64_C(0));
	spi_busy_begin(t, (uint64_t) __builtin_frame_address(0));
	while (!thread_lock(t->own) && spi_may(SPI_MAY_ACT))	/* the control thread closes calls of this thread */
		spi_sys(SYS_sched_yield);
	thread_close(t->own, calls);
	__atomic_store_n(&t->own->closing, SPI_CLOSING_FREE, __ATOMIC_RELEASE);
	spi_call_end(t);
	spi_signals_release(held);
}

static void process_close(const struct calls *calls)
{
	struct spi_thread *t = &spi_thread;
	uint32_t busy = t->busy;

	t->busy |= SPI_BUSY_ALWAYS;
	__atomic_store_n(&spi_slots_kept, 1, __ATOMIC_SEQ_CST);
	for (unsigned int n = 0; __atomic_load_n(&is_closing, __ATOMIC_SEQ_CST) && n < STEPS_LAST; n++)
		pause_us(100);		/* the control thread stops after the thread that it closes */
	if (spi_payload->close_begin(calls->of == SPI_CALLS_OF_END ? SPI_CLOSE_FOR_END : SPI_CLOSE_FOR_EXEC)) {
		if (calls->of == SPI_CALLS_OF_EXEC && !busy)	/* else a handler executes, amid a record */
			own_close(calls);
		if (others_exist()) {
			others_see();
			threads_close(calls, 1);
		}
	}
	t->busy = busy;
}

static void rules_close(const struct calls *calls, void (*stop)(uint32_t trees))
{
	__atomic_store_n(&is_closing, 1, __ATOMIC_SEQ_CST);
	if (spi_payload->close_begin(SPI_CLOSE_FOR_RULES)) {
		others_see();
		if (stop)
			stop(calls->trees);
		others_see();
		threads_close(calls, 0);
		spi_payload->close_end(SPI_CLOSE_FOR_RULES);
	}
	__atomic_store_n(&is_closing, 0, __ATOMIC_SEQ_CST);
}

void spi_ledger_close(enum spi_calls_of of, uint32_t trees, void (*stop)(uint32_t trees))
{
	const struct calls calls = { of, of >= SPI_CALLS_OF_ALL ? UINT32_MAX : trees };

	/* a sandbox may forbid what a look at other threads takes */
	const int is_alone = of == SPI_CALLS_OF_THREAD || !spi_may(SPI_MAY_ACT);

	if (!spi_payload)
		return;
	if (!is_alone && of < SPI_CALLS_OF_THREAD)
		rules_close(&calls, stop);
	else if (!is_alone)
		process_close(&calls);
	else if ((of == SPI_CALLS_OF_THREAD || of == SPI_CALLS_OF_EXEC) && !spi_thread.busy)
		own_close(&calls);
}

/* ---- the process ---- */

void spi_process_end(void)
{
	struct spi_thread *t = &spi_thread;

	if (t->cur)
		spi_thread_leave_all(t, SPI_LEFT_PROCESS_END);
	if (spi_payload && t->record && spi_payload->thread_end)
		spi_payload->thread_end(t);
	spi_ledger_close(SPI_CALLS_OF_END, 0, NULL);
}

void spi_process_execs(void)
{
	spi_ledger_close(SPI_CALLS_OF_EXEC, 0, NULL);
}

void spi_process_goes_on(void)
{
	struct spi_thread *t = &spi_thread;
	uint64_t held;

	if (!spi_payload)
		return;
	held = spi_signals_hold(~UINT64_C(0));
	spi_busy_begin(t, (uint64_t) __builtin_frame_address(0));
	__atomic_store_n(&spi_slots_kept, 0, __ATOMIC_SEQ_CST);
	spi_payload->close_end(SPI_CLOSE_FOR_EXEC);
	spi_call_end(t);
	spi_signals_release(held);
}

/* ---- copies of the process ---- */

void spi_ledger_close_fork_child(void)
{
	is_closing = 0;
}

static void nothing_exit(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	(void) frame;
	(void) vec;
	(void) stride;
	spi_slot_pop(&spi_thread, slot);
}

static void nothing_left(struct spi_slot *slot, enum spi_left how)
{
	(void) slot;
	(void) how;
}

/* The calls are another process's: their slots stay, as they return by them, and record nothing. */
void spi_ledger_abandon(void)
{
	static struct spi_point nothing = { .exit = nothing_exit, .left = nothing_left };
	struct spi_thread *t = &spi_thread;

	for (struct spi_slot *s = t->cur ? spi_thread_top(t) : NULL; s; s = spi_slot_below(s))
		if (s->state == SPI_SLOT_LIVE && s->p != SPI_SLOT_DEAD && s->target) {
			s->point = &nothing;
			s->exit = (uint64_t) spi_thunk_exit_plain;	/* nothing_exit() uses general registers only */
		}
}
