/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The two loops that read through the program's pointers. They are assembly
 * because the fault handler must know exactly which instructions may fault and
 * what is in the registers then: between spi_read_begin and spi_read_end, rax is
 * the number of bytes already copied, and going on at spi_read_fixup returns it
 * with the top bit set.
 *
 * General registers only. A string is read eight bytes at a time: a byte of x is
 * zero where (x - 0x01..) & ~x & 0x80.. has its lowest bit. The caller sees to it
 * that all n bytes lie in one page, so reading on behind the NUL is harmless.
 */
#include "liblttng-spi/patch-internal.h"

__asm__(
	"	.text\n"
	"	.p2align 4\n"
	"	.globl spi_read_string, spi_read_bytes, spi_read_begin, spi_read_end, spi_read_fixup\n"
	"	.hidden spi_read_string, spi_read_bytes, spi_read_begin, spi_read_end, spi_read_fixup\n"
	"	.type spi_read_string, @function\n"
	"	.type spi_read_bytes, @function\n"
	"spi_read_string:\n"
	"	.cfi_startproc\n"
	"	xor	%eax, %eax\n"
	"	sub	$8, %rdx\n"
	"	jl	4f\n"
	"	movabs	$0x0101010101010101, %r8\n"
	"	movabs	$0x8080808080808080, %r9\n"
	"	.p2align 4\n"
	"spi_read_begin:\n"
	"1:	mov	(%rsi,%rax), %rcx\n"
	"	mov	%rcx, (%rdi,%rax)\n"
	"	mov	%rcx, %r10\n"
	"	not	%r10\n"
	"	sub	%r8, %rcx\n"
	"	and	%r9, %r10\n"
	"	and	%r10, %rcx\n"
	"	jnz	3f\n"
	"	add	$8, %rax\n"
	"	cmp	%rdx, %rax\n"
	"	jle	1b\n"
	"	jmp	4f\n"
	"3:	bsf	%rcx, %rcx\n"
	"	shr	$3, %ecx\n"
	"	add	%rcx, %rax\n"
	"	ret\n"
	"4:	add	$8, %rdx\n"
	"5:	cmp	%rdx, %rax\n"
	"	jae	6f\n"
	"	movzbl	(%rsi,%rax), %ecx\n"
	"	mov	%cl, (%rdi,%rax)\n"
	"	test	%cl, %cl\n"
	"	jz	6f\n"
	"	inc	%rax\n"
	"	jmp	5b\n"
	"6:	ret\n"
	"	.cfi_endproc\n"
	"	.size spi_read_string, . - spi_read_string\n"
	"	.p2align 4\n"
	"spi_read_bytes:\n"
	"	.cfi_startproc\n"
	"	xor	%eax, %eax\n"
	"	sub	$8, %rdx\n"
	"	jl	2f\n"
	"1:	mov	(%rsi,%rax), %rcx\n"
	"	mov	%rcx, (%rdi,%rax)\n"
	"	add	$8, %rax\n"
	"	cmp	%rdx, %rax\n"
	"	jle	1b\n"
	"2:	add	$8, %rdx\n"
	"3:	cmp	%rdx, %rax\n"
	"	jae	4f\n"
	"	movzbl	(%rsi,%rax), %ecx\n"
	"	mov	%cl, (%rdi,%rax)\n"
	"	inc	%rax\n"
	"	jmp	3b\n"
	"4:	ret\n"
	"spi_read_end:\n"
	"spi_read_fixup:\n"
	"	bts	$63, %rax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size spi_read_bytes, . - spi_read_bytes\n");
