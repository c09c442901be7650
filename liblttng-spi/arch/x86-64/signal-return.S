/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Debuggers and libgcc know a signal frame by these very instructions, if no unwind entry covers the address before
 * them: hence the nop.
 */
	.text
	.p2align 4
	nop
	.globl spi_signal_return
	.hidden spi_signal_return
	.type spi_signal_return, @function
spi_signal_return:
	movq $15, %rax			/* rt_sigreturn() */
	syscall
	.size spi_signal_return, . - spi_signal_return

	.section .note.GNU-stack, "", @progbits
