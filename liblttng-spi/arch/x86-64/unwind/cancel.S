/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A payload that a cancellation has interrupted returns here (unwind/cancel.c): its answer is rax. Its return address goes
 * back to its place, above, and it is returned to, unless the signal ends the thread here.
 */
	.text
	.p2align 4
	.cfi_startproc
	nop				/* what is looked up for a return address is the byte before it */
	.globl spi_cancel_again
	.hidden spi_cancel_again
	.type spi_cancel_again, @function
spi_cancel_again:
	sub $8, %rsp
	push %rax
	.cfi_adjust_cfa_offset 8
	lea 8(%rsp), %rdi
	call spi_cancel_take
	pop %rax
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size spi_cancel_again, . - spi_cancel_again

	.section .note.GNU-stack, "", @progbits
