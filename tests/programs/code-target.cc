// SPDX-License-Identifier: LGPL-2.1-only
// SPDX-FileCopyrightText: 2026 the lttng-spi authors
// code-target - overloaded functions, and calls of each kind: direct, through a register, a variable, the linkage
// table, a tail call.
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noipa))

namespace shapes {
NOINLINE int area(int side) { return side * side; }
NOINLINE int area(int a, int b) { return a * b; }
}

static NOINLINE int one(int n) { return n + 1; }
static NOINLINE int two(int n) { return n + 2; }
static int (*variable)(int);

static NOINLINE int by_register(int (*f)(int), int n) { return f(n) + 1; }
static NOINLINE int by_variable(int n) { return variable(n) + 1; }
static NOINLINE int by_tail(int n) { return one(n * 3); }

// The branches and the loop that tests compare with a disassembly.
extern "C" NOINLINE int branches(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		if (i % 3 == 0)
			sum += one(i);
		else
			sum -= two(i);
	}
	return sum;
}

int main(int argc, char **argv)
{
	int sum = shapes::area(argc) + shapes::area(argc, 3);

	if (argc > 1 && read(0, argv[1], 1) < 0)
		return 1;
	for (int i = 0; i < 4; i++) {
		variable = i % 2 ? one : two;
		sum += by_register(variable, i) + by_variable(i) + by_tail(i);
	}
	sum += branches(4) + (int) labs(-argc);
	std::printf("%d\n", sum);
	return 0;
}
