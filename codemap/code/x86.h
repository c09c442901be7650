/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * x86-64 instruction lengths, and the few kinds of instruction that matter for moving code.
 *
 * Whole objects are decoded to find jumps into function entries and the use of wide vectors, ten
 * times faster than a full disassembler would. The decoder also knows the length of vector
 * instructions that are newer than the disassembler. The instructions at an entry are checked
 * against capstone all the same (entry.c).
 */
#ifndef CODEMAP_CODE_X86_H
#define CODEMAP_CODE_X86_H

#include <stdint.h>

enum x86_flags {
	X86_IS_JUMP	= 1u << 0,	/* direct, conditional or not, loop and jrcxz too: `target` is set */
	X86_IS_CALL	= 1u << 1,
	X86_INDIRECT_JUMP = 1u << 2,
	X86_WIDE_256	= 1u << 3,	/* uses ymm registers */
	X86_WIDE_512	= 1u << 4,	/* EVEX or opmask: zmm, registers from 16 on, k0-7 */
	X86_VECTOR	= 1u << 5,	/* VEX, EVEX or XOP encoded */
	X86_LEA_RIP	= 1u << 6,	/* `target` is the address it makes */
	X86_TABLE_JUMP	= 1u << 7,	/* jmp *target(,reg,8) */
};

struct x86_decoded {
	uint8_t size;
	uint8_t kind;		/* enum spi_insn_kind */
	uint8_t fix_offset;	/* of a rip-relative disp32, 0: none */
	uint8_t cond;
	uint32_t flags;		/* enum x86_flags */
	uint64_t target;
	/* How it is encoded, for who writes it anew. Offsets are in the instruction, 0: there is none. */
	uint8_t rex, vector;	/* the REX prefix; the first byte of VEX, EVEX or XOP */
	uint8_t map;		/* opcode map: 0 one byte, 1 behind 0f, 2 behind 0f 38, 3 behind 0f 3a */
	uint8_t opcode, opcode_offset;
	uint8_t modrm, modrm_offset;
	uint8_t disp_offset, disp_size;
	uint8_t imm_size;	/* the last bytes; of jumps, too */
};

/* Decode one instruction at p, `left` bytes, link-time address vaddr. 0: not an instruction, or cut off. */
int x86_decode(const uint8_t *p, uint64_t left, uint64_t vaddr, struct x86_decoded *insn);

/* May it write the general register `reg` (0 to 15) by naming it? What an instruction implies, calls say, is not told. */
int x86_writes(const struct x86_decoded *insn, unsigned int reg);

/*
 * May it give the thread another stack? It moves memory other than the frame's, or a register that one of the first
 * arguments comes in, to the stack pointer. A function's own variable-length arrays are given back from the frame, or
 * from a register that the function keeps; an exception's landing (psABI: eh_return) uses rcx; assembly of OpenSSL's
 * and GMP's, which aligns its stack, uses lea, or r8.
 */
int x86_switches_stack(const struct x86_decoded *insn, unsigned int *from);	/* from: the register; RSP (4): none */

/* A system call of the program's own: clone() gives another stack. */
int x86_is_syscall(const struct x86_decoded *insn);

/* Does one of the first arguments come in it (rdi, rsi, rdx), or a result (rax)? */
int x86_is_passing(unsigned int reg);

/* Does it make an address in the stack (lea), or in what a SIB byte says? */
int x86_is_of_stack(const struct x86_decoded *insn);

/* Does it end what a function does with the stack: pop, leave, add to the stack pointer? */
int x86_is_epilogue(const struct x86_decoded *insn);

#endif /* CODEMAP_CODE_X86_H */
