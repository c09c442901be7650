/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Processes whose first thread is not the last: `exit` leaves main() by
 * pthread_exit() with a thread still at work; `fork` forks in a thread, which then
 * returns in the child; `wait` is `exit` with a line first, and a byte of input
 * to go on. libc ends such a process with status 0 after the last thread.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int t_work(int n)
{
	__asm__ __volatile__("" ::: "memory");
	return n + 1;
}

static void bye(void)
{
	puts("atexit");
}

static void *work(void *calls)
{
	for (int i = 0; i < 100 * (calls != NULL); i++)
		t_work(i);
	usleep(100000);
	puts("worker");
	return NULL;
}

static void *forks(void *unused)
{
	pid_t child = fork();
	int status;

	if (!child) {
		t_work(1);
		puts("child");
		return unused;
	}
	waitpid(child, &status, 0);
	printf("status %x\n", status);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "exit";
	pthread_t thread;

	setvbuf(stdout, NULL, _IOLBF, 0);
	atexit(bye);
	if (!strcmp(mode, "fork")) {
		pthread_create(&thread, NULL, forks, NULL);
		pthread_join(thread, NULL);
		return 3;
	}
	if (!strcmp(mode, "wait")) {
		puts("ready");
		t_work(0);
		while (access("go", F_OK))
			usleep(5000);
		t_work(0);
	}
	pthread_create(&thread, NULL, work, strcmp(mode, "idle") ? mode : NULL);
	pthread_exit(NULL);
}
