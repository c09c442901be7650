/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Threads that are cancelled where they ask for it, and never while they have the lock: in between they call leaf(),
 * which is no cancellation point.
 */
#include <pthread.h>
#include <stdio.h>

#define KEPT __attribute__((noinline, noipa))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int running;

KEPT int leaf(int x)
{
	return 3 * x;
}

static void *work(void *data)
{
	for (long sum = 0;; pthread_testcancel()) {
		pthread_mutex_lock(&lock);
		for (int i = 0; i < 5; i++)
			sum += leaf(i);
		running++;
		pthread_mutex_unlock(&lock);
	}
	return data;
}

int main(void)
{
	int ended = 0;

	for (int i = 0; i < 20; i++) {
		pthread_t thread;
		void *result;

		running = 0;
		if (pthread_create(&thread, NULL, work, NULL))
			return 1;
		while (running < 3)
			;
		pthread_cancel(thread);
		pthread_join(thread, &result);
		if (pthread_mutex_trylock(&lock)) {
			puts("a thread has ended with the lock");
			return 1;
		}
		pthread_mutex_unlock(&lock);
		ended += result == PTHREAD_CANCELED;
	}
	printf("%d cancelled\n", ended);
	return 0;
}
