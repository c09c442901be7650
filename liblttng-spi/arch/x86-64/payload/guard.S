/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A call of a payload that ends here whatever the payload does (payload/guard.c).
 *
 *	struct spi_guarded spi_guarded_call(call, data, function, struct spi_guard *guard)
 *
 * The result is in rax, SPI_GUARD_* in rdx. The frame keeps the registers that the caller expects back: a payload that
 * returns has them as they were, so they are read only where it does not. The guard says where the frame is. An exception
 * ends at spi_guarded_landing, with the exception in rax and the frame's own registers; a fault ends at
 * spi_guarded_fault, with the guard in rdi and nothing else.
 */
#include "liblttng-spi/payload/guard-offsets.h"

#define FRAME		48			/* what is pushed below rbp's place */
#define AT_GUARD	-48(%rbp)

	.text
	.p2align 5
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
	push %rcx
	mov %rsp, SPI_AT_GUARD_SP(%rcx)
	call *%rdx
	xor %edx, %edx				/* SPI_GUARD_RETURNED */
	.cfi_remember_state
1:	leave
	.cfi_restore %r15
	.cfi_restore %r14
	.cfi_restore %r13
	.cfi_restore %r12
	.cfi_restore %rbx
	.cfi_restore %rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_restore_state
	.globl spi_guarded_landing
	.hidden spi_guarded_landing
spi_guarded_landing:				/* the unwinder has given rbx and r12 to r15 back */
	mov AT_GUARD, %rcx
	mov %rax, SPI_AT_GUARD_EXCEPTION(%rcx)
	mov $SPI_GUARD_THROWN, %edx
	xor %eax, %eax
	jmp 1b
	.globl spi_guarded_fault
	.hidden spi_guarded_fault
spi_guarded_fault:
	mov SPI_AT_GUARD_SP(%rdi), %rsp
	lea FRAME(%rsp), %rbp
	mov -8(%rbp), %rbx
	mov -16(%rbp), %r12
	mov -24(%rbp), %r13
	mov -32(%rbp), %r14
	mov -40(%rbp), %r15
	mov $SPI_GUARD_FAULTED, %edx
	xor %eax, %eax
	cld
	jmp 1b
	.cfi_endproc
	.size spi_guarded_call, . - spi_guarded_call

	.section .note.GNU-stack, "", @progbits
