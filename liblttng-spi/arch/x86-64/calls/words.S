/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The usual call with compact records (struct spi_words, base/point.h), from a call
 * site: with one callee, or with changing ones when it is the one that was met
 * last. All looks of spi_site_call() and spi_site_call_any() are done here, with as
 * few compares as that takes:
 *
 *	words_epoch and busy, as one word, against spi_tree_epoch: the thread's view of
 *		the trees is up to date and none of them limited, it has a buffer, and
 *		it is not recording anything
 *	tree against the point's tree_quick: a tree records it, none has anything to do
 *		there first, and the payload does what this does
 *	cur: not the end of a chunk of slots, whose first one is never used; and none
 *		below it to reclaim, or a tail call's
 *
 * Then a slot is taken and a word written, or the other way round, the top moved as
 * spi_slot_top_move() does: where a handler has moved it meanwhile, the payload is called,
 * or the slot waits as a free one for those that lie above it now. Five registers are saved and nothing is called.
 * The front end of the CPU is what there is to save: beside the TSC's 8 ns a call
 * takes as long as its instructions take to be decoded.
 * Whatever is not as usual is left to the thunks that call the payload
 * (thunks.S), with everything put back.
 *
 * Entry, from a stub:	[rsp] = saved rax, [rsp+8] = return address, rax = point;
 *			with changing callees r11 = callee.
 * Exit, from a slot:	[rsp] = slot code + 18, [rsp+8] = return address.
 */

#include "liblttng-spi/arch/offsets.h"

#define SLOT_RETURN		6		/* SPI_SLOT_RETURN */
#define SLOT_RETURN_EXIT	18		/* the same of the exit thunk's call */

	.macro SAVE regs:vararg
	.irp reg, \regs
	push %\reg
	.cfi_adjust_cfa_offset 8
	.endr
	.endm
	.macro BACK regs:vararg
	.irp reg, \regs
	pop %\reg
	.cfi_adjust_cfa_offset -8
	.endr
	.endm

	.text

	.macro ENTRY name, any
	.p2align 6
	.globl \name
	.hidden \name
	.type \name, @function
\name:
	.cfi_startproc
	.cfi_personality 0x1b, spi_payload_personality	/* thunks.S */
	.cfi_def_cfa_offset 16
	SAVE rcx, rdx, rsi, rdi
	.cfi_remember_state
	mov spi_thread@gottpoff(%rip), %rsi
	.if \any
	mov SPI_AT_POINT_LATEST(%rax), %rdi
	test %rdi, %rdi
	jz 2f
	cmp %r11, SPI_AT_POINT_BODY(%rdi)
	jne 2f
	.else
	mov %rax, %rdi
	.endif
	mov %fs:SPI_AT_THREAD_EPOCH_BUSY(%rsi), %rcx
	cmp spi_tree_epoch(%rip), %rcx
	jne 2f
	mov %fs:SPI_AT_THREAD_TREE(%rsi), %ecx
	test %ecx, SPI_AT_POINT_QUICK(%rdi)
	jz 2f
	mov %fs:SPI_AT_THREAD_CUR(%rsi), %rcx
	test $(SPI_SLOT_CHUNK - 1), %ecx
	jz 2f
	lea 40(%rsp), %rdx		/* where the return address is */
	cmp %rdx, SPI_AT_SLOT_P - SPI_SLOT_SIZE(%rcx)
	jbe 4f
1:	mov %fs:SPI_AT_THREAD_WORDS(%rsi), %rdx
	mov SPI_AT_WORDS_USED(%rdx), %eax
	cmp SPI_AT_WORDS_LIMIT(%rdx), %eax
	jae 3f
	mov %rcx, %rax
	lea SPI_SLOT_SIZE(%rcx), %rdx
	cmpxchg %rdx, %fs:SPI_AT_THREAD_CUR(%rsi)	/* spi_slot_top_move() */
	jne 3f
	lea 40(%rsp), %rdx
	mov %rdx, SPI_AT_SLOT_P(%rcx)		/* whose it is, should a handler leave this */
	mov 40(%rsp), %rax
	mov %rax, SPI_AT_SLOT_RA(%rcx)
	lea spi_thunk_exit_words(%rip), %rax
	mov %rax, SPI_AT_SLOT_EXIT(%rcx)
	mov %rdi, SPI_AT_SLOT_POINT(%rcx)
	mov SPI_AT_POINT_WORD(%rdi), %rax
	mov %rax, SPI_AT_SLOT_START(%rcx)
	mov %fs:SPI_AT_THREAD_WORDS(%rsi), %rsi
	rdtsc
	cmp SPI_AT_WORDS_HIGH(%rsi), %edx
	jne 5f
	or SPI_AT_POINT_WORD(%rdi), %rax
	incq SPI_AT_POINT_HITS(%rdi)
	mov SPI_AT_POINT_BODY(%rdi), %rdi
	mov $1, %edx
	xadd %edx, SPI_AT_WORDS_USED(%rsi)
	mov %rax, SPI_AT_WORDS_WORDS(%rsi, %rdx, 8)
	mov %rdi, SPI_AT_SLOT_TARGET(%rcx)	/* it is filled: left from here on, it has an exit */
	mov 32(%rsp), %rax
	sub $SPI_SLOT_HALF, %rcx			/* the slot's code */
	mov %rcx, 32(%rsp)
	BACK rdi, rsi, rdx, rcx
	lea 16(%rsp), %rsp
	.cfi_def_cfa_offset 0
	jmp *-16(%rsp)

	.cfi_restore_state
	.cfi_remember_state
5:	movl $SPI_SLOT_STATE_FREE, SPI_AT_SLOT_STATE(%rcx)	/* the slot is taken already: a free one, to be popped */
3:	.if \any
	mov SPI_AT_CHILD_SITE(%rdi), %rax
	.else
	mov %rdi, %rax
	.endif
2:	BACK rdi, rsi, rdx, rcx
	jmp spi_thunk_entry_general

	.cfi_restore_state
4:	jne 2b				/* spi_slot_is_chained() */
	cmpl $SPI_SLOT_STATE_LIVE, SPI_AT_SLOT_STATE - SPI_SLOT_SIZE(%rcx)
	jne 2b
	lea SLOT_RETURN - SPI_SLOT_HALF - SPI_SLOT_SIZE(%rcx), %rcx
	cmp %rcx, (%rdx)
	lea SPI_SLOT_HALF + SPI_SLOT_SIZE - SLOT_RETURN(%rcx), %rcx
	je 1b
	jmp 2b
	.cfi_endproc
	.size \name, . - \name
	.endm

	ENTRY spi_thunk_entry_words, 0
	ENTRY spi_thunk_entry_words_any, 1

	.p2align 6
	.globl spi_thunk_exit_words
	.hidden spi_thunk_exit_words
	.type spi_thunk_exit_words, @function
spi_thunk_exit_words:
	.cfi_startproc
	.cfi_personality 0x1b, spi_payload_personality
	SAVE rax, rcx, rdx, rdi
	.cfi_remember_state
	mov spi_thread@gottpoff(%rip), %rcx
	mov %fs:SPI_AT_THREAD_CUR(%rcx), %rdi
	lea SLOT_RETURN_EXIT - SPI_SLOT_HALF - SPI_SLOT_SIZE(%rdi), %rax
	cmp %rax, 32(%rsp)		/* the top slot? */
	jne 2f
	cmpl $SPI_SLOT_STATE_LIVE, SPI_AT_SLOT_STATE - 2 * SPI_SLOT_SIZE(%rdi)
	jne 2f
	mov %fs:SPI_AT_THREAD_WORDS(%rcx), %rcx
	test %rcx, %rcx
	jz 2f
	mov SPI_AT_WORDS_USED(%rcx), %edx
	cmp SPI_AT_WORDS_LIMIT(%rcx), %edx
	jae 2f
	rdtsc
	cmp SPI_AT_WORDS_HIGH(%rcx), %edx
	jne 2f
	or SPI_AT_SLOT_START - SPI_SLOT_SIZE(%rdi), %rax
	mov $1, %edx
	bts $SPI_WORD_EXIT_BIT, %rax
	xadd %edx, SPI_AT_WORDS_USED(%rcx)
	mov %rax, SPI_AT_WORDS_WORDS(%rcx, %rdx, 8)
	movq $-1, SPI_AT_SLOT_P - SPI_SLOT_SIZE(%rdi)	/* the exit is there: left from here on, it has no other */
	movq $0, SPI_AT_SLOT_TARGET - SPI_SLOT_SIZE(%rdi)
	mov spi_thread@gottpoff(%rip), %rcx
	mov %rdi, %rax
	lea -SPI_SLOT_SIZE(%rdi), %rdx
	cmpxchg %rdx, %fs:SPI_AT_THREAD_CUR(%rcx)
	jne 3f
1:	BACK rdi, rdx, rcx, rax
	ret
	.cfi_restore_state
	.cfi_remember_state
3:	movl $SPI_SLOT_STATE_FREE, SPI_AT_SLOT_STATE - SPI_SLOT_SIZE(%rdi)	/* others lie above it now: free, to be popped with them */
	movq $0, SPI_AT_SLOT_P - SPI_SLOT_SIZE(%rdi)
	jmp 1b
	.cfi_restore_state
2:	BACK rdi, rdx, rcx, rax
	jmp spi_thunk_exit_general
	.cfi_endproc
	.size spi_thunk_exit_words, . - spi_thunk_exit_words

	.section .note.GNU-stack, "", @progbits
