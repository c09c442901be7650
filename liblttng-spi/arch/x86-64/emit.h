/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What relocate.c and stub.c share: code under construction, and what an instruction does to the stack. */
#ifndef SPI_ARCH_EMIT_H
#define SPI_ARCH_EMIT_H

#include "codemap/map/format.h"
#include "liblttng-spi/arch/arch.h"

#define SPI_REG_RBP		5u

/* What an instruction at a function's entry does to registers, as far as it is one of the usual ones. */
enum spi_effect_kind {
	SPI_EFFECT_NONE,
	SPI_EFFECT_PUSH,	/* reg */
	SPI_EFFECT_POP,		/* reg */
	SPI_EFFECT_STACK,	/* rsp goes down by amount */
	SPI_EFFECT_WRITE,	/* reg */
	SPI_EFFECT_OTHER,
};
struct spi_effect {
	enum spi_effect_kind kind;
	uint32_t reg;
	int32_t amount;
	int reads_itself;	/* WRITE: may depend on what reg was before */
};
struct spi_effect spi_effect_of(const uint8_t *bytes, uint32_t size) SPI_HIDDEN;
/* The instruction has been run: what is emitted next has the frame that it leaves. */
void spi_emit_frame_step(struct spi_emit *e, struct spi_effect effect) SPI_HIDDEN;

void spi_emit_bytes(struct spi_emit *e, const void *bytes, uint32_t n) SPI_HIDDEN;
void spi_emit_u8(struct spi_emit *e, uint8_t value) SPI_HIDDEN;
void spi_emit_u32(struct spi_emit *e, uint32_t value) SPI_HIDDEN;
/* A disp32 that leads to target from `after` bytes behind it. */
void spi_emit_rel32(struct spi_emit *e, uint64_t target, uint32_t after) SPI_HIDDEN;
/* A disp32 to an 8-byte constant that spi_emit_finish() puts behind the code. */
void spi_emit_literal(struct spi_emit *e, uint64_t value) SPI_HIDDEN;
/* What a call would have pushed: from here on the frame is as at the called function's first byte. */
void spi_emit_return_word(struct spi_emit *e, uint64_t value) SPI_HIDDEN;

/*
 * spi_relocate() - emit the function's first `count` instructions so that they
 * do here what they did there, and a jump to the instruction behind them where
 * they fall through. moved[i] becomes the address of instruction i's copy.
 * `bytes` are the original ones. Sets e->failed when one cannot be moved.
 */
void spi_relocate(struct spi_emit *e, uint64_t address, uint64_t bias, const uint8_t *bytes,
	const struct spi_map_insn *insns, unsigned int count, uint64_t moved[SPI_MAP_ENTRY_INSNS]) SPI_HIDDEN;

#endif /* SPI_ARCH_EMIT_H */
