/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include <linux/futex.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"

#define ASK_MS		2000	/* for the control thread to come by */
#define STEP_NS		UINT64_C(50000000)
#define RING_MS		100

/* Blocked while a thread has the number in hand: a handler might fork. What faults and int3 raise is as ever. */
#define RING_HELD	(~(SPI_SIGNAL_BIT(SIGSEGV) | SPI_SIGNAL_BIT(SIGBUS) | SPI_SIGNAL_BIT(SIGTRAP)))

SPI_FORK_DATA int spi_control_event = -1;		/* an eventfd, while a control thread serves a link */
SPI_FORK_DATA int spi_control_event_own = -1;		/* its number for as long as it is open */
static SPI_FORK_DATA uint32_t ringing;		/* threads that may have the number in hand */
static uint32_t asked, answered;	/* answered: a futex */
uint32_t spi_control_works;
static uint32_t in_vain;		/* the last question that was not answered in time */

void spi_control_ring(void)
{
	uint64_t before = spi_signals_hold(RING_HELD), one = 1;
	int fd;

	__atomic_add_fetch(&ringing, 1, __ATOMIC_SEQ_CST);
	fd = __atomic_load_n(&spi_control_event, __ATOMIC_SEQ_CST);
	if (fd >= 0)
		spi_raw3(SYS_write, (uint64_t) fd, (uint64_t) &one, sizeof(one));
	__atomic_sub_fetch(&ringing, 1, __ATOMIC_RELEASE);
	spi_signals_release(before);
}

/*
 * Look at what the program has loaded. Waits no longer than ASK_MS, and longer only while spi_control_works says so: then
 * what comes is late, and a gap, which is told. Where somebody has waited
 * in vain, as for a controller that was stopped, nobody else waits until that has been answered.
 */
void spi_control_ask(void)
{
	uint32_t mine = __atomic_add_fetch(&asked, 1, __ATOMIC_SEQ_CST), seen;
	uint64_t until = spi_now_ns() + ASK_MS * UINT64_C(1000000);
	const uint64_t begin = until - ASK_MS * UINT64_C(1000000);
	int is_late = (int32_t) (__atomic_load_n(&answered, __ATOMIC_ACQUIRE) - __atomic_load_n(&in_vain, __ATOMIC_RELAXED)) < 0;

	/* who gets past this has asked before the event ended, and is answered by that */
	if (__atomic_load_n(&spi_control_event, __ATOMIC_SEQ_CST) < 0)
		return;
	spi_control_ring();
	while (!is_late && (int32_t) ((seen = __atomic_load_n(&answered, __ATOMIC_ACQUIRE)) - mine) < 0) {
		uint64_t now = spi_now_ns(), left[2] = { 0, 0 };

		if (now >= until && now < begin + __atomic_load_n(&spi_control_works, __ATOMIC_RELAXED) * UINT64_C(1000000))
			until = now + STEP_NS;
		if (now >= until) {
			__atomic_store_n(&in_vain, mine, __ATOMIC_RELAXED);
			return;
		}
		left[0] = (until - now) / 1000000000u;
		left[1] = (until - now) % 1000000000u;
		spi_sys(SYS_futex, &answered, FUTEX_WAIT_PRIVATE, seen, left);
	}
}

void spi_control_answer(uint32_t all_until)
{
	__atomic_store_n(&answered, all_until, __ATOMIC_RELEASE);
	spi_sys(SYS_futex, &answered, FUTEX_WAKE_PRIVATE, INT32_MAX);
}

void spi_control_late_tell(void)
{
	static uint32_t told;
	uint32_t vain = __atomic_load_n(&in_vain, __ATOMIC_RELAXED);

	if (vain == told)
		return;
	told = vain;
	spi_note("the first calls in a library are neither recorded nor counted: it took more than %u s to instrument the library when it was loaded",
		ASK_MS / 1000u);
}

void spi_control_event_open(void)
{
	if (spi_control_event_own < 0)
		spi_control_event_own = spi_fd_high((int) spi_sys(SYS_eventfd2, 0L, EFD_CLOEXEC | EFD_NONBLOCK));
	__atomic_store_n(&spi_control_event, spi_control_event_own, __ATOMIC_SEQ_CST);
}

/* Where a thread has the number in hand for long, as one that a debugger stops, the eventfd stays, for the next controller. */
void spi_control_event_shut(void)
{
	__atomic_store_n(&spi_control_event, -1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < RING_MS && __atomic_load_n(&ringing, __ATOMIC_SEQ_CST); i++)
		spi_sleep_us(1000);
	if (spi_control_event_own < 0 || __atomic_load_n(&ringing, __ATOMIC_SEQ_CST))
		return;
	spi_sys(SYS_close, spi_control_event_own);
	spi_control_event_own = -1;
}

/* Whoever waits has the dynamic linker's lock, and goes on at once. */
void spi_control_event_end(void)
{
	spi_control_event_shut();
	spi_control_answer(spi_control_asked());
}

uint32_t spi_control_asked(void)
{
	return __atomic_load_n(&asked, __ATOMIC_SEQ_CST);
}

void spi_control_wakeup_fork_child(void)
{
	ringing = 0;		/* the parent's other threads are not here */
	spi_control_event_end();
}
