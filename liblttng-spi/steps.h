/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A thread of the program that single-steps itself (the trap flag; steps.c). A step
 * with SIGTRAP blocked ends the process, and one while a lock is held brings the
 * program's handler in. So signals are blocked by these, which take the flag back
 * first: for reading it, a nanosecond beside a system call.
 */
#ifndef SPI_STEPS_H
#define SPI_STEPS_H

#include <signal.h>
#include <sys/syscall.h>
#include "liblttng-spi/patch-internal.h"

#define SPI_FLAGS_TRAP		UINT64_C(0x100)
#define SPI_MASK_STEPPED	SPI_SIGNAL_BIT(SIGKILL)		/* in what spi_signals_hold() returns: no mask has it */

/* 1: it was set. */
SPI_INLINE uint64_t spi_steps_pause(void)
{
	uint64_t flags = __builtin_ia32_readeflags_u64();

	if (spi_likely(!(flags & SPI_FLAGS_TRAP)))
		return 0;
	__builtin_ia32_writeeflags_u64(flags & ~SPI_FLAGS_TRAP);
	return 1;
}

SPI_INLINE void spi_steps_resume(uint64_t paused)
{
	if (spi_unlikely(paused))
		__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | SPI_FLAGS_TRAP);
}

/* Block these signals beside those that are; what is returned gives back the mask, and the flag. */
SPI_INLINE uint64_t spi_signals_hold(uint64_t signals)
{
	uint64_t stepped = spi_steps_pause(), before = 0;

	spi_raw4(SYS_rt_sigprocmask, SIG_BLOCK, (uint64_t) &signals, (uint64_t) &before, 8);
	return (before & ~SPI_MASK_STEPPED) | (stepped ? SPI_MASK_STEPPED : 0);
}

SPI_INLINE void spi_signals_release(uint64_t before)
{
	uint64_t mask = before & ~SPI_MASK_STEPPED;

	spi_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (uint64_t) &mask, 0, 8);
	spi_steps_resume(before & SPI_MASK_STEPPED);
}

/* From the first instrumentation on; control side. steps.c */
void spi_steps_begin(void) SPI_HIDDEN;

#endif /* SPI_STEPS_H */
