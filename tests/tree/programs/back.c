/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A program that puts its tracer far behind by calling thousands of functions once (those of fill0() to fill9(), 600 each), then calls some
 * for the first time. A call that is recorded returns elsewhere than to its caller: by that it sees itself what is recorded again,
 * and ends then. It gives up after 30 s of CPU time.
 *
 *	back direct	a function that always the same call leads to
 *	back thread	what a thread's start routine calls that never ends
 *	back jump	what a function calls that is reached by a conditional jump without room (back-jump.S)
 *	back many	one of a nanosecond, behind 6 000 that were called once
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define CPU_MOST	30
#define ENOUGH		20	/* recorded calls */
#define CALLS		50000000

void fill0(int), fill1(int), fill2(int), fill3(int), fill4(int), fill5(int), fill6(int), fill7(int), fill8(int), fill9(int), few(int);
void leads(int);
void (*volatile jumps)(int);
void jumping(int);

char *volatile saved;	/* where the latest call of one of these returns to */
extern char __executable_start[], etext[];
static volatile int zero;

/* By itself: calls of a function that reads its own return address are not recorded. */
__attribute__((noinline, noclone)) void look(char **where) { saved = *where; }
#define LOOK	look((char **) __builtin_frame_address(0) + 1)
__attribute__((noinline, noclone)) static void below(void) { LOOK; zero = 0; }
__attribute__((noinline, noclone)) static void first0(void) { LOOK; zero = zero; }
__attribute__((noinline, noclone)) static void first1(void) { zero = 0; LOOK; zero = 0; }
__attribute__((noinline, noclone)) static void first2(void) { zero = zero; LOOK; zero = 0; }
__attribute__((noinline, noclone)) static int hot(int a) { __asm__ volatile(""); return a + zero; }

static inline int is_recorded(void)
{
	return saved < __executable_start || saved >= etext;
}

static inline double cpu(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double) ts.tv_sec + (double) ts.tv_nsec / 1e9;
}

static inline void spin(void)
{
	for (volatile long i = 0; i < 3000000; i++)
		;
}

/* 1: it is known how it ends. */
static inline int is_known(int *n)
{
	*n += is_recorded();
	if (*n < ENOUGH && cpu() < CPU_MOST)
		return 0;
	puts(*n < ENOUGH ? "never recorded again" : "recorded again");
	return 1;
}

static void *routine(void *data)
{
	int n = 0;

	below();
	if (is_recorded()) {
		puts("not behind");
		return data;
	}
	do {
		spin();
		below();
	} while (!is_known(&n));
	return data;
}

/* Whose first call is not recorded: the same call, until it is. */
static int direct(void)
{
	int n = 0, which = 0, is_met = 0;

	for (;;) {
		if (is_met) {
			spin();
		} else if (which == 0) {
			fill0(1); fill1(1);
		} else if (which == 1) {
			fill2(1); fill3(1);
		} else if (which == 2) {
			fill4(1); fill5(1);
		} else {
			puts("not behind");
			return 0;
		}
		switch (which) {
		case 0: first0(); break;
		case 1: first1(); break;
		default: first2(); break;
		}
		if (is_met && is_known(&n))
			return 0;
		if (!is_met && !is_recorded())
			is_met = 1;
		else if (!is_met)
			which++;
	}
}

static int jump(void)
{
	int n = 0;

	jumps = jumping;
	leads(0);
	few(0);		/* what it calls is met by itself, then, between jumping() and reached(): so these come back one after the other */
	fill0(1); fill1(1); fill2(1);
	jumps(1);
	few(1);
	leads(1);
	if (is_recorded()) {
		puts("not behind");
		return 0;
	}
	do {
		spin();
		jumps(1);
	} while (!is_known(&n));
	return 0;
}

static int many(void)
{
	double begin;
	int i, sum = 0;

	hot(0);
	for (i = 0; i < 2; i++) {	/* these are met before they call anything */
		fill0(i); fill1(i); fill2(i); fill3(i); fill4(i); fill5(i); fill6(i); fill7(i); fill8(i); fill9(i);
	}
	begin = cpu();
	for (i = 0; i < CALLS && ((i & 0xffff) || cpu() - begin < 2); i++)
		sum += hot(i);
	puts(i < CALLS ? "too slow" : "as fast as ever");
	return sum == 1;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "direct"))
		return direct();
	if (!strcmp(argv[1], "jump"))
		return jump();
	if (!strcmp(argv[1], "many"))
		return many();
	fill0(1); fill1(1); fill2(1);
	return pthread_create(&thread, NULL, routine, NULL) || pthread_join(thread, NULL);
}
