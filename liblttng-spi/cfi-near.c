/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * One step of unwinding from what the agent has put there itself: stubs and moved instructions in near memory, of which
 * a table beside the code says how the stack looks at each byte (frames.c), and trampolines, whose stack is that of the stub
 * that they lead to.
 *
 * A signal interrupts it there while a record is being made where lttng-ust calls functions of libc's whose calls are traced.
 */
#include "liblttng-spi/cfi-internal.h"

#define HOPS_MOST	4u	/* jumps on to where the stub is */

/* Where a jump leads, in the two forms in which the agent writes one; 0: it is none. */
static uint64_t jump_target(uint64_t pc)
{
	uint8_t code[14];
	uint64_t to;
	int32_t by;

	if (spi_memory_copy(code, pc, 5) < 0)
		return 0;
	spi_bytes_copy(&by, code + 1, 4);
	if (code[0] == 0xe9)			/* jmp rel32 */
		return pc + 5 + (uint64_t) (int64_t) by;
	if (spi_memory_copy(code, pc, sizeof(code)) < 0 || !spi_bytes_equal(code, (const uint8_t *) "\xff\x25\0\0\0\0", 6))
		return 0;			/* jmp *(%rip), the address behind it */
	spi_bytes_copy(&to, code + 6, 8);
	return to;
}

/* Nothing has pushed the return address yet: push literal(%rip) is about to. The frame is the caller's. */
static int step_before_push(struct spi_registers *regs, uint64_t pc)
{
	uint8_t code[6];
	int32_t by;

	if (spi_memory_copy(code, pc, sizeof(code)) < 0 || code[0] != 0xff || code[1] != 0x35)
		return -1;
	spi_bytes_copy(&by, code + 2, 4);
	return spi_memory_copy(&regs->r[SPI_DWARF_RIP], pc + sizeof(code) + (uint64_t) (int64_t) by, 8);
}

int spi_cfi_near_step(struct spi_registers *regs)
{
	uint64_t pc = regs->r[SPI_DWARF_RIP], cfa, rip, rbp = regs->r[SPI_DWARF_RBP];
	uint16_t frame;
	uint32_t below;

	for (unsigned int hops = 0; spi_near_frame(pc, &frame) < 0; hops++)
		if (hops == HOPS_MOST || !(pc = jump_target(pc)))
			return -1;
	if (!(frame & SPI_FRAME_WORDS))
		return step_before_push(regs, pc);
	cfa = regs->r[SPI_DWARF_RSP] + 8u * (frame & SPI_FRAME_WORDS);
	below = frame >> 12;
	if (spi_memory_copy(&rip, cfa - 8, 8) < 0 || (below && spi_memory_copy(&rbp, cfa - 8u * below, 8) < 0))
		return -1;
	regs->r[SPI_DWARF_RSP] = cfa;
	regs->r[SPI_DWARF_RIP] = rip;
	regs->r[SPI_DWARF_RBP] = rbp;
	return 0;
}
