/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Which threads are the tracer's own: those whose start routine lies in lttng-ust
 * or in the agent. What they call is not recorded, and that they block all signals
 * says nothing about the program.
 *
 * libc keeps the start routine in the thread's descriptor, which the thread
 * pointer leads to; where in it is found out on a thread of the agent's, whose
 * start routine and id are known. Another thread's descriptor stands at the end of
 * its stack and begins with its own address, twice; the kernel tells the stack
 * pointer. Until that is known, no thread is the tracer's.
 *
 * Changed by the control side only; read by any thread in any state.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"

#define DESCRIPTOR_BYTES	2304u	/* at least so large in every libc that we know */
#define RANGES_MAX		16u
#define END_WORDS		64u	/* of the stack */
#define SEARCH_MAX		(UINT64_C(1) << 20)

static int32_t start_at = -1, tid_at = -1;	/* in the descriptor */
static struct {
	uint64_t low, high;
} ranges[RANGES_MAX];
static uint32_t range_count;

static int is_known(void);

void spi_tracer_threads_learn(uint64_t start, int tid)
{
	const uint8_t *self = (const uint8_t *) spi_thread_pointer();
	int32_t found = -1;

	if (start_at >= 0)
		return;
	for (int32_t i = 0; i < (int32_t) DESCRIPTOR_BYTES && tid_at < 0; i += 4)
		if (*(const int32_t *) (self + i) == tid)
			tid_at = i;
	for (int32_t i = 0; i < (int32_t) DESCRIPTOR_BYTES && found < 0; i += 8)
		if (*(const uint64_t *) (self + i) == start)
			found = i;
	if (tid_at >= 0)
		__atomic_store_n(&start_at, found, __ATOMIC_RELEASE);
}

int32_t spi_tracer_threads_tid_at(void)
{
	return is_known() ? tid_at : -1;
}

void spi_tracer_code_add(uint64_t low, uint64_t high)
{
	for (uint32_t i = 0; i < range_count; i++)
		if (ranges[i].low == low)
			return;
	if (range_count == RANGES_MAX)
		return;
	ranges[range_count].low = low;
	ranges[range_count].high = high;
	__atomic_store_n(&range_count, range_count + 1, __ATOMIC_RELEASE);
}

int spi_tracer_code_has(uint64_t address)
{
	uint32_t n = __atomic_load_n(&range_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++)
		if (address >= ranges[i].low && address < ranges[i].high)
			return 1;
	return 0;
}

/* Threads that were made in a tree have a start routine of ours (tree/thread-made.c), and are the program's all the same. */
static uint64_t programs_start;

void spi_tracer_threads_except(uint64_t start)
{
	__atomic_store_n(&programs_start, start, __ATOMIC_RELAXED);
}

static int is_tracer_start(uint64_t start)
{
	return spi_tracer_code_has(start) && start != __atomic_load_n(&programs_start, __ATOMIC_RELAXED);
}

/*
 * What lttng-ust calls at a thread's end is shallow, and above it on the stack lie the frames of libc's that have
 * called lttng-ust, and libc's descriptor of the thread. Return slots are the agent's, and say nothing.
 */
int spi_within_lttng(uint64_t p)
{
	extern const uint8_t __ehdr_start[] SPI_HIDDEN, _end[] SPI_HIDDEN;
	uint64_t words[END_WORDS];

	if (spi_memory_copy(words, p, sizeof(words)) < 0)
		return 1;		/* the end of another stack: not recorded, to be sure */
	for (unsigned int i = 0; i < END_WORDS; i++)
		if ((words[i] < (uint64_t) __ehdr_start || words[i] >= (uint64_t) _end) &&
				spi_tracer_code_has(words[i]))
			return 1;
	return 0;
}

static int is_known(void)
{
	return __atomic_load_n(&start_at, __ATOMIC_ACQUIRE) >= 0 && __atomic_load_n(&range_count, __ATOMIC_ACQUIRE);
}

/*
 * What tells a thread of lttng-ust's where a start routine does not: a sanitizer's pthread_create() is the start of all
 * threads. 15 characters at most; lttng-ust cuts the program's name to make room for its own.
 */
static int name_is_tracer(const char *name)
{
	size_t n = strcspn(name, "\n");

	return n >= 4 && !memcmp(name + n - 4, "-ust", 4);
}

int spi_thread_is_tracer(void)
{
	char name[17] = "";

	if (is_known())
		return is_tracer_start(*(const uint64_t *) (spi_thread_pointer() + (uint64_t) start_at));
	spi_raw3(SYS_prctl, PR_GET_NAME, (uint64_t) name, 0);
	return name_is_tracer(name);
}

/* ---- threads of the agent's ---- */

/* The thread inherits a mask that blocks all but what the agent's own reads may raise, int3, and libc's own signals. */
int spi_tracer_thread(void *(*run)(void *), void *data)
{
	const uint32_t busy = SPI_BUSY_ALWAYS & ~spi_thread.busy;
	const uint64_t all = ~(SPI_SIGNAL_BIT(SIGSEGV) | SPI_SIGNAL_BIT(SIGBUS) | SPI_SIGNAL_BIT(SIGTRAP) |
		SPI_SIGNAL_BIT(32) | SPI_SIGNAL_BIT(33));
	uint64_t before;
	pthread_attr_t attr;
	pthread_t thread;
	int error;

	spi_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, 8L);
	spi_thread.busy |= busy;	/* what libc calls meanwhile is not the program's doing */
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&thread, &attr, run, data);
	pthread_attr_destroy(&attr);
	spi_thread.busy &= ~busy;
	spi_sys(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, 8L);
	return error;
}

/* ---- before main() ---- */

static int32_t alone;	/* the thread id of the only one that is not the tracer's; 0: not known to be the only one */

void spi_tracer_start(int begins)
{
	struct stat st;
	int32_t self = begins ? (int32_t) spi_raw3(SYS_gettid, 0, 0, 0) : 0;

	/* a directory has two links, and a process's threads one each */
	if (self && (spi_raw4(SYS_newfstatat, (uint64_t) AT_FDCWD, (uint64_t) "/proc/self/task", (uint64_t) &st, 0) < 0 ||
			st.st_nlink != 3))
		self = 0;
	__atomic_store_n(&alone, self, __ATOMIC_RELAXED);
}

int spi_tracer_is_alone(void)
{
	int32_t thread = __atomic_load_n(&alone, __ATOMIC_RELAXED);

	return thread && thread == (int32_t) spi_raw3(SYS_gettid, 0, 0, 0);
}

/* ---- another thread ---- */

/* The start routine of the thread whose stack this is, if its descriptor is found above. */
static uint64_t start_routine(uint64_t sp, int tid)
{
	for (uint64_t at = (sp + 63) & ~UINT64_C(63); at - sp < SEARCH_MAX; at += 64) {
		uint64_t head[3], start;
		int32_t id;

		if (spi_memory_copy(head, at, sizeof(head)) < 0)
			return 0;
		if (head[0] == at && head[2] == at)
			return spi_memory_copy(&id, at + (uint64_t) tid_at, sizeof(id)) == 0 && id == tid &&
				spi_memory_copy(&start, at + (uint64_t) start_at, sizeof(start)) == 0 ? start : 0;
	}
	return 0;
}

int spi_thread_is_tracer_task(const struct spi_numbers *task)
{
	uint64_t pc, sp = is_known() ? spi_task_stack_pointer(task, &pc) : 0;
	char name[20];

	if (!is_known())
		return spi_task_text(task, "comm", name, sizeof(name)) > 0 && name_is_tracer(name) ? 1 : -1;
	return sp ? is_tracer_start(start_routine(sp, task->number)) : -1;
}
