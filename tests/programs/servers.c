/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * servers - forks a child every 30 ms until SIGTERM; each calls and rests for some 60 ms. Prints `ready`, and at the end
 * how many children there were and whether all ended as they should.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t over;

static void on_term(int number)
{
	(void) number;
	over = 1;
}

__attribute__((noipa)) int v_leaf(int a)
{
	return a * 3 + 1;
}

__attribute__((noipa)) int v_rest(int a)
{
	usleep(2000);
	return v_leaf(a) + 1;
}

__attribute__((noipa)) int v_serve(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += v_rest(i) + v_leaf(i);
	return sum;
}

static int child(void)
{
	return v_serve(30) == 30 * 29 / 2 * 6 + 30 * 3 ? 7 : 8;
}

int main(void)
{
	int children = 0, right = 0, status;

	signal(SIGTERM, on_term);
	puts("ready");
	fflush(stdout);
	while (!over) {
		if (fork() == 0)
			_exit(child());
		children++;
		usleep(30000);
		while (waitpid(-1, &status, WNOHANG) > 0)
			right += WIFEXITED(status) && WEXITSTATUS(status) == 7;
	}
	while (wait(&status) > 0)
		right += WIFEXITED(status) && WEXITSTATUS(status) == 7;
	printf("%d children, %s\n", children, right == children ? "right" : "wrong");
	return 0;
}
