/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The account of trees that may slow the program down by so many percent only.
 *
 * What tracing costs: the calls that were recorded, times what one takes; the
 * time for putting sites in place; the CPU time of the tracer's threads, and what
 * it took to begin. What is left of the process's CPU time is the program's own.
 * A tree may use up its percentage of that. What it did not use is kept, up to
 * what a fifth of a second brings in; what it used too much is paid back, during
 * which what remains may take half of what comes in.
 *
 * A function of one nanosecond that is called all the time uses up in a
 * millisecond what five percent of twenty bring in. So it is looked by who records:
 * each thread every thousandth call, and with each batch of compact records, as
 * soon as the balance could have been used up; and by the control thread at
 * times, for what happens when nothing is recorded any more. A look takes 2 us, and
 * is part of the cost. Functions are looked at only when too much was used.
 */
#include <sys/syscall.h>
#include <time.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/rules/rules.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/budget/internal.h"

#define LOOK_LEAST_NS	(SPI_BUDGET_MS / 4)
#define LOOK_MOST_NS	(20 * SPI_BUDGET_MS)
#define BEGIN_NS	(2 * SPI_BUDGET_MS)	/* of records, before the first function is left out */
#define WINDOW_NS	(SPI_BUDGET_MS / 2)	/* the same later: what is known of functions by then will do */
#define KEPT_NS		(200 * SPI_BUDGET_MS)	/* of the program's time: so much of a budget is kept */
#define WINDOW_OWN_NS	(20 * SPI_BUDGET_MS)	/* of the program's time: what was longer ago says nothing */
#define DEBT_NS		(100 * SPI_BUDGET_MS)	/* with ten times what is kept: more need not be paid back */
#define SCAN_SHARE	2u			/* a window's records take so many times what it takes to look at functions */

struct spi_budget spi_budget;
uint32_t spi_tree_budgets;
uint64_t spi_budget_own, spi_budget_spent, spi_budget_records;

static uint64_t next_look;		/* of spi_now_ns(); read by anybody */
static uint64_t placed_ns;		/* since the last look; anybody adds */
static uint64_t skips;			/* the same, calls */
static uint64_t cpu_was, tracers_was, calls_was, overspent;
static int has_begun;
static uint64_t scan_ns;		/* what the latest look at functions took */
static uint64_t came_by_cpu, come_by_ms = 50, come_by_count;

/* ---- the account ---- */

/* The program's own time since the last look, and tracing's, calls apart. */
static void account_take(uint64_t *own, uint64_t *calls_cost, uint64_t *other_cost)
{
	uint64_t cpu = spi_budget_cpu(CLOCK_PROCESS_CPUTIME_ID), used = spi_budget_tracers_used(), calls = spi_budget_calls_recorded();
	uint64_t new_calls = calls > calls_was ? calls - calls_was : 0;
	uint64_t one = spi_budget_call_ns(!(spi_tree_existing & ~spi_tree_compact));

	*other_cost = __atomic_exchange_n(&placed_ns, 0, __ATOMIC_RELAXED) + (used - tracers_was);
	*calls_cost = new_calls * one + __atomic_exchange_n(&skips, 0, __ATOMIC_RELAXED) * SPI_BUDGET_SKIP_NS;
	/*
	 * Other processors' time is told late, by a tick at most, and what a call takes may have been taken for more than
	 * it is: then what seems to be missing is carried over, as long as that can be the reason.
	 */
	overspent += *calls_cost + *other_cost;
	*own = 0;
	if (cpu - cpu_was > overspent) {
		*own = cpu - cpu_was - overspent;
		overspent = 0;
	} else {
		overspent -= cpu - cpu_was;
		if (overspent > 50 * SPI_BUDGET_MS)
			overspent = 50 * SPI_BUDGET_MS;
	}
	cpu_was = cpu;
	tracers_was = used;
	calls_was = calls;
	spi_budget_own += *own;
	spi_budget_spent += *calls_cost + *other_cost;
	spi_budget_records += *calls_cost;
}

static uint64_t part_of(uint64_t ns, uint32_t tenths)
{
	return ns / 1000 * tenths + ns % 1000 * tenths / 1000;
}

static void window_new(int is_fresh)
{
	spi_budget.window_own = spi_budget.window_cost = 0;
	spi_budget.is_fresh = (uint32_t) is_fresh;
}

/*
 * It has used too much. The first time its functions are counted anew, unless they were just now, so that what was
 * called in earlier times does not count against a function; then those that take most are left out.
 */
static uint32_t budget_act(uint64_t target, uint64_t now)
{
	struct spi_budget *b = &spi_budget;
	uint64_t begin = spi_now_ns();
	uint32_t left_out = 0;

	spi_calls_gather();
	if (spi_calls_cost)
		b->share = (uint32_t) (spi_calls_cost_budget * 1024 / spi_calls_cost);
	if (b->is_fresh)
		left_out = spi_budget_leave_out(target, now);
	spi_calls_reset();
	window_new(1);
	scan_ns = spi_now_ns() - begin;
	__atomic_fetch_add(&placed_ns, scan_ns, __ATOMIC_RELAXED);
	if (left_out)
		b->back_next = now + 500 * SPI_BUDGET_MS;
	return left_out;
}

/* Returns how many functions were left out or came back. is_held: no object can be unloaded. */
static uint32_t budget_look(int is_held, uint64_t own, uint64_t calls_cost, uint64_t other_cost, uint64_t now)
{
	struct spi_budget *b = &spi_budget;
	int64_t most = (int64_t) part_of(KEPT_NS, b->tenths);
	uint64_t mine = calls_cost * b->share / 1024, target, least;

	b->balance += (int64_t) part_of(own, b->tenths) - (int64_t) (mine + other_cost);
	if (b->balance > most)
		b->balance = most;
	if (b->balance < -(10 * most + (int64_t) DEBT_NS))
		b->balance = -(10 * most + (int64_t) DEBT_NS);
	b->window_own += own;
	b->window_cost += mine;
	/* what a call takes may have been taken for an eighth too much; then little seems to be left for the program */
	target = part_of(b->window_own > b->window_cost / 8 ? b->window_own : b->window_cost / 8, b->tenths) / 2;
	least = spi_out_now ? WINDOW_NS : BEGIN_NS;
	if (!b->is_fresh)
		least = WINDOW_NS / 2;
	if (least < SCAN_SHARE * scan_ns)
		least = SCAN_SHARE * scan_ns;
	if (b->balance < 0 && b->window_cost > target && b->window_cost >= least)
		return budget_act(target, now);
	if (b->window_own >= WINDOW_OWN_NS && (b->balance >= 0 || b->window_cost <= target)) {
		uint64_t rate = b->window_cost * 1000 / (b->window_own / SPI_BUDGET_MS);

		b->rate = (3 * b->rate + rate) / 4;
		window_new(0);
	}
	/* there is room again: one comes back, and is gone as quickly if it is still what it was */
	if (is_held && spi_out_now && now >= b->back_next && b->balance > most / 2 &&
			b->rate < part_of(1000 * SPI_BUDGET_MS, b->tenths) / 2) {
		b->back_next = now + 100 * SPI_BUDGET_MS;
		return spi_budget_bring_back(now);
	}
	return 0;
}

/* When the most hungry function could have used up half of what there is. */
static uint64_t look_pause(void)
{
	uint64_t pause = spi_budget.balance > 0 ? (uint64_t) spi_budget.balance / 2 : 0;

	if (pause < LOOK_LEAST_NS)
		return LOOK_LEAST_NS;
	return pause < LOOK_MOST_NS ? pause : LOOK_MOST_NS;
}

static uint32_t look_now(int is_held, uint64_t now)
{
	uint64_t own, calls_cost, other_cost;
	uint32_t changes;

	spi_budget_ticks_learn(now);
	account_take(&own, &calls_cost, &other_cost);
	changes = budget_look(is_held, own, calls_cost, other_cost, now);
	__atomic_store_n(&next_look, now + look_pause(), __ATOMIC_RELEASE);
	return changes;
}

static uint32_t look(int is_held)
{
	uint64_t now = spi_now_ns(), before;
	uint32_t changes = 0;

	/* it is looked all the time while much is recorded: who alone can bring something back does not wait for a turn */
	if ((!is_held && now < __atomic_load_n(&next_look, __ATOMIC_ACQUIRE)) || !spi_tree_lock(&before, -1))
		return 0;
	if ((is_held || now >= next_look) && spi_tree_budgets)
		changes = look_now(is_held, now);
	spi_tree_unlock(before);
	return changes;
}

void spi_budget_look(int busy)
{
	struct spi_thread *t = &spi_thread;

	if (!spi_tree_budgets || (t->busy && t->busy < SPI_BUSY_ALWAYS && !busy))
		return;
	if (look(0))
		spi_control_ring();
}

/* While no object can be unloaded. */
static void look_held(void *unused)
{
	uint64_t before;

	(void) unused;
	look(1);
	before = spi_patch_lock();
	spi_budget_settle_text();	/* of what was left out or came back just now, too */
	spi_patch_unlock(before);
}

void spi_budget_flushed(uint64_t ns)
{
	if (!spi_tree_budgets)
		return;
	spi_budget_flush_measure(ns);
	spi_budget_look(1);
}

void spi_budget_skip(struct spi_thread *t)
{
	t->budget_skips = 0;
	__atomic_fetch_add(&skips, SPI_BUDGET_EVERY, __ATOMIC_RELAXED);
	spi_budget_look(0);
}

/* The look comes behind the record, which is measured as it usually is: in the middle of others. */
uint64_t spi_budget_call(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	uint64_t begin, code;

	spi_thread.budget_calls = 0;
	begin = spi_ticks();
	code = spi_tree_record(point, frame, vec, stride);
	if (!(point->flags & SPI_POINT_COMPACT) && !spi_thread.busy)
		spi_budget_plain_measure(spi_ticks() - begin);
	spi_budget_look(0);
	return code;
}

void spi_budget_placed(uint64_t ns)
{
	__atomic_fetch_add(&placed_ns, ns, __ATOMIC_RELAXED);
}

/* ---- control side ---- */

/*
 * What it took to begin is the tree's, too: of a program that was started with the agent all that the process has
 * used so far, of one that ran what the tracer's threads have.
 */
void spi_budget_start(uint32_t bit, uint32_t tenths)
{
	uint64_t before, cpu, begun;

	if (bit)
		spi_budget_tracers_find();
	before = spi_patch_lock();
	if (bit)
		spi_budget_clock_measure();
	cpu = spi_budget_cpu(CLOCK_PROCESS_CPUTIME_ID);
	begun = spi_control_event < 0 && spi_env.preloaded ? cpu : spi_budget_tracers_used();
	if (!has_begun) {
		has_begun = 1;
		cpu_was = cpu;
		tracers_was = spi_budget_tracers_used();
		calls_was = spi_budget_calls_recorded();
		spi_budget_spent = begun;
	} else {
		spi_budget_settle();
		begun = 0;
	}
	spi_budget_ticks_learn(spi_now_ns());
	if (bit && !spi_tree_budgets)
		spi_budget = (struct spi_budget) { .share = 1024, .balance = -(int64_t) begun, .is_fresh = 1 };
	if (bit)
		spi_budget.share = 1024;	/* until the calls of all of them were counted */
	spi_budget.tenths = tenths;
	__atomic_fetch_or(&spi_tree_budgets, bit, __ATOMIC_RELEASE);
	spi_patch_unlock(before);
}

void spi_budget_settle(void)
{
	uint64_t own, calls_cost, other_cost;

	if (has_begun && !spi_tree_budgets)
		account_take(&own, &calls_cost, &other_cost);
}

void spi_budget_stop(uint32_t bit, uint32_t tenths)
{
	uint64_t before = spi_patch_lock();

	spi_budget.tenths = tenths;
	__atomic_fetch_and(&spi_tree_budgets, ~bit, __ATOMIC_RELEASE);
	spi_budget_forget();
	spi_patch_unlock(before);
}

void spi_budget_come_by(struct spi_link *link)
{
	uint64_t cpu;

	if (!spi_tree_budgets)
		return;
	if (come_by_count++ < 3)
		spi_budget_tracers_find();
	spi_objects_hold(look_held, NULL);
	spi_budget_news();
	spi_budget_tell(link, 0);
	cpu = spi_budget_cpu(CLOCK_PROCESS_CPUTIME_ID);
	come_by_ms = cpu - came_by_cpu < SPI_BUDGET_MS ? 1000 : 50;
	came_by_cpu = cpu;
}

int64_t spi_budget_wait(void)
{
	return spi_tree_budgets ? (int64_t) come_by_ms : -1;
}

/* Its own account, from the beginning. What is left out stays so at first. */
void spi_budget_child_begins(void)
{
	spi_budget_tracers_forget();
	placed_ns = skips = spi_budget_own = spi_budget_spent = spi_budget_records = overspent = 0;
	cpu_was = tracers_was = 0;
	calls_was = spi_budget_calls_recorded();
	next_look = 0;
	come_by_count = 0;
	spi_budget.balance = 0;
}

void spi_budget_forked(void)
{
	if (spi_tree_budgets)
		spi_budget_placed(spi_budget_cpu(CLOCK_PROCESS_CPUTIME_ID));
}
