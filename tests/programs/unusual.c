/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * unusual: works five times and tells its sum and signals. `unusual wait`: works until SIGTERM; `unusual leave`: the same
 * in another thread, the first one ends. Status 7.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t over;
static void end(int number) { (void) number; over = 1; }

__attribute__((noinline, noipa)) int work(int a) { return a * 3 + 1; }

static void *work_on(void *arg)
{
	int wrong = 0;

	(void) arg;
	printf("ready\n");
	fflush(stdout);
	for (int i = 0; !over; i++, usleep(1000))
		wrong += work(i & 1023) != (i & 1023) * 3 + 1;
	printf("wrong %d\n", wrong);
	exit(7);
}

int main(int argc, char **argv)
{
	struct sigaction child;
	sigset_t blocked;
	pthread_t thread;
	int sum = 0;

	signal(SIGTERM, end);
	if (argc > 1 && argv[1][0] == 'w')
		work_on(NULL);
	if (argc > 1) {
		pthread_create(&thread, NULL, work_on, NULL);
		pthread_exit(NULL);
	}
	for (int i = 1; i <= 5; i++)
		sum += work(i);
	sigaction(SIGCHLD, NULL, &child);
	sigprocmask(SIG_SETMASK, NULL, &blocked);
	printf("sum %d, SIGCHLD %s, SIGUSR1 %s\n", sum, child.sa_handler == SIG_IGN ? "ignored" : "default",
		sigismember(&blocked, SIGUSR1) ? "blocked" : "open");
	return 7;
}
