/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Thunks: from a stub or a return slot into a payload written in C, and back,
 * with every caller-saved register as it was. All of them, because gcc's
 * -fipa-ra keeps values in scratch registers, vector registers included, across
 * calls of functions that it knows not to touch them.
 *
 * Payloads themselves use general registers only (-mgeneral-regs-only), but
 * lttng-ust is SSE2 code and libc's memcpy uses whatever the CPU has. Which vector
 * state can be live is asked of the CPU: XGETBV with ecx = 1 (XINUSE, Intel SDM
 * vol. 1, 13.6) says whether any upper half of ymm0-15 (bit 2), any mask register
 * (5), upper zmm0-15 (6) or zmm16-31 (7) is in use at all. point->vectors selects
 * the bits that matter for the point's object. Three ways to save then:
 *	xmm	16 movups; the usual case
 *	ymm	16 vmovups, only when the uppers are in use, as dirtying them makes
 *		the program's SSE code slow
 *	all	xsavec of everything above, and zmm0-15 for payloads to read
 * Payloads tell from the stride how much of each register they have: what was not
 * saved is zero, as point->vectors has the bits of all that they look at.
 * On a CPU without XGETBV(1) the thunks with the fixed choice are used.
 *
 * Entry, from a stub:	[rsp] = saved rax, [rsp+8] = return address, rax = point.
 * Exit, from a slot:	[rsp] = slot code + 18, [rsp+8] = return address.
 * The pushes form a struct spi_frame (cpu.h); rbp holds its address.
 *
 * The word below the frame keeps the point over the payload's run.
 *
 * The payload answers an entry with 0 (go on to point->body) or with the code of
 * a slot: then the return address is dropped from the stack, where the slot's
 * call puts its own in the same place.
 *
 * The pair `general` saves general registers only, for payloads that touch no others
 * on their usual way. Such a payload may answer SPI_ANSWER_FULL: then everything
 * is put back as it was, and the point's other thunk begins.
 */

#include "liblttng-spi/arch/offsets.h"

#define XSAVE_MASK	0xe7		/* x87, SSE, AVX, opmask, ZMM_Hi256, Hi16_ZMM */
#define XSAVE_AREA	2752		/* legacy 512 + header 64 + the components above, compacted */

	/* A payload's call, whose return address tells that a record is being made: unwind/leave.c. */
	.macro CALL_TOLD how:vararg
7:	call \how
	.pushsection .rodata.spi_payload_calls, "a", @progbits
	.long 7b - .
	.popsection
	.endm

	.section .rodata.spi_payload_calls, "a", @progbits
	.p2align 3
	.globl spi_payload_calls
	.hidden spi_payload_calls
spi_payload_calls:

	.text

#define MODE_INUSE	0		/* ask XINUSE */
#define MODE_XMM	1		/* a CPU without AVX */
#define MODE_YMM	2		/* AVX, but no XGETBV(1) */

	/* Each step is told: profilers unwind from here, and a handler that calls backtrace(). */
	.macro PUSH_EACH regs:vararg
	.irp reg, \regs
	push \reg
	.cfi_adjust_cfa_offset 8
	.endr
	.endm

	.macro POP_EACH regs:vararg
	.irp reg, \regs
	pop \reg
	.cfi_adjust_cfa_offset -8
	.endr
	.endm

	.macro FRAME_PUSH
	PUSH_EACH %rcx, %rdx, %rsi, %rdi, %r8, %r9, %r10, %r11, %rbp
	.cfi_offset %rbp, -88
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	.endm

	.macro FRAME_POP
	mov %rbp, %rsp
	pop %rbp
	.cfi_restore %rbp
	.cfi_def_cfa %rsp, 80
	POP_EACH %r11, %r10, %r9, %r8, %rdi, %rsi, %rdx, %rcx
	.endm

	.macro VECTORS op, reg, step, load
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	.if \load
	\op \n*\step(%rsp), %\reg\n
	.else
	\op %\reg\n, \n*\step(%rsp)
	.endif
	.endr
	.endm

	/*
	 * Save, call the payload, restore. In: rdi = point (entry) or slot (exit),
	 * rsp aligned to 64. Out: rax = answer. The payload's other arguments:
	 * rsi = frame, rdx = vectors, rcx = their stride.
	 */
	.macro PAYLOAD_CALL exit
	mov %rbp, %rsi
	mov %rsp, %rdx
	.if \exit
	mov SPI_AT_SLOT_POINT(%rdi), %rax
	CALL_TOLD *SPI_AT_POINT_EXIT(%rax)
	.else
	CALL_TOLD *SPI_AT_POINT_ENTRY(%rdi)
	.endif
	.endm

	.macro PAYLOAD_XMM exit
	sub $256, %rsp
	VECTORS movaps, xmm, 16, 0
	mov $16, %ecx
	PAYLOAD_CALL \exit
	VECTORS movaps, xmm, 16, 1
	.endm

	.macro PAYLOAD_YMM exit
	sub $512, %rsp
	VECTORS vmovaps, ymm, 32, 0
	mov $32, %ecx
	PAYLOAD_CALL \exit
	VECTORS vmovaps, ymm, 32, 1
	.endm

	.macro PAYLOAD_ALL exit
	sub $(XSAVE_AREA + 1024), %rsp
	VECTORS vmovaps, zmm, 64, 0
	xor %eax, %eax			/* XSAVEC leaves header bytes 16-63 alone, XRSTOR wants them zero (SDM 13.10, 13.12) */
	.irp n, 0, 8, 16, 24, 32, 40, 48, 56
	mov %rax, 1024+512+\n(%rsp)
	.endr
	xor %edx, %edx
	mov $XSAVE_MASK, %eax
	xsavec 1024(%rsp)
	mov $64, %ecx
	PAYLOAD_CALL \exit
	mov %rax, %r8
	xor %edx, %edx
	mov $XSAVE_MASK, %eax
	xrstor 1024(%rsp)
	mov %r8, %rax
	.endm

	/* One of them by the mode; with MODE_INUSE the rare ways stand behind \done's code, see RARE_WAYS. */
	.macro PAYLOAD mode, exit
	.if \mode == MODE_INUSE
	.if \exit
	mov SPI_AT_SLOT_POINT(%rdi), %rsi
	.else
	mov %rdi, %rsi
	.endif
	mov $1, %ecx
	xgetbv
	and SPI_AT_POINT_VECTORS(%rsi), %eax
	jnz 2f
	.endif
	.if \mode == MODE_YMM
	PAYLOAD_YMM \exit
	.else
	PAYLOAD_XMM \exit
	.endif
1:
	.endm

	.macro RARE_WAYS mode, exit
	.if \mode == MODE_INUSE
2:	test $0xe0, %al
	jnz 3f
	PAYLOAD_YMM \exit
	jmp 1b
3:	PAYLOAD_ALL \exit
	jmp 1b
	.endif
	.endm

	.macro THUNK name
	.p2align 6
	.globl \name
	.hidden \name
	.type \name, @function
\name:
	.cfi_startproc
	.cfi_personality 0x1b, spi_payload_personality	/* below */
	.endm

	.macro THUNK_END name
	.cfi_endproc
	.size \name, . - \name
	.endm

	/* The ends of an entry: all registers as they were. The saved rax is at 72(%rbp), and its place takes the target. */
	.macro GO_TO_SLOT
	mov 72(%rbp), %rcx
	mov %rax, 72(%rbp)
	mov %rcx, %rax
	FRAME_POP
	lea 16(%rsp), %rsp
	.cfi_def_cfa_offset 0
	jmp *-16(%rsp)
	.endm

	.macro GO_TO_BODY
	mov -8(%rbp), %rdi
	mov SPI_AT_POINT_BODY(%rdi), %rdx
	mov 72(%rbp), %rax
	mov %rdx, 72(%rbp)
	FRAME_POP
	lea 8(%rsp), %rsp
	.cfi_def_cfa_offset 8
	jmp *-8(%rsp)
	.endm

	.macro ENTRY_THUNK name, mode
	THUNK \name
	.cfi_def_cfa_offset 16
	FRAME_PUSH
	push %rax
	mov %rax, %rdi
	and $-64, %rsp
	PAYLOAD \mode, 0
	test %rax, %rax
	jz 4f
	.cfi_remember_state
	GO_TO_SLOT
4:	.cfi_restore_state
	.cfi_remember_state
	GO_TO_BODY
	.cfi_restore_state
	RARE_WAYS \mode, 0
	THUNK_END \name
	.endm

	.macro EXIT_THUNK name, mode
	THUNK \name
	push %rax
	.cfi_def_cfa_offset 16
	FRAME_PUSH
	mov 80(%rbp), %rdi
	and $-64, %rdi
	add $SPI_SLOT_HALF, %rdi
	and $-64, %rsp
	PAYLOAD \mode, 1
	.cfi_remember_state
	FRAME_POP
	pop %rax
	.cfi_def_cfa_offset 8
	ret
	.cfi_restore_state
	RARE_WAYS \mode, 1
	THUNK_END \name
	.endm

	ENTRY_THUNK spi_thunk_entry_inuse, MODE_INUSE
	EXIT_THUNK spi_thunk_exit_inuse, MODE_INUSE
	ENTRY_THUNK spi_thunk_entry_plain, MODE_XMM
	EXIT_THUNK spi_thunk_exit_plain, MODE_XMM
	ENTRY_THUNK spi_thunk_entry_ymm, MODE_YMM
	EXIT_THUNK spi_thunk_exit_ymm, MODE_YMM

	/* The stub is this point's, and is to serve another: that one's thunk begins. */
	THUNK spi_thunk_entry_lent
	.cfi_def_cfa_offset 16
	mov SPI_AT_POINT_LENT(%rax), %rax
	jmp *SPI_AT_POINT_THUNK(%rax)
	THUNK_END spi_thunk_entry_lent

	THUNK spi_thunk_entry_general
	.cfi_def_cfa_offset 16
	FRAME_PUSH
	push %rax
	mov %rax, %rdi
	and $-16, %rsp
	mov %rbp, %rsi
	xor %edx, %edx
	xor %ecx, %ecx
	CALL_TOLD *SPI_AT_POINT_ENTRY(%rdi)
	.cfi_remember_state
	cmp $1, %rax
	jbe 1f
	GO_TO_SLOT
1:	.cfi_restore_state
	.cfi_remember_state
	je 2f
	GO_TO_BODY
2:	.cfi_restore_state
	mov -8(%rbp), %rax
	FRAME_POP
	jmp *SPI_AT_POINT_FULL(%rax)
	THUNK_END spi_thunk_entry_general

	THUNK spi_thunk_exit_general
	push %rax
	.cfi_def_cfa_offset 16
	FRAME_PUSH
	mov 80(%rbp), %rdi
	and $-64, %rdi
	add $SPI_SLOT_HALF, %rdi
	push %rdi
	and $-16, %rsp
	mov %rbp, %rsi
	xor %edx, %edx
	xor %ecx, %ecx
	mov SPI_AT_SLOT_POINT(%rdi), %rax
	CALL_TOLD *SPI_AT_POINT_EXIT(%rax)
	.cfi_remember_state
	test %eax, %eax
	jnz 1f
	FRAME_POP
	pop %rax
	.cfi_def_cfa_offset 8
	ret
1:	.cfi_restore_state
	mov -8(%rbp), %rdi
	mov SPI_AT_SLOT_POINT(%rdi), %rdi
	mov SPI_AT_POINT_FULL_EXIT(%rdi), %rdi
	mov 72(%rbp), %rax
	mov %rdi, 72(%rbp)
	FRAME_POP
	lea 8(%rsp), %rsp
	.cfi_def_cfa_offset 8
	jmp *-8(%rsp)
	THUNK_END spi_thunk_exit_general

	/* A point of the agent's own: the function's replacement is called as the function was. rax says nothing at its entry. */
	THUNK spi_hook_thunk
	.cfi_def_cfa_offset 16
	lea 8(%rsp), %rsp
	.cfi_def_cfa_offset 8
	jmp *SPI_AT_POINT_PAYLOAD(%rax)
	THUNK_END spi_hook_thunk

	/* The thunks' frames ask the room that unwinds (arch.h). Until that has begun: _URC_CONTINUE_UNWIND. */
	.p2align 4
	.globl spi_payload_personality
	.hidden spi_payload_personality
	.type spi_payload_personality, @function
spi_payload_personality:
	.cfi_startproc
	jmp *spi_payload_personality_to(%rip)
	.cfi_endproc
	.size spi_payload_personality, . - spi_payload_personality

	.type unwinding_goes_on, @function
unwinding_goes_on:
	.cfi_startproc
	mov $8, %eax
	ret
	.cfi_endproc
	.size unwinding_goes_on, . - unwinding_goes_on

	.section .data.rel.local, "aw", @progbits
	.p2align 3
	.globl spi_payload_personality_to
	.hidden spi_payload_personality_to
	.type spi_payload_personality_to, @object
	.size spi_payload_personality_to, 8
spi_payload_personality_to:
	.quad unwinding_goes_on

	.section .rodata.spi_payload_calls, "a", @progbits
	.globl spi_payload_calls_end
	.hidden spi_payload_calls_end
spi_payload_calls_end:

	.section .note.GNU-stack, "", @progbits
