/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * backtrace FRAMES glibc|libunwind|none - what a backtrace of FRAMES frames takes, in ns of the thread's CPU time, at a
 * place that has 20 more. With `none` a payload measures its own at the call of measure(): backtrace-payload.c.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TIMES 20000

typedef int (*walk_fn)(void **to, int n);

/* libunwind has a backtrace() as well: so it is loaded where it is to be measured only. */
static walk_fn walk_of(const char *how)
{
	void *library = strcmp(how, "libunwind") ? NULL : dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);

	if (library)
		return (walk_fn) dlsym(library, "unw_backtrace");
	return strcmp(how, "glibc") ? NULL : backtrace;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

__attribute__((noipa)) int measure(int frames, const char *how)
{
	walk_fn walk = walk_of(how);
	void *to[128];
	double begin;

	if (!walk)
		return 0;
	if (walk(to, frames) != frames)
		return 1;
	begin = now();
	for (int i = 0; i < TIMES; i++)
		walk(to, frames);
	printf("%.1f\n", (now() - begin) / TIMES);
	return 0;
}

__attribute__((noipa)) static int down(int n, int frames, const char *how)
{
	volatile long kept = n;
	int r = n ? down(n - 1, frames, how) : measure(frames, how);

	return r + (int) (kept - n);
}

int main(int argc, char **argv)
{
	int frames = argc > 2 ? atoi(argv[1]) : 0;

	return frames > 0 && frames < 100 ? down(frames + 20, frames, argv[2]) : 2;
}
