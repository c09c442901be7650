/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * within-fork - says "ready", and forks once for each empty line it reads. The child says that fork() has returned, makes three
 * calls and ends. A line that is not empty is a program, which is executed meanwhile.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noipa)) int in_child(int a)
{
	return a + 1;
}

extern char **environ;

static void begin(char *line)
{
	char *arguments[] = { strtok(line, " \n"), strtok(NULL, "\n"), NULL };
	pid_t pid;

	if (posix_spawn(&pid, arguments[0], NULL, NULL, arguments, environ))
		exit(1);
}

int main(void)
{
	char line[64];

	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		int status = -1;
		pid_t pid;

		if (*line != '\n') {
			begin(line);
			continue;
		}
		pid = fork();
		if (!pid) {
			puts("returned");
			for (int i = 0; i < 3; i++)
				in_child(i);
			exit(0);
		}
		waitpid(pid, &status, 0);
		printf("ended %d\n", status);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
