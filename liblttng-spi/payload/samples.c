/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Samples for clients: where each thread of the program is, each so many microseconds of its CPU time.
 *
 * Each thread has a kernel timer on its own CPU clock, which sends the thread a SIGTRAP. The agent shares SIGTRAP with
 * the program already: its handler is there, the program's masks never block SIGTRAP, and a SIGTRAP that is not ours is
 * the program's (patch/trap.c). So no timer, signal or interval of the program's is used, an ordinary user may do it,
 * and a thread that sleeps is not woken up. The program may see an interrupted system call where a timer ends on the
 * way into a wait, as with -pg's own timer.
 *
 * Threads that run when sampling begins get their timers then; later ones as they make their first call that comes to
 * the agent, or when the control thread looks for new ones. A timer's first interval is of a random length, so that short
 * threads have their share of samples. The kernel keeps the timer of a thread that has ended: each new thread has two
 * older ones looked at, and what is left over is deleted.
 *
 * The list of threads is changed under its lock, with all signals blocked. A forked child has no timers; its only
 * thread gets one within fork().
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include "liblttng-spi/module/module.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/signals/signals.h"
#include "liblttng-spi/payload/internal.h"

#define MOST		16384u		/* threads */
#define MS		UINT64_C(1000000)
#define LOOK_MS		100u		/* between two looks for new threads */
#define LOOK_ALL_MS	1000u		/* likewise, where their number is as it was */
#define EVENT_SIZE	64u		/* bytes of the kernel's struct sigevent */
#define SIGEV_TID	4		/* SIGEV_THREAD_ID */

struct sampled {
	int32_t tid, timer;
};

static struct sampling {
	struct spi_client *client;	/* NULL: none */
	struct sampled *threads;	/* MOST of them */
	uint32_t count, look;		/* how many; the one to look at next */
	uint32_t is_on;
	uint32_t lock;
	const char *reason;		/* why there are no samples, or not of all threads */
} samplings[SPI_CLIENTS_MAX];

static uint64_t lock(struct sampling *s)
{
	uint64_t before = spi_signals_hold(~UINT64_C(0));

	while (__atomic_exchange_n(&s->lock, 1, __ATOMIC_ACQUIRE))
		spi_raw3(SYS_sched_yield, 0, 0, 0);
	return before;
}

static void unlock(struct sampling *s, uint64_t before)
{
	__atomic_store_n(&s->lock, 0, __ATOMIC_RELEASE);
	spi_signals_release(before);
}

/* ---- timers ---- */

/* The timer's number, or a negative errno. */
static int timer_make(const struct sampling *s, int32_t tid)
{
	struct {
		uint64_t value;
		int32_t number, notify, tid;
		uint8_t rest[EVENT_SIZE - 20];
	} event = { .value = (uint64_t) s, .number = SIGTRAP, .notify = SIGEV_TID, .tid = tid };
	const int32_t clock = (int32_t) (~(uint32_t) tid << 3 | 6);	/* a thread's CPU clock, by its id */
	const uint64_t us = s->client->sample_us, mixed = (spi_ticks() ^ (uint64_t) tid) * UINT64_C(0x9e3779b97f4a7c15);
	const uint64_t first = 1 + (mixed >> 32) % us;
	const uint64_t spec[4] = { us / 1000000, us % 1000000 * 1000, first / 1000000, first % 1000000 * 1000 };
	int32_t timer = 0;
	long r = spi_raw3(SYS_timer_create, (uint64_t) (int64_t) clock, (uint64_t) &event, (uint64_t) &timer);

	if (r == 0 && (r = spi_raw4(SYS_timer_settime, (uint64_t) timer, 0, (uint64_t) spec, 0)) < 0)
		spi_raw3(SYS_timer_delete, (uint64_t) timer, 0, 0);
	return r < 0 ? (int) r : timer;
}

static void thread_drop(struct sampling *s, uint32_t i)
{
	spi_raw3(SYS_timer_delete, (uint64_t) s->threads[i].timer, 0, 0);
	s->threads[i] = s->threads[--s->count];
}

/* Some that have ended. */
static void threads_look(struct sampling *s)
{
	const uint64_t pid = (uint64_t) spi_raw3(SYS_getpid, 0, 0, 0);

	for (unsigned int i = 0; i < 2 && s->count; i++) {
		uint32_t at = s->look++ % s->count;

		if (spi_raw3(SYS_tgkill, pid, (uint64_t) s->threads[at].tid, 0) == -ESRCH)
			thread_drop(s, at);
	}
}

/* Under the lock. A thread that is in the list has ended, and its id is another's; or it is looked at once more. */
static void thread_add(struct sampling *s, int32_t tid)
{
	int timer;

	threads_look(s);
	for (uint32_t i = 0; i < s->count; i++)
		if (s->threads[i].tid == tid) {
			thread_drop(s, i);
			break;
		}
	if (s->count == MOST) {
		s->reason = "not all threads have samples: there are more than 16384";
		return;
	}
	timer = timer_make(s, tid);
	if (timer >= 0)
		s->threads[s->count++] = (struct sampled) { tid, timer };
	else if (timer != -EINVAL && timer != -ESRCH)	/* it has ended */
		s->reason = timer != -EAGAIN ? "the kernel gives no timer" :
			"not all threads have samples: the limit of pending signals (ulimit -i) leaves no timer";
}

/* ---- a sample ---- */

/* A hook of ours makes the program's system call: what the kernel does then is the program's. */
static int is_in_kernel_for_program(void *context)
{
	static const uint8_t instruction[2] = { 0x0f, 0x05 };
	const uint64_t pc = spi_context_pc(context);

	return !(spi_thread.busy & (SPI_BUSY_ALWAYS - 1)) && spi_tracer_code_has(pc - 2) &&
		!memcmp((const uint8_t *) pc - 2, instruction, 2);
}

static int sample_take(const void *siginfo, void *context)
{
	const siginfo_t *info = siginfo;
	const struct sampling *s = info->si_value.sival_ptr;
	struct spi_sample sample = { .address = spi_context_pc(context), .weight = 1 + (uint32_t) info->si_overrun };
	struct spi_client *client;

	if (s < samplings || s >= samplings + SPI_CLIENTS_MAX)
		return 0;
	client = s->client;
	if (!s->is_on || client->state != SPI_CLIENT_ON || spi_thread_is_foreign(&spi_thread) || spi_is_lent() > 0)
		return 1;
	sample.is_tracing = spi_context_is_tracing(context) && !is_in_kernel_for_program(context);
	sample.thread = (int32_t) spi_raw3(SYS_gettid, 0, 0, 0);
	spi_client_run(client, client->sampler, &sample, client->sampler_data);
	return 1;
}

/* ---- begin and end ---- */

static int is_known(const struct sampling *s, int32_t tid)
{
	uint32_t i = 0;

	while (i < s->count && s->threads[i].tid != tid)
		i++;
	return i < s->count;
}

static void threads_add(struct sampling *s)
{
	struct spi_numbers task;
	uint64_t before;

	if (spi_numbers_open(&task, "/proc/self/task") < 0) {
		s->reason = "/proc cannot be read";
		return;
	}
	while (spi_numbers_next(&task)) {
		const int is_self = task.number == (int) spi_sys(SYS_gettid);

		if (is_known(s, task.number) || (is_self ? spi_thread_is_tracer() : spi_thread_is_tracer_task(&task) > 0))
			continue;
		before = lock(s);
		if (!is_known(s, task.number))	/* it may have made its first call just now */
			thread_add(s, task.number);
		unlock(s, before);
	}
	spi_numbers_close(&task);
}

void spi_samples_begin(struct spi_client *client)
{
	struct sampling *s = &samplings[client->number];

	if (!client->sampler)
		return;
	spi_module_do_without();		/* which threads are the tracer's */
	s->client = client;
	s->reason = spi_trap_timer_ready();
	if (s->reason)
		return;
	if (!s->threads)
		s->threads = spi_map_pages(MOST * sizeof(*s->threads));
	if (!s->threads) {
		s->reason = "the agent has no memory left";
		return;
	}
	spi_trap_timer = sample_take;
	__atomic_store_n(&s->is_on, 1, __ATOMIC_SEQ_CST);
	threads_add(s);
}

void spi_samples_end(struct spi_client *client)
{
	struct sampling *s = &samplings[client->number];
	uint64_t before;

	if (!__atomic_exchange_n(&s->is_on, 0, __ATOMIC_SEQ_CST))
		return;
	before = lock(s);
	while (s->count)
		thread_drop(s, 0);
	unlock(s, before);
}

static uint64_t next_look;		/* at the threads, in ns; the control thread's, as the next two */
static uint64_t latest_look, latest_count;

int64_t spi_samples_wait(void)
{
	const uint64_t now = spi_now_ns();
	unsigned int i = 0;

	while (i < SPI_CLIENTS_MAX && !samplings[i].is_on)
		i++;
	if (i == SPI_CLIENTS_MAX)
		return -1;
	return now < next_look ? (int64_t) ((next_look - now) / MS) + 1 : 0;
}

/* A directory has a link of each one below it. */
static uint64_t threads_count(void)
{
	struct stat task;

	return spi_sys(SYS_stat, "/proc/self/task", &task) < 0 ? 0 : (uint64_t) task.st_nlink;
}

/*
 * Less often where there are many threads, as each is looked up in the list; and where there are as many as at the last
 * look, once a second.
 */
void spi_samples_step(void)
{
	const uint64_t now = spi_now_ns(), count = now < next_look ? 0 : threads_count();
	uint32_t most = 0;

	if (now < next_look)
		return;
	next_look = now + LOOK_MS * MS;
	if (count == latest_count && now < latest_look + LOOK_ALL_MS * MS)
		return;
	latest_count = count;
	latest_look = now;
	for (unsigned int i = 0; i < SPI_CLIENTS_MAX; i++) {
		if (!samplings[i].is_on)
			continue;
		threads_add(&samplings[i]);
		most = samplings[i].count > most ? samplings[i].count : most;
	}
	next_look = now + LOOK_MS * MS * (1 + most / 256);
}

const char *spi_samples_reason(const struct spi_client *client)
{
	return client->sampler ? samplings[client->number].reason : "there is no sampler";
}

/* ---- the process's threads ---- */

static void self_add(struct sampling *s)
{
	uint64_t before = lock(s);

	/* in no sandbox that kills for it */
	if (__atomic_load_n(&s->is_on, __ATOMIC_SEQ_CST) && spi_may(SPI_MAY_TALK))
		thread_add(s, (int32_t) spi_raw3(SYS_gettid, 0, 0, 0));
	unlock(s, before);
}

void spi_samples_thread_found(void)
{
	for (unsigned int i = 0; i < SPI_CLIENTS_MAX; i++)
		if (__atomic_load_n(&samplings[i].is_on, __ATOMIC_RELAXED))
			self_add(&samplings[i]);
}

void spi_samples_fork_child(void)
{
	for (unsigned int i = 0; i < SPI_CLIENTS_MAX; i++) {
		samplings[i].lock = samplings[i].count = 0;
		if (samplings[i].is_on)
			self_add(&samplings[i]);
	}
}

void spi_samples_fork_left(void)
{
	for (unsigned int i = 0; i < SPI_CLIENTS_MAX; i++)
		samplings[i].lock = samplings[i].count = samplings[i].is_on = 0;
}
