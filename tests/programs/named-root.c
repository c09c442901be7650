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

/* A jump in place of one byte, with a loop right behind, can lead to one place: two of them would not stand at the same address. */
#define SHORT(n) void short_##n(int a); \
	__asm__(".globl short_" #n "\n.type short_" #n ", @function\n.p2align 4\n" \
		"short_" #n ":\n	push %rbp\n	mov %rsp, %rbp\n1:	shr %edi\n	jnz 1b\n	pop %rbp\n	ret\n" \
		".size short_" #n ", . - short_" #n "\n");
#define CALL(n) short_##n(i);
#define EACH(what) what(0) what(1) what(2) what(3) what(4) what(5) what(6) what(7) what(8) what(9) what(10) what(11) \
	what(12) what(13) what(14) what(15) what(16) what(17) what(18) what(19) what(20) what(21) what(22) what(23)
EACH(SHORT)

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
		EACH(CALL)
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
