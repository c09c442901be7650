/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * locked-malloc-forks N - forks N children from its only thread, each of which allocates and calls; ends with how many did not do as
 * they should.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noipa)) int in_child(int a)
{
	int *at = malloc(sizeof(*at));

	*at = a;
	return *at + 1;
}

__attribute__((noipa)) int in_parent(int a)
{
	return a + 1;
}

int main(int argc, char **argv)
{
	int wrong = 0, status, n = argc > 1 ? atoi(argv[1]) : 0;

	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(in_child(in_child(5)) != 7);
		in_parent(i);
		wrong += waitpid(pid, &status, 0) != pid || status != 0;
	}
	return wrong > 100 ? 100 : wrong;
}
