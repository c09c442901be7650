/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The functions by which a signal's handler leaves what it interrupted: leave.c, leave.S.
 */
#ifndef SPI_LEAVE_H
#define SPI_LEAVE_H

#include <signal.h>
#include <stdint.h>
#include "liblttng-spi/cfi/cfi.h"
#include "liblttng-spi/signals/signals.h"

/* While a record is completed: faults are how it finds out that the program's memory cannot be read. */
#define SPI_LEAVE_MASK	(~(SPI_SIGNAL_BIT(SIGSEGV) | SPI_SIGNAL_BIT(SIGBUS) | SPI_SIGNAL_BIT(SIGTRAP) | SPI_SIGNAL_BIT(SIGFPE) | \
			   SPI_SIGNAL_BIT(SIGILL)))

/* Can a record that this thread is making be completed? */
int spi_leave_may(const struct spi_thread *t);
/*
 * From these registers, of a function's caller or, where `frame` is not 0, of what that signal frame interrupted, up to the payload
 * that records the call at `at`. *back: where its return address stands; returns the innermost signal frame below it, which
 * interrupted it, or 0.
 */
uint64_t spi_record_find(struct spi_registers *regs, uint64_t at, uint64_t frame, uint64_t *back);

/*
 * leave-unwind.c. An unwinder, which has called the thunks' personality routine from `caller`, leaves the frame of `context`: is that the one
 * whose payload returns where `back` says? What then is called once the record is complete, with the exception and *function; or NULL.
 */
void *const *spi_leave_unwinder(uint64_t exception, uint64_t context, uint64_t caller, uint64_t back, uint64_t *function);
extern void *spi_leave_unwound SPI_HIDDEN;
extern void *const spi_leave_unwind_again SPI_HIDDEN;

/* cancel.c. On the control thread, before anything is recorded. */
void spi_cancel_begin(void);

/* The agent's, whatever these names mean to others; called as libc's. */
void spi_own_longjmp(void) SPI_HIDDEN;
void spi_own_longjmp_chk(void) SPI_HIDDEN;
void spi_own_libc_exit(void) SPI_HIDDEN;

/* leave.S: a payload returns there. */
void spi_leave_again(void) SPI_HIDDEN;
/* Before the first thunk is used: unwinders that leave one ask this room. */
void spi_leave_calls_begin(void);


#endif /* SPI_LEAVE_H */
