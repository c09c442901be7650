/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * cancelled N: N threads, one after the other, each cancelled at any instruction of the calls it makes, after some thousand.
 * Prints how many did not end so.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define FN __attribute__((noipa))

static volatile int made;

static FN int leaf(int n)
{
	return n ? leaf(n - 1) + 1 : 0;
}

static FN int busy(int n)
{
	int all = 0;

	for (int i = 0; i < n; i++)
		all += leaf(i % 7), made++;
	return all;
}

static FN void *runs(void *unused)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		busy(1000);
	return unused;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10, others = 0;

	for (int i = 0; i < n; i++) {
		const int until = 500 + i * 7919 % 2000;
		pthread_t thread;
		void *result;

		made = 0;
		if (pthread_create(&thread, NULL, runs, NULL))
			return 2;
		while (made < until)
			sched_yield();
		pthread_cancel(thread);
		pthread_join(thread, &result);
		others += result != PTHREAD_CANCELED;
	}
	printf("%d\n", others);
	return 0;
}
