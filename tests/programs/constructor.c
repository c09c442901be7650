/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What constructor.t injects while lttng-ust's constructor waits for the session
 * daemon. constructor: lttng-ust was there before main(). constructor dlopen:
 * main() loads it. Says so before and after, and how long that took.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) int first_call(int a)
{
	__asm__ volatile("");
	return a * 2;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	double begun = now_ms();

	if (argc > 1) {
		puts("loading");
		fflush(stdout);
		if (!dlopen("liblttng-ust.so.1", RTLD_NOW))
			return 2;
	}
	printf("main %d ms=%.0f\n", first_call(21), now_ms() - begun);
	return 0;
}
