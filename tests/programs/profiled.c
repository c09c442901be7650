/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A program whose calls a profile counts: recursion, mutual recursion, tail calls, calls by pointers, callbacks from
 * libc, calls before and after main(), and threads one after the other. argv[1]: how often; argv[2]: how it ends.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noipa))

KEPT int leaf(int x)
{
	return x + 1;
}

KEPT int tail(int x)
{
	return leaf(x + 3);		/* a jump at -O2 */
}

KEPT int tail_of_tail(int x)
{
	return tail(x ^ 5);
}

KEPT int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

KEPT int is_odd(int n);
KEPT int is_even(int n)
{
	return n == 0 ? 1 : !is_odd(n - 1) + 0 * leaf(n);
}

KEPT int is_odd(int n)
{
	return n == 0 ? 1 : !is_even(n - 1) + 0 * leaf(n);
}

static KEPT int plus(int a, int b)
{
	return a + b;
}

static KEPT int times(int a, int b)
{
	return a * b;
}

static int (*const operations[])(int a, int b) = { plus, times };

KEPT int apply(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += operations[i % 2](i, 3);
	return sum;
}

static KEPT int order(const void *a, const void *b)
{
	return leaf(*(const int *) a) - leaf(*(const int *) b);
}

KEPT int sorted(int n)
{
	int numbers[64];

	for (int i = 0; i < 64; i++)
		numbers[i] = (i * 37 + n) % 64;
	qsort(numbers, 64, sizeof(*numbers), order);
	return numbers[7];
}

static KEPT void *thread(void *data)
{
	long sum = 0;

	for (int i = 0; i < 100; i++)
		sum += tail_of_tail(i);
	return data ? data : (void *) sum;
}

KEPT int threads(int n)
{
	long sum = 0;
	void *result;

	for (int i = 0; i < n; i++) {
		pthread_t t;

		pthread_create(&t, NULL, thread, NULL);
		pthread_join(t, &result);
		sum += (long) result;
	}
	return (int) sum;
}

static volatile int begun;

__attribute__((constructor)) static KEPT void before(void)
{
	begun = leaf(1);
}

static KEPT void at_end(void)
{
	begun = leaf(2);
}

KEPT void child(int n)
{
	for (int i = 0; i < n; i++)
		begun += leaf(i);
}

int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 10;
	const char *end = argc > 2 ? argv[2] : "return";
	long sum = 0;

	atexit(at_end);
	for (int i = 0; i < n; i++)
		sum += tail_of_tail(i) + fibonacci(i % 12) + is_even(i) + apply(i) + sorted(i);
	sum += threads(n % 5);
	printf("%ld\n", sum);
	fflush(stdout);
	if (!strcmp(end, "_exit"))
		_exit(3);
	if (!strcmp(end, "exec"))
		execl("/bin/true", "true", NULL);
	if (!strcmp(end, "fork")) {
		pid_t pid = fork();

		if (pid == 0) {
			child(7);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		printf("%d\n", (int) pid);
	}
	if (!strcmp(end, "limit")) {
		const struct rlimit limit = { 100, 100 };

		setrlimit(RLIMIT_FSIZE, &limit);
	}
	if (!strcmp(end, "signal")) {
		raise(SIGUSR1);
		sum += apply(100);
	}
	return 0;
}
