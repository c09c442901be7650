/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Hides /dev/shm and forks: what a library needs there it has to make anew. The child
 * tells what it hears of children, of which it has none, and forks once more.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t heard;

static void on_child(int number)
{
	(void) number;
	heard++;
}

__attribute__((noinline)) int work(int a)
{
	__asm__ volatile("" : "+r" (a));
	return a;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_child };
	int status;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("hidden: %d\n", unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		mount("none", "/dev/shm", "tmpfs", 0, NULL));
	sigaction(SIGCHLD, &action, NULL);
	work(1);
	if (fork() == 0) {
		int r;

		errno = 0;
		r = wait(NULL) == -1 && errno == ECHILD;
		printf("child: heard %d, no child %d\n", (int) heard, r);
		work(2);
		if (fork() == 0)
			exit(work(3));
		wait(&status);
		printf("child: heard %d, its child %d\n", (int) heard, WEXITSTATUS(status));
		exit(0);
	}
	while (wait(&status) < 0 && errno == EINTR)
		;
	printf("heard %d, child %d\n", (int) heard, WEXITSTATUS(status));
	return 0;
}
