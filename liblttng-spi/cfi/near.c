/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * One step of unwinding from what the agent has put there itself: stubs and moved instructions in near memory, of which
 * a table beside the code says how the stack looks at each byte (patch/frames.c), and trampolines, whose stack is that of the stub
 * that they lead to.
 *
 * A signal interrupts it there while a record is being made where lttng-ust calls functions of libc's whose calls are traced.
 */
#include "liblttng-spi/cfi/internal.h"

#define HOPS_MOST	4u	/* jumps on to where the stub is */

/* Nothing has pushed the return address yet: the instruction there is about to. The frame is the caller's. */
static int step_before_push(struct spi_registers *regs, uint64_t pc)
{
	uint64_t word = spi_code_pushed(pc, spi_memory_copy);

	return word ? spi_memory_copy(&regs->r[SPI_DWARF_PC], word, 8) : -1;
}

int spi_cfi_near_step(struct spi_registers *regs)
{
	uint64_t pc = regs->r[SPI_DWARF_PC], cfa, ra, fp = regs->r[SPI_DWARF_FP];
	uint16_t frame;
	uint32_t below;

	for (unsigned int hops = 0; spi_near_frame(pc, &frame) < 0; hops++)
		if (hops == HOPS_MOST || !(pc = spi_code_jump_target(pc, spi_memory_copy)))
			return -1;
	if (!(frame & SPI_FRAME_WORDS))
		return step_before_push(regs, pc);
	cfa = regs->r[SPI_DWARF_SP] + 8u * (frame & SPI_FRAME_WORDS);
	below = frame >> 12;
	if (spi_memory_copy(&ra, cfa - 8, 8) < 0 || (below && spi_memory_copy(&fp, cfa - 8u * below, 8) < 0))
		return -1;
	regs->r[SPI_DWARF_SP] = cfa;
	regs->r[SPI_DWARF_PC] = ra;
	regs->r[SPI_DWARF_FP] = fp;
	return 0;
}
