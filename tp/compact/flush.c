/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The threads' buffers: where they come from, and when they are emptied.
 *
 * A thread empties its own when it is full and when it ends. LTTng does not tell an
 * application that its session is about to be stopped, or that a snapshot is
 * taken, and a thread may wait for hours in a call that has just begun: so a thread
 * of ours looks at all buffers 20 times a second and writes what rests in those
 * whose own thread has not done it since. All are emptied when a rule is taken out,
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
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "liblttng-spi/base/word.h"
#include "tp/compact/compact.h"

#define READY_MS	100	/* for the thread to begin */
#define PERIOD_MS	50
#define DESCRIBE_PASSES	20u	/* a second */
#define LOCK_TRIES	2000u
#define CLOSE_STEPS	1000u	/* of a tenth of a millisecond, for all buffers together */
#define END_TRIES	8u	/* when a thread ends and the ring is full, with the processor given away between them */

static struct tp_compact_thread *buffers;
uint32_t tp_compact_over;
uint64_t tp_compact_process;
static int started;
static uint32_t pass_lock;	/* held while the flusher looks through the buffers; taken by fork() and at the end */

static void wait_us(long us)
{
	struct timespec pause = { us / 1000000, us % 1000000 * 1000 };

	spi_raw3(SYS_nanosleep, (uint64_t) &pause, 0, 0);
}

static void wait_ms(long ms)
{
	wait_us(ms * 1000);
}

static int pass_enter(unsigned int tries)
{
	while (__atomic_exchange_n(&pass_lock, 1, __ATOMIC_ACQUIRE)) {
		if (!tries--)
			return -1;
		wait_ms(1);
	}
	return 0;
}

static void pass_leave(void)
{
	__atomic_store_n(&pass_lock, 0, __ATOMIC_RELEASE);
}

/*
 * No two processes read the same tick with the same addresses, but by a chance that is one in many millions, and then
 * they would need the same vpid as well. The system's random numbers may be forbidden to a sandboxed program's child.
 */
static void process_name(void)
{
	uint64_t ns, x = tp_clock_pair(&ns);

	x ^= ns * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t) &ns << 20 ^ (uint64_t) spi_raw3(SYS_gettid, 0, 0, 0) << 44;
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	x ^= x >> 31;
	tp_compact_process = x ? x : 1;		/* 0: a trace that has none */
}

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

static int lock_patiently(struct tp_compact_thread *c)
{
	for (unsigned int i = 0; i < LOCK_TRIES; i++) {
		if (tp_compact_trylock(c))
			return 1;
		spi_raw3(SYS_sched_yield, 0, 0, 0);
	}
	return 0;
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
	tp_signals_block(&old);
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
	tp_signals_unblock(&old);
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

static void pass(int all)
{
	for (struct tp_compact_thread *c = __atomic_load_n(&buffers, __ATOMIC_ACQUIRE); c; c = c->next)
		if (c != tp_compact_of(&spi_thread))
			rest_flush(c, all);
}

void tp_compact_flush_all(void)
{
	struct spi_thread *t = &spi_thread;
	int *error, error_was;
	uint64_t old;

	if (!started || tp_closed >= TP_EXEC)
		return;
	error = tp_errno(t);
	error_was = *error;
	tp_signals_block(&old);
	spi_busy_begin(t, (uint64_t) __builtin_frame_address(0));
	if (tp_compact_of(t))
		tp_compact_flush(tp_compact_of(t), TP_FLUSH_USUAL);
	if (!pass_enter(200)) {
		pass(1);
		pass_leave();
	}
	t->busy--;
	tp_signals_unblock(&old);
	*error = error_was;
}

/* At the end: its owner may be off its processor in the middle of a flush, or wait for room in the ring. */
static int lock_last(struct tp_compact_thread *c, unsigned int *steps)
{
	static const struct timespec step = { 0, 100000 };

	while (!tp_compact_trylock(c)) {
		if (*steps >= CLOSE_STEPS)
			return 0;
		if (++*steps < 50)
			spi_raw3(SYS_sched_yield, 0, 0, 0);
		else
			spi_raw3(SYS_nanosleep, (uint64_t) &step, 0, 0);
	}
	return 1;
}


/* Should what records go on, the reader enters these calls again where their threads' next batches with entries begin. */
void tp_compact_detached(int is_all)
{
	struct spi_thread *t = &spi_thread;
	unsigned int steps = 0;
	uint64_t old;

	if (!started || tp_closed >= TP_EXEC || pass_enter(1000))
		return;
	tp_signals_block(&old);
	spi_busy_begin(t, (uint64_t) __builtin_frame_address(0));
	for (struct tp_compact_thread *c = __atomic_load_n(&buffers, __ATOMIC_ACQUIRE); c; c = c->next) {
		if (!__atomic_load_n(&c->in_use, __ATOMIC_ACQUIRE) || !lock_last(c, &steps))
			continue;
		if (c->in_use && !c->closed) {
			tp_compact_write(c, TP_FLUSH_OTHER);
			if (is_all && c->taken < c->used)
				tp_compact_write(c, TP_FLUSH_MUST);	/* or it would go unsaid: a full ring's counts as lost */
			tp_compact_write_end(c);
			tp_compact_set_apart(c, 0, c->depth, 1);	/* their exits have been counted */
			c->ended = 1;
		}
		tp_compact_unlock(c);
	}
	__atomic_store_n(&tp_compact_over, (uint32_t) is_all, __ATOMIC_SEQ_CST);
	t->busy--;
	tp_signals_unblock(&old);
	pass_leave();
}

/*
 * The ledger has closed recording before (ledger/close.c). At the end a buffer is not written to any more by then,
 * or by nobody who could still write it out; a program that is about to execute another may go on.
 */
void tp_compact_close(int is_end)
{
	struct spi_thread *t = &spi_thread;
	int *error, error_was, locked;
	unsigned int steps = 0;
	uint64_t old;

	if (!started)
		return;
	error = tp_errno(t);
	error_was = *error;
	tp_signals_block(&old);
	spi_busy_begin(t, (uint64_t) __builtin_frame_address(0));
	locked = !pass_enter(200);
	for (struct tp_compact_thread *c = __atomic_load_n(&buffers, __ATOMIC_ACQUIRE); c; c = c->next) {
		if (!__atomic_load_n(&c->in_use, __ATOMIC_ACQUIRE) || !lock_last(c, &steps))
			continue;
		if (c->in_use && !c->closed) {
			tp_compact_write(c, is_end ? TP_FLUSH_CLOSE : TP_FLUSH_OTHER);
			tp_compact_write_end(c);
			c->closed = 1;
		}
		tp_compact_unlock(c);
	}
	if (locked && !is_end)
		pass_leave();	/* at the end the flusher has done its last */
	t->busy--;
	tp_signals_unblock(&old);
	*error = error_was;
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

/* Where rules have tags, one more may come to record what was described to others only, and nobody tells. */
static void describe_again(unsigned int passes)
{
	if (passes % DESCRIBE_PASSES == 0 && tp_compact_tagged())
		tp_site_forget_all();
}

/*
 * It was made with all signals blocked. setuid() waits until every thread of the process has taken libc's own
 * signal, which libc therefore never blocks: nor that by which threads are cancelled.
 */
static void take_libc_signals(void)
{
	static const uint64_t libc = UINT64_C(1) << 31 | UINT64_C(1) << 32;

	tp_signals(1, &libc, NULL);
}

static uint32_t flusher_ready;	/* a futex */
static uint32_t flusher_runs;

/* Nobody records any more: the thread ends, unless there is somebody again just now. */
static int flusher_ends(void)
{
	if (!__atomic_load_n(&tp_compact_over, __ATOMIC_SEQ_CST))
		return 0;
	__atomic_store_n(&flusher_runs, 0, __ATOMIC_SEQ_CST);
	return __atomic_load_n(&tp_compact_over, __ATOMIC_SEQ_CST) || __atomic_exchange_n(&flusher_runs, 1, __ATOMIC_SEQ_CST);
}

static void *flusher(void *unused)
{
	unsigned int passes = 0;

	spi_thread.busy = SPI_BUSY_ALWAYS;
	take_libc_signals();
	if (!tp_closed)
		tp_thread_ready(0);
	spi_word_set(&flusher_ready, 1);
	spi_raw3(SYS_prctl, PR_SET_NAME, (uint64_t) "lttng-spi-flush", 0);
	for (;;) {
		wait_ms(PERIOD_MS);
		if (tp_closed == TP_ENDED || flusher_ends())
			return NULL;
		if (!CMM_ACCESS_ONCE(tp_compact_calls->tracepoint->state)) {
			tp_compact_unheard();
			continue;
		}
		if (pass_enter(1000))
			continue;
		if (tp_closed < TP_EXEC)
			pass(0);
		describe_again(++passes);
		pass_leave();
	}
}

static int flusher_start(int may_wait)
{
	uint32_t busy = spi_thread.busy;
	pthread_attr_t attr;
	pthread_t thread;
	uint64_t old;
	int r;

	if (__atomic_exchange_n(&flusher_runs, 1, __ATOMIC_SEQ_CST))
		return 0;
	spi_thread.busy = SPI_BUSY_ALWAYS;	/* no function that is called here is the program's doing */
	tp_signals_block(&old);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 128 << 10);
	flusher_ready = 0;
	r = pthread_create(&thread, &attr, flusher, NULL);
	pthread_attr_destroy(&attr);
	/* libc makes a thread's memory for lttng-ust's variables when they are first used, and ends a process that has none left by then. */
	if (r == 0 && may_wait)
		spi_word_wait(&flusher_ready, 0, READY_MS);
	else if (r)
		flusher_runs = 0;
	tp_signals_unblock(&old);
	spi_thread.busy = busy;
	return -r;
}

int tp_compact_start(void)
{
	tp_compact_tsc = tp_clock_has_tsc();
	process_name();
	started = 1;
	return flusher_start(1);
}

void tp_compact_attached(void)
{
	tp_compact_unheard();		/* while nothing was recorded nobody has seen the last session go */
	__atomic_store_n(&tp_compact_over, 0, __ATOMIC_SEQ_CST);
	if (started)
		flusher_start(1);
}

/* ---- fork, and the end ---- */

void tp_compact_fork_before(void)
{
	if (started)
		while (pass_enter(1000) && tp_closed != TP_ENDED)	/* at the end it is never given back */
			;
}

void tp_compact_fork_parent(void)
{
	if (started)
		pass_leave();
}

/* Only the forking thread goes on, with its parent's open calls, and with an empty buffer: what is in it is the parent's. */
void tp_compact_fork_child(void)
{
	struct spi_thread *t = &spi_thread;
	struct tp_compact_thread *mine = tp_compact_of(t);

	if (!started)
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
	pass_leave();
}

/* The child records from now on. */
void tp_compact_child_begins(void)
{
	if (!started)
		return;
	process_name();
	tp_site_forget_all();
	for (struct tp_compact_thread *c = buffers; c; c = c->next)
		c->limit = c->in_use && tp_compact_tsc ? c->soft : 0;
	flusher_runs = 0;
	if (!tp_compact_over)
		flusher_start(0);
}

