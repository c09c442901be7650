/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Threads that the program makes by the system call itself: raw-threads WAY [ROUNDS]
 *	zero, filled	with thread-local memory of their own, which is zero below fs, or is not; both threads run
 *	mixed		the same two by turns, and a thread of libc's beside them
 *	shared		with their maker's thread-local memory; it waits for them, and calls nothing meanwhile
 * Both sides call r_leaf(). Prints what came of it. ROUNDS 0: until SIGTERM, after a line `ready`.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FN	__attribute__((noipa))
#define STACK	65536
#define WORDS	2048
#define TCB	1920

static uint64_t blocks[2][WORDS];	/* [TCB]: where fs leads */
static volatile int tid, over;
static volatile uint64_t child_sum;

FN static uint64_t r_leaf(uint64_t a)
{
	return a * 7 + 1;
}

FN static uint64_t r_work(uint64_t n)
{
	uint64_t sum = n;

	for (int i = 0; i < 40; i++)
		sum += r_leaf(sum ^ (uint64_t) i);
	return sum;
}

/* Nothing of libc's is called there. */
FN static void r_child(uint64_t n)
{
	child_sum = r_work(n);
}

/*
 * clone() in the program's own code; the child calls function(n) on its stack, and ends. Where it has no thread-local
 * memory of its own, this waits for that.
 */
FN static long raw_clone(uint64_t flags, void *stack, volatile int *child_tid, void *tls, void (*function)(uint64_t), uint64_t n)
{
	register uint64_t r10 __asm__("r10") = (uint64_t) child_tid;
	register uint64_t r8 __asm__("r8") = (uint64_t) tls;
	register uint64_t r12 __asm__("r12") = (uint64_t) function;
	register uint64_t r13 __asm__("r13") = n;
	long r;

	__asm__ __volatile__(
		"syscall\n"
		"	test %%rax, %%rax\n"
		"	jnz 1f\n"
		"	xor %%ebp, %%ebp\n"
		"	mov %%r13, %%rdi\n"
		"	call *%%r12\n"
		"	mov $60, %%eax\n"
		"	xor %%edi, %%edi\n"
		"	syscall\n"
		"1:	test $0x80000, %%edi\n"	/* CLONE_SETTLS */
		"	jnz 3f\n"
		"2:	pause\n"
		"	cmpl $0, (%%r10)\n"
		"	jne 2b\n"
		"3:"
		: "=a"(r)
		: "0"((long) SYS_clone), "D"(flags), "S"(stack), "d"(child_tid), "r"(r10), "r"(r8), "r"(r12), "r"(r13)
		: "rcx", "r11", "memory", "cc");
	return r;
}

/* Until the kernel says that it has ended. No function is called. */
FN static void child_wait(void)
{
	while (__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
}

/* 1: as it should be. */
FN static int round_run(const char *way, uint64_t n, char *stack)
{
	uint64_t flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID |
		CLONE_PARENT_SETTID, mine, *block = blocks[way[0] == 'm' ? n & 1 : way[0] == 'f'];
	int is_shared = way[0] == 's';

	tid = 1;
	if (raw_clone(flags | (is_shared ? 0 : CLONE_SETTLS), stack + STACK - 64, &tid, &block[TCB], r_child, n) < 0)
		return 0;
	mine = r_work(n);
	child_wait();
	return mine == child_sum;
}

static void end(int number)
{
	(void) number;
	over = 1;
}

static void *beside(void *sum)
{
	for (uint64_t n = 0; !over; n++)
		*(uint64_t *) sum += r_work(n);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "zero";
	int rounds = argc > 2 ? atoi(argv[2]) : 20, good = 0, done = 0;
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t sum = 0;
	pthread_t thread;

	for (int i = 0; i < WORDS; i++)
		blocks[1][i] = i < TCB ? 0x0101010101010101u * (uint64_t) (i % 251) : 0;
	for (int b = 0; b < 2; b++)
		blocks[b][TCB] = blocks[b][TCB + 2] = (uint64_t) &blocks[b][TCB];
	signal(SIGTERM, end);
	if (way[0] == 'm' && pthread_create(&thread, NULL, beside, &sum))
		return 2;
	puts("ready");
	fflush(stdout);
	for (; rounds ? done < rounds : !over; done++)
		good += round_run(way, (uint64_t) done, stack);
	over = 1;
	if (way[0] == 'm')
		pthread_join(thread, NULL);
	printf("%s: %s\n", way, good == done ? "as it should be" : "wrong");
	return good != done;
}
