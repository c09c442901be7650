/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Calls of each kind in one function, mixed(): direct, of a library, by a pointer, and as a jump at its end. */
#include <stdio.h>

#define KEPT __attribute__((noinline, noipa))

KEPT int first(int x)
{
	return x + 1;
}

KEPT int second(int x)
{
	return x + 2;
}

KEPT int pointed(int x)
{
	return x + 3;
}

KEPT int last(int x)
{
	return x + 4;
}

int (*volatile pointer)(int) = pointed;

int outside(int x);	/* of a library */

KEPT int mixed(int x)
{
	x = first(x);
	x = second(x);
	x = outside(x);
	x = pointer(x);
	return last(x);
}

KEPT int apart(int x)
{
	return first(x) + second(x);
}

int main(int argc, char **argv)
{
	char line[16];
	int x = mixed(argc);

	if (argc > 1 && argv[1][0] == 'w') {
		puts("ready");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return 1;
	}
	printf("%d\n", apart(x) - 2 * x);
	return 0;
}
