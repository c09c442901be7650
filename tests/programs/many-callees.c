/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * More callees than a tracer can have a record for each of. Code that is made all the time: one site, 1.2 million callees, and
 * again, and how much memory the second time has taken. Then SITES sites that each call all of 1000 functions, which call
 * leaf(), and one function more, which nobody has called before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MADE		1200000L
#define TEN(X, n)	X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define HUNDRED(X, n)	TEN(X, n##0) TEN(X, n##1) TEN(X, n##2) TEN(X, n##3) TEN(X, n##4) \
			TEN(X, n##5) TEN(X, n##6) TEN(X, n##7) TEN(X, n##8) TEN(X, n##9)
#define THOUSAND(X)	HUNDRED(X, 0) HUNDRED(X, 1) HUNDRED(X, 2) HUNDRED(X, 3) HUNDRED(X, 4) \
			HUNDRED(X, 5) HUNDRED(X, 6) HUNDRED(X, 7) HUNDRED(X, 8) HUNDRED(X, 9)

static volatile long done, leaves;

__attribute__((noinline)) static void leaf(void)
{
	leaves++;
}

#define CALLEE(n)	__attribute__((noinline)) static void callee_##n(void) { leaf(); done++; }
THOUSAND(CALLEE)
__attribute__((noinline)) static void late(void)
{
	leaf();
	done++;
}
#define CALLEE_AT(n)	callee_##n,
static void (*volatile callees[])(void) = { THOUSAND(CALLEE_AT) late };

#define SITE(n)		__attribute__((noinline)) static void site_##n(int i) { callees[i](); done++; }
THOUSAND(SITE)
#define SITE_AT(n)	site_##n,
static void (*const sites[])(int) = { THOUSAND(SITE_AT) };

static long resident(void)
{
	long size = 0, pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (file && fscanf(file, "%ld %ld", &size, &pages) != 2)
		pages = 0;
	if (file)
		fclose(file);
	return pages * 4;
}

__attribute__((noinline)) static void sweep(unsigned char *code)
{
	for (long i = 0; i < MADE; i++)
		((void (*)(void)) (code + i))();
	done++;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	unsigned char *code = mmap(NULL, MADE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long before;

	if (code == MAP_FAILED)
		return 77;
	memset(code, 0xc3, MADE);
	sweep(code);
	before = resident();
	sweep(code);
	fprintf(stderr, "more: %ld kB\n", resident() - before);
	for (int s = 0; s < n; s++)
		for (int i = 0; i < 1000; i++)
			sites[s](i);
	sites[0](1000);
	printf("leaves %ld\n", leaves);
	return 0;
}
