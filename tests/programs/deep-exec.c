/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* deep-exec DEPTH: that many calls deep it executes a program, which fails. What that took of the processor goes to stderr. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile int returned;

static long spent(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

__attribute__((noinline)) static void deep(int n, char **environment)
{
	char *arguments[] = { "true", NULL };
	long before;

	if (n) {
		deep(n - 1, environment);
	} else {
		before = spent();
		execve("/bin/true", arguments, environment);
		printf("execve: %s\n", strerror(errno));
		fprintf(stderr, "took %ld ms\n", spent() - before);
	}
	returned++;
}

int main(int argc, char **argv)
{
	static char large[200000] = "A=";
	char *environment[] = { large, NULL };

	memset(large + 2, 'x', sizeof(large) - 3);
	deep(argc > 1 ? atoi(argv[1]) : 0, environment);
	printf("%d returned\n", returned);
	return 0;
}
