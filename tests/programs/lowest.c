/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Children that rely on what open() promises: the lowest number that is free. Each
 * closes and opens 0 for some milliseconds, beginning as soon as fork() has returned.
 * Prints how many did not get it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) int t_child(int ms)
{
	struct timespec begun, now;
	int wrong = 0;

	clock_gettime(CLOCK_MONOTONIC, &begun);
	do {
		for (int i = 0; i < 20; i++) {
			close(0);
			wrong |= open("/dev/null", O_RDONLY) != 0;
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000 < ms);
	return wrong;
}

int main(int argc, char **argv)
{
	int children = argc > 1 ? atoi(argv[1]) : 20, wrong = 0, status;

	for (int i = 0; i < children; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(t_child(20));
		waitpid(pid, &status, 0);
		wrong += !WIFEXITED(status) || WEXITSTATUS(status);
	}
	printf("%d children, %d wrong\n", children, wrong);
	return wrong != 0;
}
