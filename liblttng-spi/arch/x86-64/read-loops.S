/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The two loops that read through the program's pointers. They are assembly because the fault handler must know exactly
 * which instructions may fault and what is in the registers then: between spi_read_begin and spi_read_end, rax is the
 * number of bytes already copied, and going on at spi_read_fixup returns it with the top bit set.
 *
 * General registers only. A string is read eight bytes at a time: a byte of x is zero where (x - 0x01..) & ~x & 0x80..
 * has its lowest bit. The caller sees to it that all n bytes lie in one page, so reading on behind the NUL is harmless.
 */
	.text
	.p2align 4
	.globl spi_read_string, spi_read_bytes, spi_read_begin, spi_read_end, spi_read_fixup
	.hidden spi_read_string, spi_read_bytes, spi_read_begin, spi_read_end, spi_read_fixup
	.type spi_read_string, @function
	.type spi_read_bytes, @function
spi_read_string:
	.cfi_startproc
	xor	%eax, %eax
	sub	$8, %rdx
	jl	4f
	movabs	$0x0101010101010101, %r8
	movabs	$0x8080808080808080, %r9
	.p2align 4
spi_read_begin:
1:	mov	(%rsi,%rax), %rcx
	mov	%rcx, (%rdi,%rax)
	mov	%rcx, %r10
	not	%r10
	sub	%r8, %rcx
	and	%r9, %r10
	and	%r10, %rcx
	jnz	3f
	add	$8, %rax
	cmp	%rdx, %rax
	jle	1b
	jmp	4f
3:	bsf	%rcx, %rcx
	shr	$3, %ecx
	add	%rcx, %rax
	ret
4:	add	$8, %rdx
5:	cmp	%rdx, %rax
	jae	6f
	movzbl	(%rsi,%rax), %ecx
	mov	%cl, (%rdi,%rax)
	test	%cl, %cl
	jz	6f
	inc	%rax
	jmp	5b
6:	ret
	.cfi_endproc
	.size spi_read_string, . - spi_read_string
	.p2align 4
spi_read_bytes:
	.cfi_startproc
	xor	%eax, %eax
	sub	$8, %rdx
	jl	2f
1:	mov	(%rsi,%rax), %rcx
	mov	%rcx, (%rdi,%rax)
	add	$8, %rax
	cmp	%rdx, %rax
	jle	1b
2:	add	$8, %rdx
3:	cmp	%rdx, %rax
	jae	4f
	movzbl	(%rsi,%rax), %ecx
	mov	%cl, (%rdi,%rax)
	inc	%rax
	jmp	3b
4:	ret
spi_read_end:
spi_read_fixup:
	bts	$63, %rax
	ret
	.cfi_endproc
	.size spi_read_bytes, . - spi_read_bytes

	.section .note.GNU-stack, "", @progbits
