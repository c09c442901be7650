/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A program that puts its tracer far behind by calling thousands of functions once (fill(), which the test makes), and calls one of a
 * nanosecond then. It gives up after 2 s of CPU time.
 */
#include <stdio.h>
#include <time.h>

#define CALLS	50000000

void fill(void);

static volatile int zero;

__attribute__((noinline, noclone)) static int hot(int a) { __asm__ volatile(""); return a + zero; }

static double cpu(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double) ts.tv_sec + (double) ts.tv_nsec / 1e9;
}

int main(void)
{
	double begin;
	int i, sum = 0;

	fill();
	begin = cpu();
	for (i = 0; i < CALLS && ((i & 0xffff) || cpu() - begin < 2); i++)
		sum += hot(i);
	puts(i < CALLS ? "too slow" : "as fast as ever");
	return sum == 1;
}
