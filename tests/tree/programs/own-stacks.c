/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Stacks within the thread's own and beside it, by mode:
 *   contexts N       two coroutines on variables of main(), as the example of makecontext(3) has them, N switches
 *   handlers N       N calls that are left by longjmp(), as are calls that a handler makes, 20 000 times a second
 *   alternate N      likewise, the handler on a stack of its own
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

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

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 1000;

	if (argc > 1 && !strcmp(argv[1], "contexts"))
		by_contexts(n);
	else
		by_handlers(n, argc > 1 && !strcmp(argv[1], "alternate"));
	printf("%lx\n", sum);
	return 0;
}
