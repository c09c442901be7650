/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Threads of the program as the call side sees them: what the CPU wants saved,
 * a thread's first call, its end, and the end of the process.
 *
 * A first call may come in any state: in a signal handler, under the program's
 * malloc lock, in a constructor. No libc call here takes a lock or allocates; the
 * one exception, pthread_setspecific() for the end-of-thread hook, is made for
 * keys below 32 only, for which libc has room in the thread itself.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/internal.h"

#define LIBC_SIGCANCEL	32		/* SIGTIMER as well */
#define ENDS_MAX	3u	/* of the 4 rounds of destructors */

int (*spi_child_first_call)(struct spi_thread *t, uint64_t p);
static pthread_key_t end_key;
static int have_end_key;
static int is_begun;		/* spi_threads_init() is done */
static uint64_t main_stack_low, main_stack_high, main_stack_end;
static int32_t stack_offset = -1;	/* in libc's thread descriptor: {stack block, its size} */

extern void *__libc_stack_end;

/* ---- start ----------------------------------------------------------- */

void spi_thread_thunks(struct spi_point *point, int uses_ymm, int uses_zmm)
{
	struct spi_thunks thunks;

	spi_thunks_full(uses_ymm, uses_zmm, &thunks);
	point->full_thunk = 0;
	point->thunk = thunks.entry;
	point->exit_thunk = thunks.exit;
	point->vectors = thunks.vectors;
}

void spi_thread_thunks_words(struct spi_point *point, enum spi_words_thunk which)
{
	static const uint64_t thunks[] = { (uint64_t) spi_thunk_entry_general, (uint64_t) spi_thunk_entry_words,
		(uint64_t) spi_thunk_entry_words_any };

	if (point->full_thunk)
		return;
	point->full_thunk = point->thunk;
	point->full_exit_thunk = point->exit_thunk;
	point->thunk = thunks[which];
	point->exit_thunk = (uint64_t) spi_thunk_exit_words;
}

static void thread_end(void *value);

/* The first thread's stack grows down to its limit; what lies below is not told by any mapping. */
static void find_main_stack(void)
{
	struct rlimit limit;
	uint64_t size = UINT64_C(1) << 36, top;

	if (spi_sys(SYS_prlimit64, 0L, RLIMIT_STACK, NULL, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		size = limit.rlim_cur;
	main_stack_high = ((uint64_t) __libc_stack_end | 0xfff) + 1;
	/* the limit counts from behind arguments and environment: the program's file name is the last of them */
	top = getauxval(AT_EXECFN);
	if (top > main_stack_high && top - main_stack_high < size / 2)
		main_stack_high = (top | 0xfff) + 1;
	main_stack_low = main_stack_high - size;
	main_stack_end = size < UINT64_C(1) << 36 ? main_stack_low : 0;
}

int spi_threads_init(void)
{
	int r;

	if (is_begun)
		return 0;
	find_main_stack();
	r = spi_arena_init();
	if (r < 0)
		return r;
	if (pthread_key_create(&end_key, thread_end) == 0)
		have_end_key = end_key < 32;	/* PTHREAD_KEY_2NDLEVEL_SIZE: above, setting one allocates */
	spi_participants_run(calls_begin);
	spi_first_call_init();
	spi_thunks_init();
	is_begun = 1;
	return 0;
}

/*
 * Where libc keeps {stack block, size} of a thread: looked for in this thread's
 * descriptor with the values that pthread_getattr_np() gives for it. Saves every
 * other thread from reading /proc/self/maps.
 */
void spi_threads_learn(void *(*start)(void *))
{
	pthread_attr_t attr;
	void *low;
	size_t size, guard = 0;
	const uint64_t *words = (const uint64_t *) pthread_self();

	spi_tracer_threads_learn((uint64_t) start, (int) spi_sys(SYS_gettid));
	if (stack_offset >= 0 || pthread_getattr_np(pthread_self(), &attr))
		return;
	if (!pthread_attr_getstack(&attr, &low, &size)) {
		uint64_t high = (uint64_t) low + size;

		pthread_attr_getguardsize(&attr, &guard);
		for (int i = 0; i < 2304 / 8; i++)
			if (words[i] && words[i] + words[i + 1] == high && words[i + 1] >= size && words[i + 1] <= size + guard + 65536) {
				stack_offset = i * 8;
				break;
			}
	}
	pthread_attr_destroy(&attr);
}

/* ---- a thread's first call -------------------------------------------- */

/*
 * The bounds of the thread's own stack; its first call may well be made on
 * another. libc's descriptor of the first thread tells nothing usable.
 */
static void find_stack(struct spi_thread *t)
{
	uint64_t self = spi_thread_pointer();

	t->stack_low = t->stack_high = t->stack_end = 0;
	if (spi_sys(SYS_gettid) == spi_sys(SYS_getpid)) {
		t->stack_low = main_stack_low;
		t->stack_high = main_stack_high;
		t->stack_end = main_stack_end;
	} else if (stack_offset >= 0) {
		const uint64_t *words = (const uint64_t *) (self + (uint64_t) stack_offset);

		if (words[0] && words[1] && words[0] + words[1] > words[0]) {
			t->stack_low = t->stack_end = words[0];
			t->stack_high = words[0] + words[1];
		}
	}
	/*
	 * Not known: libc puts the thread descriptor at the top of the stack block,
	 * so what lies shortly below it is stack. What lies further below counts as
	 * another stack, which is the careful answer.
	 */
	if (!t->stack_high) {
		t->stack_high = self;
		t->stack_low = self - (UINT64_C(128) << 10);
	}
}

/* What the thread counts at. */
static int own_take(struct spi_thread *t)
{
	struct spi_thread_own *own = spi_thread_own_get();

	if (!own)
		return -1;
	if (spi_status_record_get(own) < 0) {
		__atomic_store_n(&own->in_use, 0, __ATOMIC_RELEASE);
		return -1;
	}
	own->tid = (int32_t) spi_sys(SYS_gettid);
	own->thread = t;
	memset(own->tree_opener, 0, sizeof(own->tree_opener));
	own->guard = NULL;
	own->critical_below = 0;
	own->watched.since = 0;
	find_stack(t);			/* a handler may leave its first record: unwind/leave.c */
	t->own = own;
	t->record = own->record;
	__atomic_fetch_add(&spi_status->threads, 1, __ATOMIC_RELAXED);
	if (have_end_key)
		pthread_setspecific(end_key, t);
	spi_participants_run(thread_found);
	return 0;
}

/*
 * A thread's first record has it registered with lttng-ust's RCU, which blocks signals, and lets them in again by libc's
 * function: that never blocks SIGCANCEL, the first real-time signal. The thread that libc has wait for timers
 * (SIGEV_THREAD) blocks it for its whole life, and would be ended by it, with the process; a timer's callback does until it is
 * called. So nothing is recorded while it is blocked.
 *
 * And it needs memory (first-call.c), which the thread gets here, with signals blocked: a handler's record in the middle of that would
 * need it, too. Where there is none the call is not recorded, and the next one tries again.
 */
static int memory_get(struct spi_thread *t, uint64_t p)
{
	enum spi_lost why = SPI_LOST_THREAD;
	int has_memory = spi_first_call_has_memory(), ready = -1;

	if (!has_memory && spi_first_call_is_in_malloc(p)) {
		why = SPI_LOST_MALLOC;
	} else {
		spi_busy_begin(t, p);
		ready = spi_payload ? spi_payload->thread_ready(has_memory) : 0;
		spi_call_end(t);
	}
	if (ready > 0)
		__atomic_fetch_and(&t->owed, ~SPI_THREAD_NEW, __ATOMIC_RELAXED);
	else if (ready < 0)
		spi_call_missed(why);
	return ready >= 0;
}

#define HELD	(~(SPI_SIGNAL_BIT(SIGSEGV) | SPI_SIGNAL_BIT(SIGBUS) | SPI_SIGNAL_BIT(SIGTRAP)))

static int new_may(struct spi_thread *t, uint64_t p)
{
	uint64_t old;
	int may = 0;

	if (t->busy)
		return 1;		/* another's matter */
	if (!spi_may(SPI_MAY_RECORD))
		return 0;
	if (spi_thread_is_tracer()) {
		t->busy |= SPI_BUSY_ALWAYS;
		return 0;
	}
	if (!p)
		return 1;
	old = spi_signals_hold(HELD);
	if (old & SPI_SIGNAL_BIT(LIBC_SIGCANCEL))
		spi_call_missed(SPI_APART_TIMER);
	else if (!t->own && own_take(t) < 0)
		spi_call_missed(SPI_LOST_THREAD);
	else if (spi_likely(!spi_mode) || !spi_mode_is_child() || (spi_child_first_call && spi_child_first_call(t, p)))
		may = spi_status_child_thread(t) < 0 ? 0 : memory_get(t, p);
	spi_signals_release(old);
	return may;
}

int spi_thread_has_own(struct spi_thread *t)
{
	uint64_t old;
	int has;

	if (t->own || t->busy)
		return 1;
	if (spi_thread_is_tracer()) {
		t->busy |= SPI_BUSY_ALWAYS;
		return 0;
	}
	old = spi_signals_hold(HELD);
	has = own_take(t) == 0;
	spi_signals_release(old);
	if (!has)
		spi_call_missed(SPI_LOST_MEMORY);
	return has;
}

SPI_EXPORT int spi_thread_may(uint64_t p)
{
	struct spi_thread *t = &spi_thread;

	if (spi_thread_is_foreign(t) || spi_is_lent() > 0)
		return 0;
	return !(t->owed & SPI_THREAD_NEW) || new_may(t, p);
}

int spi_thread_begin(struct spi_thread *t)
{
	uint32_t chunk;

	if (!spi_may(SPI_MAY_ACT) || spi_thread_is_tracer()) {
		t->busy |= SPI_BUSY_ALWAYS;
		return -1;
	}
	if (!t->own && own_take(t) < 0)
		return -1;
	chunk = spi_chunk_get();
	if (chunk == CHUNK_NONE)
		return -1;
	spi_chunks[chunk].prev = CHUNK_NONE;
	spi_thread_use_chunk(t, chunk, 0);
	return 0;
}

/* ---- ends --------------------------------------------------------------- */

/* The thread's last own code, from libc's key destructors: pthread_exit and cancel have unwound everything by now. */
static void thread_end(void *value)
{
	struct spi_thread *t = value;
	struct spi_thread_own *own = t->own;
	uint64_t old;

	if (t != &spi_thread || !own || !spi_may(SPI_MAY_ACT))
		return;
	old = spi_signals_hold(~UINT64_C(0));
	if (t->cur)
		spi_thread_leave_all(t, SPI_LEFT_THREAD_END);
	if (spi_payload && spi_payload->thread_end)
		spi_payload->thread_end(t);
	spi_participants_run(thread_over);
	if (spi_slots_kept) {		/* what its slots say is still needed */
		t->busy |= SPI_BUSY_APART(SPI_APART_THREAD_END);
		spi_signals_release(old);
		return;
	}
	/*
	 * Destructors that come after this one may be traced themselves: as long as libc will call this once more, the
	 * thread keeps what it has. After that nothing of it is recorded.
	 */
	if (spi_tree_existing && have_end_key && ++t->tree_ends < ENDS_MAX) {
		if (t->tree_ends == 1 && spi_tree_threads)
			spi_participants_run(thread_ends, (uint64_t) __builtin_return_address(0) - 1);
		pthread_setspecific(end_key, t);
		spi_signals_release(old);
		return;
	}
	if (t->tree_ends)
		t->busy |= SPI_BUSY_APART(SPI_APART_THREAD_END);
	if (t->cur && !spi_thread_top(t)) {
		own->chunk = CHUNK_NONE;
		spi_chunk_put(spi_chunk_of(t->base));
		t->cur = t->base = t->end = NULL;
	}
	memset(t->payload, 0, sizeof(t->payload));
	if (!t->cur) {
		t->record = NULL;
		t->own = NULL;
		__atomic_store_n(&own->in_use, 0, __ATOMIC_RELEASE);
	}
	spi_signals_release(old);
}

/* Only the forking thread goes on; the records of the others are free to be used again. */
void spi_threads_fork_child(void)
{
	struct spi_thread *t = &spi_thread;

	spi_slots_kept = 0;
	for (struct spi_thread_own *own = spi_threads_first(); own; own = own->next) {
		if (own != t->own && own->in_use) {
			own->in_use = 0;
			own->chunk = CHUNK_NONE;
		}
		if (own->closing)
			own->closing = 0;
	}
	if (t->own)
		t->own->tid = (int32_t) spi_sys(SYS_gettid);
}
