/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Something done in the tracer's own threads, wherever they are: they block all signals but libc's two (nptl(7)), and some
 * wait where nothing else reaches them. So the one by which setuid() asks all threads is ours for that moment. What is not
 * meant for the thread that gets it goes on to libc's handler; should a thread not have taken
 * it in time, the handler stays, as libc's would take a signal that is none of libc's for a call of setuid().
 *
 * One at a time: the caller sees to that.
 */
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/signals/signals.h"

#define SETXID		33

static int32_t asked[SPI_TRACER_THREADS];	/* 0: has done it */
static void (*work)(void);
static struct spi_sigaction libcs;

static void on_signal(int number, void *info, void *context)
{
	int32_t self = (int32_t) spi_raw3(SYS_gettid, 0, 0, 0);

	for (unsigned int i = 0; i < SPI_TRACER_THREADS; i++)
		if (__atomic_load_n(&asked[i], __ATOMIC_ACQUIRE) == self) {
			work();
			__atomic_store_n(&asked[i], 0, __ATOMIC_RELEASE);
			return;
		}
	if (libcs.handler > 1)
		((void (*)(int, void *, void *)) libcs.handler)(number, info, context);
}

int spi_tracer_ask(const int32_t *tids, unsigned int n, void (*what)(void))
{
	struct spi_sigaction ours = { .handler = (uint64_t) on_signal, .flags = SA_SIGINFO | SA_RESTART | SPI_SA_RESTORER,
		.restorer = (uint64_t) spi_signal_return, .mask = ~UINT64_C(0) }, now;
	long pid = spi_sys(SYS_getpid);

	if (n > SPI_TRACER_THREADS || spi_signal_query(SETXID, &now) < 0)
		return -1;
	work = what;
	for (unsigned int i = 0; i < SPI_TRACER_THREADS; i++)
		__atomic_store_n(&asked[i], i < n ? tids[i] : 0, __ATOMIC_RELEASE);
	if (now.handler != (uint64_t) on_signal) {
		libcs = now;
		if (spi_raw4(SYS_rt_sigaction, SETXID, (uint64_t) &ours, 0, 8) < 0)
			return -1;
	}
	for (unsigned int i = 0; i < n; i++)
		if (tids[i] && spi_sys(SYS_tgkill, pid, (long) tids[i], (long) SETXID) < 0)
			__atomic_store_n(&asked[i], 0, __ATOMIC_RELEASE);	/* it has ended */
	return 0;
}

int spi_tracer_wait(unsigned int tenths_ms)
{
	unsigned int left = 1;

	for (unsigned int i = 0; left && i <= tenths_ms; i++) {
		left = 0;
		for (unsigned int k = 0; k < SPI_TRACER_THREADS; k++)
			left += __atomic_load_n(&asked[k], __ATOMIC_ACQUIRE) != 0;
		if (left)
			spi_sleep_us(100);
	}
	if (!left)
		spi_tracer_done();
	return left ? -1 : 0;
}

void spi_tracer_done(void)
{
	struct spi_sigaction now;

	memset(asked, 0, sizeof(asked));
	if (spi_signal_query(SETXID, &now) == 0 && now.handler == (uint64_t) on_signal)	/* else nobody was asked */
		spi_raw4(SYS_rt_sigaction, SETXID, (uint64_t) &libcs, 0, 8);
}
