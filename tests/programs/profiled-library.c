/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* A library, and with -DPROGRAM the program that uses it: calls within the library, and into it. */
#include <stdio.h>
#include <stdlib.h>

#define KEPT __attribute__((noinline, noipa))

int library_sum(int n);

#ifdef PROGRAM

KEPT int outer(int n)
{
	return library_sum(n);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10, sum = 0;

	for (int i = 0; i < n; i++)
		sum += outer(i);
	printf("%d\n", sum);
	return 0;
}

#else

static KEPT int inner(int x)
{
	return x * x;
}

static KEPT int middle(int x)
{
	return x % 2 ? inner(x) : inner(x) + inner(x + 1);
}

KEPT int library_sum(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += middle(i);
	return sum;
}

#endif
