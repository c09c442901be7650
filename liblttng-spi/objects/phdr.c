/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * dl_iterate_phdr() over fork(). libc holds a lock of its own while it goes through
 * the list of objects, and its fork() neither waits for that nor makes it anew in
 * the child: if another thread was inside, the child's next look at the list waits
 * for ever. Programs seldom meet that; lttng-ust's own thread looks at the list
 * soon after the start, and again in each child.
 *
 * So a preloaded agent stands before that function with a lock around it, which
 * fork() takes, after all others but the patch lock: then nobody is inside.
 * Recursive, as callbacks and signal handlers look at the list, too. Its owner is known
 * by its thread-local memory, as libc's own is: LeakSanitizer stops all threads from
 * within a callback, and has a task look at the list that is none of them, and borrows
 * the memory of the one that waits in there. The task runs beside that thread, and a record
 * of both in one lttng-ust reader would leave the reader counting for ever: so where such a
 * runtime is loaded, the thread lends its words while it is in the list (base/lend.h), and
 * what the task calls is not recorded.
 *
 * A fork may wait with this lock for malloc()'s, of a thread that a handler has interrupted, which looks at the list (profilers
 * do, whose unwinder asks for the objects). So who has waited for a fork for that long goes in without the lock, as it
 * would untraced. And a callback may wait for a lock that the forking thread has, or takes in a handler of fork() of the
 * program's: a fork waits for who is inside for FORK_MOST_MS. A child that is made while somebody is inside is left alone
 * (process/fork.c).
 */
#include <errno.h>
#include <dlfcn.h>
#include <link.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include "liblttng-spi/core.h"
#include "liblttng-spi/base/lend.h"
#include "liblttng-spi/hooks/hooks.h"
#include "liblttng-spi/patch/internal.h"
#include "liblttng-spi/patch/steps.h"

SPI_HOOK_DECLARE(dl_iterate_phdr)
extern const char __ehdr_start[] SPI_HIDDEN;

static SPI_FORK_DATA int phdr_lock;		/* 0 free, 1 held, 2 held and awaited */
static SPI_FORK_DATA struct spi_thread *phdr_owner;
static SPI_FORK_DATA uint32_t phdr_depth;	/* the owner's */

#define FORK_MOST_MS	1000

static SPI_FORK_DATA uint32_t forking, forks, fork_given_up;	/* forks: how many; given up: which of them somebody did not wait for */
static SPI_FORK_DATA uint32_t nr_unlocked;			/* threads that are inside without the lock */
static SPI_FORK_DATA int fork_is_without;			/* the last fork; this one, where one is under way */

/*
 * Signals are blocked: a handler that came in between would wait for its own thread. 0, or -1: a fork takes too long; or who
 * is inside does, for the fork that this is.
 */
static int lock_take(int is_fork)
{
	uint64_t until = is_fork ? spi_now_ns() + FORK_MOST_MS * UINT64_C(1000000) : 0;
	const struct { int64_t s, ns; } timeout = { 0, SPI_FORK_MS * 1000000 };
	struct spi_thread *self = &spi_thread;
	long waited = 0;
	int seen = 0;

	if (__atomic_load_n(&phdr_owner, __ATOMIC_RELAXED) == self) {
		phdr_depth++;
		return 0;
	}
	if (!__atomic_compare_exchange_n(&phdr_lock, &seen, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		while (__atomic_exchange_n(&phdr_lock, 2, __ATOMIC_ACQUIRE)) {
			uint32_t fork = __atomic_load_n(&forks, __ATOMIC_RELAXED);

			if (is_fork && spi_now_ns() >= until)
				return -1;
			/* a handler of a signal that comes again and again would not get back if it waited each time */
			if (!is_fork && __atomic_load_n(&forking, __ATOMIC_RELAXED) &&
			    (waited == -ETIMEDOUT || __atomic_load_n(&fork_given_up, __ATOMIC_RELAXED) == fork)) {
				__atomic_store_n(&fork_given_up, fork, __ATOMIC_RELAXED);
				return -1;
			}
			waited = spi_raw4(SYS_futex, (uint64_t) &phdr_lock, FUTEX_WAIT_PRIVATE, 2, (uint64_t) &timeout);
		}
	__atomic_store_n(&phdr_owner, self, __ATOMIC_RELAXED);
	phdr_depth = 1;
	return 0;
}

static void lock_give(void)
{
	if (--phdr_depth)
		return;
	__atomic_store_n(&phdr_owner, NULL, __ATOMIC_RELAXED);
	if (__atomic_exchange_n(&phdr_lock, 0, __ATOMIC_RELEASE) == 2)
		spi_sys(SYS_futex, &phdr_lock, FUTEX_WAKE_PRIVATE, 1L);
}

void spi_phdr_lock_fork(void)
{
	fork_is_without = lock_take(1) != 0;
	__atomic_fetch_add(&forks, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&forking, 1, __ATOMIC_RELAXED);
}

void spi_phdr_unlock_fork(void)
{
	__atomic_store_n(&forking, 0, __ATOMIC_RELAXED);
	if (!fork_is_without)
		lock_give();
}

void spi_phdr_fork_child(void)
{
	nr_unlocked = 0;
	if (!fork_is_without)
		return;
	/* who has it is not here */
	phdr_owner = NULL;
	phdr_depth = 0;
	phdr_lock = 0;
}

int spi_phdr_inside(void)
{
	return fork_is_without || __atomic_load_n(&nr_unlocked, __ATOMIC_RELAXED) != 0;
}

/*
 * The agent's own object comes last. Whoever looks for the first library (AddressSanitizer's runtime, which ends the
 * program if that is another) does not find a preloaded one there.
 */
struct walk {
	int (*callback)(struct dl_phdr_info *, size_t, void *);
	void *data;
	struct dl_phdr_info own;
	size_t own_size;	/* 0: not met */
};

static int walk_one(struct dl_phdr_info *info, size_t size, void *data)
{
	struct walk *walk = data;

	if (info->dlpi_addr != (ElfW(Addr)) __ehdr_start || size > sizeof(walk->own))
		return walk->callback(info, size, walk->data);
	spi_bytes_copy(&walk->own, info, size);
	walk->own_size = size;
	return 0;
}

static int walk_all(struct walk *walk)
{
	int result = SPI_NEXT(dl_iterate_phdr)(walk_one, walk);

	return result || !walk->own_size ? result : walk->callback(&walk->own, walk->own_size, walk->data);
}

static int walk_locked(struct walk *walk)
{
	uint64_t old;
	int result, is_locked;

	/* taking and giving back is not for handlers to come between */
	old = spi_signals_hold(~UINT64_C(0));
	is_locked = lock_take(0) == 0;
	if (!is_locked)
		__atomic_fetch_add(&nr_unlocked, 1, __ATOMIC_RELAXED);
	spi_signals_release(old);
	result = walk_all(walk);
	old = spi_signals_hold(~UINT64_C(0));
	if (is_locked)
		lock_give();
	else
		__atomic_fetch_sub(&nr_unlocked, 1, __ATOMIC_RELAXED);
	spi_signals_release(old);
	return result;
}

SPI_EXPORT int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
	struct walk walk = { .callback = callback, .data = data };
	int is_lent = spi_leaks_are_checked && spi_lend_beside(SPI_LEND_WHILE);
	int result = !spi_env.preloaded || !spi_may(SPI_MAY_ACT) ? walk_all(&walk) : walk_locked(&walk);

	if (is_lent)
		spi_lend_over();
	return result;
}

static int leaks_are_checked(void)
{
	return spi_leaks_are_checked;
}

const struct spi_hook spi_phdr_hooks[] = {
	{ SPI_HOOK_ROW(dl_iterate_phdr), .ways = SPI_HOOK_ORDER | SPI_HOOK_POINTERS, .fits = leaks_are_checked },
	{ NULL },
};
