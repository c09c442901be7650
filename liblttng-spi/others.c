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
 */
#include <string.h>
#include <sys/syscall.h>
#include <linux/membarrier.h>
#include "liblttng-spi/patch.h"
#include "liblttng-spi/threads-internal.h"

#define WAIT_STEPS	1000u		/* of a tenth of a millisecond, for all threads together */

uint32_t spi_others_closed;

static void pause_us(long us)
{
	long pause[2] = { 0, us * 1000 };

	spi_sys(SYS_nanosleep, pause, NULL);
}

/* What the thread sees of itself; its memory may go at any moment. */
static int thread_copy(const struct spi_thread_own *own, struct spi_thread *copy)
{
	if (!own->thread || spi_memory_copy(copy, (uint64_t) own->thread, sizeof(*copy)) < 0)
		memset(copy, 0, sizeof(*copy));
	return copy->own == own;
}

/* Threads that are busy now may not have seen that recording is closed; those that become busy will. */
static void busy_wait(const struct spi_thread *t)
{
	struct spi_thread copy;
	unsigned int steps = 0;

	/* lttng-ust registers for it; the store buffers are empty after a while anyway */
	if (spi_sys(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0L, 0L) < 0)
		pause_us(1000);
	for (struct spi_thread_own *own = spi_threads_first(); own; own = own->next)
		while (own != t->own && own->in_use && thread_copy(own, &copy) && (copy.busy & (SPI_BUSY_ALWAYS - 1)) &&
				steps++ < WAIT_STEPS) {
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

	if (!spi_payload || !spi_payload->others_begin || spi_sandbox_narrow)
		return;
	t->busy |= SPI_BUSY_ALWAYS;
	__atomic_store_n(&spi_others_closed, 1, __ATOMIC_SEQ_CST);
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
	spi_others_closed = 0;
	for (struct spi_thread_own *own = spi_threads_first(); own; own = own->next)
		own->again = 0;
}
