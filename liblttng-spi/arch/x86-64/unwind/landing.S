/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Where an unwinder that takes a slot for the exception's handler goes on (unwind/unwind.c): rax = the exception, rdx = the
 * slot's return address, rsp as the called function would have left it.
 */
	.text
	.p2align 4
	.globl spi_slot_landing
	.hidden spi_slot_landing
	.type spi_slot_landing, @function
spi_slot_landing:
	.cfi_startproc
	.cfi_def_cfa %rsp, 0
	push %rdx
	.cfi_def_cfa_offset 8
	sub $8, %rsp
	.cfi_def_cfa_offset 16
	mov %rax, %rdi
	call *spi_unwind_resume(%rip)
	ud2
	.cfi_endproc
	.size spi_slot_landing, . - spi_slot_landing

	.section .note.GNU-stack, "", @progbits
