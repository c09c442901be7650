/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * brief N INJECTOR ARG... - N times: a child with a few threads, which ends by itself after a while, and the injector, whose last
 * argument is the child's pid. All of them are in malloc() all the time, and block SIGTRAP, so that none can be injected.
 * Prints the longest time, in ms, that a child was not to be waited for after its end had begun.
 */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double *ended;

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static void *rest(void *unused)
{
	for (;;)
		mallinfo2();
	return unused;
}

static void live(double ms)
{
	double until = now_ms() + ms;
	pthread_t thread;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);

	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, rest, NULL);
	while (now_ms() < until)
		for (int i = 0; i < 100; i++)
			mallinfo2();
	*ended = now_ms();
	_exit(0);
}

int main(int argc, char **argv)
{
	double most = 0, took;
	pid_t child, injector;
	char number[16];

	ended = mmap(NULL, sizeof(*ended), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	argv[argc] = number;
	for (int i = atoi(argv[1]); i > 0; i--) {
		child = fork();
		if (!child)
			live(5 + i * 37 % 60);
		snprintf(number, sizeof(number), "%d", (int) child);
		injector = fork();
		if (!injector) {
			char **words = calloc(argc + 1, sizeof(*words));

			for (int k = 2; k <= argc; k++)
				words[k - 2] = argv[k];
			execv(words[0], words);
			_exit(127);
		}
		waitpid(child, NULL, 0);
		took = now_ms() - *ended;
		most = took > most ? took : most;
		waitpid(injector, NULL, 0);
	}
	printf("%.0f\n", most);
	return 0;
}
