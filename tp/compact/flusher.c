/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The flusher: a thread of ours that looks at all buffers 20 times a second while somebody records, and has written
 * what rests in those whose own thread has not done it since (flush.c).
 */
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>
#include "liblttng-spi/base/base.h"
#include "tp/compact/compact.h"

#define READY_MS	100	/* for the thread to begin */
#define PERIOD_MS	50
#define DESCRIBE_PASSES	20u	/* a second */

int tp_compact_started;
static uint32_t pass_lock;	/* held while the flusher looks through the buffers; taken by fork() and at the end */

void tp_wait_us(long us)
{
	struct timespec pause = { us / 1000000, us % 1000000 * 1000 };

	spi_raw3(SYS_nanosleep, (uint64_t) &pause, 0, 0);
}

int tp_pass_enter(unsigned int tries)
{
	while (__atomic_exchange_n(&pass_lock, 1, __ATOMIC_ACQUIRE)) {
		if (!tries--)
			return -1;
		tp_wait_us(1000);
	}
	return 0;
}

void tp_pass_leave(void)
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
	x = spi_hash_number(spi_hash_number(x));
	tp_compact_process = x ? x : 1;		/* 0: a trace that has none */
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

	spi_raw4(SYS_rt_sigprocmask, SIG_UNBLOCK, (uint64_t) &libc, 0, 8);
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
		tp_wait_us(PERIOD_MS * 1000);
		if (tp_closed == TP_ENDED || flusher_ends())
			return NULL;
		if (!CMM_ACCESS_ONCE(tp_compact_calls->tracepoint->state)) {
			tp_compact_unheard();
			continue;
		}
		if (tp_pass_enter(1000))
			continue;
		if (tp_closed < TP_EXEC)
			tp_pass(0);
		describe_again(++passes);
		tp_pass_leave();
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
	old = spi_signals_hold(TP_SIGNALS);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 128 << 10);
	flusher_ready = 0;
	r = pthread_create(&thread, &attr, flusher, NULL);
	pthread_attr_destroy(&attr);
	/* libc makes memory for lttng-ust's variables when they are first used, and ends a process that has none left. */
	if (r == 0 && may_wait)
		spi_word_wait(&flusher_ready, 0, READY_MS);
	else if (r)
		flusher_runs = 0;
	spi_signals_release(old);
	spi_thread.busy = busy;
	return -r;
}

int tp_compact_start(void)
{
	tp_compact_tsc = tp_clock_has_tsc();
	process_name();
	tp_compact_started = 1;
	return flusher_start(1);
}

void tp_compact_attached(void)
{
	tp_compact_unheard();		/* while nothing was recorded nobody has seen the last session go */
	__atomic_store_n(&tp_compact_over, 0, __ATOMIC_SEQ_CST);
	if (tp_compact_started)
		flusher_start(1);
}

void tp_flusher_child_begins(void)
{
	process_name();
	flusher_runs = 0;
	if (!tp_compact_over)
		flusher_start(0);
}
