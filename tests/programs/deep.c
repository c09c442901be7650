/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * deep N - calls itself N deep; at the bottom it prints `bottom` and waits for the file `go`, back up it prints `up` and waits for
 * `go2`. Then d_later() 500 times, slowly.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void say_and_wait(const char *word, const char *file)
{
	struct timespec pause = { 0, 2000000 };

	puts(word);
	fflush(stdout);
	while (access(file, F_OK))
		nanosleep(&pause, NULL);
}

__attribute__((noipa)) long d_down(int n)
{
	static const struct timespec pause = { 0, 1000000 };
	long depth = 0;

	if (n % 1000 == 0)
		nanosleep(&pause, NULL);	/* who empties the ring keeps up */
	if (n)
		depth = d_down(n - 1) + 1;
	else
		say_and_wait("bottom", "go");
	__asm__ __volatile__("" : "+r"(depth));
	return depth;
}

__attribute__((noipa)) long d_later(long a)
{
	return a + 1;
}

int main(int argc, char **argv)
{
	struct timespec pause = { 0, 1000000 };
	long depth = d_down(argc > 1 ? atoi(argv[1]) : 10);

	say_and_wait("up", "go2");
	for (int i = 0; i < 500; i++) {
		nanosleep(&pause, NULL);
		depth = d_later(depth);
	}
	printf("%ld\n", depth);
	return 0;
}
