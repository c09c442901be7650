/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A program whose calls are known:
 *
 *   tree-program N          top(N), once; prints its result
 *   tree-program N wait     "ready", then top(N) for each line of input, answered with a line
 *
 * top(N) calls middle() and branch() N times each; middle() calls leaf() twice,
 * branch() once. So one top(N) is 1 + 5 N calls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noipa)) int leaf(int x)
{
	return x + 1;
}

__attribute__((noipa)) int middle(int x)
{
	return leaf(x) + leaf(x + 1);
}

__attribute__((noipa)) int branch(int x)
{
	return leaf(x) * 2;
}

__attribute__((noipa)) int top(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += middle(i) + branch(i);
	return sum;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	char line[64];

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 2 && !strcmp(argv[2], "wait")) {
		puts("ready");
		while (fgets(line, sizeof(line), stdin))
			printf("%d\n", top(n) + 1);
		return 0;
	}
	printf("%d\n", top(n) + 1);
	return 3;
}
