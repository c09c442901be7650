/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A program to be traced; linked with lttng-ust or not.
 *
 *   app N             N calls of work(), each calling add(), from main()'s first line on, then the end
 *   app N wait        the same, "ready", then one call for each line of input, answered with a line
 *   app N exec M      the same, then it becomes `app M wait`
 *   app N fork        the same, then a child makes as many calls and ends
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noipa)) int add(int a, int b)
{
	return a + b;
}

__attribute__((noipa)) int work(int n)
{
	return add(n, 1);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	char line[64];

	for (int i = 0; i < n; i++)
		work(i);
	if (argc > 3 && !strcmp(argv[2], "exec"))
		execl("/proc/self/exe", argv[0], argv[3], "wait", NULL);
	if (argc > 2 && !strcmp(argv[2], "fork")) {
		if (!fork()) {
			for (int i = 0; i < n; i++)
				work(1000 + i);
			return 0;
		}
		wait(NULL);
	}
	if (argc > 2 && !strcmp(argv[2], "wait")) {
		setvbuf(stdout, NULL, _IOLBF, 0);
		puts("ready");
		for (int i = 0; fgets(line, sizeof(line), stdin); i++)
			printf("%d\n", work(500 + i));
	}
	return 0;
}
