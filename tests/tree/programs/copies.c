/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Coroutines where a place on the stack proves nothing: copies MODE.
 *   local     their stacks are variables of main(), as in the example of makecontext(3)
 *   shared    all run on one stack, from which they are copied when they stop, and to which when they go on
 *   within    the same, that stack being a variable of main()
 *   again     one frame is returned from several times, as Ruby's continuations do, whose library it says it is
 * Prints the calls that it counted itself.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define FN __attribute__((noipa))
#define COROUTINES	5
#define ROUNDS		300
#define STACK		32768

static ucontext_t back, there[COROUTINES];
static char *room[COROUTINES], *saved[COROUTINES];
static int now, over;
static unsigned long sum, calls;

static FN void stop(void)
{
	calls++;
	swapcontext(&there[now], &back);
}

static FN void down(int depth)
{
	volatile long filled[8];

	calls++;
	filled[depth & 7] = depth;
	if (depth)
		down(depth - 1);
	else
		stop();
	sum = sum * 31 + (unsigned long) filled[depth & 7];
}

static FN void work(int rounds)
{
	calls++;
	for (int i = 0; i < rounds; i++)
		down((now + i) % 6);
}

static FN void coroutine(void)
{
	work(ROUNDS + now);
	over++;
}

/* What main() does meanwhile: calls at the places where the coroutines have theirs. */
static FN void meanwhile(int depth)
{
	calls++;
	if (depth)
		meanwhile(depth - 1);
	sum += (unsigned long) depth;
}

static FN void go_on(int which)
{
	calls++;
	now = which;
	if (saved[which])
		memcpy(room[which], saved[which], STACK);
	swapcontext(&back, &there[which]);
	if (saved[which])
		memcpy(saved[which], room[which], STACK);
}

static jmp_buf env;
static char *base, *top, *frames;
static volatile int times;

/* Returns once more for each go_back(), with all that was on the stack below main(). */
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

static int again(void)
{
	void *library = dlopen("./continuation.so", RTLD_NOW);

	if (!library)
		return 1;
	((void (*)(void)) dlsym(library, "Init_continuation"))();
	base = (char *) __builtin_frame_address(0);
	printf("%d\n", capture(5));
	fflush(stdout);
	work(0);
	if (++times < 6)
		go_back(0);
	return 3;
}

int main(int argc, char **argv)
{
	char local[COROUTINES][STACK];
	const char *mode = argc > 1 ? argv[1] : "";

	if (!strcmp(mode, "again"))
		return again();
	work(0);		/* a tree comes by here, as libc's call of coroutine() is not its */
	for (int i = 0; i < COROUTINES; i++) {
		room[i] = !strcmp(mode, "local") ? local[i] : !strcmp(mode, "within") ? local[0] : i ? room[0] : malloc(STACK);
		getcontext(&there[i]);
		there[i].uc_stack.ss_sp = room[i];
		there[i].uc_stack.ss_size = STACK;
		there[i].uc_link = &back;
		if (strcmp(mode, "local")) {	/* what makecontext() writes to the stack goes with the others' */
			saved[i] = calloc(1, STACK);
			makecontext(&there[i], coroutine, 0);
			memcpy(saved[i], room[i], STACK);
		} else {
			makecontext(&there[i], coroutine, 0);
		}
	}
	for (int i = 0; over < COROUTINES; i++) {
		int which = i % COROUTINES;

		if (i / COROUTINES <= ROUNDS + which)
			go_on(which);
		meanwhile(i % 40);
	}
	printf("%lu calls %lx\n", calls, sum);
	return 3;
}
