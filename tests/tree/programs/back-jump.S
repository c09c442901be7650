/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Of back.c. No bytes are to spare around jumping(), whose conditional jump to reached() has no room to be redirected. */
	.text
	.macro function name
	.type \name, @function
\name:	.cfi_startproc
	.endm
	.macro end name
	.cfi_endproc
	.size \name, . - \name
	.endm

	.p2align 4
	function before
	.rept 80
	xor %eax, %eax
	add %edi, %eax
	.endr
	ret
	end before

	.globl jumping
	function jumping
	test %edi, %edi
	jne reached
	ret
	end jumping

	function reached
	sub $8, %rsp
	.cfi_adjust_cfa_offset 8
	call saves
	add $8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	end reached

	.globl leads
	function leads
	sub $8, %rsp
	.cfi_adjust_cfa_offset 8
	test %edi, %edi
	jz 1f
	call reached
1:	add $8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	end leads

	function saves
	mov %rsp, %rdi
	sub $8, %rsp
	.cfi_adjust_cfa_offset 8
	call look
	add $8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	end saves

	function after
	.rept 80
	xor %eax, %eax
	add %edi, %eax
	.endr
	ret
	end after
	.section .note.GNU-stack, "", @progbits
