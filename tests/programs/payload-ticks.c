/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls tick() each 2 ms until its input ends, which leaves for leaf() by a jump; a thread calls other() twice, and a
 * child calls child_calls() once. Prints how often it has ticked.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <poll.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noipa))

volatile unsigned long ticks;

KEPT int leaf(int x) { ticks++; return x + 1; }
KEPT int tick(int x) { return leaf(x + 2); }
KEPT int other(int x) { return x * 2; }
KEPT int child_calls(int x) { return x * 3; }

static void *start(void *data)
{
	return data + other(1) + other(2);
}

int main(void)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };
	pthread_t thread;
	int status, sum = 0;

	puts("ready");
	fflush(stdout);
	while (poll(&in, 1, 2) == 0)
		sum += tick(1);
	pthread_create(&thread, NULL, start, NULL);
	pthread_join(thread, NULL);
	if (fork() == 0)
		_exit(child_calls(1));
	wait(&status);
	printf("%d\n", WEXITSTATUS(status) == 3 && sum >= 0);
	return 0;
}
