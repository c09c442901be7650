/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A thread of the program's own with a name as lttng-ust gives it: named [block]
 * It calls t_work() and t_tiny() 1000 times, or with SIGTRAP blocked again and
 * again until SIGTERM.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* No room for a jump: the next function begins within five bytes. */
int t_tiny(int x);
int t_tiny2(int x);
__asm__(".text\n"
	".globl t_tiny, t_tiny2\n"
	".type t_tiny, @function\n.type t_tiny2, @function\n"
	"t_tiny: lea 1(%rdi), %eax\n ret\n.size t_tiny, . - t_tiny\n"
	"t_tiny2: lea 2(%rdi), %eax\n ret\n.size t_tiny2, . - t_tiny2\n");

static volatile sig_atomic_t stop;

static void on_term(int number)
{
	(void) number;
	stop = 1;
}

/* One instruction with room for a jump. */
__attribute__((noipa)) long t_work(long i)
{
	return i + 123456789;
}

static void *worker(void *rounds)
{
	sigset_t trap;

	pthread_setname_np(pthread_self(), "worker-ust");
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	if (rounds)
		pthread_sigmask(SIG_BLOCK, &trap, NULL);
	puts("ready");
	fflush(stdout);
	do {
		for (int i = 0; i < 1000; i++)
			t_work(t_tiny(i));
		if (rounds)
			usleep(1000);
	} while (rounds && !stop);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	signal(SIGTERM, on_term);
	pthread_create(&thread, NULL, worker, argc > 1 ? argv : NULL);
	pthread_join(thread, NULL);
	return 0;
}
