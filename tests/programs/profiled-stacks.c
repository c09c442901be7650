/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Calls where little stack is left: in threads with the least stack that there may be, and in handlers of signals. */
#include <pthread.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define KEPT __attribute__((noinline, noipa))
#define STACK	8192

static volatile int sum;

KEPT int leaf(int x)
{
	return x + 1;
}

KEPT void nothing(void)
{
}

KEPT void body(int n)
{
	for (int i = 0; i < n; i++) {
		sum += leaf(i);
		nothing();
	}
}

static KEPT void *thread(void *data)
{
	body(50);
	return data;
}

static KEPT void handler(int number)
{
	body(number);
}

int main(void)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	const stack_t stack = { .ss_sp = malloc(STACK), .ss_size = STACK };
	pthread_attr_t attributes;
	pthread_t t;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	for (int i = 0; i < 3; i++) {
		pthread_create(&t, &attributes, thread, NULL);
		pthread_join(t, NULL);
	}
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 5; i++)
		raise(SIGUSR1);
	action.sa_flags = 0;
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
	printf("%d\n", sum);
	return 0;
}
