/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Who has called: the return addresses on the stack of the calling thread. Any thread in any state, in signal handlers,
 * too: no lock, no memory, bounded work a frame, no system call but for memory that the thread has not read lately.
 */
#ifndef SPI_UNWIND_STACK_H
#define SPI_UNWIND_STACK_H

#include <stdint.h>
#include "liblttng-spi/arch/arch.h"
#include "liblttng-spi/base/payload.h"

struct dl_phdr_info;
struct spi_frame;
struct spi_registers;

/*
 * From these registers, of the caller of a function, outwards: the caller's instruction first. Addresses of return
 * slots are those that the slots have replaced. Fills at most `most`; returns how many.
 */
unsigned int spi_stack_walk(struct spi_registers *regs, uint64_t *to, unsigned int most, enum spi_stack_end *end);
/* The same of the call whose entry a thunk has saved: element 0 is where the call returns to. */
unsigned int spi_stack_callers(const struct spi_frame *frame, uint64_t *to, unsigned int most, enum spi_stack_end *end);
/* What is known of code may be of other code by now. Control side. */
void spi_stack_forget(void);
void spi_stack_look(const struct dl_phdr_info *info);	/* likewise: an object that was not known */

#endif /* SPI_UNWIND_STACK_H */
