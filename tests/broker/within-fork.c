/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * within-fork - says "ready", and forks once for each line it reads. The child says at which time of day fork() returned,
 * in milliseconds, makes three calls and ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noipa)) int in_child(int a)
{
	return a + 1;
}

int main(void)
{
	char line[32];

	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		int status = -1;

		if (!fork()) {
			struct timespec now;

			clock_gettime(CLOCK_REALTIME, &now);
			printf("returned %ld\n", now.tv_sec * 1000 + now.tv_nsec / 1000000);
			for (int i = 0; i < 3; i++)
				in_child(i);
			exit(0);
		}
		wait(&status);
		printf("ended %d\n", status);
	}
	return 0;
}
