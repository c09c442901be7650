/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include <linux/futex.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"

/*
 * The control lock: serialises the control side, and fork() against it. A plain
 * futex, as libc's mutexes may be instrumented. Taken before any lock of lttng-ust or the dynamic linker.
 */
static SPI_FORK_DATA int control_lock;
static SPI_FORK_DATA int control_owner;	/* thread id; a fork by the owner itself is lttng-ust's, while it starts */
static SPI_FORK_DATA uint32_t control_turn = 1;	/* another each time that it is taken */
static SPI_FORK_DATA uint32_t forks_gave_up;	/* the turn in which a fork did without it: so do all others in that one */

static void control_taken(void)
{
	__atomic_store_n(&control_owner, (int) spi_sys(SYS_gettid), __ATOMIC_RELAXED);
	__atomic_add_fetch(&control_turn, 1, __ATOMIC_RELAXED);
}

void spi_control_lock(void)
{
	spi_word_lock(&control_lock);
	control_taken();
}

#define END_MS		50	/* a process that ends waits so long for the control lock */

/*
 * For a fork, which is not to wait for a controller that may be stopped, or for who is in a callback of the dynamic linker's
 * and waits for what the forking thread has. Nobody is interrupted between taking it and what is done next: a handler's fork
 * would come in between. It may be so while this waits.
 */
#define FORK_MOST_NS	UINT64_C(2000000000)

static int fork_gives_up(uint64_t since, uint32_t turn)
{
	if (__atomic_load_n(&forks_gave_up, __ATOMIC_RELAXED) != turn && spi_now_ns() < since + FORK_MOST_NS)
		return 0;
	__atomic_store_n(&forks_gave_up, turn, __ATOMIC_RELAXED);
	return 1;
}

int spi_control_lock_fork(uint64_t signals, uint64_t *held, int may_give_up)
{
	static const struct { int64_t s, ns; } look = { 0, 10000000 };
	uint64_t since = 0;

	for (;;) {
		uint32_t turn = __atomic_load_n(&control_turn, __ATOMIC_RELAXED);
		int seen = 0;

		*held = spi_signals_hold(signals);
		/* others may be waiting, too */
		if (__atomic_compare_exchange_n(&control_lock, &seen, since ? 2 : 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
			control_taken();
			return 1;
		}
		since = since ? since : spi_now_ns();
		if (may_give_up && fork_gives_up(since, turn))
			return 0;
		spi_signals_release(*held);
		seen = 1;
		__atomic_compare_exchange_n(&control_lock, &seen, 2, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		spi_sys(SYS_futex, &control_lock, FUTEX_WAIT_PRIVATE, 2L, &look);
	}
}

void spi_control_unlock(void)
{
	__atomic_store_n(&control_owner, 0, __ATOMIC_RELAXED);
	spi_word_unlock(&control_lock);
}

int spi_control_try(void)
{
	static int waited;	/* ms; all of the process's ends together */
	int seen = 0;

	while (!__atomic_compare_exchange_n(&control_lock, &seen, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		if (waited >= END_MS || spi_control_is_mine())
			return 0;
		waited++;
		spi_sleep_us(1000);
		seen = 0;
	}
	control_taken();
	return 1;
}

int spi_control_is_mine(void)
{
	return __atomic_load_n(&control_owner, __ATOMIC_RELAXED) == (int) spi_sys(SYS_gettid);
}

void spi_control_lock_fork_child(void)
{
	control_owner = (int) spi_sys(SYS_gettid);	/* lttng-ust may fork its helper in the child once more */
}
