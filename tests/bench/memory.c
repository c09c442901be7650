/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* memory PAIRS - prints the ns that malloc() and free() of one block take together, ten calls below main(). */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void *volatile kept;

__attribute__((noipa)) static void pairs(long n, int depth)
{
	if (depth) {
		pairs(n, depth - 1);
		__asm__("");
		return;
	}
	for (long i = 0; i < n; i++) {
		kept = malloc(64 + (size_t) (i & 63));
		free(kept);
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

int main(int argc, char **argv)
{
	const long n = argc > 1 ? atol(argv[1]) : 100000;
	double begin;

	pairs(1000, 10);
	begin = now();
	pairs(n, 10);
	printf("%.1f\n", (now() - begin) / (double) n);
	return 0;
}
