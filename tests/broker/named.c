/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * named [FILE FILE] - two threads call functions, whose calls are among their first instructions, until FILE is there (or 50
 * times); prints how often, and waits for the second FILE.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static const char *end;
static unsigned long calls;

__attribute__((noinline)) int leaf(int a)
{
	__asm__ volatile("" : "+r" (a));
	return a;
}

/* As a compiler that does not optimise makes them: the call is the third instruction. */
int early(int a);
int again(int a);
__asm__(".text\n"
	".globl early\n.type early, @function\n"
	"early:\n	push %rbp\n	mov %rsp, %rbp\n	call leaf\n	pop %rbp\n	ret\n	.size early, . - early\n"
	/* a loop back to the first byte */
	".globl again\n.type again, @function\n"
	"again:\n	test %edi, %edi\n	je 1f\n	dec %edi\n	jmp again\n1:	push %rbx\n	call leaf\n	pop %rbx\n	ret\n"
	"	.size again, . - again\n");

__attribute__((noinline)) int usual(int a)
{
	a = leaf(a) + early(a) + again(3);
	__asm__ volatile("" : "+r" (a));
	return a;
}

static void *work(void *data)
{
	for (int i = 0; end ? access(end, F_OK) : i < 50; i++) {
		usual(i);
		__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
		if (end)
			usleep(50);
	}
	return data;
}

int main(int argc, char **argv)
{
	pthread_t t[2];

	end = argc > 1 ? argv[1] : NULL;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%lu\n", calls);
	fflush(stdout);
	while (argc > 2 && access(argv[2], F_OK))
		usleep(1000);
	return 0;
}
