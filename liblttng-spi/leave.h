/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The functions by which a signal's handler leaves what it interrupted: leave.c, leave.S.
 */
#ifndef SPI_LEAVE_H
#define SPI_LEAVE_H

#include <stdint.h>
#include "liblttng-spi/patch-internal.h"

/* Control side, or before main(): which functions are libc's, or who comes before it. */
void spi_leave_init(void);

/* The agent's, whatever these names mean to others; called as libc's. */
void spi_own_longjmp(void) SPI_HIDDEN;
void spi_own_longjmp_chk(void) SPI_HIDDEN;
void spi_own_libc_exit(void) SPI_HIDDEN;

/* leave.S: a payload returns there. */
void spi_leave_again(void) SPI_HIDDEN;

/* init.c: end the process, whatever is being recorded. */
void spi_exit_now(int status) SPI_HIDDEN __attribute__((noreturn));

/* thunks.S: where payloads are called; `at` is relative to the word itself. */
struct spi_payload_call {
	int32_t at;
	uint32_t kind;
};
extern const struct spi_payload_call spi_payload_calls[] SPI_HIDDEN, spi_payload_calls_end[] SPI_HIDDEN;

#endif /* SPI_LEAVE_H */
