/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls of payloads, each from a frame where a payload ends whatever it does (payload/guard.c):
 *
 *	spi_guarded_call()		in any state
 *	spi_client_call_fast()		the entry of a usual call, spi_client_call() in one straight line
 *	spi_client_returns_fast()	the exit of a usual call, spi_client_returns() likewise
 *
 * A usual call is one of a thread that is in no payload and records nothing, for a client that is on and has no time
 * limit, from outside of critical code, with room on the stack. All of that is seen before anything is changed. Other
 * calls go on to the function in C (payload/call.c), which says why each thing is done. The same order of stores holds
 * here.
 *
 * The three frames have one form. Where the payload is called, rsp is the guard:
 *
 *	rbp - 112	struct spi_guard: what kind of frame it is, and the client
 *	rbp - 104	struct spi_call, which begins with the client
 *	rbp - 48	errno as it was
 *	rbp - 40	r15, r14, r13, r12, rbx, and rbp at its place
 *
 * A payload that returns has the registers as they were, so they are read only where it does not return. An exception
 * ends at spi_guarded_landing, with the exception in rax and the frame's own registers; a fault ends at
 * spi_guarded_fault, with the guard in rdi and nothing else.
 */
#include "liblttng-spi/arch/offsets.h"
#include "liblttng-spi/payload/offsets.h"

#define FRAME		112			/* from the guard to rbp */
#define SLOT_RETURN	6			/* SPI_SLOT_RETURN */
#define ERRNO		-48(%rbp)
#define CALL(field)	8 + field(%rsp)		/* of struct spi_call */

	.macro FUNCTION name
	.p2align 6
	.globl \name
	.hidden \name
	.type \name, @function
\name:
	.cfi_startproc
	.cfi_personality 0x1b, spi_guard_personality
	.endm

	.macro FUNCTION_END name
	.cfi_endproc
	.size \name, . - \name
	.endm

	.macro FRAME_BEGIN
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	push %rbx
	.cfi_offset %rbx, -24
	push %r12
	.cfi_offset %r12, -32
	push %r13
	.cfi_offset %r13, -40
	push %r14
	.cfi_offset %r14, -48
	push %r15
	.cfi_offset %r15, -56
	.endm

	.macro FRAME_END
	leave
	.cfi_restore %r15
	.cfi_restore %r14
	.cfi_restore %r13
	.cfi_restore %r12
	.cfi_restore %rbx
	.cfi_restore %rbp
	.cfi_def_cfa %rsp, 8
	ret
	.endm

	/* spi_busy_first(); \p: the register with the place on the stack */
	.macro BUSY p
	mov \p, %fs:SPI_AT_THREAD_BUSY_P(%r10)
	movl $1, %fs:SPI_AT_THREAD_BUSY(%r10)
	mov \p, %fs:SPI_AT_THREAD_BUSY_P(%r10)
	.endm

	/* errno is as it was, and the thread is free. */
	.macro FREE
	mov ERRNO, %ecx
	mov spi_errno_distance(%rip), %rdx
	mov %ecx, %fs:(%rdx)
	movl $0, %fs:SPI_AT_THREAD_BUSY(%r10)
	mov -8(%rbp), %rbx
	mov -16(%rbp), %r12
	.endm

	/* The payload did not return: rdx says how, rax is its exception. rbx gets what is at \at. */
	.macro ENDED at
	mov spi_thread@gottpoff(%rip), %r10
	mov %fs:SPI_AT_THREAD_OWN(%r10), %rcx
	test %rcx, %rcx
	jz .Lended\@
	movq $0, SPI_AT_OWN_GUARD(%rcx)
.Lended\@:
	mov \at, %rbx
	mov CALL(SPI_AT_CALL_CLIENT), %rdi
	mov %rdx, %rsi
	mov %rax, %rdx
	mov $1, %ecx
	call spi_guard_ended
	.endm

	.text

	/* struct spi_guarded spi_guarded_call(call, data, function, client, struct spi_guard **place) */
	FUNCTION spi_guarded_call
	FRAME_BEGIN
	push %r8
	push (%r8)
	sub $40, %rsp
	push %rcx
	push $SPI_GUARD_ANY
	mov %rsp, (%r8)
	call *%rdx
	xor %edx, %edx			/* SPI_GUARD_RETURNED */
1:	mov -48(%rbp), %rcx
	mov -56(%rbp), %rsi
	mov %rsi, (%rcx)
	.cfi_remember_state
	FRAME_END
	.cfi_restore_state
	.globl spi_guarded_landing
	.hidden spi_guarded_landing
spi_guarded_landing:
	mov $SPI_GUARD_THROWN, %edx
2:	cmpl $SPI_GUARD_ENTRY, SPI_AT_GUARD_KIND(%rsp)
	jb 1b
	je .Lentry_ended
	jmp .Lexit_ended
	.globl spi_guarded_fault
	.hidden spi_guarded_fault
spi_guarded_fault:
	mov %rdi, %rsp
	lea FRAME(%rsp), %rbp
	mov -8(%rbp), %rbx
	mov -16(%rbp), %r12
	mov -24(%rbp), %r13
	mov -32(%rbp), %r14
	mov -40(%rbp), %r15
	mov $SPI_GUARD_FAULTED, %edx
	xor %eax, %eax
	cld
	jmp 2b
	FUNCTION_END spi_guarded_call

	/* uint64_t spi_clients_entry_fast(point, frame, vectors, stride) */
	FUNCTION spi_clients_entry_fast
	mov SPI_AT_POINT_CLIENTS(%rdi), %r10
	mov SPI_AT_CLIENTS_ONE(%r10), %r8
	xor %r9d, %r9d
	test %r8, %r8
	jz 1f
	test %rdx, %rdx
	jnz .Lcall_begin
	testl $SPI_CLIENT_GENERAL, SPI_AT_CLIENT_FLAGS(%r8)
	jnz .Lcall_begin
1:	jmp spi_clients_entry
	FUNCTION_END spi_clients_entry_fast

	/* uint64_t spi_client_call_fast(point, frame, vectors, stride, client, trees) */
	FUNCTION spi_client_call_fast
	mov %r9d, %r9d
.Lcall_begin:
	mov spi_thread@gottpoff(%rip), %r10
	mov %fs:SPI_AT_THREAD_OWED(%r10), %eax
	and $~SPI_THREAD_USUAL, %eax
	cmp $SPI_THREAD_MARKED, %eax
	jne 2f
	cmpl $0, %fs:SPI_AT_THREAD_BUSY(%r10)
	jne 2f
	mov %fs:SPI_AT_THREAD_OWN(%r10), %r11
	test %r11, %r11
	jz 2f
	cmpl $0, spi_mode(%rip)
	jne 2f
	cmpq $0, SPI_AT_CLIENT_STATE(%r8)
	jne 2f
	cmpl $0, spi_guard_cancels(%rip)
	jne 2f
	lea SPI_AT_FRAME_RA(%rsi), %rax
	sub %fs:SPI_AT_THREAD_STACK_END(%r10), %rax
	cmp $SPI_PAYLOAD_STACK, %rax
	jb 2f
	mov %fs:SPI_AT_THREAD_CUR(%r10), %rax	/* calls that longjmp() has left end first: spi_clients_before() */
	test %rax, %rax
	jz .Lnone_left				/* the thread has had no slot: no client wants exits */
	test $(SPI_SLOT_CHUNK - 1), %eax
	jz 2f
	mov SPI_AT_SLOT_P - SPI_SLOT_SIZE(%rax), %rax
	sub $SPI_AT_FRAME_RA, %rax
	cmp %rsi, %rax
	jbe 2f
.Lnone_left:
	cmpq $0, SPI_AT_OWN_CRITICAL(%r11)
	jne 2f
	mov SPI_AT_FRAME_RA(%rsi), %rax
	cmp spi_critical_low(%rip), %rax
	jae 3f
1:	mov spi_errno_distance(%rip), %rax
	mov %fs:(%rax), %eax
	.cfi_remember_state
	FRAME_BEGIN
	push %rax
	lea SPI_AT_FRAME_RA(%rsi), %rbx	/* kept: the place of the return address; r12: spi_thread.own */
	mov %r11, %r12
	BUSY %rbx
	push %r9			/* struct spi_call */
	push $0
	push %rcx
	push %rdx
	push %rsi
	push %rdi
	push %r8
	push $SPI_GUARD_ENTRY
	xor %eax, %eax
	cmpq $0, SPI_AT_CLIENT_ENTRY(%r8)
	je .Lentry_over
	mov %rsp, SPI_AT_OWN_GUARD(%r11)
	lea 8(%rsp), %rdi
	mov SPI_AT_CLIENT_ENTRY_DATA(%r8), %rsi
	call *SPI_AT_CLIENT_ENTRY(%r8)
	movq $0, SPI_AT_OWN_GUARD(%r12)
.Lentry_over:				/* rax: the user data. The rest is spi_client_slot_take() */
	mov spi_thread@gottpoff(%rip), %r10
	mov CALL(SPI_AT_CALL_CLIENT), %r8
	mov CALL(SPI_AT_CALL_POINT), %rdi
	cmpq $0, SPI_AT_CLIENT_EXIT(%r8)
	je 6f
4:	testl $SPI_POINT_FLAG_NO_EXIT, SPI_AT_POINT_FLAGS(%rdi)
	jnz 7f
	mov %fs:SPI_AT_THREAD_CUR(%r10), %rdx
	test $(SPI_SLOT_CHUNK - 1), %edx
	jz 9f
	cmp %rbx, SPI_AT_SLOT_P - SPI_SLOT_SIZE(%rdx)
	jbe 8f
5:	mov SPI_AT_POINT_CLIENTS(%rdi), %r9
	mov SPI_AT_POINT_BODY(%rdi), %rcx
	cmp %rcx, SPI_AT_POINT_BODY(%r9)
	jne 9f
	mov SPI_AT_POINT_ADDRESS(%rdi), %r11
	cmp %r11, SPI_AT_POINT_ADDRESS(%r9)
	jne 9f
	mov %rax, %r11
	mov %rdx, %rax
	lea SPI_SLOT_SIZE(%rdx), %rsi
	cmpxchg %rsi, %fs:SPI_AT_THREAD_CUR(%r10)	/* spi_slot_top_move() */
	jne 10f
	mov %rbx, SPI_AT_SLOT_P(%rdx)
	mov (%rbx), %rsi
	mov %rsi, SPI_AT_SLOT_RA(%rdx)
	mov SPI_AT_POINT_EXIT_THUNK(%r9), %rsi
	testl $SPI_CLIENT_GENERAL, SPI_AT_CLIENT_FLAGS(%r8)
	jz 11f
12:	mov %rsi, SPI_AT_SLOT_EXIT(%rdx)
	mov %r9, SPI_AT_SLOT_POINT(%rdx)
	mov %rcx, SPI_AT_SLOT_TARGET(%rdx)
	mov %r11, SPI_AT_SLOT_COOKIE(%rdx)
	mov %r8, SPI_AT_SLOT_START(%rdx)
	movl $-1, SPI_AT_SLOT_AUX(%rdx)			/* SPI_SLOT_APART */
	lea -SPI_SLOT_HALF(%rdx), %rax
13:	FREE
	.cfi_remember_state
	FRAME_END
	.cfi_restore_state

6:	cmpl $0, CALL(SPI_AT_CALL_TREES)
	jne 4b
	testl $SPI_POINT_FLAG_LOOPS, SPI_AT_POINT_FLAGS(%rdi)
	jnz 4b
7:	xor %eax, %eax
	jmp 13b
8:	jne 9f				/* spi_slot_is_chained() */
	cmpl $SPI_SLOT_STATE_LIVE, SPI_AT_SLOT_STATE - SPI_SLOT_SIZE(%rdx)
	jne 9f
	lea SLOT_RETURN - SPI_SLOT_HALF - SPI_SLOT_SIZE(%rdx), %rcx
	cmp %rcx, (%rbx)
	je 5b
	jmp 9f
10:	mov %r11, %rax
9:	mov CALL(SPI_AT_CALL_FRAME), %rsi
	mov %r8, %rdx
	mov %rax, %rcx
	call spi_client_slot_take
	mov spi_thread@gottpoff(%rip), %r10
	jmp 13b
11:	mov SPI_AT_POINT_FULL_EXIT(%r9), %rsi
	jmp 12b
.Lentry_ended:
	ENDED CALL(SPI_AT_CALL_FRAME)
	add $SPI_AT_FRAME_RA, %rbx
	xor %eax, %eax
	jmp .Lentry_over
	.cfi_restore_state

3:	cmp spi_critical_high(%rip), %rax
	jae 1b
	mov SPI_AT_POINT_CLIENTS(%rdi), %r10
	cmpl $0, SPI_AT_CLIENTS_CRITICAL(%r10)
	je 4f
	xor spi_critical_mark(%rip), %rax
	cmp %rax, SPI_AT_CLIENTS_OUTSIDE(%r10)
	jne 5f
4:	mov spi_thread@gottpoff(%rip), %r10
	jmp 1b
5:	.irp reg, rdi, rsi, rdx, rcx, r8, r9, r11
	push %\reg
	.cfi_adjust_cfa_offset 8
	.endr
	add $SPI_AT_FRAME_RA, %rsi
	call spi_client_caller_is_critical
	.irp reg, r11, r9, r8, rcx, rdx, rsi, rdi
	pop %\reg
	.cfi_adjust_cfa_offset -8
	.endr
	test %eax, %eax
	jz 4b
2:	jmp spi_client_call
	FUNCTION_END spi_client_call_fast

	/* uint64_t spi_client_returns_fast(slot, frame, vectors, stride) */
	FUNCTION spi_client_returns_fast
	mov spi_thread@gottpoff(%rip), %r10
	lea SPI_SLOT_SIZE(%rdi), %rax
	cmp %rax, %fs:SPI_AT_THREAD_CUR(%r10)
	jne 2f
	cmpl $0, %fs:SPI_AT_THREAD_BUSY(%r10)
	jne 2f
	mov %fs:SPI_AT_THREAD_OWN(%r10), %r11
	test %r11, %r11
	jz 2f
	cmpl $-1, SPI_AT_SLOT_AUX(%rdi)	/* spi_slot_is_clients() */
	jne 2f
	mov SPI_AT_SLOT_START(%rdi), %r8
	test %r8, %r8
	jz 2f
	cmpq $0, SPI_AT_CLIENT_STATE(%r8)
	jne 2f
	cmpl $0, spi_guard_cancels(%rip)
	jne 2f
	cmpq $0, SPI_AT_CLIENT_EXIT(%r8)
	je 2f
	mov spi_errno_distance(%rip), %rax
	mov %fs:(%rax), %eax
	.cfi_remember_state
	FRAME_BEGIN
	push %rax
	mov SPI_AT_SLOT_P(%rdi), %rax
	BUSY %rax
	mov %rdi, %rbx			/* kept: the slot; r12: spi_thread.own */
	mov %r11, %r12
	mov SPI_AT_SLOT_POINT(%rdi), %rax
	push $0				/* struct spi_call; SPI_CALL_RETURNED */
	push %rdi
	push %rcx
	push %rdx
	push %rsi
	push SPI_AT_CLIENTS_OF(%rax)
	push %r8
	push $SPI_GUARD_EXIT
	mov %rsp, SPI_AT_OWN_GUARD(%r11)
	lea 8(%rsp), %rdi
	mov SPI_AT_CLIENT_EXIT_DATA(%r8), %rsi
	call *SPI_AT_CLIENT_EXIT(%r8)
	movq $0, SPI_AT_OWN_GUARD(%r12)
.Lexit_over:				/* the rest is spi_slot_pop() */
	mov spi_thread@gottpoff(%rip), %r10
	movq $SPI_SLOT_STATE_LIVE, SPI_AT_SLOT_STATE(%rbx)	/* and nothing is owed: SPI_AT_SLOT_AUX */
	lea SPI_SLOT_SIZE(%rbx), %rax
	cmp %rax, %fs:SPI_AT_THREAD_CUR(%r10)
	jne 4f
	movq $-1, SPI_AT_SLOT_P(%rbx)			/* SPI_SLOT_DEAD */
	movq $0, SPI_AT_SLOT_TARGET(%rbx)
	cmpxchg %rbx, %fs:SPI_AT_THREAD_CUR(%r10)	/* spi_slot_top_move() */
	jne 3f
	cmpl $SPI_SLOT_STATE_LIVE, SPI_AT_SLOT_STATE - SPI_SLOT_SIZE(%rbx)
	jne 5f
1:	FREE
	xor %eax, %eax
	.cfi_remember_state
	FRAME_END
	.cfi_restore_state

3:	movl $SPI_SLOT_STATE_FREE, SPI_AT_SLOT_STATE(%rbx)
	mov %fs:SPI_AT_THREAD_BUSY_P(%r10), %rax
	mov %rax, SPI_AT_SLOT_P(%rbx)
4:	mov %rbx, %rdi
	jmp 6f
5:	xor %edi, %edi
6:	mov %fs:SPI_AT_THREAD_BUSY_P(%r10), %rsi
	call *spi_slot_pop_slow@GOTPCREL(%rip)
	mov spi_thread@gottpoff(%rip), %r10
	jmp 1b
.Lexit_ended:
	ENDED CALL(SPI_AT_CALL_SLOT)
	jmp .Lexit_over
	.cfi_restore_state
2:	jmp spi_client_returns
	FUNCTION_END spi_client_returns_fast

	.section .note.GNU-stack, "", @progbits
