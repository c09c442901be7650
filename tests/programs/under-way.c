/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * under-way [HALF] - is always within a call, of twice HALF us (15000), until SIGTERM; prints a line for each.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t over;
static useconds_t half = 15000;

static void on_term(int number)
{
	over = number;
}

__attribute__((noipa)) int u_inner(int a)
{
	usleep(half);
	return a + 1;
}

__attribute__((noipa)) int u_outer(int a)
{
	int r = u_inner(a);
	usleep(half);
	puts("again");
	fflush(stdout);
	return r;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		half = (useconds_t) atoi(argv[1]);
	signal(SIGTERM, on_term);
	while (!over)
		u_outer(3);
	return 0;
}
