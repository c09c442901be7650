/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Replacements of libc's functions whose stack or arguments C cannot keep (base/hook.h). leave.S has those
 * by which a handler leaves what it interrupted.
 */

	.text

	.macro FUNCTION names:vararg
	.p2align 4
	.irp name, \names
	.globl \name
	.type \name, @function
\name:
	.endr
	.cfi_startproc
	.endm

	.macro END names:vararg
	.cfi_endproc
	.irp name, \names
	.size \name, . - \name
	.endr
	.endm

	/* Call one of ours before the function that these arguments are for, with the stack aligned: psABI 3.2.2. */
	.macro CALL_BEFORE function
	push %rdi
	push %rsi
	push %rdx
	push %rcx
	push %r8
	push %r9
	sub $8, %rsp
	.cfi_adjust_cfa_offset 56
	call \function
	add $8, %rsp
	pop %r9
	pop %r8
	pop %rcx
	pop %rdx
	pop %rsi
	pop %rdi
	.cfi_adjust_cfa_offset -56
	.endm

	/* It returns twice from one frame: nothing of ours can stand there meanwhile. */
FUNCTION vfork, spi_own_vfork
	.hidden spi_own_vfork
	sub $8, %rsp
	.cfi_adjust_cfa_offset 8
	call clones_by_vfork
	add $8, %rsp
	.cfi_adjust_cfa_offset -8
	jmp *%rax
END vfork, spi_own_vfork

	/* clone(function, stack, flags, ...), which goes on on another stack. */
FUNCTION clone, __clone, spi_own_clone
	.hidden spi_own_clone
	CALL_BEFORE clones_by_clone
	jmp *%rax
END clone, __clone, spi_own_clone

	/*
	 * A system call may return twice in one memory, or on another stack: nothing of ours is on the stack
	 * while it runs. close 3, fcntl 72 and close_range 436, which return once, are process/descriptors.c's.
	 */
FUNCTION syscall, spi_own_syscall
	.hidden spi_own_syscall
	cmpq $0, spi_clones_next_syscall(%rip)
	je 3f
4:	cmp $3, %rdi
	je spi_descriptors_by_syscall
	cmp $72, %rdi
	je spi_descriptors_by_syscall
	cmp $436, %rdi
	je spi_descriptors_by_syscall
	CALL_BEFORE clones_by_syscall
	test %eax, %eax
	jz 2f
	cmp $1, %eax
	je clones_by_copy
	and $-2, %rdx			/* the flags: the third argument of syscall() */
2:	jmp *spi_clones_next_syscall(%rip)
3:	CALL_BEFORE clones_find_syscall
	jmp 4b
END syscall, spi_own_syscall

	.section .note.GNU-stack, "", @progbits
