/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* A timer whose callback libc runs in a thread of its own making, ten times; ends with status 3 when it was called ten times. */
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static volatile int called;

__attribute__((noipa)) int t_leaf(int a)
{
	return a + 1;
}

__attribute__((noipa)) void t_callback(union sigval value)
{
	__atomic_fetch_add(&called, t_leaf(value.sival_int), __ATOMIC_SEQ_CST);
}

int main(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = t_callback };
	struct itimerspec soon = { .it_value = { 0, 100000 } };
	struct timespec pause = { 0, 1000000 };
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		return 1;
	for (int n = 0; n < 10; n++) {
		timer_settime(timer, 0, &soon, NULL);
		for (int i = 0; i < 5000 && called <= n; i++)
			nanosleep(&pause, NULL);
	}
	printf("called %d\n", called);
	return called == 10 ? 3 : 2;
}
