/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Coroutines that all run on one stack, as libco's and libaco's can: who goes on has its
 * frames copied there, and away again when it waits. They are known by the function that
 * switches, which is libco's here. With -DSTACK_OF_MAIN that stack is a variable of main().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FN __attribute__((noipa))
#define COUNT	5

struct co {
	void *sp;
	char *saved;
	size_t size;
	int done;
};

void coctx_swap(void **from, void *to);
__asm__(".text\n"
	".globl coctx_swap\n"
	".type coctx_swap, @function\n"
	"coctx_swap: push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
	"mov %rsp, (%rdi); mov %rsi, %rsp\n"
	"pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp; ret\n"
	".size coctx_swap, . - coctx_swap\n");

static struct co all[COUNT], *now;
static void *resumer;
static char *top;
static unsigned long sum;

FN static void yield(void)
{
	coctx_swap(&now->sp, resumer);
}

FN static int deep(int n)
{
	if (!n) {
		yield();
		return 1;
	}
	return deep(n - 1) + n;
}

FN static void work(int k)
{
	for (int i = 0; i < 200; i++)
		sum = sum * 31 + (unsigned long) deep((k + i) % 7);
}

FN static void run(void)
{
	work((int) (now - all));
	now->done = 1;
	yield();
}

FN static void resume(struct co *co)
{
	now = co;
	if (co->size)
		memcpy(top - co->size, co->saved, co->size);
	coctx_swap(&resumer, co->sp);
	co->size = (size_t) (top - (char *) co->sp);
	co->saved = realloc(co->saved, co->size);
	memcpy(co->saved, co->sp, co->size);
}

FN static void begin(struct co *co)
{
	void **sp = (void **) (top - 64);

	memset(sp, 0, 64);
	sp[6] = (void *) run;
	co->sp = sp;
	co->size = 64;
	co->saved = malloc(64);
	memcpy(co->saved, sp, 64);
}

int main(void)
{
	int left = COUNT;
#ifdef STACK_OF_MAIN
	char stack[65536] __attribute__((aligned(16)));

	top = stack + sizeof(stack);
#else
	top = (char *) aligned_alloc(16, 65536) + 65536;
#endif
	if (left == 0)
		run();		/* a call of it, so that it is in the tree */
	for (int k = 0; k < COUNT; k++)
		begin(&all[k]);
	while (left)
		for (int k = 0; k < COUNT; k++)
			if (!all[k].done) {
				resume(&all[k]);
				left -= all[k].done;
			}
	printf("%lx\n", sum);
	return 0;
}
