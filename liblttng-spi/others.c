/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What other threads are in when the process ends, or executes another program.
 * The payload closes recording, and here it is waited, not for long, until no thread is in the
 * middle of that; then the payload is shown every slot of theirs, in the order
 * in which the calls would return, and writes the exits of those that are open.
 *
 * Nobody is stopped: meanwhile calls return and pop their slots. What they leave
 * there is looked at, not whether they are in use; so a thread's chunks stay its own while it is closed,
 * also those that it has left (spi_others_closed).
 *
 * When a tree ends, and calls of its own are still open in threads that cannot return now, these are closed likewise
 * (spi_calls_close_others). Everybody goes on recording meanwhile: a thread ends its calls
 * under a lock of its own, which is held here while its slots are looked at. Only those on its own stack are, as chunks
 * may change hands.
 */
#include <string.h>
#include <sys/syscall.h>
#include <linux/membarrier.h>
#include "liblttng-spi/entry.h"
#include "liblttng-spi/patch.h"
#include "liblttng-spi/threads-internal.h"

#define WAIT_STEPS	1000u		/* of a tenth of a millisecond, for all threads together */

SPI_FORK_DATA uint32_t spi_others_closed;
static SPI_FORK_DATA uint32_t closing;	/* calls of a tree are being closed */

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

/* What the thread sees of itself; its memory may go at any moment. */
static int thread_copy(const struct spi_thread_own *own, struct spi_thread *copy)
{
	if (!own->thread || spi_memory_copy(copy, (uint64_t) own->thread, sizeof(*copy)) < 0)
		memset(copy, 0, sizeof(*copy));
	return copy->own == own;
}

/* Is it in the middle of a record? */
static int thread_is_busy(const struct spi_thread_own *own)
{
	struct spi_thread copy;

	return thread_copy(own, &copy) && (copy.busy & (SPI_BUSY_ALWAYS - 1));
}

/* Threads that are busy now may not have seen that recording is closed; those that become busy will. */
static void busy_wait(const struct spi_thread *t)
{
	unsigned int steps = 0;

	others_see();
	for (struct spi_thread_own *own = spi_threads_first(); own; own = own->next)
		while (own != t->own && own->in_use && thread_is_busy(own) && steps++ < WAIT_STEPS) {
			if (steps < 50)
				spi_sys(SYS_sched_yield);
			else
				pause_us(100);
		}
}

/* 1: a call was closed that may be entered again. */
static int thread_leave(struct spi_thread_own *own)
{
	struct spi_thread copy;
	uint32_t chunk = own->chunk;
	int again = 0;

	thread_copy(own, &copy);
	if (spi_payload->other_thread)
		spi_payload->other_thread(own, &copy);
	for (unsigned int n = 0; chunk < CHUNK_COUNT && n < CHUNK_COUNT; chunk = spi_chunks[chunk].prev, n++)
		for (struct spi_slot *s = spi_chunk_slots(chunk) + CHUNK_SLOTS; s-- > spi_chunk_slots(chunk);)
			if (s->aux)
				again |= spi_payload->other_left(own, s, SPI_LEFT_PROCESS_END);
	return again;
}

static int others_exist(const struct spi_thread *t)
{
	struct spi_thread_own *own = spi_threads_first();

	while (own && (own == t->own || !own->in_use))
		own = own->next;
	return own != NULL;
}

void spi_others_leave(int is_end)
{
	struct spi_thread *t = &spi_thread;
	uint32_t busy = t->busy;

	if (!spi_payload || !spi_payload->others_begin || !spi_may(SPI_MAY_GROW))
		return;
	t->busy |= SPI_BUSY_ALWAYS;
	__atomic_store_n(&spi_others_closed, 1, __ATOMIC_SEQ_CST);
	for (unsigned int i = 0; __atomic_load_n(&closing, __ATOMIC_SEQ_CST) && i < WAIT_STEPS; i++)
		pause_us(100);		/* that ends with the thread it is at */
	if (spi_payload->others_begin(is_end) && others_exist(t)) {
		busy_wait(t);
		for (struct spi_thread_own *own = spi_threads_first(); own; own = own->next)
			if (own != t->own && own->in_use)
				own->again = (uint32_t) thread_leave(own);
	}
	t->busy = busy;
}

/* The other program was not executed. */
void spi_others_again(void)
{
	uint32_t threads = 0;

	if (!spi_payload || !spi_payload->others_again)
		return;
	for (struct spi_thread_own *own = spi_threads_first(); own; own = own->next)
		threads += own->again != 0;
	__atomic_store_n(&spi_others_closed, 0, __ATOMIC_SEQ_CST);
	spi_payload->others_again(threads);
}

void spi_others_fork_child(void)
{
	spi_others_closed = closing = 0;
	for (struct spi_thread_own *own = spi_threads_first(); own; own = own->next)
		if (own->again | own->closing)
			own->again = own->closing = 0;
}

/* ---- calls of a tree that ends ---- */

#define BUSY_STEPS	20u		/* of a tenth of a millisecond, for one thread */
#define BUSY_MOST	5000u		/* for all that take longer: they wait for a processor, or for room in a ring */

/*
 * Is there no exit to come? A call that was left by longjmp() counts as over before its exit is recorded: whoever records it may
 * just be waiting for the lock that is held here.
 */
static int slot_is_over(const struct spi_slot *s, const struct spi_point *point)
{
	return s->p == SPI_SLOT_DEAD || !point || (s->state != SPI_SLOT_LIVE && (!s->aux || (point->flags & SPI_POINT_COMPACT)));
}

/*
 * Was the call recorded by these trees (UINT32_MAX: or by a rule for functions, as an entry and an exit), and is not over?
 * With compact records: by none that there still is, but for these.
 */
static int slot_is_open(const struct spi_slot *s, uint32_t trees)
{
	const struct spi_point *point = s->point;

	if (slot_is_over(s, point))
		return 0;
	if (!(point->flags & SPI_POINT_TREE))
		return trees == UINT32_MAX && !(point->flags & (SPI_POINT_COMPACT | SPI_POINT_ONE_EVENT)) && s->aux && s->aux != UINT32_MAX;
	if (point->flags & SPI_POINT_COMPACT)
		return s->aux != UINT32_MAX && !(point->tree_live & ~trees);	/* a root's point keeps its tree when that is off */
	return s->aux && s->aux != UINT32_MAX && (s->start & trees);	/* root.c: a slot of a call that was not recorded */
}

/* Of a function that no rule asks for any more, or some rule less? */
static int slot_is_left_over(const struct spi_slot *s)
{
	const struct spi_point *point = s->point;

	if (slot_is_over(s, point) || (point->flags & (SPI_POINT_TREE | SPI_POINT_APART)) || s->aux == UINT32_MAX)
		return 0;
	if (point->flags & (SPI_POINT_COMPACT | SPI_POINT_ONE_EVENT))
		return !point->users;
	return s->aux && (!point->users || spi_payload->exit_left(s));
}

/* The slot of another thread, which is locked: its exit, where it is due. */
static void slot_close(const struct spi_thread_own *own, struct spi_slot *s, uint32_t trees, enum spi_calls calls)
{
	if (s->point && s->point->flags & SPI_POINT_COMPACT)
		return;
	if (slot_is_open(s, calls == SPI_CALLS_ALL ? UINT32_MAX : trees))
		spi_payload->other_close(own, s, trees, calls == SPI_CALLS_ALL ? SPI_CLOSE_IN_ALL : SPI_CLOSE_IN_TAGGED);
	else if (calls == SPI_CALLS_LEFT && slot_is_left_over(s) && !(s->point->flags & SPI_POINT_ONE_EVENT))
		spi_payload->other_close(own, s, 0, s->point->users ? SPI_CLOSE_IN_LEFT : SPI_CLOSE_IN_ALL);
}

static int slot_is_awaited(const struct spi_slot *s, uint32_t trees)
{
	return slot_is_open(s, trees) || slot_is_left_over(s);
}

/* Has the call its exit by what is kept (keeping.c)? */
static int slot_is_kept(const struct spi_slot *s, uint32_t trees)
{
	const struct spi_point *point = s->point;

	(void) trees;
	return !slot_is_over(s, point) && s->aux && s->aux != UINT32_MAX && !(point->flags & SPI_POINT_APART) &&
		spi_payload->keep_waits(s);
}

/* How many slots of all threads are, roughly. */
static uint32_t slots_count(int (*is)(const struct spi_slot *s, uint32_t trees), uint32_t trees)
{
	uint32_t count = 0;

	for (struct spi_thread_own *own = spi_threads_first(); own; own = own->next) {
		uint32_t chunk = own->chunk;

		for (unsigned int n = 0; own->in_use && chunk < CHUNK_COUNT && n < CHUNK_COUNT; chunk = spi_chunks[chunk].prev, n++)
			for (struct spi_slot *s = spi_chunk_slots(chunk); s < spi_chunk_slots(chunk) + CHUNK_SLOTS; s++)
				count += (uint32_t) is(s, trees);
	}
	return count;
}

uint32_t spi_calls_kept(void)
{
	return slots_count(slot_is_kept, 0);
}

uint32_t spi_calls_open(uint32_t trees, int functions)
{
	return slots_count(functions ? slot_is_awaited : slot_is_open, trees);
}

static int thread_lock(struct spi_thread_own *own)
{
	uint32_t none = SPI_CLOSING_FREE;

	return __atomic_compare_exchange_n(&own->closing, &none, SPI_CLOSING_OTHER, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* 0: not in that time. A thread that is not busy once has seen that it is to be careful. */
static int thread_close(struct spi_thread_own *own, uint32_t trees, enum spi_calls calls, unsigned int *steps)
{
	struct spi_thread copy;
	uint32_t chunk;

	for (int is_careful = 0; !(is_careful |= !thread_is_busy(own)) || !thread_lock(own); --*steps, pause_us(100))
		if (!*steps)
			return 0;
	chunk = own->chunk;
	if (thread_copy(own, &copy) && !spi_thread_owes(&copy)) {	/* what it owes comes first */
		spi_payload->other_thread(own, &copy);
		for (unsigned int n = 0; chunk < CHUNK_COUNT && n < CHUNK_COUNT; chunk = spi_chunks[chunk].prev, n++)
			for (struct spi_slot *s = spi_chunk_slots(chunk) + CHUNK_SLOTS; s-- > spi_chunk_slots(chunk);)
				if (s->p >= copy.stack_low && s->p < copy.stack_high)
					slot_close(own, s, trees, calls);
	}
	__atomic_store_n(&own->closing, SPI_CLOSING_FREE, __ATOMIC_RELEASE);
	return 1;
}

static void threads_close(const struct spi_thread *t, uint32_t trees, enum spi_calls calls)
{
	unsigned int most = BUSY_MOST, steps;

	for (struct spi_thread_own *own = spi_threads_first(); own; own = own->next) {
		steps = BUSY_STEPS;
		own->is_late = own != t->own && own->in_use && !spi_others_closed && !thread_close(own, trees, calls, &steps);
	}
	for (struct spi_thread_own *own = spi_threads_first(); own; own = own->next)
		if (own->is_late && own->in_use && !spi_others_closed)
			thread_close(own, trees, calls, &most);
}

/* Control thread, under the control lock. The trees are off. */
void spi_calls_close_others(uint32_t trees, enum spi_calls calls)
{
	const struct spi_thread *t = &spi_thread;

	if (!spi_payload || !spi_payload->careful_begin || !spi_may(SPI_MAY_GROW))
		return;
	__atomic_store_n(&closing, 1, __ATOMIC_SEQ_CST);
	if (spi_payload->careful_begin()) {
		others_see();
		spi_entries_forget(trees);
		others_see();
		threads_close(t, trees, calls);
		spi_payload->careful_end();
	}
	__atomic_store_n(&closing, 0, __ATOMIC_SEQ_CST);
}
