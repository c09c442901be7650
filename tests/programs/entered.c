/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Functions that are entered otherwise than by a call of the program's, each of which calls one of its own: by libc, before
 * main() and after it, by a switch of stacks, and by jumps. Built with -finstrument-functions it says on stderr which
 * functions were entered, as offsets.
 */
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noipa))
#define UNSEEN __attribute__((no_instrument_function))
#define LEAF(name) NOINLINE static int leaf_##name(int a) { return a + 1; }

extern const char __executable_start[];
UNSEEN void __cyg_profile_func_enter(void *function, void *caller);
UNSEEN void __cyg_profile_func_exit(void *function, void *caller);
void __cyg_profile_func_enter(void *function, void *caller)
{
	(void) caller;
	dprintf(2, "entered %lx\n", (unsigned long) ((const char *) function - __executable_start));
}
void __cyg_profile_func_exit(void *function, void *caller)
{
	(void) function;
	(void) caller;
}

/* ---- by libc ---- */

LEAF(key) LEAF(prepare) LEAF(parent) LEAF(child) LEAF(timer) LEAF(phdr) LEAF(compare) LEAF(cookie) LEAF(walk)
LEAF(on_exit) LEAF(at_exit) LEAF(constructor) LEAF(destructor) LEAF(signal) LEAF(late) LEAF(quick)

static void key(void *p) { leaf_key(*(int *) p); }
static void prepare(void) { leaf_prepare(1); }
static void parent(void) { leaf_parent(1); }
static void child(void) { leaf_child(1); }
static volatile int fired;
static void timer(union sigval v) { leaf_timer(v.sival_int); fired = 1; }
static int compare(const void *a, const void *b) { leaf_compare(1); return *(const int *) a - *(const int *) b; }
static void on_signal(int number) { leaf_signal(number); }
static void late(void) { leaf_late(1); }
static void quick(void) { leaf_quick(1); }
static void on_exit_(int status, void *p) { (void) p; leaf_on_exit(status); }
static void at_exit(void) { leaf_at_exit(1); atexit(late); raise(SIGUSR1); }
__attribute__((constructor)) static void constructor(void) { leaf_constructor(1); }
__attribute__((destructor)) static void destructor(void) { leaf_destructor(1); }

static int phdr(struct dl_phdr_info *info, size_t size, void *p)
{
	(void) info;
	(void) size;
	(void) p;
	leaf_phdr(1);
	return 1;
}

static ssize_t cookie(void *p, const char *buffer, size_t size)
{
	(void) p;
	(void) buffer;
	leaf_cookie(1);
	return (ssize_t) size;
}

static void walk(const void *node, VISIT visit, int depth)
{
	(void) node;
	(void) visit;
	leaf_walk(depth);
}

static void *with_key(void *k)
{
	static int value = 3;

	pthread_setspecific(*(pthread_key_t *) k, &value);
	return NULL;
}

NOINLINE static void by_libc(void)
{
	struct itimerspec soon = { { 0, 0 }, { 0, 1000000 } };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = timer };
	int numbers[3] = { 3, 1, 2 };
	void *tree = NULL;
	pthread_key_t k;
	pthread_t thread;
	timer_t id;
	FILE *f;

	pthread_key_create(&k, key);
	pthread_create(&thread, NULL, with_key, &k);
	pthread_join(thread, NULL);
	pthread_atfork(prepare, parent, child);
	if (!fork())
		_exit(0);
	wait(NULL);
	timer_create(CLOCK_MONOTONIC, &event, &id);
	timer_settime(id, 0, &soon, NULL);
	while (!fired)
		usleep(1000);
	dl_iterate_phdr(phdr, NULL);
	qsort(numbers, 3, sizeof(numbers[0]), compare);
	f = fopencookie(NULL, "w", (cookie_io_functions_t) { .write = cookie });
	fputs("x", f);
	fclose(f);
	tsearch(&numbers[0], &tree, compare);
	twalk(tree, walk);
	signal(SIGUSR1, on_signal);
	on_exit(on_exit_, NULL);
	atexit(at_exit);
	at_quick_exit(quick);
}

/* ---- by a switch of stacks ---- */

#define STACK 65536

LEAF(context) LEAF(argument)

static ucontext_t back, forth, ends;

static void context(void)
{
	for (int i = 0; i < 3; i++) {
		leaf_context(i);
		swapcontext(&forth, &back);
	}
}

static void with_arguments(int a, int b) { leaf_argument(a + b); }	/* and it returns: uc_link */

NOINLINE static void by_context(void)
{
	static char stacks[2][STACK] __attribute__((aligned(16)));

	for (int i = 0; i < 2; i++) {
		ucontext_t *c = i ? &ends : &forth;

		getcontext(c);
		c->uc_stack.ss_sp = stacks[i];
		c->uc_stack.ss_size = STACK;
		c->uc_link = &back;
	}
	makecontext(&forth, context, 0);
	makecontext(&ends, (void (*)(void)) with_arguments, 2, 1, 2);
	for (int i = 0; i < 3; i++)
		swapcontext(&back, &forth);
	swapcontext(&back, &ends);
}

/* ---- by what is no call: as fcontext, libco and minicoro do ---- */

LEAF(returned_to) LEAF(jumped_to) LEAF(nested) LEAF(twice)

void switch_stack(void **from, void *to);
void jump_in(void);
void push_ret(void (*function)(void));
__asm__(".text\n"
	"	.type switch_stack, @function\n"
	"switch_stack:\n"
	"	push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
	"	mov %rsp, (%rdi); mov %rsi, %rsp\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp; ret\n"
	"	.size switch_stack, . - switch_stack\n"
	"	.type jump_in, @function\n"
	"jump_in:\n"
	"	jmp *%rbx\n"
	"	.size jump_in, . - jump_in\n"
	"	.type push_ret, @function\n"
	"push_ret:\n"
	"	sub $8, %rsp; lea 1f(%rip), %rax; push %rax; push %rdi; ret\n"
	"1:	add $8, %rsp; ret\n"
	"	.size push_ret, . - push_ret\n");

static void *main_stack, *first, *second;
static void never(void) { abort(); }
static void pushed(void) { leaf_twice(1); }

static void returned_to(void)
{
	for (int i = 0; ; i++) {
		leaf_returned_to(i);
		switch_stack(&first, main_stack);
	}
}

static void jumped_to(void)
{
	for (int i = 0; ; i++) {
		leaf_jumped_to(i);
		switch_stack(&second, main_stack);
	}
}

NOINLINE static void by_jump(void)
{
	static void *stacks[2][STACK / 8] __attribute__((aligned(16)));
	void **s = &stacks[0][STACK / 8 - 8];

	*--s = NULL;
	*--s = (void *) never;
	*--s = (void *) returned_to;
	first = s - 6;
	s = &stacks[1][STACK / 8 - 8];
	*--s = NULL;
	*--s = (void *) 0xdeaddeaddeaddeadul;	/* no return address: it never returns */
	*--s = (void *) jump_in;
	s[-2] = (void *) jumped_to;		/* rbx */
	second = s - 6;
	for (int i = 0; i < 3; i++) {
		switch_stack(&main_stack, first);
		switch_stack(&main_stack, second);
	}
	push_ret(pushed);
	push_ret(pushed);
}

/* A nested function that uses a variable around it is called by code on the stack. */
NOINLINE static void by_nested(int a)
{
	int sum = a;
	int nested(int x) { sum += leaf_nested(x + a); return sum; }
	int (*volatile function)(int) = nested;

	if (function(1) + function(2) == 99)
		abort();
}

int main(int argc, char **argv)
{
	by_libc();
	by_context();
	by_jump();
	by_nested(argc);
	puts("done");
	fflush(stdout);
	if (argc > 1 && !strcmp(argv[1], "quick"))
		quick_exit(0);
	if (argc > 1 && !strcmp(argv[1], "exit"))
		exit(0);
	return 0;
}
