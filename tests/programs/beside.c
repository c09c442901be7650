/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Children made by libc's clone() that run beside their maker: beside WAY [wait]
 *	shared	in its memory, on its thread-local variables (CLONE_VM)
 *	copy	in a copy of its memory
 *	call	the same by syscall(SYS_clone)
 * Both sides call b_leaf() and what calls it, ROUNDS times 2 000 calls of b_leaf() each. Prints what came of it. `wait`: after the
 * end of its input, after a line `ready`.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FN	__attribute__((noipa))
#define STACK	262144
#define ROUNDS	4

FN static long b_leaf(long a)
{
	return a + 1;
}

FN static long b_middle(long a)
{
	return b_leaf(a) * 2 + b_leaf(a + 1);
}

FN static long b_deep(int n)
{
	return n ? b_deep(n - 1) + b_middle(n) : 0;
}

FN static long work(void)
{
	long sum = 0;

	for (int i = 0; i < 200; i++)
		sum += b_deep(5);
	return sum;
}

static int in_child(void *wanted)
{
	return work() == *(long *) wanted ? 7 : 8;
}

int main(int argc, char **argv)
{
	static char stack[STACK] __attribute__((aligned(64)));
	const char *way = argc > 1 ? argv[1] : "";
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | SIGCHLD, status, bad = 0;
	long wanted = 200 * (3 * (1 + 2 + 3 + 4 + 5) + 5 * 4);
	char byte;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 2) {
		puts("ready");
		while (read(0, &byte, 1) == 1)
			;
	}
	for (int i = 0; i < ROUNDS; i++) {
		pid_t pid;

		if (!strcmp(way, "call")) {
			pid = (pid_t) syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
			if (!pid)
				_exit(in_child(&wanted));
		} else {
			pid = clone(in_child, stack + STACK, !strcmp(way, "copy") ? SIGCHLD : flags, &wanted);
		}
		bad += work() != wanted;
		status = -1;
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		bad += !WIFEXITED(status) || WEXITSTATUS(status) != 7;
	}
	printf("%s: wrong: %d\n", way, bad);
	return bad ? 1 : 3;
}
