/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Ends of a process that leave its tracer no time: ends MODE N.
 *	exec	a forked child calls t_work() N times and executes another program
 *	killed	calls it N times and gets SIGKILL
 *	open	exit() while N threads wait in t_wait()
 *	hung	SIGKILL then
 *	forks	N children, each of which calls it once and ends by _exit()
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t inside;

__attribute__((noipa)) long t_work(long i)
{
	return i * 3;
}

__attribute__((noipa)) void t_wait(void)
{
	sem_post(&inside);
	for (;;)
		pause();
}

static void work(long n)
{
	for (long i = 0; i < n; i++)
		t_work(i);
}

static void *waiter(void *unused)
{
	t_wait();
	return unused;
}

static int wait_for(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

static void mode_forks(long n)
{
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			work(1);
			_exit(0);
		}
		wait_for(pid);
	}
}

static void mode_exec(long n)
{
	pid_t pid = fork();

	if (pid == 0) {
		work(n);
		execl("/bin/true", "true", (char *) NULL);
		_exit(1);
	}
	printf("status %d\n", wait_for(pid));
}

static void mode_open(long n, int is_killed)
{
	pthread_t thread;

	sem_init(&inside, 0, 0);
	for (long i = 0; i < n; i++)
		pthread_create(&thread, NULL, waiter, NULL);
	for (long i = 0; i < n; i++)
		sem_wait(&inside);
	if (is_killed)
		raise(SIGKILL);
	exit(0);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 1;

	if (!strcmp(mode, "exec")) {
		mode_exec(n);
	} else if (!strcmp(mode, "killed")) {
		work(n);
		raise(SIGKILL);
	} else if (!strcmp(mode, "open")) {
		mode_open(n, 0);
	} else if (!strcmp(mode, "hung")) {
		mode_open(n, 1);
	} else if (!strcmp(mode, "forks")) {
		mode_forks(n);
	}
	return 0;
}
