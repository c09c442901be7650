/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Ways out of calls that are no returns, and ways in that are no calls: ways MODE.
 *   longjmp     over 20 frames, again and again; out of a comparator; siglongjmp out of a handler
 *   nested      longjmp over calls, then over those that these were made in
 *   own         a setjmp() that is nobody's, as Free Pascal's is: six registers are saved before the return address
 *   exit        exit() 30 calls deep, with atexit() handlers
 *   _exit       _exit() 30 calls deep
 *   abort       ends by a signal
 *   signals     handlers, one on a stack of its own, one in another
 *   contexts    coroutines that swapcontext() in the middle of calls
 *   fork        children that return from main(), that _exit(), that execute this program
 *   storm       a timer of 20 kHz whose handler calls, over calls
 */
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define FN __attribute__((noipa))

static unsigned long sum;
static jmp_buf env;
static sigjmp_buf signal_env;

static FN void note(unsigned long v)
{
	sum = sum * 31 + v;
}

static FN void print(void)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "%lx\n", sum);

	if (write(1, text, n) != n)
		_exit(99);
}

static FN void jump(int depth, int value)
{
	if (!depth)
		longjmp(env, value);
	jump(depth - 1, value);
	note(1);
}

static FN int jumps(const void *a, const void *b)
{
	if (*(const int *) a == 13 || *(const int *) b == 13)
		longjmp(env, 13);
	return *(const int *) a - *(const int *) b;
}

static FN void jumping_handler(int signal)
{
	note((unsigned) signal);
	siglongjmp(signal_env, 5);
}

static FN void raise_deep(int depth)
{
	if (depth)
		raise_deep(depth - 1);
	else
		raise(SIGUSR1);
	note(2);
}

static jmp_buf inner_env;

static FN void inner_jump(int depth)
{
	if (!depth)
		longjmp(inner_env, 1);
	inner_jump(depth - 1);
	note(1);
}

static FN void outer_jump(int depth, int inner)
{
	if (depth) {
		outer_jump(depth - 1, inner);
		note(1);
		return;
	}
	for (volatile int i = 0; i < 3; i++) {
		if (!setjmp(inner_env))
			inner_jump(inner);
		if (i)
			note(2);
	}
	longjmp(env, 1);
}

static FN int by_nested(void)
{
	volatile int i;

	for (i = 0; i < 2000; i++) {
		if (!setjmp(env))
			outer_jump(i % 7, i % 5);
		note((unsigned long) i);
	}
	print();
	return 3;
}

extern int own_setjmp(long *) __attribute__((returns_twice));
extern void own_longjmp(long *) __attribute__((noreturn));
__asm__(".pushsection .text\n"
	".type own_setjmp, @function\n"
	"own_setjmp: mov %rbx, (%rdi); mov %rbp, 8(%rdi); mov %r12, 16(%rdi); mov %r13, 24(%rdi)\n"
	"mov %r14, 32(%rdi); mov %r15, 40(%rdi); lea 8(%rsp), %rax; mov %rax, 48(%rdi)\n"
	"mov (%rsp), %rax; mov %rax, 56(%rdi); xor %eax, %eax; ret\n"
	".size own_setjmp, . - own_setjmp\n"
	".type own_longjmp, @function\n"
	"own_longjmp: mov (%rdi), %rbx; mov 8(%rdi), %rbp; mov 16(%rdi), %r12; mov 24(%rdi), %r13\n"
	"mov 32(%rdi), %r14; mov 40(%rdi), %r15; mov 48(%rdi), %rsp; mov $1, %eax; jmp *56(%rdi)\n"
	".size own_longjmp, . - own_longjmp\n"
	".popsection");
static long own[8];

static FN void own_jump(int depth)
{
	if (!depth)
		own_longjmp(own);
	own_jump(depth - 1);
	note(1);
}

static FN int by_own(void)
{
	volatile int i;

	for (i = 0; i < 100; i++) {
		note((unsigned long) i);
		if (own_setjmp(own))
			note(7);
		else
			own_jump(i % 9);
	}
	print();
	return 3;
}

static FN int by_longjmp(void)
{
	for (int i = 1; i < 40; i++) {
		int got = setjmp(env);

		if (got) {
			note((unsigned) got);
			continue;
		}
		jump(20, i);
	}
	for (volatile int i = 0; i < 5; i++) {
		int all[] = { 4, 2, 13, 1 };

		if (setjmp(env))
			note(14);
		else
			qsort(all, 4, sizeof(int), jumps);
	}
	signal(SIGUSR1, jumping_handler);
	for (volatile int i = 0; i < 5; i++) {
		if (sigsetjmp(signal_env, 1))
			note(15);
		else
			raise_deep(10);
	}
	print();
	return 4;
}

static FN void first_handler(void)
{
	note(21);
}

static FN void second_handler(void)
{
	note(22);
	print();
}

static FN void ends_in(int depth, void (*how)(int), int status)
{
	if (depth)
		ends_in(depth - 1, how, status);
	else
		how(status);
	note(3);
}

static FN int by_exit(void)
{
	atexit(second_handler);
	atexit(first_handler);
	ends_in(30, exit, 7);
	return 0;
}

static FN int leaf(int a)
{
	return a + 1;
}

static FN void handler(int signal)
{
	note((unsigned) leaf(signal));
	if (signal == SIGUSR1)
		raise(SIGUSR2);
	note((unsigned) leaf(2));
}

static FN void info_handler(int signal, siginfo_t *info, void *context)
{
	note((unsigned) leaf(signal) + (info != NULL) + (context != NULL));
}

static FN int by_signals(void)
{
	static char other[64 << 10];
	stack_t stack = { .ss_sp = other, .ss_size = sizeof(other) };
	struct sigaction action = { .sa_handler = handler };

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	action.sa_sigaction = info_handler;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigaction(SIGALRM, &action, NULL);
	for (int i = 0; i < 20; i++) {
		raise(SIGUSR1);
		raise(SIGALRM);
		note((unsigned) leaf(i));
	}
	print();
	return 6;
}

static ucontext_t here, there[2];

static FN void step(int which, int depth)
{
	if (depth) {
		step(which, depth - 1);
		note((unsigned) (which + depth));
		swapcontext(&there[which], &there[!which]);
		return;
	}
	note(40);
}

static FN void coroutine(int which)
{
	step(which, 20);
	swapcontext(&there[which], &here);
}

static FN int by_contexts(void)
{
	static char stacks[2][128 << 10];

	for (int i = 0; i < 2; i++) {
		getcontext(&there[i]);
		there[i].uc_stack.ss_sp = stacks[i];
		there[i].uc_stack.ss_size = sizeof(stacks[i]);
		there[i].uc_link = &here;
		makecontext(&there[i], (void (*)(void)) coroutine, 1, i);
	}
	swapcontext(&here, &there[0]);
	print();
	return 5;
}

static FN int waits(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0)
		;
	return WEXITSTATUS(status);
}

static FN int child_calls(int depth)
{
	return depth ? child_calls(depth - 1) + 1 : leaf(0);
}

static FN int by_fork(char **argv)
{
	pid_t pid = fork();

	if (!pid)
		return child_calls(5); /* through main() */
	note((unsigned) waits(pid));
	pid = fork();
	if (!pid) {
		child_calls(3);
		_exit(child_calls(4));
	}
	note((unsigned) waits(pid));
	pid = fork();
	if (!pid) {
		execl(argv[0], argv[0], "signals", NULL);
		_exit(99);
	}
	note((unsigned) waits(pid));
	pid = vfork();
	if (!pid) {
		execl("/bin/true", "true", NULL);
		_exit(98);
	}
	note((unsigned) waits(pid));
	note((unsigned) (system("exit 11") >> 8));
	print();
	return 8;
}

static atomic_ulong ticks;

static FN void tick(int signal)
{
	ticks += (unsigned long) leaf(signal - signal);
}

static FN int busy(int n)
{
	return n ? leaf(busy(n - 1)) : 0;
}

static FN int by_storm(int milliseconds)
{
	struct itimerspec every = { { 0, 50000 }, { 0, 50000 } };
	struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	struct timespec t;
	timer_t timer;
	double end;

	sigaction(SIGALRM, &action, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	clock_gettime(CLOCK_MONOTONIC, &t);
	end = (double) t.tv_sec + (double) t.tv_nsec / 1e9 + milliseconds / 1e3;
	timer_settime(timer, 0, &every, NULL);
	do {
		if (busy(50) != 50)
			return 1;
		clock_gettime(CLOCK_MONOTONIC, &t);
	} while ((double) t.tv_sec + (double) t.tv_nsec / 1e9 < end);
	timer_delete(timer);
	note(ticks > 20);
	print();
	return 9;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "longjmp";

	if (!strcmp(mode, "longjmp"))
		return by_longjmp();
	if (!strcmp(mode, "nested"))
		return by_nested();
	if (!strcmp(mode, "own"))
		return by_own();
	if (!strcmp(mode, "exit"))
		return by_exit();
	if (!strcmp(mode, "_exit"))
		ends_in(30, _exit, 12);
	if (!strcmp(mode, "abort"))
		ends_in(30, (void (*)(int)) abort, 0);
	if (!strcmp(mode, "signals"))
		return by_signals();
	if (!strcmp(mode, "contexts"))
		return by_contexts();
	if (!strcmp(mode, "fork"))
		return by_fork(argv);
	if (!strcmp(mode, "storm"))
		return by_storm(argc > 2 ? atoi(argv[2]) : 1000);
	return 99;
}
