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

/*
 * leave-unwind.c. An unwinder, which has called the thunks' personality routine from `caller`, leaves the frame of `context`: is that the one
 * whose payload returns where `back` says? What then is called once the record is complete, with the exception and *function; or NULL.
 */
void *const *spi_leave_unwinder(uint64_t exception, uint64_t context, uint64_t caller, uint64_t back, uint64_t *function);
extern void *spi_leave_unwound SPI_HIDDEN;
extern void *const spi_leave_unwind_again SPI_HIDDEN;

/* The agent's, whatever these names mean to others; called as libc's. */
void spi_own_longjmp(void) SPI_HIDDEN;
void spi_own_longjmp_chk(void) SPI_HIDDEN;
void spi_own_libc_exit(void) SPI_HIDDEN;

/* leave.S: a payload returns there. */
void spi_leave_again(void) SPI_HIDDEN;
/* Before the first thunk is used: unwinders that leave one ask this room. */
void spi_leave_calls_begin(void);

#endif /* SPI_LEAVE_H */
