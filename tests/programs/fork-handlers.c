/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * fork-handlers [ROUNDS] - a library (built with -DLIBRARY) ends its thread before each fork() and has another one
 * when it is next used, as OpenBLAS does; the thread calls what it never called before, throughout its life and at its
 * end, which the handler waits for. Without ROUNDS: one line, and forks until there is something to read.
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef LIBRARY
static sem_t begun, stop;
static pthread_t thread;
static int running;
static pthread_key_t key;
static volatile int n;

#define LATE(i) __attribute__((noipa)) static int leaf_##i(int a) { return a + i; } \
	__attribute__((noipa)) static int late_##i(int a) { return leaf_##i(a) * 2; }
LATE(0) LATE(1) LATE(2) LATE(3) LATE(4) LATE(5) LATE(6) LATE(7)
static int (*const late[8])(int) = { late_0, late_1, late_2, late_3, late_4, late_5, late_6, late_7 };

static void at_end(void *data)
{
	(void) data;
	n += late[n % 8](1) * 0 + 1;
}

static void *run(void *data)
{
	pthread_setspecific(key, &n);
	n += late[n % 8](1) * 0 + 1;
	sem_post(&begun);
	sem_wait(&stop);
	n += late[n % 8](1) * 0 + 1;
	return data;
}

int use(void)
{
	if (!running) {
		running = 1;
		pthread_create(&thread, NULL, run, NULL);
		sem_wait(&begun);
	}
	return n;
}

static void end(void)
{
	if (running) {
		running = 0;
		sem_post(&stop);
		pthread_join(thread, NULL);
	}
}

__attribute__((constructor)) static void init(void)
{
	pthread_key_create(&key, at_end);
	sem_init(&begun, 0, 0);
	sem_init(&stop, 0, 0);
	pthread_atfork(end, NULL, NULL);
}
#else
int use(void);

__attribute__((noipa)) static int round_trip(int i)
{
	int status, used = use();
	pid_t pid = fork();

	if (!pid)
		exit(use() > used ? i & 15 : 99);
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
	struct pollfd input = { .events = POLLIN };

	if (argc < 2) {
		printf("begun\n");
		fflush(stdout);
		for (int i = 0; i < 3 || !poll(&input, 1, 1); i++)
			if (round_trip(i) != (i & 15))
				return 1;
		return 9;
	}
	for (int i = 0; i < atoi(argv[1]); i++)
		printf("%d\n", round_trip(i));
	return 8;
}
#endif
