/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A call of a payload that ends here whatever the payload does (payload/guard.c).
 *
 *	uint64_t spi_guarded_call(function, first, second, struct spi_guard *guard)
 *
 * The frame keeps the registers that the caller expects back, and the guard says where the frame is. An exception ends
 * at spi_guarded_landing, with the exception in rax and the frame's own registers; a fault ends at spi_guarded_fault,
 * with the guard in rdi and nothing else.
 */
#include "liblttng-spi/payload/guard-offsets.h"

	.text
	.p2align 4
	.globl spi_guarded_call
	.hidden spi_guarded_call
	.type spi_guarded_call, @function
spi_guarded_call:
	.cfi_startproc
	.cfi_personality 0x1b, spi_guard_personality
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	push %rbx
	.cfi_offset %rbx, -24
	push %r12
	.cfi_offset %r12, -32
	push %r13
	.cfi_offset %r13, -40
	push %r14
	.cfi_offset %r14, -48
	push %r15
	.cfi_offset %r15, -56
	sub $8, %rsp
	mov %rcx, %rbx
	mov %rsp, SPI_AT_GUARD_SP(%rbx)
	mov %rdi, %rax
	mov %rsi, %rdi
	mov %rdx, %rsi
	call *%rax
	.cfi_remember_state
1:	add $8, %rsp
	pop %r15
	.cfi_restore %r15
	pop %r14
	.cfi_restore %r14
	pop %r13
	.cfi_restore %r13
	pop %r12
	.cfi_restore %r12
	pop %rbx
	.cfi_restore %rbx
	pop %rbp
	.cfi_restore %rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_restore_state
	.globl spi_guarded_landing
	.hidden spi_guarded_landing
spi_guarded_landing:
	mov %rax, SPI_AT_GUARD_EXCEPTION(%rbx)
	movl $SPI_GUARD_THROWN, SPI_AT_GUARD_ENDED(%rbx)
	xor %eax, %eax
	jmp 1b
	.globl spi_guarded_fault
	.hidden spi_guarded_fault
spi_guarded_fault:
	mov SPI_AT_GUARD_SP(%rdi), %rsp
	movl $SPI_GUARD_FAULTED, SPI_AT_GUARD_ENDED(%rdi)
	xor %eax, %eax
	cld
	jmp 1b
	.cfi_endproc
	.size spi_guarded_call, . - spi_guarded_call

	.section .note.GNU-stack, "", @progbits
