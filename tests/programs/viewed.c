/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls of many shapes, each the same whenever it runs: argv[1] names the shape. Built with and without -pg, the calls of
 * both are compared.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noipa))

static volatile int sink;
static jmp_buf where;

KEPT int leaf(int a) { return a + sink; }
KEPT int twice(int a) { return leaf(a) + leaf(a + 1); }
KEPT int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1) + leaf(n); }
KEPT int is_odd(int n);
KEPT int is_even(int n) { int r = n == 0 ? 1 : is_odd(n - 1); sink = r; return r; }
KEPT int is_odd(int n) { int r = n == 0 ? 0 : is_even(n - 1); sink = r; return r; }
KEPT int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
KEPT int apply(int (*f)(int), int a) { int r = f(a); sink = r; return r; }
KEPT int compare(const void *a, const void *b) { return leaf(*(const int *) a) - leaf(*(const int *) b); }
KEPT void jump(int depth) { if (!depth) longjmp(where, 1); jump(depth - 1); sink++; }
KEPT int ackermann(int m, int n)
{
	int r = m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));

	sink = r & 1;
	return r;
}

KEPT void *work(void *data)
{
	for (int i = 0; i < 5; i++)
		sink = twice(i) + factorial(4);
	return data;
}

KEPT void recursion(void) { sink = factorial(12) + fibonacci(8) + is_even(9) + ackermann(2, 3); }
KEPT void pointers(void) { int (*const f[])(int) = { leaf, twice, factorial }; for (int i = 0; i < 30; i++) sink = apply(f[i % 3], 3); }
KEPT void callbacks(void)
{
	int numbers[20];

	for (int i = 0; i < 20; i++)
		numbers[i] = i * 7 % 20;
	qsort(numbers, 20, sizeof(numbers[0]), compare);
	sink = numbers[3];
}
KEPT void jumps(void) { for (int i = 0; i < 4; i++) if (!setjmp(where)) jump(i); sink = twice(1); }
KEPT void threads(void)
{
	pthread_t t;

	for (int i = 0; i < 3; i++) {
		pthread_create(&t, NULL, work, NULL);
		pthread_join(t, NULL);
	}
	work(NULL);
}
KEPT void forks(void)
{
	pid_t pid;

	sink = twice(1);
	pid = fork();
	if (!pid) {
		sink = factorial(3);
		exit(0);
	}
	waitpid(pid, NULL, 0);
	sink = twice(2);
}
KEPT void quits_here(int depth) { if (!depth) exit(3); quits_here(depth - 1); sink++; }
KEPT void quits(void) { sink = twice(1); quits_here(3); sink++; }
KEPT void deep(void) { sink = factorial(900); }
KEPT void abyss(void) { sink = is_even(12000); }
KEPT void loads(void)
{
	for (int i = 0; i < 2; i++) {
		void *library = dlopen("./viewed-library.so", RTLD_NOW);
		int (*plug)(int) = (int (*)(int)) dlsym(library, "plug");

		sink = plug(i) + plug(i);
		dlclose(library);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} shapes[] = { { "recursion", recursion }, { "pointers", pointers }, { "callbacks", callbacks }, { "jumps", jumps },
		{ "threads", threads }, { "forks", forks }, { "quits", quits }, { "deep", deep },
		{ "abyss", abyss }, { "loads", loads } };

	for (size_t i = 0; argc > 1 && i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (!strcmp(argv[1], shapes[i].name))
			shapes[i].run();
	return 0;
}
