/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The arena of return slots, and the one FDE that describes all of it.
 *
 * The arena is a part of this library's own image (a segment without file
 * content: executable zero pages), not memory mapped at run time, because every
 * unwinder there is (libgcc, shared or linked in statically, both libunwinds),
 * gdb and perf find unwind tables through the loaded objects. An arena that was
 * registered with __register_frame() would be known to one copy of libgcc only.
 *
 * First half: slot code, mapped over at run time from one 16 KB pattern, page by
 * page as threads need it (calls/threads.c). Second half: slot data (struct spi_slot),
 * the same distance away for every slot, so the code reaches it rip-relative:
 *
 *	+0  ff 15 target	call *target(%rip)	target: data + 8
 *	+6  ff 35 ra		push ra(%rip)		ra:     data + 0
 *	+12 ff 15 exit		call *exit(%rip)	exit:   data + 16
 *	+18 c3			ret
 *
 * Unwinding. The function sees slot + 6 as its return address, at the place where
 * the real one stood; up to +12 the real one is in the slot's data, from +12 on
 * it is on the stack again. So, with off = pc & 63, and p what the slot's data has
 * as the place of the return address:
 *	CFA            = off >= 12 ? rsp + 8 : p + 8
 *	return address = off >= 12 ? [rsp] : [(pc & -64) + HALF]
 * libgcc tells frames apart by their CFA alone, and a slot's equals its callee's:
 * phase 2 would take one for the other and abort. The 'S' augmentation (signal
 * frame) changes the identity by one; as it also makes unwinders look the
 * caller's pc up exactly instead of one byte before, the rule gives the return
 * address minus 1 (DW_CFA_val_expression, DWARF 4 section 6.4.2.3).
 * That is enough for one slot between two frames. Tail calls have several with one
 * p, each returning to the one below it; all but the last say CFA = rsp - 8, so that
 * none is taken for another, or for the frame that they all return to.
 * The personality routine records the exit of calls that exceptions, pthread_exit
 * and pthread_cancel leave (unwind/unwind.c).
 *
 * gdb puts breakpoints where frames return to (finish, advance), and one byte before
 * a return address is inside the call. It prefers .debug_frame to .eh_frame, which
 * the others do not, so there it finds a description of its own: no signal frame, and
 * the return address itself. gdb tells frames apart by CFA and function, and wants no
 * caller's below its callee's: CFA = p + 15, less 1 for each slot with the same p
 * that this one returns to, and the caller's rsp is said apart. (strip -g takes it
 * away; gdb has the other one then.)
 */

#include "liblttng-spi/arch/offsets.h"

#define HALF	SPI_SLOT_HALF

	.section .spi_slots, "ax", @nobits
	.p2align 16
	.globl spi_slot_code_base
	.globl spi_slot_data_base
	.type spi_slot_code_base, @object
	.type spi_slot_data_base, @object
spi_slot_code_base:
	.cfi_startproc
	.cfi_personality 0x1b, spi_slot_personality
	.cfi_signal_frame
	/*
	 * DW_CFA_def_cfa_expression: breg16 0; const1u 63; and; lit12; ge; bra 2f;
	 * breg16 0; const1s -64; and; plus_uconst HALF + 24; dup; const1u 64; minus; deref; over; deref; eq; bra 1f;
	 * deref; lit8; plus; skip 3f; 1: drop; breg7 -8; skip 3f; 2: breg7 8; 3:
	 */
	.cfi_escape 0x0f, 45, 0x80, 0, 0x08, 63, 0x1a, 0x3c, 0x2a, 0x28, 33, 0, \
		0x80, 0, 0x09, 0xc0, 0x1a, 0x23, 0x98, 0x80, 0x80, 0x40, 0x12, 0x08, 64, 0x1c, 0x06, \
		0x14, 0x06, 0x29, 0x28, 6, 0, 0x06, 0x38, 0x22, 0x2f, 8, 0, \
		0x13, 0x77, 0x78, 0x2f, 2, 0, 0x77, 8
	/*
	 * DW_CFA_val_expression r16: breg16 0; const1u 63; and; lit12; ge; bra 1f;
	 * breg16 0; const1s -64; and; plus_uconst HALF; skip 2f; 1: breg7 0; 2: deref; lit1; minus
	 */
	.cfi_escape 0x16, 16, 28, 0x80, 0, 0x08, 63, 0x1a, 0x3c, 0x2a, 0x28, 13, 0, \
		0x80, 0, 0x09, 0xc0, 0x1a, 0x23, 0x80, 0x80, 0x80, 0x40, 0x2f, 2, 0, \
		0x77, 0, 0x06, 0x31, 0x1c
	.space HALF
	.cfi_endproc
spi_slot_data_base:
	.space HALF
	.size spi_slot_code_base, HALF
	.size spi_slot_data_base, HALF

	/* The slots' frames ask the room that unwinds (arch.h). Until that has begun: _URC_CONTINUE_UNWIND. */
	.text
	.p2align 4
	.globl spi_slot_personality
	.hidden spi_slot_personality
	.type spi_slot_personality, @function
spi_slot_personality:
	.cfi_startproc
	jmp *spi_slot_personality_to(%rip)
	.cfi_endproc
	.size spi_slot_personality, . - spi_slot_personality

	.type unwinding_goes_on, @function
unwinding_goes_on:
	.cfi_startproc
	mov $8, %eax
	ret
	.cfi_endproc
	.size unwinding_goes_on, . - unwinding_goes_on

	.section .data.rel.local, "aw", @progbits
	.p2align 3
	.globl spi_slot_personality_to
	.hidden spi_slot_personality_to
	.type spi_slot_personality_to, @object
	.size spi_slot_personality_to, 8
spi_slot_personality_to:
	.quad unwinding_goes_on

	.section .debug_frame, "", @progbits
cie:
	.long 2f - 1f
1:	.long 0xffffffff		/* a CIE */
	.byte 1, 0			/* version 1, no augmentation */
	.uleb128 1			/* code alignment */
	.sleb128 -8			/* data alignment */
	.byte 16			/* return address: r16 */
	.byte 0x0c, 7, 8		/* DW_CFA_def_cfa rsp, 8 */
	.p2align 3
2:	.long 4f - 3f
3:	.long cie
	.quad spi_slot_code_base, HALF
	/*
	 * DW_CFA_def_cfa_expression: breg16 0; const1u 63; and; lit12; ge; bra 4f;
	 * breg16 0; const1s -64; and; plus_uconst HALF + 24; dup; deref; plus_uconst 15; swap;
	 * 1: dup; const1u 64; minus; dup; deref; pick 2; deref; eq; bra 2f; drop; drop; skip 5f;
	 * 2: swap; drop; swap; lit1; minus; swap; skip 1b; 4: breg7 8; 5:
	 */
	.byte 0x0f, 54, 0x80, 0, 0x08, 63, 0x1a, 0x3c, 0x2a, 0x28, 42, 0, \
		0x80, 0, 0x09, 0xc0, 0x1a, 0x23, 0x98, 0x80, 0x80, 0x40, 0x12, 0x06, 0x23, 15, 0x16, \
		0x12, 0x08, 64, 0x1c, 0x12, 0x06, 0x15, 2, 0x06, 0x29, 0x28, 5, 0, 0x13, 0x13, 0x2f, 11, 0, \
		0x16, 0x13, 0x16, 0x31, 0x1c, 0x16, 0x2f, 0xe5, 0xff, 0x77, 8
	/*
	 * DW_CFA_val_expression r7: breg16 0; const1u 63; and; lit12; ge; bra 2f;
	 * breg16 0; const1s -64; and; plus_uconst HALF + 24; deref; lit8; plus; skip 3f; 2: breg7 8; 3:
	 */
	.byte 0x16, 7, 28, 0x80, 0, 0x08, 63, 0x1a, 0x3c, 0x2a, 0x28, 16, 0, \
		0x80, 0, 0x09, 0xc0, 0x1a, 0x23, 0x98, 0x80, 0x80, 0x40, 0x06, 0x38, 0x22, 0x2f, 2, 0, 0x77, 8
	/* DW_CFA_val_expression r16: that of the other one without the last two operations */
	.byte 0x16, 16, 26, 0x80, 0, 0x08, 63, 0x1a, 0x3c, 0x2a, 0x28, 13, 0, \
		0x80, 0, 0x09, 0xc0, 0x1a, 0x23, 0x80, 0x80, 0x80, 0x40, 0x2f, 2, 0, \
		0x77, 0, 0x06
	.p2align 3			/* DW_CFA_nop */
4:

	.section .note.GNU-stack, "", @progbits
