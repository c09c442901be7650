/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of unwind/ share. The calling thread, in any state. */
#ifndef SPI_UNWIND_INTERNAL_H
#define SPI_UNWIND_INTERNAL_H

#include "liblttng-spi/unwind/unwind.h"

/* ---- unwind.c ---- */
extern int spi_unwind_exact SPI_HIDDEN;	/* unwinders see the address behind a slot as it is, not one less */

/* ---- leave-unwind.c ---- */
/*
 * leave-unwind.c. An unwinder, which has called the thunks' personality routine from `caller`, leaves the frame of `context`: is that the one
 * whose payload returns where `back` says? What then is called once the record is complete, with the exception and *function; or NULL.
 */
void *const *spi_leave_unwinder(uint64_t exception, uint64_t context, uint64_t caller, uint64_t back, uint64_t *function);
extern void *spi_leave_unwound SPI_HIDDEN;
extern void *const spi_leave_unwind_again SPI_HIDDEN;

#endif /* SPI_UNWIND_INTERNAL_H */
