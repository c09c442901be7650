/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* 129 calls a round of nine functions, for views.py; argv[1]: rounds. Built with -pg for uftrace. */
#include <stdio.h>
#include <stdlib.h>

#define KEPT __attribute__((noinline, noipa))

KEPT int f1(int a) { return a; }
KEPT int f2(int a) { return f1(a) + 1; }
KEPT int f3(int a) { return f2(a) + f1(a); }
KEPT int f4(int a) { return f3(a) ^ f2(a); }
KEPT int f5(int a) { return f4(a) + f3(a); }
KEPT int go(int a)
{
	int sum = 0;

	for (int i = 0; i < 8; i++)
		sum += f5(a + i) + f3(i);
	return sum;
}

int main(int argc, char **argv)
{
	int sum = 0;

	for (int i = 0; i < atoi(argv[1]); i++)
		sum += go(i);
	printf("%d\n", sum);
	return 0;
}
