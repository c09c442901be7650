/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls whose numbers are known: main() calls middle() once, which calls leaf() three times, directly, and once by a
 * pointer; a thread calls leaf() as often as argv[1] says. With `wait` as argv[2] that begins when a line is read.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT __attribute__((noinline, noipa))

KEPT int leaf(int x)
{
	return 3 * x;
}

KEPT double scale(int n, double x, const char *name)
{
	return x * n + (double) strlen(name);
}

KEPT int middle(int x, int (*by)(int))
{
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum += leaf(x + i);
	return sum + by(10);
}

static int times;

static void *start(void *data)
{
	long sum = 0;

	for (int i = 0; i < times; i++)
		sum += leaf(i);
	return data ? data : (void *) sum;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	void *sum;
	char line[16];

	times = argc > 1 ? atoi(argv[1]) : 5;
	if (argc > 2) {
		puts("ready");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return 1;
	}
	printf("%d\n", middle(1, leaf));
	printf("%.1f\n", scale(2, 1.25, "abc"));
	pthread_create(&thread, NULL, start, NULL);
	pthread_join(thread, &sum);
	printf("%ld\n", (long) sum);
	return 0;
}
