/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The test program `target`: computing, with every register checked; on stacks of
 * all kinds, and with signals.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "target.h"

/* One round with values in all vector registers, rsp-relative memory below rsp (the red zone), and the general ones. */
static int registers_hold(uint64_t seed)
{
	uint64_t in[4] = { seed, ~seed, seed * 3, seed ^ 0x5555 }, bad = 0;
	uint32_t mxcsr = 0x3f80, after = 0;

	__asm__ volatile(
		"ldmxcsr %[mxcsr]\n"
		"mov %[seed], -8(%%rsp)\n mov %[seed], -120(%%rsp)\n"
		"mov %[seed], %%r8\n mov %[seed], %%r9\n mov %[seed], %%r10\n mov %[seed], %%r11\n"
		"mov %[seed], %%r12\n mov %[seed], %%r13\n mov %[seed], %%r14\n mov %[seed], %%r15\n"
		"vmovdqu (%[in]), %%ymm0\n vmovdqu (%[in]), %%ymm7\n"
		"vmovdqu (%[in]), %%ymm8\n vmovdqu (%[in]), %%ymm15\n"
		"fldpi\n"
		"mov $20000, %%rcx\n"
		"1: dec %%rcx\n jnz 1b\n"
		"fldpi\n fcomip %%st(1), %%st\n fstp %%st(0)\n setne %%cl\n movzbl %%cl, %%ecx\n or %%rcx, %[bad]\n"
		"cmp %[seed], -8(%%rsp)\n setne %%cl\n or %%rcx, %[bad]\n"
		"cmp %[seed], -120(%%rsp)\n setne %%cl\n or %%rcx, %[bad]\n"
		"xor %[seed], %%r8\n or %%r8, %[bad]\n xor %[seed], %%r9\n or %%r9, %[bad]\n"
		"xor %[seed], %%r10\n or %%r10, %[bad]\n xor %[seed], %%r11\n or %%r11, %[bad]\n"
		"xor %[seed], %%r12\n or %%r12, %[bad]\n xor %[seed], %%r13\n or %%r13, %[bad]\n"
		"xor %[seed], %%r14\n or %%r14, %[bad]\n xor %[seed], %%r15\n or %%r15, %[bad]\n"
		"vpxor %%xmm1, %%xmm1, %%xmm1\n"
		"vmovdqu (%[in]), %%ymm2\n vxorps %%ymm2, %%ymm0, %%ymm3\n vorps %%ymm3, %%ymm1, %%ymm1\n"
		"vxorps %%ymm2, %%ymm7, %%ymm3\n vorps %%ymm3, %%ymm1, %%ymm1\n"
		"vxorps %%ymm2, %%ymm8, %%ymm3\n vorps %%ymm3, %%ymm1, %%ymm1\n"
		"vxorps %%ymm2, %%ymm15, %%ymm3\n vorps %%ymm3, %%ymm1, %%ymm1\n"
		"vptest %%ymm1, %%ymm1\n setnz %%cl\n movzbl %%cl, %%ecx\n or %%rcx, %[bad]\n"
		"stmxcsr %[after]\n vzeroupper\n"
		: [bad] "+r" (bad), [after] "+m" (after)
		: [seed] "r" (seed), [in] "r" (in), [mxcsr] "m" (mxcsr)
		: "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0", "xmm1", "xmm2",
		  "xmm3", "xmm7", "xmm8", "xmm15");
	return bad || (after & ~0x3fu) != (mxcsr & ~0x3fu);
}

const char *compute(void)
{
	errno = 42;
	for (uint64_t seed = 1; !stop; seed += 0x123456789) {
		if (registers_hold(seed))
			return "registers";
		if (errno != 42)
			return "errno";
		if (poll_myself)
			poll_stdin();
	}
	return NULL;
}

/* ---- odd stacks ---- */

static ucontext_t main_context, coroutine;
static const char *verdict;

static void coroutine_body(void)
{
	verdict = compute();
}

/* 12 KB from malloc, with a wall of known bytes below it. */
const char *compute_on_coroutine(void)
{
	const size_t size = 12288;
	uint8_t *memory = malloc(65536 + size);

	memset(memory, 0xa5, 65536);
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = memory + 65536;
	coroutine.uc_stack.ss_size = size;
	coroutine.uc_link = &main_context;
	makecontext(&coroutine, coroutine_body, 0);
	swapcontext(&main_context, &coroutine);
	for (int i = 0; i < 65536; i++)
		if (memory[i] != 0xa5)
			return "memory below the coroutine's stack";
	return verdict;
}

static int full_pipe[2];

static void *compute_thread(void *unused)
{
	char drain[4096];
	const char *wrong = compute();

	while (read(full_pipe[0], drain, sizeof(drain)) == sizeof(drain))
		;
	return (void *) wrong;
}

/* The main thread is not to be had: it is in the middle of a long write. */
const char *compute_on_small_stack(void)
{
	static char much[200 * 1024 + 1];
	pthread_attr_t attributes;
	pthread_t thread;
	void *what;

	poll_myself = 1;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 16384);
	if (pipe(full_pipe) || pthread_create(&thread, &attributes, compute_thread, NULL))
		return "thread";
	if (write(full_pipe[1], much, sizeof(much)) != sizeof(much))
		return "short write";
	pthread_join(thread, &what);
	return what;
}

static void handler(int sig)
{
	verdict = compute();
}

const char *compute_in_handler(void)
{
	static char stack[16384];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
	sigaltstack(NULL, &alternate);
	return alternate.ss_sp == stack && alternate.ss_size == sizeof(stack) ? verdict : "sigaltstack";
}

static const char *recurse(int depth)
{
	volatile char pad[64];

	pad[0] = depth;
	if (depth)
		return recurse(depth - 1) ? "recursion" : pad[0] == (char) depth ? NULL : "stack";
	return compute();
}

const char *compute_deep(void)
{
	return recurse(20000);
}

/* ---- signals ---- */

const char *signals_kept(int how)
{
	struct sigaction before[32], after;
	sigset_t mask, mask_after;
	const char *wrong;

	sigfillset(&mask);
	if (how == 'i')
		for (int sig = 1; sig < 32; sig++)
			signal(sig, SIG_IGN);
	if (how == 'b')
		sigprocmask(SIG_SETMASK, &mask, NULL);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int sig = 1; sig < 32; sig++)
		sigaction(sig, NULL, &before[sig]);
	wrong = compute();
	sigprocmask(SIG_SETMASK, NULL, &mask_after);
	if (memcmp(&mask, &mask_after, 8))
		return "signal mask";
	for (int sig = 1; sig < 32; sig++) {
		sigaction(sig, NULL, &after);
		if (after.sa_handler != before[sig].sa_handler)
			return "signal action";
	}
	return wrong;
}

/* A timer signal every millisecond: none may be lost for good, none may disturb. */
const char *compute_under_timer(void)
{
	struct itimerspec often = { { 0, 1000000 }, { 0, 1000000 } };
	struct sigaction action = { .sa_handler = count_signal, .sa_flags = SA_RESTART };
	timer_t timer;
	const char *wrong;
	int had;

	sigaction(SIGALRM, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, NULL, &timer) || timer_settime(timer, 0, &often, NULL))
		return "timer";
	wrong = compute();
	had = signals;
	for (double until = now_ms() + 500; signals < had + 20 && now_ms() < until;)
		;
	return wrong ? wrong : signals < had + 20 ? "no more signals" : NULL;
}

/* ---- faults that are handled ---- */

extern const char after_trap[], at_illegal[];
static volatile unsigned long faults_seen, faults_strange;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	greg_t *ip = &((ucontext_t *) context)->uc_mcontext.gregs[REG_RIP];

	faults_seen++;
	if (info->si_code <= 0 || *ip != (greg_t) (sig == SIGTRAP ? after_trap : at_illegal))
		faults_strange++;
	else if (sig == SIGILL)
		*ip += 2;
}

/* Breakpoints and illegal instructions of its own, all the time: each is to reach its handler, where it was. */
const char *compute_with_faults(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	unsigned long rounds = 0;

	poll_myself = 1;
	sigaction(SIGTRAP, &action, NULL);
	sigaction(SIGILL, &action, NULL);
	for (; !stop && !faults_strange; rounds++) {
		__asm__ volatile("int3\n.globl after_trap\nafter_trap:\n" : : : "memory");
		__asm__ volatile(".globl at_illegal\nat_illegal:\nud2" : : : "memory");
		free(malloc(rounds % 1000));
		if (rounds % 64 == 0)
			poll_stdin();
	}
	return faults_strange ? "a fault elsewhere" : faults_seen != 2 * rounds ? "faults lost" : NULL;
}
