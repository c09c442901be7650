/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The usual call with compact records (struct spi_words, point.h), for call sites
 * whose callee is always the same. All looks of spi_site_call() are done here: does
 * the payload do what this does (SPI_POINT_WORDS), is the thread's view
 * of the trees up to date, no tree limited, nothing to do at this site, does a tree
 * record it; is the thread not recording anything, is there a slot, and none below
 * to reclaim. Then a word is written and a slot pushed, or popped, in the order of
 * spi_slot_push() and spi_slot_pop(). Six registers are saved and nothing is called.
 * Whatever is not as usual is left to the thunks that call the payload
 * (thunks.S), with everything put back.
 *
 * Entry, from a stub:	[rsp] = saved rax, [rsp+8] = return address, rax = point.
 * Exit, from a slot:	[rsp] = slot code + 18, [rsp+8] = return address.
 */

#define HALF		0x8000000
#define THREAD_CUR	0
#define THREAD_BASE	8
#define THREAD_END	16
#define THREAD_BUSY	48
#define THREAD_TREE	120
#define THREAD_EPOCH	124
#define THREAD_WORDS	112
#define POINT_BODY	0
#define POINT_PAYLOAD	40
#define POINT_FLAGS	56
#define FLAG_EXEC	0x40
#define FLAG_WORDS	0x80
#define POINT_EXIT_THUNK	136
#define POINT_TODO	168
#define POINT_LIVE	172
#define POINT_HITS	176
#define SLOT_RA		0
#define SLOT_TARGET	8
#define SLOT_EXIT	16
#define SLOT_P		24
#define SLOT_POINT	32
#define SLOT_START	40
#define SLOT_STATE	56
#define SLOT_SIZE	64
#define SLOT_LIVE	1
#define WORDS_USED	0
#define WORDS_LIMIT	4
#define WORDS_HIGH	8
#define WORDS_WORDS	128

	.macro SAVE reg
	push %\reg
	.cfi_adjust_cfa_offset 8
	.endm
	.macro BACK reg
	pop %\reg
	.cfi_adjust_cfa_offset -8
	.endm

	.text
	.p2align 6
	.globl spi_thunk_entry_words
	.hidden spi_thunk_entry_words
	.type spi_thunk_entry_words, @function
spi_thunk_entry_words:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	SAVE rcx
	SAVE rdx
	SAVE rsi
	SAVE rdi
	SAVE r8
	.cfi_remember_state
	mov spi_thread@gottpoff(%rip), %rsi
	mov %rax, %r8
	mov POINT_FLAGS(%r8), %ecx
	and $(FLAG_EXEC | FLAG_WORDS), %ecx
	cmp $FLAG_WORDS, %ecx
	jne 2f
	mov %fs:THREAD_EPOCH(%rsi), %ecx
	cmp spi_tree_epoch(%rip), %ecx
	jne 2f
	mov %fs:THREAD_TREE(%rsi), %ecx
	test %ecx, spi_tree_limited(%rip)
	jnz 2f
	test %ecx, POINT_TODO(%r8)
	jnz 2f
	test %ecx, POINT_LIVE(%r8)
	jz 2f
	cmpl $0, %fs:THREAD_BUSY(%rsi)
	jne 2f
	mov %fs:THREAD_WORDS(%rsi), %rcx
	test %rcx, %rcx
	jz 2f
	mov %fs:THREAD_CUR(%rsi), %rdi
	cmp %fs:THREAD_END(%rsi), %rdi
	je 2f
	lea 48(%rsp), %rax		/* where the return address is */
	cmp %fs:THREAD_BASE(%rsi), %rdi
	je 1f
	cmp %rax, SLOT_P - SLOT_SIZE(%rdi)
	jbe 2f
1:	rdtsc
	cmp WORDS_HIGH(%rcx), %edx
	jne 2f
	mov WORDS_USED(%rcx), %edx
	cmp WORDS_LIMIT(%rcx), %edx
	jae 2f
	mov POINT_PAYLOAD(%r8), %rdx
	mov %eax, %eax
	or (%rdx), %rax
	mov $1, %edx
	xadd %edx, WORDS_USED(%rcx)
	mov %rax, WORDS_WORDS(%rcx, %rdx, 8)
	lea SLOT_SIZE(%rdi), %rdx
	mov %rdx, %fs:THREAD_CUR(%rsi)
	shr $32, %rax			/* without the ticks */
	shl $32, %rax
	mov %rax, SLOT_START(%rdi)
	mov 48(%rsp), %rdx
	mov %rdx, SLOT_RA(%rdi)
	mov POINT_BODY(%r8), %rax
	mov %rax, SLOT_TARGET(%rdi)
	mov POINT_EXIT_THUNK(%r8), %rdx
	mov %rdx, SLOT_EXIT(%rdi)
	mov %r8, SLOT_POINT(%rdi)
	movl $SLOT_LIVE, SLOT_STATE(%rdi)
	lea 48(%rsp), %rax
	mov %rax, SLOT_P(%rdi)
	incq POINT_HITS(%r8)
	mov 40(%rsp), %rax
	sub $HALF, %rdi			/* the slot's code */
	mov %rdi, 40(%rsp)
	BACK r8
	BACK rdi
	BACK rsi
	BACK rdx
	BACK rcx
	lea 16(%rsp), %rsp
	.cfi_def_cfa_offset 0
	jmp *-16(%rsp)
2:	.cfi_restore_state
	mov %r8, %rax
	BACK r8
	BACK rdi
	BACK rsi
	BACK rdx
	BACK rcx
	jmp spi_thunk_entry_gpr
	.cfi_endproc
	.size spi_thunk_entry_words, . - spi_thunk_entry_words

	.p2align 6
	.globl spi_thunk_exit_words
	.hidden spi_thunk_exit_words
	.type spi_thunk_exit_words, @function
spi_thunk_exit_words:
	.cfi_startproc
	SAVE rax
	SAVE rcx
	SAVE rdx
	SAVE rsi
	SAVE rdi
	.cfi_remember_state
	mov 40(%rsp), %rdi
	mov spi_thread@gottpoff(%rip), %rsi
	and $-64, %rdi
	add $HALF, %rdi
	mov %fs:THREAD_WORDS(%rsi), %rcx
	test %rcx, %rcx
	jz 2f
	lea SLOT_SIZE(%rdi), %rax
	cmp %fs:THREAD_CUR(%rsi), %rax
	jne 2f
	cmp %fs:THREAD_BASE(%rsi), %rdi
	je 1f
	cmpl $SLOT_LIVE, SLOT_STATE - SLOT_SIZE(%rdi)
	jne 2f
1:	rdtsc
	cmp WORDS_HIGH(%rcx), %edx
	jne 2f
	mov WORDS_USED(%rcx), %edx
	cmp WORDS_LIMIT(%rcx), %edx
	jae 2f
	mov %eax, %eax
	or SLOT_START(%rdi), %rax
	mov $1, %edx
	bts $32, %rax			/* SPI_WORD_EXIT */
	xadd %edx, WORDS_USED(%rcx)
	mov %rax, WORDS_WORDS(%rcx, %rdx, 8)
	movl $0, SLOT_STATE(%rdi)
	movq $-1, SLOT_P(%rdi)
	mov %rdi, %fs:THREAD_CUR(%rsi)
	BACK rdi
	BACK rsi
	BACK rdx
	BACK rcx
	BACK rax
	ret
2:	.cfi_restore_state
	BACK rdi
	BACK rsi
	BACK rdx
	BACK rcx
	BACK rax
	jmp spi_thunk_exit_gpr
	.cfi_endproc
	.size spi_thunk_exit_words, . - spi_thunk_exit_words

	.section .note.GNU-stack, "", @progbits
