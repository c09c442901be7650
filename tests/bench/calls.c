/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What a call costs while it is traced: calls FUNCTION N CHUNKS MICROSECONDS.
 *
 * Each of CHUNKS times: N calls of a function that nothing traces and N calls of
 * the one named (i2, i6, s30), both in CPU time of this thread, then a pause in
 * which the consumer empties the buffers. Prints three numbers: added
 * nanoseconds a call (minimum and median over the chunks) and the untraced call.
 * Built plain for tracers that need nothing, and with -DSTATIC for tracepoints.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

#define PLAIN __attribute__((noipa, no_instrument_function))
#define WORK __attribute__((noipa))
#define CHUNKS_MAX 512

static volatile int sink;
static const char *const thirty = "abcdefghijklmnopqrstuvwxyz0123";

WORK int work_i2(int a, int b)
{
	int ret = a * 3 + b;

	ENTRY(work_i2_entry, a, b);
	sink = ret;
	EXIT(work_i2_exit, ret);
	return ret;
}

WORK int work_i6(int a, int b, int c, int d, int e, int f)
{
	int ret = a * 3 + b + c + d + e + f;

	ENTRY(work_i6_entry, a, b, c, d, e, f);
	sink = ret;
	EXIT(work_i6_exit, ret);
	return ret;
}

WORK int work_s30(const char *s)
{
	int ret = *s;

	ENTRY(work_s30_entry, s);
	sink = ret;
	EXIT(work_s30_exit, ret);
	return ret;
}

PLAIN int base_i2(int a, int b)
{
	return sink = a * 3 + b;
}

PLAIN int base_i6(int a, int b, int c, int d, int e, int f)
{
	return sink = a * 3 + b + c + d + e + f;
}

PLAIN int base_s30(const char *s)
{
	return sink = *s;
}

#define LOOP(name, ...) \
	PLAIN static void loop_##name(int n) \
	{ \
		for (int i = 0; i < n; i++) \
			name(__VA_ARGS__); \
	}
LOOP(work_i2, i, n)
LOOP(base_i2, i, n)
LOOP(work_i6, i, n, i, n, i, n)
LOOP(base_i6, i, n, i, n, i, n)
LOOP(work_s30, thirty)
LOOP(base_s30, thirty)

static const struct variant {
	const char *name;
	void (*work)(int n), (*base)(int n);
} variants[] = {
	{ "i2", loop_work_i2, loop_base_i2 },
	{ "i6", loop_work_i6, loop_base_i6 },
	{ "s30", loop_work_s30, loop_base_s30 },
};

PLAIN static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

PLAIN static int compare(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return (x > y) - (x < y);
}

PLAIN int main(int argc, char **argv)
{
	const struct variant *v = variants;
	int n = argc > 2 ? atoi(argv[2]) : 15000;
	int chunks = argc > 3 ? atoi(argv[3]) : 31;
	struct timespec pause = { 0, (argc > 4 ? atol(argv[4]) : 10000) * 1000 };
	double base[CHUNKS_MAX], work[CHUNKS_MAX], untraced;
	cpu_set_t set;

	while (argc > 1 && strcmp(v->name, argv[1]))
		if (++v == variants + sizeof(variants) / sizeof(*variants))
			return 2;
	if (chunks < 1 || chunks > CHUNKS_MAX)
		return 2;
	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (int k = -1; k < chunks; k++) {
		double t0, t1, t2;

		t0 = cpu_ns();
		v->base(n);
		t1 = cpu_ns();
		v->work(n);
		t2 = cpu_ns();
		if (k >= 0) {
			base[k] = (t1 - t0) / n;
			work[k] = (t2 - t1) / n;
		}
		nanosleep(&pause, NULL);
	}
	qsort(base, chunks, sizeof(*base), compare);
	qsort(work, chunks, sizeof(*work), compare);
	untraced = base[chunks / 2];
	printf("%.2f %.2f %.2f\n", work[0] - untraced, work[chunks / 2] - untraced, untraced);
	return 0;
}
