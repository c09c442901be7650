/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * two-signals MS - one thread that calls work() for so long, and takes two kinds of signals meanwhile, one of them on another
 * stack; each handler may interrupt the other. Prints how often each function was called.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STAY	__attribute__((noipa))

static volatile unsigned long works, leaves, here, there;

STAY int leaf(int a)
{
	__atomic_fetch_add(&leaves, 1, __ATOMIC_RELAXED);
	return a + 3;
}

STAY int work(int a)
{
	__atomic_fetch_add(&works, 1, __ATOMIC_RELAXED);
	return leaf(a) + leaf(a + 1);
}

STAY void on_here(int number)
{
	int error = errno;

	__atomic_fetch_add(&here, 1, __ATOMIC_RELAXED);
	work(number);
	errno = error;
}

STAY void on_there(int number)
{
	int error = errno;

	__atomic_fetch_add(&there, 1, __ATOMIC_RELAXED);
	work(number);
	errno = error;
}

static long ms_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static timer_t timer_make(int number, long ns)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = number };
	struct itimerspec often = { { 0, ns }, { 0, ns } };
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &often, NULL))
		exit(1);
	return timer;
}

int main(int argc, char **argv)
{
	static char other[64 << 10];
	stack_t stack = { .ss_sp = other, .ss_size = sizeof(other) };
	struct sigaction action = { .sa_handler = on_here, .sa_flags = SA_RESTART };
	long end = ms_now() + (argc > 1 ? atol(argv[1]) : 1000);
	timer_t timers[2];
	sigset_t all;

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	action.sa_handler = on_there;
	action.sa_flags |= SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	timers[0] = timer_make(SIGUSR1, 53000);
	timers[1] = timer_make(SIGUSR2, 71000);
	while (ms_now() < end)
		for (int i = 0; i < 20; i++)
			work(i);
	timer_delete(timers[0]);
	timer_delete(timers[1]);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	printf("work %lu\nleaf %lu\non_here %lu\non_there %lu\n", works, leaves, here, there);
	return 0;
}
