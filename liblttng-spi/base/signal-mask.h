/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Blocking signals in the calling thread. A thread of the program may single-step itself (the trap flag): a step with SIGTRAP blocked ends the
 * process, and one while a lock is held lets the program's handler in. So blocking takes the flag back first: reading it takes a
 * nanosecond, beside a system call.
 */
#ifndef SPI_BASE_SIGNAL_MASK_H
#define SPI_BASE_SIGNAL_MASK_H

#include <stdint.h>
#include <sys/syscall.h>
#include "liblttng-spi/arch/arch.h"
#include "liblttng-spi/arch/compiler.h"

#define SPI_SIG_BLOCK	0	/* rt_sigprocmask(2), the kernel's numbers; <signal.h> brings names that others have, too */
#define SPI_SIG_SETMASK	2
#define SPI_SIGNAL_BIT(n)	(UINT64_C(1) << ((n) - 1))
/* SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV: what ends a payload that fails. */
#define SPI_SIGNAL_FAULTS \
	(SPI_SIGNAL_BIT(4) | SPI_SIGNAL_BIT(6) | SPI_SIGNAL_BIT(7) | SPI_SIGNAL_BIT(8) | SPI_SIGNAL_BIT(11))
#define SPI_MASK_STEPPED	SPI_SIGNAL_BIT(9)		/* SIGKILL's bit, in what spi_signals_hold() returns: no mask has it */

/* Block these signals beside those that are; what is returned gives back the mask, and the flag. */
SPI_INLINE uint64_t spi_signals_hold(uint64_t signals)
{
	uint64_t stepped = spi_steps_pause(), before = 0;

	spi_raw4(SYS_rt_sigprocmask, SPI_SIG_BLOCK, (uint64_t) &signals, (uint64_t) &before, 8);
	return (before & ~SPI_MASK_STEPPED) | (stepped ? SPI_MASK_STEPPED : 0);
}

SPI_INLINE void spi_signals_release(uint64_t before)
{
	uint64_t mask = before & ~SPI_MASK_STEPPED;

	spi_raw4(SYS_rt_sigprocmask, SPI_SIG_SETMASK, (uint64_t) &mask, 0, 8);
	spi_steps_resume(before & SPI_MASK_STEPPED);
}

#endif /* SPI_BASE_SIGNAL_MASK_H */
