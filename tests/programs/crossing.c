/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * crossing FILE FILE - three threads make rounds of calls, of all the ways in which functions are called, until FILE is there;
 * prints how many rounds there were, and waits for the second FILE. What a round calls is in crossing.t.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "crossing.h"

static const char *end;
static unsigned long rounds;

/* libcrossing.so */
int lib_outer(int a);

STAY int leaf(int a)
{
	return a + 123456789;
}

STAY int recurse(int n)
{
	int x = n ? recurse(n - 1) : leaf(n);

	__asm__ volatile("" : "+r" (x));	/* a call, whatever the compiler thinks of loops */
	return x + 1;
}

STAY int tail(int a)
{
	return early(a + 1);	/* a jump, with -O2 */
}

static int (*volatile way[3])(int) = { tiny, tiny2, leaf };

STAY int indirect(int a)
{
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum += way[i](a);
	return sum;
}

STAY int usual(int a)
{
	return leaf(a) + early(a) + first(a) + again(3);
}

STAY int turn(int a)
{
	return usual(a) + recurse(3) + tail(a) + indirect(a) + tiny(a) + lib_outer(a);
}

STAY static void *work(void *data)
{
	for (int i = 0; access(end, F_OK); i++) {
		turn(i);
		__atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
		usleep(700);
	}
	return data;
}

int main(int argc, char **argv)
{
	pthread_t t[3];

	if (argc < 3)
		return 2;
	end = argv[1];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("%lu\n", rounds);
	fflush(stdout);
	while (access(argv[2], F_OK))
		usleep(1000);
	return 0;
}
