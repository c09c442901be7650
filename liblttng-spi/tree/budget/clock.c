/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the account of budgets is made from: CPU clocks, of the process and of the
 * tracer's threads, the number of calls that were recorded, and what one takes.
 *
 * What a plain call takes is measured, one call of each thousand, since it depends
 * on contexts, filters and the caches; a compact one by its parts: two readings of
 * the clock, a batch's share, and the thunks, which are what they are.
 */
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/budget/internal.h"

#define PLAIN_NS	200u			/* until it was measured */
#define PLAIN_LEAST_NS	100u
#define THUNKS_NS	40u			/* registers saved, the way there and back, the return that was not foreseen */
#define WORDS_NS	18u			/* the same for compact records, without the clock */
#define TRAP_NS		2500u
#define TRACERS_MAX	12u

static uint32_t plain_ns = PLAIN_NS, plain_known, words_ns = 60, clock_ns = 12, flush_ns = 12;
static uint64_t tick_mult;		/* ns a tick of the TSC, times 2^20; 0: not known yet */
static uint64_t tick_was, tick_ns_was;
static struct {
	int32_t tid;
	uint64_t used;
} tracers[TRACERS_MAX];
static uint32_t tracer_count;

/* ---- clocks ---- */

uint64_t spi_budget_cpu(int32_t clock)
{
	struct timespec ts = { 0, 0 };

	if (spi_raw3(SYS_clock_gettime, (uint64_t) (int64_t) clock, (uint64_t) &ts, 0) < 0)
		return 0;
	return (uint64_t) ts.tv_sec * 1000000000u + (uint64_t) ts.tv_nsec;
}

/* All that the tracer's threads have used, ever. One that has ended keeps what it had. */
uint64_t spi_budget_tracers_used(void)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < tracer_count; i++) {
		uint64_t used = spi_budget_cpu((int32_t) (~(uint32_t) tracers[i].tid << 3 | 6));	/* a thread's, by id */

		if (used > tracers[i].used)
			tracers[i].used = used;
		all += tracers[i].used;
	}
	return all;
}

uint64_t spi_budget_calls_recorded(void)
{
	uint64_t calls = 0;

	for (const struct spi_thread_own *own = spi_threads_first(); own; own = own->next)
		if (own->record)
			calls += own->record->count.entries + own->record->count.lost_entries;
	return calls;
}

void spi_budget_ticks_learn(uint64_t now)
{
	uint64_t tick = spi_ticks();

	if (tick > tick_was && now - tick_ns_was >= SPI_BUDGET_MS && now - tick_ns_was < 1000 * SPI_BUDGET_MS) {
		tick_mult = ((now - tick_ns_was) << 20) / (tick - tick_was);
	} else if (now - tick_ns_was < SPI_BUDGET_MS) {
		return;
	}
	tick_was = tick;
	tick_ns_was = now;
}

/* ---- what a call takes ---- */

/* One record in a thousand; an interruption must not count for more than it is. */
void spi_budget_plain_measure(uint64_t ticks)
{
	uint64_t mult = tick_mult, ns = ticks * mult >> 20;
	uint32_t pair;

	if (!mult || ticks > 100000)
		return;
	pair = (uint32_t) (2 * ns) + THUNKS_NS;
	if (pair > 2 * plain_ns)
		pair = 2 * plain_ns;
	if (plain_known < 7)	/* the first ones count for more: they are better than what was assumed */
		plain_known++;
	plain_ns = (plain_known * plain_ns + pair) / (plain_known + 1);
	if (plain_ns < PLAIN_LEAST_NS)
		plain_ns = PLAIN_LEAST_NS;
}

/* A batch has half as many calls as words. */
void spi_budget_flush_measure(uint64_t ns)
{
	uint32_t one = (uint32_t) (ns < SPI_BUDGET_MS ? ns : SPI_BUDGET_MS) * 2 / SPI_BUDGET_EVERY;

	flush_ns = (7 * flush_ns + (one < 4 * flush_ns ? one : 4 * flush_ns) + 4) / 8;
	words_ns = 2 * clock_ns + WORDS_NS + flush_ns;
}

void spi_budget_clock_measure(void)
{
	uint64_t begin = spi_now_ns(), took;

	for (int i = 0; i < 1024; i++)
		spi_ticks();
	took = (spi_now_ns() - begin) / 1024;
	clock_ns = (uint32_t) (took < 5 ? 5 : took > 60 ? 60 : took);
	words_ns = 2 * clock_ns + WORDS_NS + flush_ns;
}

uint64_t spi_budget_call_ns(int compact)
{
	return compact ? words_ns : plain_ns;
}

uint64_t spi_budget_cost(const struct spi_point *point)
{
	const struct spi_site *s = (const struct spi_site *) point;
	uint64_t ns = spi_budget_call_ns((point->flags & SPI_POINT_COMPACT) != 0);

	if (point->entry == spi_tree_calls->site_any && !point->address)
		return SPI_BUDGET_SKIP_NS;
	if ((point->entry == spi_tree_calls->site || point->entry == spi_tree_calls->site_any) &&
			s->worker == SPI_SITE_WORKER_TRAP)
		ns += TRAP_NS;
	return ns;
}

/* ---- the tracer's threads ---- */

static void tracer_add(int32_t tid)
{
	uint64_t before = spi_patch_lock();
	uint32_t i = 0;

	while (i < tracer_count && tracers[i].tid != tid)
		i++;
	if (i == tracer_count && i < TRACERS_MAX) {
		tracers[i].tid = tid;
		tracers[i].used = 0;
		tracer_count++;
	}
	spi_patch_unlock(before);
}

void spi_budget_tracers_find(void)
{
	struct spi_numbers task;
	char name[20];

	if (spi_numbers_open(&task, "/proc/self/task") < 0)
		return;
	while (spi_numbers_next(&task)) {
		size_t n;

		if (spi_task_text(&task, "comm", name, sizeof(name)) <= 0)
			continue;
		n = strcspn(name, "\n");
		if ((n >= 4 && !memcmp(name + n - 4, "-ust", 4)) || (n >= 9 && !memcmp(name, "lttng-spi", 9)))
			tracer_add(task.number);
	}
	spi_numbers_close(&task);
}

void spi_budget_thread(void)
{
	tracer_add((int32_t) spi_sys(SYS_gettid));
}

/* In the child of a fork(). */
void spi_budget_tracers_forget(void)
{
	tracer_count = 0;
}
