/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * How a forked child begins. In fork() nothing is started: the child has its parent's instrumented text, and
 * waits. Most children execute another program, or end, before a call is to be recorded; they cost nothing. The first call
 * that is (calls/threads.c) begins the child in its own thread: lttng-ust registers it, while a thread that is made for that tells the controller
 * and serves the child's conversation from then on. A call on a stack that is too short, a library that is loaded, or a controller
 * that comes, begins it on that thread. A call within malloc(), or one that comes while another is at it and takes too long,
 * is not recorded, and counts as lost.
 *
 * A library that is loaded begins the child where rules may find something in it, and a moment later: a server's worker has libc load one when it looks
 * its user up, and becomes that user right after. A call that comes within the moment begins the child itself.
 *
 * The controller is reached through the nursery (link/nursery.c), whose other end it has: the child may be another user's by then,
 * or in another directory tree. Where nobody has that end any more the trace is over, and the child's
 * instrumentation is taken out.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/process/internal.h"

#define MOST_MS		60000u	/* for a child to begin */
#define LEAST_MS	5000u
#define CONTROLLER_MS	1500u	/* for its controller to say that it may go on, should that take children */
#define STACK_LEAST	131072u	/* bytes, for lttng-ust's constructor */
#define LATER_US	50000	/* from the load of a library until the child begins by itself */

enum { IS_OVER, AT_WORK, AT_CONTROLLER };

static SPI_FORK_DATA const char *socket_path;		/* of its parent's controller; NULL: there was none, or it is reached through the nursery */
static SPI_FORK_DATA int has_controller;
static SPI_FORK_DATA uint32_t stage;			/* of its beginning; a futex */
static SPI_FORK_DATA uint64_t until;			/* nobody waits for it any longer */
static SPI_FORK_DATA uint32_t has_loads, is_later;

int (*spi_child_thread)(int fd, int how);
int (*spi_child_rules_may_gain)(void);

static int first_call(struct spi_thread *t, uint64_t p);

/* In the child, within fork(). */
void spi_child_forked(int had_link, const char *socket)
{
	if (!spi_mode_is_child())
		has_controller = 0;
	has_controller |= had_link;
	socket_path = socket;
	stage = has_loads = is_later = 0;
	__atomic_fetch_or(&spi_thread.owed, SPI_THREAD_NEW, __ATOMIC_RELAXED);
	spi_child_first_call = first_call;
	spi_mode_set(SPI_MODE_CHILD_WAITS);
}

static const char *because(void)
{
	return spi_payload ? spi_limits_because(0) : NULL;
}

static void never(const char *why)
{
	char line[256];

	if (why) {
		spi_format(line, sizeof(line), "not followed: a child: %s", why);
		spi_nursery_note(line);
	}
	if (!spi_mode_change(SPI_MODE_CHILD_BEGINS, SPI_MODE_CHILD_LEFT))
		spi_mode_change(SPI_MODE_CHILD_WAITS, SPI_MODE_CHILD_LEFT);
	spi_word_set(&stage, IS_OVER);
}

/* As long as the user has lttng-ust wait at a program's start; -1: for ever. */
static uint32_t most_ms(void)
{
	uint64_t ms = !spi_env.register_ms ? 0 : spi_env.register_ms[0] == '-' ? MOST_MS : spi_parse_number(spi_env.register_ms, NULL);

	return ms < LEAST_MS ? LEAST_MS : ms > MOST_MS ? MOST_MS : (uint32_t) ms;
}

/* 0: the child is to begin, and that is the caller's matter; -EBUSY: another's; or why it does not. */
static int claim(int has_come)
{
	const char *why;

	if (!spi_mode_change(SPI_MODE_CHILD_WAITS, SPI_MODE_CHILD_BEGINS) &&
			(!has_come || !spi_mode_change(SPI_MODE_CHILD_LEFT, SPI_MODE_CHILD_BEGINS)))
		return -EBUSY;
	until = spi_now_ns() + most_ms() * UINT64_C(1000000);
	stage = AT_WORK;
	why = because();
	if (why) {
		never(why);
		return -EPERM;
	}
	return 0;
}

/* `fd`: a controller that has come by itself, or -1. 1: the caller begins it; 0: nobody does, as the trace is over; -EBUSY: another does; or why not. */
static int begin(int fd, int by_caller)
{
	int r = claim(fd >= 0);

	if (r < 0)
		return r;
	spi_text_fork_child();		/* while there is one thread */
	if (by_caller)
		fd = spi_child_connection(0);
	r = by_caller && !has_controller ? 0 : spi_child_thread(fd, by_caller ? SPI_LINK_CHILD_BY_CALLER : SPI_LINK_CHILD);
	if (r < 0)
		never("the tracer can start no thread in it: see its limits on processes (ulimit -u, pids.max) and memory");
	return r < 0 ? r : fd != -EPIPE;
}

int spi_child_begin(int fd)
{
	int r = begin(fd, 0);

	return r < 0 ? r : 0;
}

/* ---- on the child's own control thread ---- */

int spi_child_connection(int may_wait)
{
	int fd = spi_nursery_connect(may_wait);

	if (fd == -ENOENT && has_controller)
		fd = socket_path ? spi_link_connect(socket_path) : -ENOENT;
	if (fd >= 0)
		return fd;
	return has_controller && fd != -EAGAIN ? -EPIPE : -1;
}

int spi_child_later(void)
{
	spi_sleep_us(LATER_US);
	return claim(0);
}

/* The trace was over before the child began. */
void spi_child_is_late(void)
{
	spi_control_lock();
	spi_participants_run(removal);
	spi_control_unlock();
	never(NULL);
}

/* The control thread begins the child, or waits until the caller has. */
void spi_child_begins(int by_caller)
{
	char name[16];

	if (by_caller) {
		spi_word_wait(&stage, AT_WORK, MOST_MS);
		return;
	}
	spi_control_lock();
	spi_low_fds_hold();
	spi_participants_run(child_begins);
	spi_name_borrow(name);
	if (spi_payload)
		spi_payload->child_begins();
	spi_name_give_back(name);
	spi_participants_run(child_has_begun);
	spi_low_fds_release();
	spi_control_unlock();
	spi_word_set(&stage, AT_CONTROLLER);
}

/* Its rules are what they are to be now. */
void spi_child_go(void)
{
	spi_mode_change(SPI_MODE_CHILD_BEGINS, SPI_MODE_OWN);	/* unless a sandbox has come meanwhile */
	if (stage != IS_OVER)
		spi_word_set(&stage, IS_OVER);
}

/* ---- callers ---- */

/* 0: in vain. */
static int stage_wait(uint32_t at, uint32_t most)
{
	uint64_t now = spi_now_ns(), left = until > now ? (until - now) / 1000000u : 0;

	spi_word_wait(&stage, at, left < most ? (uint32_t) left : most);
	return __atomic_load_n(&stage, __ATOMIC_ACQUIRE) != at;
}

/* Is there a stack for it? Of one that is not the thread's own nobody knows the size. */
static int has_stack(const struct spi_thread *t, uint64_t p)
{
	return p > t->stack_low + STACK_LEAST && p < t->stack_high;
}

static void begin_here(void)
{
	int error = errno, state, r = begin(-1, 1);

	if (r != 1)
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	spi_child_begins(0);
	pthread_setcancelstate(state, NULL);
	if (!has_controller)
		spi_child_go();
	errno = error;
}

/* 1: it has begun. */
static int begun_wait(void)
{
	if (__atomic_load_n(&spi_mode, __ATOMIC_ACQUIRE) == SPI_MODE_CHILD_BEGINS && until) {
		if (!stage_wait(AT_WORK, MOST_MS))
			until = 0;		/* nor does anybody else */
		else if (!stage_wait(AT_CONTROLLER, CONTROLLER_MS))
			spi_child_go();
	}
	return !spi_mode_is_child();
}

int spi_child_confined(void)
{
	if (claim(0) == 0)
		never("it is in a seccomp sandbox that does not let a traced child begin");
	return __atomic_load_n(&spi_mode, __ATOMIC_ACQUIRE) == SPI_MODE_CHILD_LEFT;
}

int spi_child_begin_now(void)
{
	begin_here();
	return begun_wait();
}

/* May the call at stack position p be recorded? Signals are held. */
static int first_call(struct spi_thread *t, uint64_t p)
{
	int may;

	if (!spi_may(SPI_MAY_RECORD))
		return 0;
	spi_busy_begin(t, p);
	if (spi_mode == SPI_MODE_CHILD_WAITS && !spi_first_call_is_in_malloc(p)) {
		if (has_stack(t, p))
			begin_here();
		else
			spi_child_begin(-1);
	}
	may = begun_wait() && spi_may(SPI_MAY_RECORD);
	spi_call_end(t);
	if (!may && spi_may(SPI_MAY_RECORD))
		spi_call_missed(SPI_LOST_CHILD);
	return may;
}

/* Nobody waits, as the dynamic linker's lock is held: what is called there first is missed, and told of. */
int spi_child_loads(void)
{
	uint32_t mode = __atomic_load_n(&spi_mode, __ATOMIC_ACQUIRE);

	if (mode != SPI_MODE_CHILD_WAITS && mode != SPI_MODE_CHILD_BEGINS)
		return 0;
	__atomic_store_n(&has_loads, 1, __ATOMIC_SEQ_CST);
	if (mode == SPI_MODE_CHILD_WAITS && spi_child_rules_may_gain() && !__atomic_exchange_n(&is_later, 1, __ATOMIC_RELAXED)) {
		spi_text_fork_child();
		if (spi_child_thread(-1, SPI_LINK_CHILD_LATER) < 0)
			never("the tracer can start no thread in it: see its limits on processes (ulimit -u, pids.max) and memory");
	}
	return spi_mode_is_child();
}

int spi_child_has_loads(void)
{
	return __atomic_exchange_n(&has_loads, 0, __ATOMIC_SEQ_CST);
}

int spi_child_end(void)
{
	return spi_mode_change(SPI_MODE_CHILD_WAITS, SPI_MODE_CHILD_LEFT);
}
