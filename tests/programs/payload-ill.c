/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A program with a handler of SIGILL of its own: it executes ud2 in between and goes on behind it. It prints the bytes
 * of its call of leaf(), before, while and after a line is read each; the function that has the call is `calls`.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#define KEPT __attribute__((noinline, noipa))

static int own;

static void handler(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	(void) number;
	(void) info;
	own++;
	interrupted->uc_mcontext.gregs[REG_RIP] += 2;
}

KEPT int leaf(int x)
{
	return 3 * x;
}

KEPT int calls(int x)
{
	int y = leaf(x);

	__asm__ volatile("ud2");
	return y + leaf(x + 1);
}

/* With all signals blocked. */
KEPT int masked(int x)
{
	sigset_t all, before;
	int y;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	y = leaf(x) + leaf(x);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return y;
}

static void bytes_print(const char *when)
{
	const unsigned char *text = (const unsigned char *) (void *) calls;

	printf("%s", when);
	for (int i = 0; i < 48; i++)
		printf(" %02x", text[i]);
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	char line[16];
	long sum = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGILL, &action, NULL);
	bytes_print("before");
	if (argc > 1)
		printf("masked %d\n", masked(4));
	while (fgets(line, sizeof(line), stdin) && strcmp(line, "end\n")) {
		for (int i = 0; i < 3; i++)
			sum += calls(i);
		bytes_print(strcmp(line, "out\n") ? "while" : "after");
	}
	printf("%ld, own %d\n", sum, own);
	return 0;
}
