/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Room unwind: frames that are left otherwise than by a return. Exceptions, forced unwinding and longjmp() through
 * recorded calls; a handler that leaves a record half made; and backtraces that show the program's frames alone.
 *
 * Threads: _begin and _init are the control side's, before the first call is recorded. Everything else runs in the
 * thread that unwinds, in any state.
 */
#ifndef SPI_UNWIND_H
#define SPI_UNWIND_H

#include "liblttng-spi/arch/arch.h"

struct dl_phdr_info;

/* ---- unwind.c ---- */
void spi_unwind_init(void);			/* before the first slot is used; unwind/unwind.c */
void spi_unwind_look(const struct dl_phdr_info *info);	/* an object that was not known; unwind/unwind.c */

/* ---- backtrace.c ---- */
void spi_backtrace_init(void);		/* after spi_hooks_begin() */

/* ---- leave.c ---- */
/* Before the first thunk is used: unwinders that leave one ask this room. */
void spi_leave_calls_begin(void);

#endif /* SPI_UNWIND_H */
