/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Closes all descriptors that it does not know, one by one or with argument `range` at once, calls leaf() twice, and in
 * a forked child once.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline, noipa)) int leaf(int x)
{
	return 3 * x;
}

int main(int argc, char **argv)
{
	pid_t child;

	if (argc > 1 && !strcmp(argv[1], "range"))
		close_range(3, ~0u, 0);
	else
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
	printf("%d\n", leaf(1) + leaf(2));
	fflush(stdout);
	child = fork();
	if (!child)
		_exit(leaf(3) != 9);
	waitpid(child, NULL, 0);
	return 0;
}
