/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls and jumps through registers and memory that are too short for a jump of
 * their own, behind instructions that can be moved: at each of 16 alignments. Each
 * function's value tells whether every instruction ran once. windows THREADS
 * STORM-US runs until SIGTERM with a SIGPROF every so many microseconds (0: none)
 * in whichever thread runs; windows THREADS STORM-US ROUNDS ends by itself.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define KINDS	6
#define PLACES	16

static volatile sig_atomic_t stop;
static unsigned long wrong, storms;

/* The callees: reached from the assembly below only. */
__attribute__((noipa, used)) long w_three(long a, long b, long c) { return a * 3 + b * 5 + c; }
__attribute__((noipa, used)) long w_one(long a) { return a * 7 + 1; }
__attribute__((noipa, used)) long w_two(int a, long b) { return a * 11L + b; }
__attribute__((used)) long (*const w_table[])(long) = { NULL, w_one };

/*
 * w_KIND_PLACE: what is moved begins PLACE bytes behind a 16-byte boundary.
 *	0 two moves (3 bytes each), call *%rax
 *	1 a tail call: pop, pop, pop (1, 1, 2 bytes), jmp *%rax
 *	2 an operand that counts from the stack pointer (4 bytes), call *8(%rbx)
 *	3 short ones (2 bytes each), call *%rdx
 *	4 a tail call: move (3), jmp *%rax
 *	5 clc, cld and a lea from the stack pointer, call *(%rbx)
 */
__asm__("	.text\n"
	"	.altmacro\n"
	"	.macro begin kind, place\n"
	"	.p2align 4\n"
	"	.type w_\\kind\\()_\\place, @function\n"
	"w_\\kind\\()_\\place:\n"
	"	.cfi_startproc\n"
	"	.endm\n"
	"	.macro finish kind, place\n"
	"	.cfi_endproc\n"
	"	.size w_\\kind\\()_\\place, . - w_\\kind\\()_\\place\n"
	"	.endm\n"
	"	.macro align_to place\n"
	"	jmp 1f\n"
	"	.p2align 4\n"
	"	.skip \\place, 0xcc\n"
	"1:\n"
	"	.endm\n"
	"	.macro make place\n"
	"	begin 0, \\place\n"
	"	push %rbx\n	.cfi_adjust_cfa_offset 8\n"
	"	lea w_three(%rip), %rax\n"
	"	align_to \\place\n"
	"	mov %rdi, %rsi\n"
	"	mov %rdi, %rdx\n"
	"	call *%rax\n"
	"	pop %rbx\n	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	finish 0, \\place\n"
	"	begin 1, \\place\n"
	"	push %r12\n	.cfi_adjust_cfa_offset 8\n"
	"	push %rbp\n	.cfi_adjust_cfa_offset 8\n"
	"	push %rbx\n	.cfi_adjust_cfa_offset 8\n"
	"	mov $3, %ebx\n"
	"	mov $4, %ebp\n"
	"	mov $5, %r12d\n"
	"	lea w_one(%rip), %rax\n"
	"	align_to \\place\n"
	"	pop %rbx\n	.cfi_adjust_cfa_offset -8\n"
	"	pop %rbp\n	.cfi_adjust_cfa_offset -8\n"
	"	pop %r12\n	.cfi_adjust_cfa_offset -8\n"
	"	jmp *%rax\n"
	"	finish 1, \\place\n"
	"	begin 2, \\place\n"
	"	push %rbx\n	.cfi_adjust_cfa_offset 8\n"
	"	sub $16, %rsp\n	.cfi_adjust_cfa_offset 16\n"
	"	mov %rdi, (%rsp)\n"
	"	movq $-1, 8(%rsp)\n"
	"	xor %edi, %edi\n"
	"	lea w_table(%rip), %rbx\n"
	"	align_to \\place\n"
	"	mov (%rsp), %rdi\n"
	"	call *8(%rbx)\n"
	"	add $16, %rsp\n	.cfi_adjust_cfa_offset -16\n"
	"	pop %rbx\n	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	finish 2, \\place\n"
	"	begin 3, \\place\n"
	"	push %rbx\n	.cfi_adjust_cfa_offset 8\n"
	"	lea w_two(%rip), %rdx\n"
	"	mov %rdi, %rsi\n"
	"	align_to \\place\n"
	"	mov %edi, %eax\n"
	"	inc %eax\n"
	"	mov %eax, %edi\n"
	"	call *%rdx\n"
	"	pop %rbx\n	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	finish 3, \\place\n"
	"	begin 4, \\place\n"
	"	lea w_one(%rip), %rax\n"
	"	mov %rdi, %rdx\n"
	"	xor %edi, %edi\n"
	"	align_to \\place\n"
	"	mov %rdx, %rdi\n"
	"	jmp *%rax\n"
	"	finish 4, \\place\n"
	"	begin 5, \\place\n"
	"	push %rbx\n	.cfi_adjust_cfa_offset 8\n"
	"	sub $16, %rsp\n	.cfi_adjust_cfa_offset 16\n"
	"	mov %rdi, 8(%rsp)\n"
	"	lea w_table+8(%rip), %rbx\n"
	"	align_to \\place\n"
	"	clc\n"
	"	cld\n"
	"	lea 8(%rsp), %rdi\n"
	"	mov (%rdi), %rdi\n"
	"	call *(%rbx)\n"
	"	add $16, %rsp\n	.cfi_adjust_cfa_offset -16\n"
	"	pop %rbx\n	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	finish 5, \\place\n"
	"	.endm\n"
	"	.macro name kind, place\n"
	"	.quad w_\\kind\\()_\\place\n"
	"	.endm\n"
	"	.set place, 0\n"
	"	.rept 16\n"
	"	make %place\n"
	"	.set place, place + 1\n"
	"	.endr\n"
	"	.section .data.rel.ro, \"aw\"\n"
	"	.p2align 3\n"
	"w_all:\n"
	"	.set place, 0\n"
	"	.rept 16\n"
	"	.irp kind, 0, 1, 2, 3, 4, 5\n"
	"	name \\kind, %place\n"
	"	.endr\n"
	"	.set place, place + 1\n"
	"	.endr\n"
	"	.noaltmacro\n"
	"	.text\n");
extern long (*const w_all[PLACES][KINDS])(long) __attribute__((visibility("hidden")));

static long expected(int kind, long x)
{
	switch (kind) {
	case 0:
		return x * 9;
	case 3:
		return (int) (x + 1) * 11L + x;
	default:
		return x * 7 + 1;
	}
}

__attribute__((noipa)) static void w_round(long x)
{
	for (int place = 0; place < PLACES; place++)
		for (int kind = 0; kind < KINDS; kind++)
			if (w_all[place][kind](x) != expected(kind, x))
				__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static long rounds;

static void *work(void *arg)
{
	for (long x = (long) arg, n = 0; rounds ? n < rounds : !stop; x = (x + 1) & 0xfffff, n++)
		w_round(x);
	return NULL;
}

static void on_term(int number)
{
	(void) number;
	stop = 1;
}

static void on_prof(int number)
{
	(void) number;
	for (volatile int i = 0; i < 50; i++)
		;
	__atomic_fetch_add(&storms, 1, __ATOMIC_RELAXED);
}

static void storm(long us)
{
	struct itimerspec interval = { { 0, us * 1000 }, { 0, us * 1000 } };
	struct sigaction action = { .sa_handler = on_prof, .sa_flags = SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF };
	timer_t timer;

	if (!us)
		return;
	sigaction(SIGPROF, &action, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &interval, NULL);
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread[16];

	rounds = argc > 3 ? atol(argv[3]) : 0;
	signal(SIGTERM, on_term);
	for (long i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, (void *) (i * 1003));
	puts("ready");
	fflush(stdout);
	storm(argc > 2 ? atol(argv[2]) : 0);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	printf("wrong %lu\n", wrong);
	return wrong ? 1 : 0;
}
