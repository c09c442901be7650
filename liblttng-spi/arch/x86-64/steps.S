/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A payload that is called without single-stepping (spi_payload_call_make(), context.c) returns here instead of to its
 * thunk, whose address lies behind a word of padding: the trap flag is set again.
 */
	.text
	.p2align 4
	.globl spi_steps_again
	.hidden spi_steps_again
	.type spi_steps_again, @function
spi_steps_again:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	pushfq
	.cfi_adjust_cfa_offset 8
	orl $0x100, (%rsp)
	popfq
	.cfi_adjust_cfa_offset -8
	lea 8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size spi_steps_again, . - spi_steps_again

	.section .note.GNU-stack, "", @progbits
