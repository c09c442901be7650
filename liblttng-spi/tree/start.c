/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Trees that begin later: after a time, or when the process gets a signal or a message.
 *
 * The control thread begins them: it waits for the next due time while it waits
 * for commands, and the signal's handler, which does nothing but a few system
 * calls, wakes it up. Where there is no controller, a thread of its own waits.
 *
 * The signal is taken from the program for one time: the handler gives it back
 * before anything else, so that the next one is the program's again. A program
 * that sets a handler of its own for it meanwhile keeps it. What it sees of it until then is its own action (dispositions/actions.c,
 * where the agent stands before libc's functions). A signal that the program ignores is refused: the programs that it executes
 * would no longer ignore the signal.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/signals/signals.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/dispositions/dispositions.h"
#include "liblttng-spi/process/process.h"
#include "liblttng-spi/tree/budget/budget.h"
#include "liblttng-spi/tree/internal.h"

#define MS	UINT64_C(1000000)
#define LOOK_MS	50u		/* without a controller */

/* By number. Control side, but for `arrived`, which the handler sets. */
static struct late_signal {
	struct spi_sigaction program;
	uint32_t waiting;	/* trees */
	uint32_t arrived;
} signals[65];

/* ---- the signal ---- */

static void on_signal(int number)
{
	struct late_signal *s = &signals[number];

	spi_raw4(SYS_rt_sigaction, (uint64_t) number, (uint64_t) &s->program, 0, 8);
	__atomic_store_n(&s->arrived, 1, __ATOMIC_RELEASE);
	spi_control_ring();
}

static long signal_exchange(uint32_t number, const struct spi_sigaction *action, struct spi_sigaction *was)
{
	return spi_raw4(SYS_rt_sigaction, number, (uint64_t) action, (uint64_t) was, 8);
}

/* On the stack that the program has for it: as spi_signal_install(). */
static long signal_install(uint32_t number, struct spi_sigaction *was)
{
	const struct spi_sigaction *program = &signals[number].program;
	const struct spi_sigaction ours = {
		.handler = (uint64_t) on_signal,
		.flags = SA_RESTART | SPI_SA_RESTORER | (spi_signal_has_handler(program) ? program->flags & SA_ONSTACK : 0),
		.restorer = (uint64_t) spi_signal_return,
		.mask = ~UINT64_C(0),
	};

	return signal_exchange(number, &ours, was);
}

/* What the program has set where the kernel has `handler`. */
static const struct spi_sigaction *signal_program(int number, uint64_t handler)
{
	return handler == (uint64_t) on_signal ? &signals[number].program : NULL;
}

/* 0, -EEXIST where the program ignores the signal, or the kernel's error for a handler of the signal. */
static int signal_take(uint32_t number)
{
	struct late_signal *s = &signals[number];
	struct spi_sigaction was;
	int ret;

	if (s->waiting++)
		return 0;
	spi_signal_hidden = signal_program;
	s->arrived = 0;
	ret = (int) spi_signal_query((int) number, &s->program);
	if (ret == 0)
		ret = s->program.handler == (uint64_t) SIG_IGN ? -EEXIST : (int) signal_install(number, &was);
	if (ret < 0) {
		s->waiting--;
		return ret;
	}
	if (memcmp(&was, &s->program, sizeof(was))) {	/* the program has set it just now; and the signal may have come already */
		s->program = was;
		if (__atomic_load_n(&s->arrived, __ATOMIC_ACQUIRE))
			signal_exchange(number, &was, NULL);
	}
	return 0;
}

static void signal_give_back(uint32_t number)
{
	struct late_signal *s = &signals[number];
	struct spi_sigaction now;

	if (!s->waiting || --s->waiting)
		return;
	if (spi_signal_query((int) number, &now) < 0 || now.handler != (uint64_t) on_signal)
		return;
	if (signal_exchange(number, &s->program, &now) == 0 && now.handler != (uint64_t) on_signal)
		signal_exchange(number, &now, NULL);	/* the program has set it meanwhile */
}

/* ---- without a controller ---- */

/* Does a tree wait for a signal? Its handler wakes nobody. */
static int any_waits(void)
{
	const struct spi_tree *tree = spi_trees;

	while (tree && !tree->waits)
		tree = tree->next;
	return tree != NULL;
}

static void *waiting_thread(void *unused)
{
	(void) unused;
	spi_thread.busy = SPI_BUSY_ALWAYS;
	spi_sys(SYS_prctl, PR_SET_NAME, "lttng-spi", 0L, 0L, 0L);
	spi_threads_learn(waiting_thread);
	spi_budget_thread();
	for (;;) {
		int64_t ms = spi_tree_starts_wait();
		uint64_t pause[2] = { 0, LOOK_MS * MS };

		if (ms > 1000 || (ms < 0 && !any_waits()))
			pause[0] = 1;
		spi_control_lock();
		spi_tree_starts_take(NULL);
		spi_budget_come_by(NULL);
		spi_control_unlock();
		spi_sys(SYS_nanosleep, pause, NULL);
	}
	return NULL;
}

void spi_tree_start_thread(void)
{
	static int started;

	if (!started)
		started = spi_tracer_thread(waiting_thread, NULL) == 0;
}

/* ---- the message ---- */

static uint32_t came;		/* of these, those whose message has come */

void spi_tree_message_came(uint32_t trees)
{
	__atomic_fetch_or(&came, trees, __ATOMIC_RELEASE);
	if (spi_mode_is_child() && !spi_child_begin_now())	/* a server's, which was forked for the connection */
		return;
	spi_control_ask();
}

static void message_await(struct spi_tree *tree, int is_awaited)
{
	__atomic_fetch_and(&came, ~tree->bit, __ATOMIC_RELAXED);
	if (is_awaited)
		__atomic_fetch_or(&spi_tree_awaiting, tree->bit, __ATOMIC_RELEASE);
	else
		__atomic_fetch_and(&spi_tree_awaiting, ~tree->bit, __ATOMIC_RELEASE);
}

/* ---- for rule.c and control/ ---- */

int spi_tree_start_later(struct spi_tree *tree, struct spi_link *link)
{
	int taken;

	if (tree->asked->on_message) {
		message_await(tree, 1);
		tree->waits = 1;
		return 1;
	}
	if (!tree->asked->after && !tree->asked->on_signal)
		return 0;
	if (tree->asked->on_signal >= sizeof(signals) / sizeof(signals[0]))
		return 0;
	taken = tree->asked->on_signal ? signal_take(tree->asked->on_signal) : 0;
	if (taken < 0) {
		spi_format(tree->why, sizeof(tree->why), taken == -EEXIST ? "the program ignores signal %u, at which the tree begins" :
			"signal %u, at which the tree begins, cannot be handled", tree->asked->on_signal);
		return -ENOTSUP;
	}
	tree->waits = 1;
	tree->due = tree->asked->after ? spi_now_ns() + tree->asked->after * MS : 0;
	if (!link)
		spi_tree_start_thread();
	return 1;
}

int spi_tree_start_is_due(const struct spi_tree *tree)
{
	if (!tree->waits)
		return 0;
	if (tree->asked->on_message)
		return (__atomic_load_n(&came, __ATOMIC_ACQUIRE) & tree->bit) != 0;
	return (tree->due && spi_now_ns() >= tree->due) ||
		(tree->asked->on_signal && __atomic_load_n(&signals[tree->asked->on_signal].arrived, __ATOMIC_ACQUIRE));
}

void spi_tree_start_cancel(struct spi_tree *tree)
{
	if (!tree->waits)
		return;
	tree->waits = 0;
	if (tree->asked->on_message)
		message_await(tree, 0);
	else if (tree->asked->on_signal)
		signal_give_back(tree->asked->on_signal);
}

int64_t spi_tree_starts_wait(void)
{
	uint64_t now = 0;
	int64_t least = spi_budget_wait();

	for (const struct spi_tree *tree = spi_trees; tree; tree = tree->next) {
		int64_t ms;

		if (!tree->waits || !tree->due)
			continue;
		now = now ? now : spi_now_ns();
		ms = tree->due > now ? (int64_t) ((tree->due - now) / MS) + 1 : 0;
		least = least < 0 || ms < least ? ms : least;
	}
	return least > INT32_MAX ? INT32_MAX : least;
}
