/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"

#define ALL	(SPI_MAY_TALK | SPI_MAY_ACT)

static const uint8_t permits[] = {
	[SPI_MODE_OWN] = SPI_MAY_RECORD | ALL,
	[SPI_MODE_CHILD_WAITS] = SPI_MAY_RECORD | ALL,
	[SPI_MODE_CHILD_BEGINS] = SPI_MAY_RECORD | ALL,
	[SPI_MODE_CHILD_LEFT] = ALL,
	[SPI_MODE_QUIET] = SPI_MAY_RECORD | SPI_MAY_ACT,
	[SPI_MODE_SILENT] = 0,
};

SPI_FORK_DATA uint32_t spi_mode;
int spi_attached_early;
static SPI_FORK_DATA int process;	/* 0: the agent has not begun */

int spi_may(uint32_t what)
{
	if (what & ~(permits[__atomic_load_n(&spi_mode, __ATOMIC_SEQ_CST)] | SPI_MAY_HERE))
		return 0;
	return !(what & SPI_MAY_HERE) || (!spi_thread_is_foreign(&spi_thread) && spi_sys(SYS_getpid) == process);
}

int spi_mode_change(enum spi_mode from, enum spi_mode to)
{
	uint32_t seen = from;

	return __atomic_compare_exchange_n(&spi_mode, &seen, to, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void spi_mode_set(enum spi_mode mode)
{
	__atomic_store_n(&spi_mode, mode, __ATOMIC_SEQ_CST);
}

void spi_mode_process(void)
{
	process = (int) spi_sys(SYS_getpid);
}

/* ---- a process in which nothing can be instrumented any more ---- */

static const char *given_up;
static uint32_t giving_up;	/* 1: to be acted on */

const char *spi_given_up(void)
{
	return __atomic_load_n(&given_up, __ATOMIC_ACQUIRE);
}

int spi_give_up_soon(const char *reason)
{
	const char *none = NULL;

	if (!__atomic_compare_exchange_n(&given_up, &none, reason, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return 0;
	__atomic_store_n(&giving_up, 1, __ATOMIC_RELEASE);
	return 1;
}

int spi_give_up_is_due(void)
{
	return __atomic_exchange_n(&giving_up, 0, __ATOMIC_ACQ_REL);
}
