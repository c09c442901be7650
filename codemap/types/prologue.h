/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What a function's first instructions do with the registers that the function is entered with.
 * Code that is not optimised stores each parameter into the frame slot that debug info names. So
 * the register of a parameter can be read from these stores, without knowing the calling
 * convention.
 */
#ifndef CODEMAP_TYPES_PROLOGUE_H
#define CODEMAP_TYPES_PROLOGUE_H

#include "codemap/types/abi.h"

#define PROLOGUE_WRITES	96

/* What is known of a register's or a slot's content: where it was at the function's entry. */
struct origin {
	uint8_t place;		/* SPI_PLACE_GPR, _XMM, _STACK, _MEMORY; SPI_PLACE_NONE: not known */
	uint8_t is_cfa;		/* it is the address CFA + offset; `place` is SPI_PLACE_NONE */
	uint8_t reg;
	uint8_t size;		/* that many of its low bytes */
	int32_t offset;
};

struct prologue {
	const uint8_t *code;
	uint64_t left, pc;
	struct origin gpr[16], xmm[16];
	struct {
		int32_t at;		/* from the CFA */
		uint32_t size;
		struct origin origin;
	} writes[PROLOGUE_WRITES];
	unsigned int write_count, steps;
	int has_stored;			/* the frame is set up */
	int has_moved;			/* no, it was not: the stack pointer changes later */
	int is_memory_changed;		/* what the arguments point to may not be any more what it was at the entry */
};

void prologue_begin(struct prologue *p, const uint8_t *code, uint64_t size, uint64_t pc);
/* Follow one instruction. 0: its effect is not known, and nothing behind it. */
int prologue_step(struct prologue *p);
/* `size` bytes at CFA + at as they are now. */
struct origin prologue_slot(const struct prologue *p, int32_t at, uint32_t size);
/* What the bytes there were first given, or what they had at the entry when the caller's frame holds them. */
void prologue_first(const struct prologue *p, int32_t at, uint64_t size, struct passing *passing);

#endif /* CODEMAP_TYPES_PROLOGUE_H */
