/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * fork(). The child has the instrumented text, the stubs and its thread's return
 * slots, and goes on recording; lttng-ust is told, so that it registers the child
 * with the daemon. The conversation with the controller stays the parent's: a
 * child that was started by the front end opens one of its own.
 *
 * The handlers run in whatever order pthread_atfork() gives; all they share is
 * the control lock, held over the fork so that no half-made rule is inherited, and
 * the patch lock, so that no half-written code is.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include "liblttng-spi/patch-internal.h"
#include "liblttng-spi/budget.h"
#include "liblttng-spi/core.h"
#include "liblttng-spi/exec.h"
#include "liblttng-spi/steps.h"

static uint32_t forking_busy;	/* the bit, if it was not set before */
static uint64_t forking_all;
static uint64_t forking_stepped;	/* the thread single-steps itself: not over this, lttng-ust blocks all signals */
static uint64_t forking_mask;	/* signals are blocked while the patch lock is held */

/*
 * lttng-ust forks a short-lived helper while its constructor runs, which is when
 * we load it: a fork by the holder of the control lock is none of the program's.
 */
static int own_fork;

/* Then the child is left alone: what is done here takes more system calls than recording does. */
static int is_sandbox(void)
{
	return spi_sandboxed || spi_sandbox_narrow;
}

static void before(void)
{
	if (is_sandbox())
		return;
	if (spi_control_is_mine()) {
		own_fork = 1;
		return;
	}
	forking_stepped = spi_steps_pause();
	spi_control_lock();
	forking_busy = SPI_BUSY_ALWAYS & ~spi_thread.busy;
	spi_thread.busy |= SPI_BUSY_ALWAYS;	/* a bit beside what counts the call of this very handler */
	if (spi_payload)
		spi_payload->fork_before();
	forking_all = spi_signals_hold(~UINT64_C(0));
	spi_phdr_lock();
	forking_mask = spi_patch_lock();
}

static void in_parent(void)
{
	uint64_t stepped;

	if (is_sandbox())
		return;
	if (own_fork) {
		own_fork = 0;
		return;
	}
	spi_patch_unlock(forking_mask);
	spi_phdr_unlock();
	spi_signals_release(forking_all);
	if (spi_payload)
		spi_payload->fork_parent();
	spi_thread.busy &= ~forking_busy;
	stepped = forking_stepped;
	spi_control_unlock();
	spi_steps_resume(stepped);
}

/* A child of an attached process is nobody's; the process itself (single.c) remains its controller's. */
static void child_begin(const char *socket)
{
	int had_link;

	if (is_sandbox()) {
		spi_thread.busy |= SPI_BUSY_ALWAYS;
		spi_calls_abandon();
		spi_sandboxed = 1;
		return;
	}
	had_link = spi_link_current != NULL;
	spi_init_fork_child();
	spi_link_fork_child();
	spi_patch_fork_child();
	spi_threads_fork_child();
	spi_last_thread_fork_child();	/* the forking thread is the first one now */
	spi_status_fork_child();
	spi_exec_fork_child();
	spi_low_fds_fork_child();
	spi_lend_fork_child();
	spi_rights_fork_child();
	spi_budget_fork_child();
	spi_patch_unlock(forking_mask);
	spi_phdr_unlock();
	spi_signals_release(forking_all);
	if (spi_payload) {
		spi_low_fds_hold();
		spi_payload->fork_child();
		spi_low_fds_release();
	}
	spi_control_unlock();
	if (had_link && socket)
		spi_attach_child(socket);
	spi_budget_forked();
	spi_thread.busy &= ~forking_busy;
	spi_steps_resume(forking_stepped);
}

static void in_child(void)
{
	if (!own_fork)
		child_begin(spi_env.socket);
}

/* ---- no fork(), but the same for what is left of the process: single.c ---- */

void spi_fork_before(void)
{
	before();
}

void spi_fork_after(int is_single)
{
	if (is_single)
		child_begin(spi_env.socket ? spi_env.socket : spi_exec_socket());
	else
		in_parent();
}

int spi_fork_init(void)
{
	return -pthread_atfork(before, in_parent, in_child);
}
