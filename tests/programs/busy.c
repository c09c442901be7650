/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * busy THREADS - threads that call all the time, until SIGTERM: recursion, calls by
 * pointers that change, calls in a signal handler that comes in each round, and 500 times a second
 * wherever a thread is. One t_round() is always the same calls, those of the handler apart:
 * 1 t_round, 15 t_fib, 8 t_leaf, 8 t_pick, 4 t_even, 4 t_odd, 1 t_branch, 5 t_twig.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NOIPA __attribute__((noipa))

static volatile sig_atomic_t over;
static volatile long sink, wrong;

NOIPA long t_leaf(long x) { return x; }
NOIPA long t_fib(long x) { return x < 2 ? t_leaf(x) : t_fib(x - 1) + t_fib(x - 2); }
NOIPA long t_even(long x) { return x * 2; }
NOIPA long t_odd(long x) { return x * 3; }
NOIPA long t_pick(long x)
{
	static long (*const functions[])(long) = { t_even, t_odd };

	return functions[x & 1](x) + 1;
}
NOIPA long t_twig(long x) { return x + 1; }
NOIPA long t_branch(long x)
{
	for (int i = 0; i < 5; i++)
		x = t_twig(x) + 1;
	pthread_kill(pthread_self(), SIGALRM);
	return x;
}
NOIPA long t_round(void)
{
	long sum = t_fib(5) + t_branch(1);

	for (long i = 0; i < 8; i++)
		sum += t_pick(i);
	return sum;
}
NOIPA long t_handled(long x) { return x + 1; }
static void handler(int number)
{
	sink = t_handled(number) + t_handled(sink);
}

static void *work(void *unused)
{
	struct timespec pause = { 0, 20000000 };

	while (!over) {
		if (t_round() != 5 + 11 + 80)
			wrong++;
		nanosleep(&pause, NULL);
	}
	return unused;
}

static void end(int number)
{
	over = number;
}

int main(int argc, char **argv)
{
	struct itimerval timer = { { 0, 2000 }, { 0, 2000 } };
	int n = argc > 1 ? atoi(argv[1]) : 4;
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	pthread_t id[64];

	sigaction(SIGALRM, &action, NULL);
	signal(SIGTERM, end);
	for (int i = 0; i < n; i++)
		pthread_create(&id[i], NULL, work, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < n; i++)
		pthread_join(id[i], NULL);
	printf("wrong %ld\n", wrong);
	return 3;
}
