/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * An ordinary program with tracepoints of its own, linked with lttng-ust:
 *
 *	app N		calls app_first(42), then N times app_work(i, "text"), and ticks N times
 *	app wait FILE	the same with N = 1, once FILE exists; then ends
 *	app busy FILE	app_work() all the time, until FILE exists; prints how often
 *
 * It prints a line when main() begins and its sums at the end.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "ticks-tp.h"

#define TARGET __attribute__((noinline, noclone))

TARGET long app_first(long value);
TARGET long app_work(int number, const char *text);
TARGET long app_other(long value);

long app_first(long value)
{
	__asm__ volatile("");
	return value + 1;
}

long app_work(int number, const char *text)
{
	__asm__ volatile("" : : "r"(text));
	return number * 2L;
}

long app_other(long value)
{
	__asm__ volatile("");
	return value * 3;
}

static void pause_short(void)
{
	nanosleep(&(struct timespec) { .tv_nsec = 2000000 }, NULL);
}

static long busy(const char *file)
{
	long calls = 0;

	while (calls % 64 || access(file, F_OK)) {
		app_work((int) (calls & 0xffff), "busy");
		app_other(calls++);
		if (calls % 256 == 0)
			pause_short();
	}
	return calls;
}

int main(int argc, char **argv)
{
	long sum = app_first(42);
	int n = argc == 2 ? atoi(argv[1]) : 1;

	puts("begun");
	fflush(stdout);
	if (argc == 3 && !strcmp(argv[1], "busy")) {
		printf("calls %ld\n", busy(argv[2]));
		return 0;
	}
	while (argc == 3 && access(argv[2], F_OK))
		pause_short();
	for (int i = 0; i < n; i++) {
		sum += app_work(i, "text");
		lttng_ust_tracepoint(app, tick, i, "tick");
	}
	printf("sum %ld\n", sum);
	return 0;
}
