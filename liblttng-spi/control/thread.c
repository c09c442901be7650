/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The control thread: it serves the link from GO on, or from the beginning where the agent was injected, and does between two
 * packets what the program's threads and the clock ask for. It blocks every signal, is never traced itself and ends with
 * the link. A controller that vanishes leaves a process that takes its instrumentation out, unless it was told to keep it.
 * A forked child has its own.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/hooks/hooks.h"
#include "liblttng-spi/ledger/ledger.h"
#include "liblttng-spi/process/process.h"
#include "liblttng-spi/rules/rules.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/budget/budget.h"
#include "liblttng-spi/tree/tree.h"
#include "liblttng-spi/payload/payload.h"
#include "liblttng-spi/ipc/ipc.h"
#include "liblttng-spi/control/internal.h"

#define BEGIN_MS	100	/* for the control thread to begin: main() may leave no memory for it */
#define AGAIN_MOST	4	/* connections of a child that changes its user */

static SPI_FORK_DATA int has_strange_rules;		/* a forked child's that has not reached its parent's controller */

#define WAITS_MS	3000	/* for a program's rules, before it begins */

void spi_control_wait(struct spi_link *link)
{
	for (;;) {
		struct pollfd poll[2] = { { link->fd, POLLIN, 0 }, { spi_control_event, POLLIN, 0 } };
		uint64_t count;
		int64_t due = spi_tree_starts_wait(), close = spi_rule_off_wait(), later = spi_hooks_wait();
		int64_t samples = spi_samples_wait();
		uint32_t now;
		int is_asked;
		long r;

		if (link->renews) {
			link->renews = 0;
			spi_link_keep_user(link);
			if (link->pending)
				return;
			poll[0].fd = link->fd;
		}
		due = later >= 0 && (due < 0 || later < due) ? later : due;
		due = samples >= 0 && (due < 0 || samples < due) ? samples : due;
		r = spi_sys(SYS_poll, poll, 2L, (long) (close < 0 || (due >= 0 && due < close) ? due : close));
		if (r < 0 && r != -EINTR)
			return;
		spi_rule_off_step(link);
		if (r == 0 && close >= 0 && due != 0)
			continue;
		if (r == 0 || (r > 0 && (poll[1].revents & POLLIN))) {
			is_asked = spi_sys(SYS_read, spi_control_event, &count, sizeof(count)) == sizeof(count);
			now = spi_control_asked();
			/* Not before it is needed: a daemon that becomes a user is about to close descriptors, and to execute a program. */
			if (is_asked)
				spi_link_keep_user(link);
			if (poll[0].fd != link->fd)
				poll[0].revents = 0;	/* that one's end */
			spi_control_lock();
			spi_tree_starts_take(link);
			if (is_asked)
				spi_tree_loads_take(link);
			spi_ipc_asks_send(link);
			spi_hooks_step();
			spi_samples_step();
			spi_functions_say();
			spi_budget_come_by(link);
			spi_exec_tell_held();
			spi_clients_tell();
			spi_tree_report(link);
			spi_control_unlock();
			if (is_asked)	/* a thread that asks while something else was due writes a moment later */
				spi_control_answer(now);
			if (link->pending)
				return;
		}
		if (r > 0 && poll[0].revents)
			return;
	}
}

/* ---- the control thread ------------------------------------------------------- */

/* What comes meanwhile has a low number for a moment. */
static void numbers_hold(int hold)
{
	spi_control_lock();
	if (hold)
		spi_low_fds_hold();
	else
		spi_low_fds_release();
	spi_control_unlock();
}

/* An injected agent's. The program is running. */
static int link_begin(struct spi_link *link)
{
	int r;

	numbers_hold(1);
	spi_control_event_open();
	r = spi_link_hello(link, spi_fd_high(link->fd), link->hello_flags | (link->hello_flags & SPI_HELLO_FORKED ? 0 : SPI_HELLO_SOCKET));
	numbers_hold(0);
	return r;
}

static int welcome(struct spi_link *link)
{
	int r;

	numbers_hold(1);
	r = spi_link_welcome(link);
	numbers_hold(0);
	return r;
}

static uint32_t begun;		/* the control thread has; a futex */
static int is_ready;		/* the control thread's alone */

void spi_control_thread_ready(void)
{
	if (!is_ready && spi_payload && spi_payload->thread_ready)
		spi_payload->thread_ready(0);
	is_ready = 1;
}

/*
 * The link has ended by itself. A thread that asks then is answered when the program is as it is to be from now on: rules that are kept
 * look at what was loaded without a controller.
 */
static void link_lost(struct spi_link *link)
{
	const int is_kept = (link->welcome_flags & SPI_WELCOME_KEEP) != 0;
	uint32_t now;

	spi_control_event_shut();
	now = spi_control_asked();
	__atomic_store_n(&spi_link_attached, 0, __ATOMIC_RELEASE);
	if (!is_kept) {
		spi_control_answer(now);
		spi_participants_run(removal);
	}
	spi_link_close(link);
	if (is_kept)
		spi_tree_loads_take(NULL);
	spi_control_answer(now);
}

static void child_loads(struct spi_link *link)
{
	if (!spi_child_has_loads())
		return;
	spi_control_lock();
	spi_tree_loads_take(link);
	spi_control_unlock();
}

/* A forked child's. 1: it had no controller, and there is nothing to serve. */
static int child_begin(struct spi_link *link)
{
	const int by_caller = link->is_child == SPI_LINK_CHILD_BY_CALLER, is_own = by_caller || link->fd < 0;
	int r = 1;

	if (link->fd == -1)
		link->fd = spi_child_connection(1);
	if (link->fd == -EPIPE) {
		spi_child_is_late();
		link->fd = -1;
		return 1;
	}
	if (link->fd >= 0) {
		has_strange_rules &= !is_own;
		link->hello_flags = is_own ? SPI_HELLO_FORKED : 0;
		r = link_begin(link);
	}
	spi_child_begins(by_caller);
	spi_control_thread_ready();
	if (r == 1) {
		spi_child_go();
		child_loads(NULL);
	}
	return r;
}

/*
 * The controller takes no HELLO from a process that has become another user since it made the connection: as that user it makes another.
 * Returns `r`, why there is none, where that is in vain.
 */
static int child_again(struct spi_link *link, int r)
{
	for (int i = 0; i < AGAIN_MOST && r < 0; i++) {
		int fd;

		spi_sleep_us(5000);
		fd = spi_child_connection(1);
		if (fd < 0)
			return r;
		r = spi_link_hello(link, fd, SPI_HELLO_FORKED);
		if (r == 0)
			r = welcome(link);
	}
	return r;
}

/* What its parent's rules, which it has, missed. */
static void child_goes(struct spi_link *link)
{
	if (!(link->welcome_flags & SPI_WELCOME_CHILDREN))
		spi_child_go();
	child_loads(link);
}

static void *control_thread(void *data)
{
	struct spi_link *link = data;
	const int is_child = link->is_child;
	const int is_own = link->fd < 0 || is_child == SPI_LINK_CHILD_BY_CALLER;
	int r = 0;

	spi_thread.busy = SPI_BUSY_ALWAYS;
	if (is_child == SPI_LINK_CHILD_LATER && spi_child_later() < 0) {
		spi_sys(SYS_munmap, link, 4096L);
		return NULL;
	}
	if (is_child == SPI_LINK_CHILD_LATER)
		__atomic_store_n(&spi_link_attached, 1, __ATOMIC_RELEASE);
	is_ready = 0;
	if (!link->is_child)
		spi_control_thread_ready();
	spi_word_set(&begun, 1);
	spi_sys(SYS_prctl, PR_SET_NAME, "lttng-spi", 0L, 0L, 0L);
	spi_threads_learn(control_thread);
	spi_budget_thread();
	if (link->is_child)
		r = child_begin(link);
	else if (!link->packet)
		r = link_begin(link);
	if (r == 0 && spi_link_current != link)
		r = welcome(link);
	if (r < 0 && is_child && is_own)
		r = child_again(link, r);
	if (r == 0 && has_strange_rules && link->welcome_flags >> SPI_WELCOME_RUN_SHIFT) {
		/* a run of the front end's knows its own alone, which have the same numbers */
		spi_control_lock();
		spi_rules_remove_all();
		spi_exec_stop_always();
		spi_control_unlock();
	}
	has_strange_rules = 0;
	if (r == 0 && is_child)
		child_goes(link);
	if (r == 0)
		r = spi_control_serve(link, -1, 0);
	spi_control_lock();
	if (r == 2)	/* the event went with DETACH: by now there may be another controller, with its own */
		spi_link_close(link);
	else if (r == 1)
		__atomic_store_n(&spi_link_attached, 0, __ATOMIC_RELEASE);
	else
		link_lost(link);
	spi_control_unlock();
	spi_link_goes();
	spi_sys(SYS_munmap, link, 4096L);
	return NULL;
}

static int start_control_thread(struct spi_link *own)
{
	int r = spi_tracer_thread(control_thread, own);

	if (r) {
		spi_control_event_end();	/* nobody would answer a thread that asks there */
		__atomic_store_n(&spi_link_attached, 0, __ATOMIC_RELEASE);
		spi_link_close(own);
		spi_sys(SYS_munmap, own, 4096L);
	}
	return -r;
}

int spi_link_serve_thread(struct spi_link *link)
{
	struct spi_link *own = spi_map_pages(4096);
	int r;

	if (!own)
		return -ENOMEM;
	*own = *link;
	if (spi_link_current == link)
		spi_link_current = own;
	spi_control_event_open();		/* main() may load something before the thread has run */
	__atomic_store_n(&spi_link_attached, 1, __ATOMIC_RELEASE);
	begun = 0;
	r = start_control_thread(own);
	if (r == 0)
		spi_word_wait(&begun, 0, BEGIN_MS);
	return r;
}

static uint32_t waits;		/* the program's only thread, before the program begins; a futex */

void spi_link_goes(void)
{
	spi_child_go();
	if (waits)
		spi_word_set(&waits, 0);
}

void spi_link_wait(void)
{
	spi_word_wait(&waits, 1, WAITS_MS);
}

int spi_attach_thread(int fd, int is_waited)
{
	struct spi_link *own;

	if (spi_mode_is_child())
		return spi_child_begin(fd);
	if (!spi_may(SPI_MAY_RECORD))
		return -EPERM;
	if (__atomic_exchange_n(&spi_link_attached, 1, __ATOMIC_ACQ_REL))
		return -EBUSY;
	own = spi_map_pages(4096);
	if (!own) {
		__atomic_store_n(&spi_link_attached, 0, __ATOMIC_RELEASE);
		return -ENOMEM;
	}
	own->fd = fd;
	own->hello_flags = is_waited ? SPI_HELLO_WAITS : 0;
	waits = (uint32_t) is_waited;
	return start_control_thread(own);
}

int spi_attach_child(int fd, int how)
{
	struct spi_link *own = spi_map_pages(4096);

	if (!own)
		return -ENOMEM;
	own->fd = fd;
	own->is_child = how;
	if (how != SPI_LINK_CHILD_LATER)
		__atomic_store_n(&spi_link_attached, 1, __ATOMIC_RELEASE);
	return start_control_thread(own);
}

/* In the child of a fork the socket is still the parent's conversation. */
void spi_link_fork_child(void)
{
	if (spi_link_current && spi_link_current->fd >= 0)
		spi_sys(SYS_close, spi_link_current->fd);
	if (spi_link_renewed_fd >= 0)
		spi_sys(SYS_close, spi_link_renewed_fd);
	spi_link_renewed_fd = -1;
	has_strange_rules |= spi_link_current != NULL;
	spi_link_current = NULL;
	spi_link_fd = -1;
	spi_control_wakeup_fork_child();
	spi_link_declined_forget();
	spi_link_attached = 0;
	spi_ledger_fork_child();
}
