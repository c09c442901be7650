/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Threads that are made inside a tree which is not every thread's: they are in it from their start on, whatever they
 * begin with.
 *
 *	pthread_create() is about to be entered (follow.c): the start routine and its argument are noted, and replaced by
 *		spi_thread_start() and the note
 *	the new thread comes by there, takes its trees and both from the note, gives that back, and jumps to the routine
 *
 * So it does not matter whether that can have an entry point, lies in a library into which the tree does not go
 * (std::thread's, a sanitizer's), or whether a signal's handler runs in the thread before it. Nothing stays on the stack, and a thread
 * that could not be made costs its note, 32 bytes.
 *
 * No locks: who makes a thread may hold any of the program's. A note is claimed by its state.
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/tree/budget/budget.h"
#include "liblttng-spi/tree/internal.h"

#define NOTES		1024u	/* threads that do not run yet, and those that could not be made: a page comes when it is used */

static struct note {
	uint64_t start, arg;
	uint32_t trees, is_taken;
	uint64_t unused;
} notes[NOTES];
_Static_assert(sizeof(struct note) == 32, "what a thread that could not be made costs");

/* In registers: thread-start.S */
struct routine {
	uint64_t start, arg;
};
struct routine spi_thread_begin_made(struct note *note) SPI_HIDDEN __attribute__((used));

static struct note *note_new(void)
{
	for (struct note *note = notes; note < notes + NOTES; note++) {
		uint32_t is_taken = 0;

		if (!__atomic_load_n(&note->is_taken, __ATOMIC_RELAXED) &&
				__atomic_compare_exchange_n(&note->is_taken, &is_taken, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return note;
	}
	return NULL;
}

int spi_thread_make(uint64_t *start, uint64_t *arg, uint32_t trees)
{
	struct note *note = note_new();

	if (!note)
		return -1;
	spi_tracer_threads_except((uint64_t) spi_thread_start);
	note->start = *start;
	note->arg = *arg;
	note->trees = trees;
	*start = (uint64_t) spi_thread_start;
	*arg = (uint64_t) note;
	return 0;
}

struct routine spi_thread_begin_made(struct note *note)
{
	struct routine routine = { note->start, note->arg };
	struct spi_thread *t = &spi_thread;
	uint32_t trees = note->trees;

	__atomic_store_n(&note->is_taken, 0, __ATOMIC_RELEASE);
	if (spi_thread_is_foreign(t) || t->busy >= SPI_BUSY_ALWAYS)
		return routine;
	spi_tree_of(t);			/* as of now: those that have ended are none of it */
	t->tree |= trees & spi_tree_existing;
	spi_tree_words_look(t);
	return routine;
}

/* The threads that were on their way are the parent's. */
void spi_thread_made_fork_child(void)
{
	for (struct note *note = notes; note < notes + NOTES; note++)
		if (note->is_taken)
			note->is_taken = 0;
}
