/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * fork(). The child has the instrumented text, the stubs and its thread's return
 * slots. Nothing is started in it here: it begins with its first call that is to be recorded (child.c).
 * The conversation with the controller stays the parent's.
 *
 * Others' handlers run before or after these (fork-order.c); all they share is
 * the control lock, held over the fork so that no half-made rule is inherited, and
 * the patch lock, so that no half-written code is. A fork does not wait for the
 * control lock for ever: where it goes on without, the child is left alone.
 */
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/ledger/ledger.h"
#include "liblttng-spi/process/internal.h"

static SPI_FORK_DATA uint32_t forking_busy;	/* the bit, if it was not set before */
static SPI_FORK_DATA uint64_t forking_all;
static SPI_FORK_DATA uint64_t forking_stepped;	/* the thread single-steps itself: not over this, lttng-ust blocks all signals */
static SPI_FORK_DATA uint64_t forking_mask;	/* signals are blocked while the patch lock is held */

/*
 * The program's handlers run before all this or after it: while the thread is busy what they call would not be recorded,
 * and lttng-ust, which blocks all signals over the fork, lets them in before that is over. Faults are not put off, nor
 * what libc itself uses, nor SIGCHLD, which the event module keeps from the child where lttng-ust forks a helper.
 */
#define HELD	(~(SPI_SIGNAL_BIT(SIGILL) | SPI_SIGNAL_BIT(SIGTRAP) | SPI_SIGNAL_BIT(SIGBUS) | SPI_SIGNAL_BIT(SIGFPE) | \
		   SPI_SIGNAL_BIT(SIGSEGV) | SPI_SIGNAL_BIT(SIGSTKFLT) | SPI_SIGNAL_BIT(SIGCHLD) | SPI_SIGNAL_BIT(32) | \
		   SPI_SIGNAL_BIT(33)))
static SPI_FORK_DATA uint64_t forking_held;

/*
 * lttng-ust forks a short-lived helper while its constructor runs, which is when
 * we load it: a fork by the holder of the control lock is none of the program's.
 */
static SPI_FORK_DATA int own_fork;
static SPI_FORK_DATA const char *forking_short;	/* why nothing can be done in the child: limits.c, a sandbox */

/* One fork at a time, also of those that go on without the control lock. */
static SPI_FORK_DATA int fork_lock;		/* signals are held while a thread waits for it */
static SPI_FORK_DATA int forking_control;	/* the control lock is held, too */

/* Who holds the locks over its fork. Handlers may be called in twos, or after the fork alone, when they came to be in the middle of one. */
static SPI_FORK_DATA struct spi_thread *forking;

/* Then the child is left alone: what is done here takes more system calls than recording does. */
static int is_sandbox(void)
{
	return !spi_may(SPI_MAY_ACT);
}

/*
 * In a child that was made while another thread of the program was loading a library the dynamic linker says so for ever, and
 * ends the process at the next dlopen(), which lttng-ust's constructor calls. So the child is left alone.
 */
static int is_loading(void)
{
	return __atomic_load_n(&_r_debug.r_state, __ATOMIC_RELAXED) != RT_CONSISTENT;
}

static void locks_give(void)
{
	int had_control = forking_control;

	spi_word_unlock(&fork_lock);
	if (had_control)
		spi_control_unlock();
}

/* Who else had one of them is not here. */
static void child_locks_give(void)
{
	fork_lock = 0;
	spi_control_unlock();
}

static const char *short_because(void)
{
	if (!forking_control)
		return "it was made while the tracer was busy in its parent";
	if (!spi_may(SPI_MAY_TALK))
		return "it is in a seccomp sandbox that kills for system calls which a traced child makes";
	return NULL;
}

static void before(int may_give_up)
{
	uint64_t stepped, held;
	int had_control;

	if (is_sandbox())
		return;
	if (spi_control_is_mine() || forking == &spi_thread) {
		own_fork = 1;
		return;
	}
	stepped = spi_steps_pause();
	/* a handler that forks finds all of this or nothing */
	had_control = spi_control_lock_fork(~UINT64_C(0), &held, may_give_up);
	spi_word_lock(&fork_lock);
	forking = &spi_thread;
	forking_held = held;
	forking_stepped = stepped;
	forking_control = had_control;
	spi_signals_release((held | HELD) & ~SPI_MASK_STEPPED);
	forking_short = short_because();
	if (spi_unlikely(spi_watched & SPI_WATCH_CHILDREN))
		spi_child_tell_begin();
	forking_busy = SPI_BUSY_ALWAYS & ~spi_thread.busy;
	spi_thread.busy |= SPI_BUSY_ALWAYS;	/* a bit beside what counts the call of this very handler */
	spi_descriptors_fork_begin();
	if (spi_payload) {
		spi_payload->fork_before();
		if (!forking_short)
			spi_child_sockets_look();
	}
	forking_all = spi_signals_hold(~UINT64_C(0));
	spi_phdr_fork_wait();
	forking_mask = spi_patch_lock_fork();
}

/* Why nothing can be done in the child; NULL: it can. */
static const char *child_obstacle(void)
{
	return forking_short ? forking_short : is_loading() ? "it was made while a library was loaded" :
		spi_phdr_others_inside() ? "it was made while another thread looked at the list of loaded objects" : NULL;
}

static void in_parent(void)
{
	uint64_t stepped, held;
	const char *why = child_obstacle();	/* the child has looked by itself: if that was over just now it is not told */

	if (forking != &spi_thread) {
		if (spi_control_is_mine())
			own_fork = 0;
		return;
	}
	forking = NULL;
	spi_patch_unlock_fork(forking_mask);
	spi_signals_release(forking_all);
	if (spi_payload)
		spi_payload->fork_parent();
	spi_descriptors_fork_end(0);
	if (why)
		spi_exec_note("a child", why);
	spi_thread.busy &= ~forking_busy;
	stepped = forking_stepped;
	held = forking_held;
	locks_give();
	if (spi_unlikely(spi_watched & SPI_WATCH_CHILDREN))
		spi_child_tell_parent();
	spi_signals_release(held);
	spi_steps_resume(stepped);
}

/* Nothing is recorded in the child, and lttng-ust begins no thread in it: it runs as after the entry of a sandbox. */
static void child_leave(void)
{
	forking = NULL;
	spi_thread.busy |= SPI_BUSY_ALWAYS;
	spi_ledger_abandon();
	spi_participants_run(fork_left);
	spi_patch_unlock_fork(forking_mask);
	spi_phdr_fork_child();
	spi_signals_release(forking_all);
	if (spi_payload)
		spi_payload->fork_parent();	/* gives lttng-ust's locks back, no more */
	spi_descriptors_fork_end(1);
	spi_sandbox_drop();
	child_locks_give();
	spi_signals_release(forking_held);
	spi_steps_resume(forking_stepped);
}

/* Where its controller listens, should there be no nursery. */
static const char *child_socket(void)
{
	const char *socket = spi_link_current && spi_link_current->welcome_flags >> SPI_WELCOME_RUN_SHIFT ? spi_exec_socket() : NULL;

	return socket ? socket : spi_env.socket;
}

/* The process itself (single.c) remains its controller's. */
static void child_wait(const char *socket)
{
	spi_debug(SPI_DEBUG_PROCESS, "a forked child waits");
	int had_link = spi_link_current != NULL;

	forking = NULL;
	if (is_sandbox()) {
		spi_thread.busy |= SPI_BUSY_ALWAYS;
		spi_ledger_abandon();
		spi_mode_set(SPI_MODE_SILENT);
		return;
	}
	spi_participants_run(fork_child);
	spi_patch_unlock_fork(forking_mask);
	spi_phdr_fork_child();
	spi_signals_release(forking_all);
	if (spi_payload) {
		spi_payload->fork_child();
		spi_child_sockets_drop();
	}
	spi_descriptors_fork_end(1);
	spi_child_forked(had_link, socket);
	child_locks_give();
	spi_thread.busy &= ~forking_busy;
	spi_signals_release(forking_held);
	spi_steps_resume(forking_stepped);
}

static void in_child(void)
{
	if (forking == &spi_thread && child_obstacle())
		child_leave();
	else if (forking == &spi_thread || (!own_fork && is_sandbox())) {
		child_wait(child_socket());
		if (spi_unlikely(spi_watched & SPI_WATCH_CHILDREN))
			spi_child_tell(0);
	}
}

/* ---- as libc calls them: the first of all, or where they are the last that were registered ---- */

static void first_before(void)
{
	before(1);
}

static void last_before(void)
{
	if (!spi_fork_is_first())
		before(1);
}

static void last_parent(void)
{
	if (!spi_fork_is_first())
		in_parent();
}

static void last_child(void)
{
	if (!spi_fork_is_first())
		in_child();
}

/* ---- no fork(), but the same for what is left of the process: single.c ---- */

void spi_fork_before(void)
{
	before(0);
}

void spi_fork_after(int is_single)
{
	if (is_single)
		child_wait(spi_env.socket ? spi_env.socket : spi_exec_socket());
	else
		in_parent();
}

int spi_fork_init(void)
{
	static const struct spi_fork_handlers ours = { first_before, in_parent, in_child, last_before, last_parent, last_child };
	int error = pthread_atfork(last_before, last_parent, last_child);

	if (!error)
		spi_fork_come_first(&ours);
	return -error;
}
