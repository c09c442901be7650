/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * overflow [thread] - recursion without end, a kilobyte a call, to the end of the stack.
 */
#include <pthread.h>
#include <stdio.h>

__attribute__((noinline)) static int deeper(int n)
{
	volatile char room[1000];

	room[0] = (char) n;
	return n < 0 ? 0 : deeper(n + 1) + room[0];
}

static void *run(void *unused)
{
	(void) unused;
	printf("%d\n", deeper(0));
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	(void) argv;
	if (argc < 2) {
		run(NULL);
	} else {
		pthread_create(&thread, NULL, run, NULL);
		pthread_join(thread, NULL);
	}
	return 0;
}
