/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The threads' buffers: where they come from, and when they are emptied.
 *
 * A thread empties its own when it is full and when it ends. LTTng does not tell an
 * application that its session is about to be stopped, or that a snapshot is
 * taken, and a thread may wait for hours in a call that has just begun: so the
 * flusher (flusher.c) writes what rests. All are emptied when a rule is taken out,
 * before the process ends, and when the controller asks: a session daemon with the plugin
 * has that done before each client's command, and a trigger's.
 *
 * What can be missed: records of the last twentieth of a second, or a little more
 * on a busy machine, when the process is killed, or a session stopped by a daemon
 * without the plugin.
 *
 * No thread ever waits for another's flush: one that finds its buffer locked goes
 * on writing into the room behind the usual batch.
 */
#include <string.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"
#include "tp/compact/compact.h"

#define LOCK_STEPS	1000u	/* of a tenth of a millisecond; at the end for all buffers together */
#define END_TRIES	8u	/* when a thread ends and the ring is full, with the processor given away between them */

static struct tp_compact_thread *buffers;
uint32_t tp_compact_over;

/* ---- a thread's own ---- */

static struct tp_compact_thread *buffer_get(void)
{
	struct tp_compact_thread *c, *first;

	for (c = __atomic_load_n(&buffers, __ATOMIC_ACQUIRE); c; c = c->next) {
		uint32_t unused = 0;

		if (!__atomic_load_n(&c->in_use, __ATOMIC_RELAXED) &&
				__atomic_compare_exchange_n(&c->in_use, &unused, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return c;
	}
	c = tp_core->alloc(sizeof(*c));
	if (!c)
		return NULL;
	c->in_use = 1;
	first = __atomic_load_n(&buffers, __ATOMIC_ACQUIRE);
	do
		c->next = first;
	while (!__atomic_compare_exchange_n(&buffers, &first, c, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	return c;
}

/* Empty, as a thread begins that has no calls open. */
static void buffer_reset(struct tp_compact_thread *c, struct spi_thread *t)
{
	c->tid = (uint32_t) tp_tid();
	c->record = t->record;
	c->seq = c->depth = c->missed = c->low = c->taken = c->flushes = c->flushing = c->closed = c->ended = 0;
	c->begin_tick = tp_clock_pair(&c->begin_ns);
	c->high = (uint32_t) (c->begin_tick >> 32);
	c->soft = TP_COMPACT_BATCH;
	c->limit = tp_compact_tsc ? c->soft : 0;
}

/* For another thread this buffer is new only when `used` says that there is something in it. */
struct tp_compact_thread *tp_compact_begin(struct spi_thread *t)
{
	struct tp_compact_thread *c = buffer_get();

	if (!c)
		return NULL;
	buffer_reset(c, t);
	spi_barrier();
	t->words = (struct spi_words *) c;
	t->tree_epoch = 0;		/* the next call looks whether words.S may do the rest */
	return c;
}

/* Its owner may be off its processor in the middle of a flush, or wait for room in the ring. *steps: waited in all. */
static int lock_within(struct tp_compact_thread *c, unsigned int *steps)
{
	while (!tp_compact_trylock(c)) {
		if (*steps >= LOCK_STEPS)
			return 0;
		if (++*steps < 50)
			spi_raw3(SYS_sched_yield, 0, 0, 0);
		else
			tp_wait_us(100);
	}
	return 1;
}

static int lock_patiently(struct tp_compact_thread *c)
{
	unsigned int steps = 0;

	return lock_within(c, &steps);
}

void tp_compact_flush(struct tp_compact_thread *c, enum tp_flush how)
{
	struct spi_thread *t = &spi_thread;

	if (!(how == TP_FLUSH_USUAL ? tp_compact_trylock(c) : lock_patiently(c))) {
		uint32_t more = c->used + TP_COMPACT_BATCH / 4;

		c->soft = more < TP_COMPACT_ROOM ? more : TP_COMPACT_ROOM;
		return;
	}
	if (c->closed || tp_closed == TP_ENDED) {	/* looked at under the lock: tp_compact_close() */
		c->soft = TP_COMPACT_ROOM;
		tp_compact_unlock(c);
		return;
	}
	spi_busy_begin(t, (uint64_t) __builtin_frame_address(0));
	c->flushing = 1;
	spi_barrier();
	tp_compact_write(c, how);
	spi_barrier();
	c->flushing = 0;
	t->busy--;
	tp_compact_unlock(c);
}

/* The thread ends; errno is the caller's care. Later calls of it, by other key destructors, begin anew. */
void tp_compact_thread_end(struct spi_thread *t)
{
	struct tp_compact_thread *c = tp_compact_of(t);
	uint64_t old;

	if (!c)
		return;
	old = spi_signals_hold(TP_SIGNALS);
	for (unsigned int i = 0; i < END_TRIES && !c->closed && tp_closed != TP_ENDED && c->used; i++) {
		if (i)
			spi_raw3(SYS_sched_yield, 0, 0, 0);
		tp_compact_flush(c, i + 1 < END_TRIES ? TP_FLUSH_LAST : TP_FLUSH_END);
	}
	t->words_epoch = 0;
	t->words = NULL;
	/* c->lock: another thread may be at it still */
	if (lock_patiently(c)) {
		memset(c->words, 0, (c->used < TP_COMPACT_ROOM ? c->used : TP_COMPACT_ROOM) * sizeof(c->words[0]));
		c->used = c->taken = c->depth = c->missed = 0;
		c->record = NULL;
		tp_compact_unlock(c);
		__atomic_store_n(&c->in_use, 0, __ATOMIC_RELEASE);
	}
	spi_signals_release(old);
}

/* ---- all threads' ---- */

/* What rests in the buffer of a thread that has not emptied it itself since the last look. */
static void rest_flush(struct tp_compact_thread *c, int all)
{
	uint32_t used = __atomic_load_n(&c->used, __ATOMIC_ACQUIRE);
	int moved = c->flushes != c->flushes_seen;

	c->flushes_seen = c->flushes;
	if (!__atomic_load_n(&c->in_use, __ATOMIC_ACQUIRE) || used == c->taken || (moved && !all) ||
			!(all ? lock_patiently(c) : tp_compact_trylock(c)))	/* its owner may have begun before */
		return;
	if (c->in_use && !c->closed && tp_closed != TP_ENDED)
		tp_compact_write(c, TP_FLUSH_OTHER);
	tp_compact_unlock(c);
}

void tp_pass(int all)
{
	for (struct tp_compact_thread *c = __atomic_load_n(&buffers, __ATOMIC_ACQUIRE); c; c = c->next)
		if (c != tp_compact_of(&spi_thread))
			rest_flush(c, all);
}

/* What is said of each buffer. */
enum all {
	ALL_WRITTEN,	/* nothing: what threads have kept back is written */
	ALL_OVER,	/* calls end here, and recording goes on */
	ALL_CUT,	/* the same, and what comes next is nobody's: what finds no room is lost */
	ALL_CLOSED,	/* calls end here, and nothing is written until tp_compact_open() */
	ALL_LAST,	/* nothing is ever written again */
};

/* Its lock is held. */
static void buffer_end(struct tp_compact_thread *c, enum all what)
{
	tp_compact_write(c, what == ALL_LAST ? TP_FLUSH_CLOSE : TP_FLUSH_OTHER);
	if (what == ALL_CUT && c->taken < c->used)
		tp_compact_write(c, TP_FLUSH_MUST);	/* or it would go unsaid: a full ring's counts as lost */
	tp_compact_write_end(c);
	c->closed = what >= ALL_CLOSED;
	if (!c->closed)
		tp_compact_set_apart(c, 0, c->depth, 1);	/* their exits have been counted */
	c->ended |= !c->closed;
}

static void buffers_end(enum all what)
{
	unsigned int steps = 0;

	for (struct tp_compact_thread *c = __atomic_load_n(&buffers, __ATOMIC_ACQUIRE); c; c = c->next) {
		if (!__atomic_load_n(&c->in_use, __ATOMIC_ACQUIRE) || !lock_within(c, &steps))
			continue;
		if (c->in_use && !c->closed)
			buffer_end(c, what);
		tp_compact_unlock(c);
	}
	if (what < ALL_CLOSED)
		__atomic_store_n(&tp_compact_over, (uint32_t) (what == ALL_CUT), __ATOMIC_SEQ_CST);
}

/* All threads' buffers, by the calling one. */
static void all_flush(enum all what)
{
	struct spi_thread *t = &spi_thread;
	int *error, error_was, is_alone;
	uint64_t old;

	if (!tp_compact_started || (what < ALL_CLOSED && tp_closed >= TP_EXEC))
		return;
	error = tp_errno(t);
	error_was = *error;
	old = spi_signals_hold(TP_SIGNALS);
	spi_busy_begin(t, (uint64_t) __builtin_frame_address(0));
	if (what == ALL_WRITTEN && tp_compact_of(t))
		tp_compact_flush(tp_compact_of(t), TP_FLUSH_USUAL);
	is_alone = !tp_pass_enter(200);
	if (what != ALL_WRITTEN)
		buffers_end(what);
	else if (is_alone)
		tp_pass(1);
	if (is_alone && what != ALL_LAST)
		tp_pass_leave();		/* at the end the flusher has done its last */
	t->busy--;
	spi_signals_release(old);
	*error = error_was;
}

void tp_compact_flush_all(void)
{
	all_flush(ALL_WRITTEN);
}

/* Should a thread go on, the reader enters its calls again where the thread's next batch with entries begins. */
void tp_compact_detached(int is_all)
{
	all_flush(is_all ? ALL_CUT : ALL_OVER);
}

/*
 * The ledger has closed recording before (module/close.c). At the end a buffer is not written to any more by then,
 * or by nobody who could still write it out; a program that is about to execute another may go on.
 */
void tp_compact_close(int is_end)
{
	all_flush(is_end ? ALL_LAST : ALL_CLOSED);
}

/* The reader finds that batches go on, and enters the calls again. */
void tp_compact_open(void)
{
	for (struct tp_compact_thread *c = __atomic_load_n(&buffers, __ATOMIC_ACQUIRE); c; c = c->next) {
		if (!c->closed || !lock_patiently(c))
			continue;
		if (c->closed && c->record)
			__atomic_fetch_add(&c->record->count.entries, tp_compact_known(c, 0, c->depth), __ATOMIC_RELAXED);
		c->closed = 0;
		tp_compact_unlock(c);
	}
}

/* ---- fork, and the end ---- */

void tp_compact_fork_before(void)
{
	if (tp_compact_started)
		while (tp_pass_enter(1000) && tp_closed != TP_ENDED)	/* at the end it is never given back */
			;
}

void tp_compact_fork_parent(void)
{
	if (tp_compact_started)
		tp_pass_leave();
}

/* Only the forking thread goes on, with its parent's open calls, and with an empty buffer: what is in it is the parent's. */
void tp_compact_fork_child(void)
{
	struct spi_thread *t = &spi_thread;
	struct tp_compact_thread *mine = tp_compact_of(t);

	if (!tp_compact_started)
		return;
	for (struct tp_compact_thread *c = buffers; c; c = c->next) {
		uint32_t depth = c->depth, was_closed = c->closed;

		for (uint32_t i = c->taken; c == mine && i < c->used; i++) {
			uint32_t kind = TP_WORD_KIND(c->words[i]);

			depth += kind == TP_KIND_ENTRY || kind == TP_KIND_ENTRY_AT ? 1u : -1u;
			i += kind >= TP_KIND_ENTRY_AT;
		}
		memset(c->words, 0, (c->used < TP_COMPACT_ROOM ? c->used : TP_COMPACT_ROOM) * sizeof(c->words[0]));
		c->used = c->lock = 0;
		if (c == mine) {
			buffer_reset(c, t);
			c->limit = 0;			/* its calls are looked at first: tp_compact_child_begins() */
			c->depth = c->low = depth;
			c->closed = was_closed;		/* no child, but the process itself (single.c): tp_compact_open() */
			tp_compact_set_apart(c, 0, depth, !was_closed);	/* a child's: their exits are not in the trace */
		} else {
			c->in_use = c->taken = 0;
		}
	}
	tp_pass_leave();
}

/* The child records from now on. */
void tp_compact_child_begins(void)
{
	if (!tp_compact_started)
		return;
	tp_site_forget_all();
	tp_flusher_child_begins();	/* the child has a name of its own before anything is written */
	for (struct tp_compact_thread *c = buffers; c; c = c->next)
		c->limit = c->in_use && tp_compact_tsc ? c->soft : 0;
}
