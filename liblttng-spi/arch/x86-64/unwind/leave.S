/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The functions by which a signal's handler leaves what it interrupted, each before libc's. In a thread that is
 * recording no call they are a compare and a jump: the stack and all that is passed are libc's as they came. unwind/leave.c
 * has the rest.
 */

#include "liblttng-spi/arch/offsets.h"

#define REG(n)		(8 * (n))

	.text

	.macro LEAVES next, names:vararg
	.p2align 4
	.irp name, \names
	.globl \name
	.type \name, @function
\name:
	.endr
	.cfi_startproc
	mov spi_thread@gottpoff(%rip), %rax
	cmpl $0, %fs:SPI_AT_THREAD_BUSY(%rax)
	lea \next(%rip), %rax
	jne 1f
	jmp *(%rax)
1:	mov %rsp, %r11
	jmp leave_busy
	.cfi_endproc
	.irp name, \names
	.size \name, . - \name
	.endr
	.endm

	LEAVES spi_leave_longjmp, longjmp, _longjmp, siglongjmp, spi_own_longjmp
	LEAVES spi_leave_longjmp_chk, __longjmp_chk, spi_own_longjmp_chk
	LEAVES spi_leave_exit, exit, spi_own_libc_exit
	LEAVES spi_leave_exit_now, _exit, _Exit, spi_own_exit
	.hidden spi_own_longjmp, spi_own_longjmp_chk, spi_own_libc_exit, spi_own_exit

	/*
	 * What the personality routine of the thunks' frames (thunks.S) goes on to. The unwinder leaves one, in the
	 * second phase: if a record is being made, the payload that was called there may not have returned.
	 */
	.p2align 4
	.globl spi_leave_personality
	.hidden spi_leave_personality
	.type spi_leave_personality, @function
spi_leave_personality:
	.cfi_startproc
	test $2, %sil			/* _UA_CLEANUP_PHASE */
	jz 1f
	mov spi_thread@gottpoff(%rip), %rax
	cmpl $0, %fs:SPI_AT_THREAD_BUSY(%rax)
	lea spi_leave_unwound(%rip), %rax
	jne 2f
	jmp *(%rax)
1:	mov $8, %eax			/* _URC_CONTINUE_UNWIND */
	ret
2:	mov %rcx, %rdi			/* the exception */
	mov %r8, %rsi			/* the unwinder's context */
	mov %rsp, %r11
	jmp leave_busy
	.cfi_endproc
	.size spi_leave_personality, . - spi_leave_personality

	/* rdi, rsi: the arguments; rax: where the function's address is; r11: where the caller's is. */
	.type leave_busy, @function
leave_busy:
	.cfi_startproc
	push %rdi
	.cfi_adjust_cfa_offset 8
	push %rsi
	.cfi_adjust_cfa_offset 8
	push %rax
	.cfi_adjust_cfa_offset 8
	sub $SPI_REGISTERS_SIZE, %rsp			/* struct spi_registers */
	.cfi_adjust_cfa_offset SPI_REGISTERS_SIZE
	.cfi_remember_state
	mov %rbx, REG(3)(%rsp)
	mov %rbp, REG(6)(%rsp)
	mov %r12, REG(12)(%rsp)
	mov %r13, REG(13)(%rsp)
	mov %r14, REG(14)(%rsp)
	mov %r15, REG(15)(%rsp)
	mov (%r11), %rcx
	mov %rcx, REG(16)(%rsp)
	lea 8(%r11), %rcx
	mov %rcx, REG(7)(%rsp)
	mov %rax, %rdx
	mov %rsp, %rcx
	call spi_leave_look
	test %rax, %rax
	jnz 1f
	add $SPI_REGISTERS_SIZE, %rsp
	.cfi_adjust_cfa_offset -SPI_REGISTERS_SIZE
	pop %rax
	.cfi_adjust_cfa_offset -8
	pop %rsi
	.cfi_adjust_cfa_offset -8
	pop %rdi
	.cfi_adjust_cfa_offset -8
	jmp *(%rax)
	.cfi_restore_state
1:	mov %rax, %rsp			/* the record goes on where the signal came */
	mov $15, %eax			/* rt_sigreturn() */
	syscall
	ud2
	.cfi_endproc
	.size leave_busy, . - leave_busy

	/*
	 * The record is complete: its payload has returned here. Its own return address goes back to its place, and the
	 * function is called as if from there, with what it is called with on the stack. It may unwind that.
	 */
	.p2align 4
	.cfi_startproc
	.cfi_def_cfa_offset 0
	.cfi_undefined rip
	nop				/* what is looked up for a return address is the byte before it */
	.globl spi_leave_again
	.hidden spi_leave_again
	.type spi_leave_again, @function
spi_leave_again:
	push %rax
	.cfi_adjust_cfa_offset 8
	sub $SPI_LEAVE_CALL_SIZE, %rsp			/* struct call, unwind/leave.c */
	.cfi_adjust_cfa_offset SPI_LEAVE_CALL_SIZE
	mov %rsp, %rdi
	call spi_leave_take
	mov %rax, SPI_LEAVE_CALL_SIZE(%rsp)
	.cfi_offset rip, -8
	lea SPI_LEAVE_CALL_SIZE(%rsp), %r11
	mov (%rsp), %rdi
	mov 8(%rsp), %rsi
	mov SPI_AT_LEAVE_CALL_BY(%rsp), %rax
	lea 1f(%rip), %rcx
	push %rcx			/* as a call leaves the stack */
	.cfi_adjust_cfa_offset 8
	jmp leave_busy
	.cfi_adjust_cfa_offset -8
	nop				/* the same for what is called: it is looked up at its return address less one */
1:	ud2
	.cfi_endproc
	.size spi_leave_again, . - spi_leave_again

	.section .note.GNU-stack, "", @progbits
