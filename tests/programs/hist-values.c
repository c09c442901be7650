/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Calls with values that are printed, so that a histogram of them can be compared. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define KEPT __attribute__((noinline, noipa))

struct pair {
	long first;
	int second;
};

static volatile int sink;

KEPT long mixed(int number, unsigned char small, double real, struct pair pair, long fourth, long fifth, long sixth,
	short seventh)
{
	sink = (int) (pair.first + fourth + fifth + sixth);
	return number * 1000000l - small + (long) real + pair.second + seventh;
}

KEPT int down(int depth)
{
	sink = depth;
	return depth ? down(depth - 1) + sink * 0 : 0;
}

KEPT void slow(void)
{
	const struct timespec ts = { 0, 5000000 };

	nanosleep(&ts, NULL);
}

KEPT void nothing_back(int x)
{
	sink = x;
}

KEPT void unused(int x)
{
	sink = x;
}

int main(void)
{
	for (int i = 0; i < 200; i++) {
		const struct pair pair = { i, i * i - 300 };
		const double real = i * 1.75 - 100;
		const int number = (i - 50) * (i % 7);
		const short seventh = (short) (i * 300 - 32000);
		const unsigned char small = (unsigned char) (i * 5);
		const long result = mixed(number, small, real, pair, 1, 2, 3, seventh);

		printf("mixed %d %d %f %d %d %ld\n", number, small, real, seventh, pair.second, result);
	}
	for (int i = 0; i < 10; i++) {
		down(i);
		for (int d = i; d >= 0; d--)
			printf("down %d\n", d);
	}
	for (int i = 0; i < 3; i++)
		slow();
	nothing_back(1);
	return 0;
}
