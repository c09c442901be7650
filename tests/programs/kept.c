/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * kept [fork] - is always within two calls, of 0.1 ms or so, until SIGTERM; forks a child after some hundred, which calls, too.
 * Ends with 1 when a child ends otherwise than it should.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t over;

static void on_term(int number)
{
	over = number;
}

__attribute__((noipa)) int w_leaf(int a)
{
	for (volatile int i = 0; i < 50000; i++)
		;
	return a + 1;
}

__attribute__((noipa)) int w_top(int a)
{
	return w_leaf(a) + 1;
}

static int child_is_right(void)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(w_top(5));
	while (waitpid(child, &status, 0) < 0)
		;
	return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

int main(int argc, char **argv)
{
	(void) argv;
	signal(SIGTERM, on_term);
	for (unsigned int n = 0; !over; n++) {
		w_top(3);
		if (argc > 1 && n % 100 == 99 && !child_is_right())
			return 1;
	}
	return 0;
}
