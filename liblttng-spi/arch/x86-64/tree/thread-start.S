/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What a thread that is made in a tree begins with (tree/thread-made.c): rdi = its note. It begins with nothing of ours on
 * its stack.
 */
	.text
	.p2align 4
	.globl spi_thread_start
	.hidden spi_thread_start
	.type spi_thread_start, @function
spi_thread_start:
	.cfi_startproc
	sub $8, %rsp
	.cfi_def_cfa_offset 16
	call spi_thread_begin_made	/* the routine in rax, its argument in rdx: psABI, 3.2.3 */
	add $8, %rsp
	.cfi_def_cfa_offset 8
	mov %rdx, %rdi
	jmp *%rax
	.cfi_endproc
	.size spi_thread_start, . - spi_thread_start

	.section .note.GNU-stack, "", @progbits
