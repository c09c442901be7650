/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The module's clock beside CLOCK_MONOTONIC: never ahead of a later reading, never
 * far behind an earlier one, never backwards; in several threads, and in a signal
 * handler that interrupts them. Prints what it found.
 *
 *	clock THREADS SAMPLES
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <lttng/ust-clock.h>
#include "host.h"

static lttng_ust_clock_read64_function read64;
static int64_t ahead, behind;
static uint64_t backwards, handled;
static __thread uint64_t last;

static uint64_t monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t) ts.tv_sec * 1000000000u + (uint64_t) ts.tv_nsec;
}

static void at_most(int64_t *most, int64_t value)
{
	int64_t was = __atomic_load_n(most, __ATOMIC_RELAXED);

	while (value > was && !__atomic_compare_exchange_n(most, &was, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void sample(void)
{
	uint64_t before = monotonic(), now = read64(), after = monotonic();

	at_most(&ahead, (int64_t) (now - after));
	if (after - before < 1000)		/* not interrupted */
		at_most(&behind, (int64_t) (before - now));
	if (now < last)
		__atomic_fetch_add(&backwards, 1, __ATOMIC_RELAXED);
	last = now;
}

static void on_timer(int sig)
{
	uint64_t was = last;

	sample();
	handled++;
	last = was > last ? was : last;
}

static void *run(void *samples)
{
	for (intptr_t i = 0; i < (intptr_t) samples; i++)
		sample();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[16];
	struct timespec wait = { .tv_nsec = 50000000 };
	struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_RESTART };
	struct itimerval timer = { { 0, 200 }, { 0, 200 } };
	int n = atoi(argv[1]);

	host_start();
	if (lttng_ust_trace_clock_get_read64_cb(&read64) || !read64) {
		puts("no clock");
		return 0;
	}
	nanosleep(&wait, NULL);
	read64();			/* takes the rate */
	ahead = behind = INT64_MIN;
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, run, (void *) atol(argv[2]));
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	printf("ahead %ld behind %ld backwards %lu\n", (long) ahead, (long) behind, (unsigned long) backwards);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	last = 0;
	ahead = behind = INT64_MIN;
	for (long i = 0; i < atol(argv[2]); i++) {
		uint64_t before = monotonic(), now = read64(), after = monotonic();

		/* a handler may have come between the reading and here: only the real clock is compared */
		at_most(&ahead, (int64_t) (now - after));
		if (after - before < 1000)
			at_most(&behind, (int64_t) (before - now));
	}
	memset(&timer, 0, sizeof(timer));
	setitimer(ITIMER_REAL, &timer, NULL);
	printf("ahead %ld behind %ld handled %lu\n", (long) ahead, (long) behind, (unsigned long) handled);
	return 0;
}
