/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Room cfi: one step of unwinding, by the unwind tables of objects, in any state of the process. It needs no calls and no
 * slots: room unwind knows these. Any thread, in signal handlers too; no lock, no memory.
 */
#ifndef SPI_CFI_H
#define SPI_CFI_H

#include <stdint.h>
#include "liblttng-spi/arch/arch.h"

struct spi_registers;

/* ---- unwind-step.c ---- */
/*
 * From a function's registers to its caller's. `is_call`: the instruction is the one behind a call, else it is about to run.
 * What a caller may not count on is left as it was. 0, or -1: nothing describes that code, in a form that is known, or
 * the stack cannot be read. Async-signal-safe; no lock, no memory, no system call but for what cannot be read.
 */
int spi_cfi_step(struct spi_registers *regs, int is_call) SPI_HIDDEN;
/* The registers of what the signal frame (a struct ucontext) there interrupted; 0, or -1: it cannot be read. */
int spi_frame_load(struct spi_registers *regs, uint64_t frame);

/*
 * The rules that hold at `pc` as one word, where they are what compilers make of nearly all code: the CFA is the stack
 * pointer, or with SPI_CFI_BY_FP the frame pointer, plus bits 8 to 31; bits 32 to 47 say how many words below the CFA
 * the frame pointer was saved (0: it was not), bits 48 to 63 the same of the return address. Bits 0 to 2 are one of
 * these. Other registers are not looked at. Async-signal-safe.
 */
enum {
	SPI_CFI_UNKNOWN = 0,	/* nobody has looked */
	SPI_CFI_WORD,
	SPI_CFI_STEP,		/* spi_cfi_step() knows */
	SPI_CFI_END,		/* the outermost function */
	SPI_CFI_NONE,		/* nothing describes the code */
	SPI_CFI_LOST,		/* what describes it is in no form that is known */
	SPI_CFI_SIGNAL,		/* an sa_restorer, behind which a signal frame stands: for the caller's use */
};
#define SPI_CFI_KIND(word)	((word) & 7)
#define SPI_CFI_BY_FP		UINT64_C(8)
uint64_t spi_cfi_word(uint64_t pc) SPI_HIDDEN;

/* ---- find.c ---- */
/* The FDE that an object's table has for an address, which may not be of it; NULL: none. Async-signal-safe, too. */
const uint8_t *spi_cfi_find(uint64_t pc) SPI_HIDDEN;

#endif /* SPI_CFI_H */
