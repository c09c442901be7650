/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * asked THREADS - "ready", then for each line of input one s_round() in each of its threads, answered with a line when
 * all are over; for the line "go", which is answered at once, one each 10 ms, until the next line.
 * A round is s_round, which calls s_left, which calls s_leaf, and s_right.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOIPA __attribute__((noipa))

static pthread_barrier_t begins, ends;
static volatile int over, going, sink;

NOIPA int s_leaf(int x) { return x + 1; }
NOIPA int s_left(int x) { return s_leaf(x) + 1; }
NOIPA int s_right(int x) { return x + 2; }
NOIPA int s_round(int x) { return s_left(x) + s_right(x); }

static void *work(void *unused)
{
	static const struct timespec pause = { 0, 10000000 };

	while (pthread_barrier_wait(&begins), !over) {
		sink = s_round(1);
		while (going) {
			nanosleep(&pause, NULL);
			sink = s_round(1);
		}
		pthread_barrier_wait(&ends);
	}
	return unused;
}

int main(int argc, char **argv)
{
	unsigned int n = argc > 1 ? (unsigned int) atoi(argv[1]) : 1;
	pthread_t id[64];
	char line[64];

	setvbuf(stdout, NULL, _IOLBF, 0);
	pthread_barrier_init(&begins, NULL, n + 1);
	pthread_barrier_init(&ends, NULL, n + 1);
	for (unsigned int i = 0; i < n; i++)
		pthread_create(&id[i], NULL, work, NULL);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		going = !strcmp(line, "go\n");
		pthread_barrier_wait(&begins);
		if (going) {
			puts("going");
			if (!fgets(line, sizeof(line), stdin))
				break;
			going = 0;
		}
		pthread_barrier_wait(&ends);
		puts("over");
	}
	if (going)
		return 1;
	over = 1;
	pthread_barrier_wait(&begins);
	for (unsigned int i = 0; i < n; i++)
		pthread_join(id[i], NULL);
	return 3;
}
