/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Stacks within the thread's own and beside it, by mode:
 *   contexts N       two coroutines on variables of main(), as the example of makecontext(3) has them, N switches
 *   handlers N       N calls that are left by longjmp(), as are calls that a handler makes, 20 000 times a second
 *   alternate N      likewise, the handler on a stack of its own
 *   made N           two coroutines on stacks that were made by sigaltstack() and a signal, the last of which stays so
 *   small N          likewise, on stacks of 12 KB
 *   out N            calls that handlers, 20 000 times a second, leave by siglongjmp() to who began them, N times
 *   beside N         likewise, the handlers on a stack of their own
 *   exit N, _exit N  a handler ends the program after N microseconds, status 5
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#define FN __attribute__((noipa))

static ucontext_t first, contexts[2];
static unsigned long sum;
static int turns;

static FN void change(int from, int to)
{
	sum = sum * 31 + (unsigned long) from;
	swapcontext(&contexts[from], &contexts[to]);
}

static FN void step(int from, int to, int depth)
{
	if (depth) {
		step(from, to, depth - 1);
		sum++;
		return;
	}
	change(from, to);
}

static FN void run(int from, int to)
{
	for (int i = 0; i < turns; i++)
		step(from, to, i % 4 + from);
	sum += 77;
}

static FN void start(int k)
{
	swapcontext(&first, &contexts[k]);
	sum += 5;
}

static FN void by_contexts(int n)
{
	char stacks[2][65536];

	run(0, 1);		/* called, so that it is in the tree */
	turns = n;
	for (int k = 0; k < 2; k++) {
		getcontext(&contexts[k]);
		contexts[k].uc_stack.ss_sp = stacks[k];
		contexts[k].uc_stack.ss_size = sizeof(stacks[k]);
		contexts[k].uc_link = &first;
		makecontext(&contexts[k], (void (*)(void)) run, 2, k, !k);
	}
	start(0);
	start(1);
}

static volatile unsigned long handled;

static FN void deep(int n, jmp_buf *to)
{
	if (!n)
		longjmp(*to, 1);
	deep(n - 1, to);
	sum++;
}

static FN int leaves(int n, jmp_buf *to)
{
	if (setjmp(*to) == 0) {
		deep(n, to);
		return 0;
	}
	return 1;
}

static FN int leaf(int n)
{
	return n ? leaf(n - 1) + 1 : 0;
}

static FN void handler(int number)
{
	jmp_buf end;

	(void) number;
	handled += (unsigned long) leaves((int) (handled % 5), &end);
	handled += (unsigned long) leaf(3);
	leaves(3, &end);
}

static FN void by_handlers(int n, int is_alternate)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = is_alternate ? SA_ONSTACK : 0 };
	struct itimerval every = { { 0, 50 }, { 0, 50 } };
	stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };
	jmp_buf to;

	if (is_alternate)
		sigaltstack(&stack, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < n; i++) {
		sum += (unsigned long) leaves(i % 8, &to);
		sum += (unsigned long) leaf(i % 5);
	}
	memset(&every, 0, sizeof(every));
	setitimer(ITIMER_REAL, &every, NULL);
	fprintf(stderr, "%lu\n", handled);
}

static sigjmp_buf begin[2], back;
static jmp_buf waits[2], maker;
static int making;
static char *made_stacks[2];

static FN void made_step(int k, int depth)
{
	if (depth) {
		made_step(k, depth - 1);
		sum = sum * 31 + (unsigned long) depth;
		return;
	}
	if (setjmp(waits[k]) == 0)
		longjmp(maker, 1);
}

static FN void made_run(int k)
{
	for (int i = 0; i < turns; i++)
		made_step(k, (i + k) % 5);
}

static FN void made_begin(void)
{
	volatile int k = making;

	made_run(k);
	for (;;)
		if (setjmp(waits[k]) == 0)
			longjmp(maker, 1);
}

/* It has returned when it is entered again: of its frame nothing is used then, as GNU Pth has it. */
static void made(int number)
{
	(void) number;
	if (sigsetjmp(begin[making], 0) == 0)
		return;
	made_begin();
}

static FN void by_made(int n, size_t size)
{
	struct sigaction action = { .sa_handler = made, .sa_flags = SA_ONSTACK };
	volatile int k, i;

	made_run(n < 0);	/* called, so that it is in the tree */
	turns = n;
	sigaction(SIGUSR1, &action, NULL);
	for (k = 0; k < 2; k++) {
		stack_t stack = { .ss_sp = made_stacks[k] = malloc(size), .ss_size = size };

		making = k;
		sigaltstack(&stack, NULL);
		raise(SIGUSR1);
		if (setjmp(maker) == 0)
			siglongjmp(begin[k], 1);
	}
	for (i = 0; i < 2 * n; i++)
		if (setjmp(maker) == 0)
			longjmp(waits[i % 2], 1);
		else
			sum += (unsigned long) leaf(i % 4);
}

static volatile sig_atomic_t is_inside;

static void leaves_out(int number)
{
	(void) number;
	if (!is_inside)
		return;
	is_inside = 0;		/* siglongjmp() lets the next signal in before it has left */
	siglongjmp(back, 1);
}

static FN int busy(int n)
{
	int all = 0;

	for (int i = 0; i < n; i++)
		all += leaf(i % 7);
	return all;
}

static FN void by_out(int n, int is_alternate)
{
	struct sigaction action = { .sa_handler = leaves_out, .sa_flags = is_alternate ? SA_ONSTACK : 0 };
	struct itimerval every = { { 0, 50 }, { 0, 50 } };
	stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };
	volatile int done = 0;

	if (is_alternate)
		sigaltstack(&stack, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (done < n) {
		if (sigsetjmp(back, 1)) {
			done++;
			continue;
		}
		is_inside = 1;
		for (;;)
			busy(1000);
	}
	memset(&every, 0, sizeof(every));
	setitimer(ITIMER_REAL, &every, NULL);
	sum = (unsigned long) done;
}

static void (*ends)(int status);

static void ends_here(int number)
{
	(void) number;
	ends(5);
}

static FN void by_end(int us)
{
	struct sigaction action = { .sa_handler = ends_here };
	struct itimerval once = { { 0, 0 }, { 0, us } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &once, NULL);
	for (;;)
		busy(1000);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 1000;

	if (argc > 1 && !strcmp(argv[1], "contexts"))
		by_contexts(n);
	else if (argc > 1 && !strcmp(argv[1], "made"))
		by_made(n, 131072);
	else if (argc > 1 && !strcmp(argv[1], "small"))
		by_made(n, 12288);
	else if (argc > 1 && (!strcmp(argv[1], "out") || !strcmp(argv[1], "beside")))
		by_out(n, argv[1][0] == 'b');
	else if (argc > 1 && (!strcmp(argv[1], "exit") || !strcmp(argv[1], "_exit"))) {
		ends = argv[1][0] == '_' ? _exit : exit;
		by_end(n);
	} else
		by_handlers(n, argc > 1 && !strcmp(argv[1], "alternate"));
	printf("%lx\n", sum);
	return 0;
}
