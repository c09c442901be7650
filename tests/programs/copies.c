/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * One frame is returned from several times, with all that was on the stack below main(), as
 * Ruby's continuations do, whose library it says it is.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FN __attribute__((noipa))

static jmp_buf env;
static char *base, *top, *frames;
static volatile int times;
static volatile long sum;

static FN void work(int n)
{
	sum += n;
}

/* Returns once more for each go_back(). */
static FN int capture(int depth)
{
	if (depth)
		return capture(depth - 1) + 1;
	if (setjmp(env))
		return 100;
	top = (char *) __builtin_frame_address(0) - 512;
	frames = malloc((size_t) (base - top));
	memcpy(frames, top, (size_t) (base - top));
	return 1;
}

static FN void go_back(int depth)
{
	volatile char room[512];

	room[depth & 7] = 0;
	if ((char *) __builtin_frame_address(0) > top - 4096)
		go_back(depth + 1);
	memcpy(top, frames, (size_t) (base - top));
	longjmp(env, 1);
}

int main(void)
{
	void *library = dlopen("./continuation.so", RTLD_NOW);

	if (!library)
		return 1;
	((void (*)(void)) dlsym(library, "Init_continuation"))();
	base = (char *) __builtin_frame_address(0);
	printf("%d\n", capture(5));
	fflush(stdout);
	work(times);
	if (++times < 6)
		go_back(0);
	return 3;
}
