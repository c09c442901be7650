/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * fault [HOW] - calls, and then a fault below seven of them; `handled`: in a program that wants to go on after it;
 * `trap`: an instruction that there is not (SIGILL); `divide`: SIGFPE.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static sigjmp_buf back;
static void (*end)(void);
static volatile int zero;

static void handler(int number)
{
	(void) number;
	siglongjmp(back, 1);
}

__attribute__((noinline)) static int leaf(volatile int *p)
{
	if (end)
		end();
	return *p;
}

static void trap(void)
{
	__builtin_trap();
}

static void divide(void)
{
	zero = 100 / zero;
}

__attribute__((noinline)) static int level(volatile int *p, int n)
{
	return (n ? level(p, n - 1) : leaf(p)) + 1;
}

int main(int argc, char **argv)
{
	int good = 1, sum = 0;

	for (int i = 0; i < 10; i++)
		sum += level(&good, 5);
	printf("%d\n", sum);
	fflush(stdout);
	if (argc > 1 && !strcmp(argv[1], "handled")) {
		signal(SIGSEGV, handler);
		if (sigsetjmp(back, 1)) {
			puts("handled");
			return 0;
		}
	}
	if (argc > 1 && !strcmp(argv[1], "trap"))
		end = trap;
	else if (argc > 1 && !strcmp(argv[1], "divide"))
		end = divide;
	return level((volatile int *) 8, 5);
}
