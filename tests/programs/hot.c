/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A program with one function that is called far too often, and others that are not:
 * hot WAY CALLS. Prints what it computed on stdout, and on stderr the CPU time that
 * it used, in us.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define COOL	200
#define ROUNDS	25
#define STAY	__attribute__((noinline, noclone))

unsigned long leaf(unsigned long x);

/* 200 functions of their own: cool_00 to cool_e7 in some order */
#define F(n)	STAY static unsigned long cool_##n(unsigned long x) { __asm__ volatile("" : "+r"(x)); return x + 0x##n; }
#define TEN(n)	F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
TEN(0) TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(a) TEN(b) TEN(c) TEN(d) TEN(e) TEN(1f) TEN(2f) TEN(3f) TEN(4f) TEN(5f)
#define C(n)	x = cool_##n(x);
#define TENC(n)	C(n##0) C(n##1) C(n##2) C(n##3) C(n##4) C(n##5) C(n##6) C(n##7) C(n##8) C(n##9)

STAY static unsigned long cools(unsigned long x)
{
	TENC(0) TENC(1) TENC(2) TENC(3) TENC(4) TENC(5) TENC(6) TENC(7) TENC(8) TENC(9) TENC(a) TENC(b) TENC(c) TENC(d) TENC(e)
	TENC(1f) TENC(2f) TENC(3f) TENC(4f) TENC(5f)
	return x;
}

STAY static unsigned long loop(unsigned long x, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		x = leaf(x);
	return x;
}

STAY static unsigned long other(unsigned long x)
{
	__asm__ volatile("" : "+r"(x));
	return x ^ 1;
}

/* Through one pointer: leaf() nearly always, other() at times. */
STAY static unsigned long pointed(unsigned long x, unsigned long n)
{
	unsigned long (*volatile to)(unsigned long);

	for (unsigned long i = 0; i < n; i++) {
		to = i % (n / ROUNDS) ? leaf : other;
		x = to(x);
	}
	return x;
}

static void *thread(void *n)
{
	return (void *) loop(1, (uintptr_t) n);
}

STAY static unsigned long threads(unsigned long n)
{
	pthread_t id[4];
	unsigned long sum = 0;
	void *x;

	for (int i = 0; i < 4; i++)
		pthread_create(&id[i], NULL, thread, (void *) (n / 4));
	for (int i = 0; i < 4; i++) {
		pthread_join(id[i], &x);
		sum += (unsigned long) x;
	}
	return sum;
}

/* Twenty nanoseconds or so. */
STAY static unsigned long medium(unsigned long x)
{
	for (int i = 0; i < 12; i++)
		x = x * 6364136223846793005ul + 1;
	return x;
}

/* Called often for a time, then ten times a millisecond: what was left out comes back. */
STAY static unsigned long calms(unsigned long x, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		x = medium(x);
	for (int i = 0; i < 2500; i++) {
		for (int k = 0; k < 10; k++)
			x = medium(x);
		for (int k = 0; k < 600000; k++)	/* some 0.8 ms without a call */
			x = x * 6364136223846793005ul + 1;
	}
	return x;
}

STAY static unsigned long children(unsigned long n)
{
	int status;

	for (int i = 0; i < 2; i++)
		if (!fork()) {
			printf("%lu\n", loop(i, n / 2));
			exit(0);
		} else {
			wait(&status);
		}
	return (unsigned long) status;
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000, x = 1;
	const char *way = argc > 1 ? argv[1] : "loop";
	struct rusage self, waited;

	if (!strcmp(way, "mixed"))
		for (int i = 0; i < ROUNDS; i++)
			x = loop(cools(x), n / ROUNDS);
	else if (!strcmp(way, "pointed"))
		x = pointed(x, n);
	else if (!strcmp(way, "threads"))
		x = threads(n);
	else if (!strcmp(way, "calms"))
		x = calms(x, n);
	else if (!strcmp(way, "children"))
		x = children(n);
	else
		x = loop(x, n);
	printf("%lu\n", x);
	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &waited);
	fprintf(stderr, "cpu %ld\n", (self.ru_utime.tv_sec + self.ru_stime.tv_sec + waited.ru_utime.tv_sec + waited.ru_stime.tv_sec) *
		1000000 + self.ru_utime.tv_usec + self.ru_stime.tv_usec + waited.ru_utime.tv_usec + waited.ru_stime.tv_usec);
	return 0;
}
