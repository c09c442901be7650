/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * moved MILLISECONDS MICROSECONDS - two threads call work() without a pause and are moved to one of the first two
 * processors, by chance, so often. Says how often that was.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define THREADS	2

static volatile int over;

__attribute__((noinline)) int work(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

static void *call(void *unused)
{
	while (!over)
		work(1);
	return unused;
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	const long until = now_ms() + (argc > 1 ? atol(argv[1]) : 1000);
	const useconds_t pause = argc > 2 ? (useconds_t) atol(argv[2]) : 100;
	unsigned int seed = (unsigned int) getpid();
	pthread_t threads[THREADS];
	unsigned long moves = 0;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, call, NULL))
			return 1;
	while (now_ms() < until) {
		for (int i = 0; i < THREADS; i++) {
			cpu_set_t set;

			CPU_ZERO(&set);
			CPU_SET(rand_r(&seed) & 1, &set);
			moves += !pthread_setaffinity_np(threads[i], sizeof(set), &set);
		}
		usleep(pause);
	}
	over = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%lu\n", moves);
	return 0;
}
