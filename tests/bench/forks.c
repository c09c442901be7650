/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What fork() takes: forks (ends|calls|executes) N [ROUNDS]. N children in each of ROUNDS (1): they end, make CALLS calls of work_i2(), or
 * execute /bin/true. Prints a line a round: microseconds from before fork() until the child has been waited for, on average. Built plain,
 * and with -DSTATIC for tracepoints.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef STATIC
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "bench-tp.h"
#define ENTRY(...)	lttng_ust_tracepoint(bench, __VA_ARGS__)
#define EXIT(name, ret)	lttng_ust_tracepoint(bench, name, ret)
#else
#define ENTRY(...)	do { } while (0)
#define EXIT(name, ret)	do { } while (0)
#endif

#define CALLS	20

static volatile int sink;

__attribute__((noipa)) int work_i2(int a, int b)
{
	int ret = a * 3 + b;

	ENTRY(work_i2_entry, a, b);
	sink = ret;
	EXIT(work_i2_exit, ret);
	return ret;
}

static void child(const char *what)
{
	if (!strcmp(what, "executes"))
		execl("/bin/true", "true", NULL);
	for (int i = 0; i < CALLS && !strcmp(what, "calls"); i++)
		work_i2(i, i);
	_exit(0);
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e6 * (double) t.tv_sec + 1e-3 * (double) t.tv_nsec;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 100, rounds = argc > 3 ? atoi(argv[3]) : 1;

	for (int round = 0; round < rounds; round++) {
		double begin = now_us();

		work_i2(0, 0);
		for (int i = 0; i < n; i++) {
			pid_t pid = fork();
			int status;

			if (!pid)
				child(argv[1]);
			if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
				return 1;
		}
		printf("%.1f\n", (now_us() - begin) / n);
		fflush(stdout);
		if (rounds > 1)
			usleep(20000);
	}
	return 0;
}
