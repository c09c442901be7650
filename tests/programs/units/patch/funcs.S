/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Functions with every kind of beginning that patching has to cope with, each
 * beside the recipe that a code map would hold for it. All are called as
 *
 *	long f(long x, void *helper_pointer, long n)
 *
 * and return what their record says: 3x + k, x, 0, or 3n + k.
 */

#define PLAIN 0
#define RIP 1
#define JCC 2
#define JMP 3
#define CALL 4
#define END 5
#define CALL_INDIRECT 6

#define WINDOW_SHARED 256
#define LOOPS 8

	/* begin a function: its record goes to spi_funcs, its recipes follow in spi_insns */
	.macro F name, value, k, flags=0
	.globl \name
	.type \name, @function
\name:
	.set spi_entry, \name
	.pushsection spi_insns, "aw"
7:	.popsection
	.pushsection spi_funcs, "aw"
	.balign 8
	.quad \name, 7b, .Lend_\name, .Lname_\name
	.long \value, \k, \flags, .Lsize_\name
	.popsection
	.pushsection .rodata.str1.1, "aMS", @progbits, 1
.Lname_\name:
	.asciz "\name"
	.popsection
	.endm

	.macro RECIPE name, kind, fix, cond, target, is_target
	.pushsection spi_insns, "aw"
	.byte 8f - \name, 9f - 8f, \kind, \fix, \cond, \is_target
	.short 0
	.quad \target
	.popsection
	.endm

	/* one instruction and its recipe */
	.macro I name, text:vararg
	RECIPE \name, PLAIN, 0, 0, 0, 0
8:	\text
9:
	.endm
	.macro IT name, text:vararg
	RECIPE \name, PLAIN, 0, 0, 0, 1
8:	\text
9:
	.endm
	.macro IX name, kind, fix, cond, target, text:vararg
	RECIPE \name, \kind, \fix, \cond, \target, 0
8:	\text
9:
	.endm
	.macro E name
	.pushsection spi_insns, "aw"
.Lend_\name:
	.popsection
	.set .Lsize_\name, . - \name
	.size \name, . - \name
	.endm

#define V3X 0	/* 3x + k */
#define VX 1	/* x */
#define V0 2	/* 0 */
#define V3N 3	/* 3n + k */
#define VK 4	/* k */

	.text
	.balign 64
	.globl funcs_text
funcs_text:
helper:	lea (%rdi,%rdi,2), %rax
	ret

	/* ---- what compilers make ---- */
	.balign 16
	F push1, V3X, 1
	I push1, push %rbp
	I push1, mov %rsp, %rbp
	I push1, push %r15
	push %r14
	lea 1(%rdi,%rdi,2), %rax
	pop %r14
	pop %r15
	pop %rbp
	ret
	E push1

	.balign 16
	F push2, V3X, 2
	I push2, push %r12
	I push2, push %rbx
	I push2, sub $24, %rsp
	lea 2(%rdi,%rdi,2), %rax
	add $24, %rsp
	pop %rbx
	pop %r12
	ret
	E push2

	.balign 16
	F mov3, V3X, 3
	I mov3, mov %rdi, %rax
	I mov3, add %rax, %rax
	lea 3(%rax,%rdi), %rax
	ret
	E mov3

	.balign 16
	F sub4, V3X, 4
	I sub4, sub $24, %rsp
	I sub4, mov %rdi, 8(%rsp)
	mov 8(%rsp), %rcx
	lea 4(%rcx,%rcx,2), %rax
	add $24, %rsp
	ret
	E sub4

	.balign 16
	F endbr, V3X, 5
	I endbr, endbr64
	I endbr, push %rbx
	mov %rdi, %rbx
	lea 5(%rbx,%rbx,2), %rax
	pop %rbx
	ret
	E endbr

	.balign 16
	F sub7, V3X, 6
	I sub7, sub $0x100, %rsp
	mov %rdi, (%rsp)
	mov (%rsp), %rcx
	lea 6(%rcx,%rcx,2), %rax
	add $0x100, %rsp
	ret
	E sub7

	.balign 16
	F rip7, V3X, 107
	IX rip7, RIP, 3, 0, 0, mov seven(%rip), %rax
	lea 100(%rax,%rdi), %rax
	lea (%rax,%rdi,2), %rax
	ret
	E rip7

	.balign 16
	F rip_imm, V3X, 8
	IX rip_imm, RIP, 2, 0, 0, cmpl $7, seven(%rip)
	jne 1f
	lea 8(%rdi,%rdi,2), %rax
1:	ret
	E rip_imm

	.balign 16
	F rip_lea, V3X, 16
	IX rip_lea, RIP, 3, 0, 0, lea seven(%rip), %rcx
	mov (%rcx), %rax
	lea 9(%rax,%rdi), %rax
	lea (%rax,%rdi,2), %rax
	ret
	E rip_lea

	.balign 16
	F test_jcc, V3X, 10
	I test_jcc, test %rdi, %rdi
	IX test_jcc, JCC, 0, 8, 1f, js 1f
	lea 10(%rdi,%rdi,2), %rax
	ret
1:	lea 10(%rdi,%rdi,2), %rax
	ret
	E test_jcc

	.balign 16
	F xor_jcc, V3X, 11
	I xor_jcc, xor %eax, %eax
	IX xor_jcc, JCC, 0, 4, 1f, .byte 0x0f, 0x84; .long 1f - . - 4
	ud2
1:	lea 11(%rdi,%rdi,2), %rax
	ret
	E xor_jcc

	.balign 16
	F jmp8, V3X, 12
	IX jmp8, JMP, 0, 0, 1f, jmp 1f
	.byte 0x11, 0x22, 0x33, 0x44, 0x55
1:	lea 12(%rdi,%rdi,2), %rax
	ret
	E jmp8

	.balign 16
	F jmp32, V3X, 0
	IX jmp32, JMP, 0, 0, helper, .byte 0xe9; .long helper - . - 4
	E jmp32

	.balign 16
	F call5, V3X, 14
	IX call5, CALL, 0, 0, helper, call helper
	add $14, %rax
	ret
	E call5

	.balign 16
	F push_call, V3X, 15
	I push_call, push %rbx
	IX push_call, CALL, 0, 0, helper, call helper
	pop %rbx
	add $15, %rax
	ret
	E push_call

	.balign 16
	F call_mem, V3X, 16
	IX call_mem, CALL_INDIRECT, 0, 0, 0, call *(%rsi)
	I call_mem, add $16, %rax
	ret
	E call_mem

	.balign 16
	F call_rip, V3X, 17
	IX call_rip, CALL_INDIRECT, 2, 0, 0, call *helper_pointer(%rip)
	add $17, %rax
	ret
	E call_rip

	.balign 16
	F call_reg, V3X, 18
	I call_reg, mov (%rsi), %rsi
	IX call_reg, CALL_INDIRECT, 0, 0, 0, call *%rsi
	add $18, %rax
	ret
	E call_reg

	.balign 16
	F call_r12, V3X, 19
	I call_r12, push %r12
	I call_r12, mov %rsi, %r12
	IX call_r12, CALL_INDIRECT, 0, 0, 0, call *(%r12)
	pop %r12
	add $19, %rax
	ret
	E call_r12

	/* ---- loops to the first byte, and into the window ---- */
	.balign 16
	F loop_far, V3N, 20, LOOPS
	I loop_far, sub $1, %rdx
	I loop_far, lea 3(%r8), %r8
	nop
	nop
	test %rdx, %rdx
	jg loop_far
	lea 20(%r8), %rax
	ret
	E loop_far

	.balign 16
	F loop_near, V3N, 21, LOOPS
	I loop_near, dec %edx
	IX loop_near, JCC, 0, 5, loop_near, jne loop_near
	I loop_near, lea 21(%r9,%r9,2), %rax
	ret
	E loop_near

	.balign 16
	F loop_inside, V3N, 22
	I loop_inside, xor %eax, %eax
	IT loop_inside, add $3, %rax
1:	dec %rdx
	jg loop_inside + 2
	add $22, %rax
	ret
	E loop_inside

	/* ---- tiny ones, one after the other ---- */
	.balign 16
	F tiny_ret1, V3X, 0, 0x80000000 + WINDOW_SHARED
	IX tiny_ret1, END, 0, 0, 0, ret
	E tiny_ret1
	F tiny_ret2, V3X, 0, 0x80000000 + WINDOW_SHARED
	IX tiny_ret2, END, 0, 0, 0, ret
	E tiny_ret2
	F tiny_zero, V0, 0, WINDOW_SHARED
	I tiny_zero, xor %eax, %eax
	IX tiny_zero, END, 0, 0, 0, ret
	E tiny_zero
	F tiny_x, VX, 0, WINDOW_SHARED
	I tiny_x, mov %rdi, %rax
	IX tiny_x, END, 0, 0, 0, ret
	E tiny_x
	F tiny_pushpop, VX, 0
	I tiny_pushpop, push %rdi
	I tiny_pushpop, pop %rax
	IX tiny_pushpop, END, 0, 0, 0, ret
	E tiny_pushpop

	.balign 16
	F tiny_padded, VX, 0
	I tiny_padded, mov %rdi, %rax
	IX tiny_padded, END, 0, 0, 0, ret
	E tiny_padded

	/* ---- every place in an aligned word, and across a cache line ---- */
	.irp at, 1, 2, 3, 4, 5, 6, 7
	.balign 64
	.skip 56 + \at
	F five_at_\at, VK, 1000 + \at
	I five_at_\at, mov $(1000 + \at), %eax
	IX five_at_\at, END, 0, 0, 0, ret
	E five_at_\at
	.balign 64
	.skip 56 + \at
	F seven_at_\at, V3X, 107
	IX seven_at_\at, RIP, 3, 0, 0, mov seven(%rip), %rax
	lea 100(%rax,%rdi), %rax
	lea (%rax,%rdi,2), %rax
	ret
	E seven_at_\at
	.balign 64
	.skip 56 + \at
	F push_at_\at, V3X, \at
	I push_at_\at, push %rbp
	I push_at_\at, mov %rsp, %rbp
	I push_at_\at, push %rbx
	lea \at(%rdi,%rdi,2), %rax
	pop %rbx
	pop %rbp
	ret
	E push_at_\at
	.balign 64
	.skip 56 + \at
	F sub_at_\at, V3X, \at
	I sub_at_\at, sub $24, %rsp
	I sub_at_\at, mov %rdi, %rax
	lea \at(%rax,%rdi,2), %rax
	add $24, %rsp
	ret
	E sub_at_\at
	.endr
	.balign 64
	.globl funcs_text_end
funcs_text_end:

	.data
	.balign 8
seven:	.quad 7
	.globl helper_pointer
helper_pointer:
	.quad helper

	/* rax = point, [rsp] = rax: count the call, go on with the body */
	.text
	.balign 16
	.globl counting_thunk
counting_thunk:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	push %rcx
	.cfi_def_cfa_offset 24
	mov 72(%rax), %rcx
	lock incq (%rcx)
	pop %rcx
	.cfi_def_cfa_offset 16
	mov (%rax), %rax
	xchg %rax, (%rsp)
	ret
	.cfi_endproc

	.section .note.GNU-stack, "", @progbits
