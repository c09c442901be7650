/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A server without clients: most of its time is in spin(), some in many(), whose tiny() is called far too often to be
 * counted. argv[1]: seconds of CPU time.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noipa))

static volatile unsigned int sink;

KEPT void spin(unsigned int n)
{
	unsigned int x = n;

	for (unsigned int i = 0; i < n; i++) {
		x = x * 5 + 1;
		__asm__ volatile("" : "+r"(x));
	}
	sink = x;
}
KEPT unsigned int tiny(unsigned int a) { return a * 3 + sink; }
KEPT void many(void)
{
	unsigned int x = 0;

	for (unsigned int i = 0; i < 20000; i++)
		x += tiny(i);
	sink = x;
}

int main(int argc, char **argv)
{
	const clock_t end = (clock_t) atoi(argv[1]) * CLOCKS_PER_SEC;

	while (clock() < end) {
		for (int i = 0; i < 4; i++)
			spin(100000);
		many();
		usleep(200);
	}
	return 0;
}
