/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Processes whose first thread is not the last: `exit` leaves main() by
 * pthread_exit() with a thread still at work; `fork` forks in a thread, which then
 * returns in the child; `wait` is `exit` with a line first, and goes on when there is
 * a file `go`. libc ends such a process with status 0 after the last thread. `raw` is `wait`,
 * but main() ends by a system call of its own, with 7, which becomes the process's; `raw-alone`
 * has no other thread.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
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

static void raw_exit(int status)
{
	__asm__ __volatile__("syscall" : : "a"(SYS_exit), "D"(status));
	__builtin_unreachable();
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
	if (!strcmp(mode, "wait") || !strncmp(mode, "raw", 3)) {
		puts("ready");
		t_work(0);
		while (access("go", F_OK))
			usleep(5000);
		t_work(0);
	}
	if (!strcmp(mode, "raw-alone"))
		raw_exit(7);
	pthread_create(&thread, NULL, work, strcmp(mode, "idle") ? mode : NULL);
	if (!strcmp(mode, "raw"))
		raw_exit(7);
	pthread_exit(NULL);
}
