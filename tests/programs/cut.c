/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * cut - threads that wait in calls of c_outer(), and return from them, as lines come: one `go` for all. Beside
 * them one calls c_leaf() all the time, through c_busy().
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NOIPA __attribute__((noipa))
#define THREADS 3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static int turn, arrived, over;
static volatile long sink;

NOIPA long c_leaf(long x) { return x + 1; }
NOIPA long c_wait(long x)
{
	int mine;

	pthread_mutex_lock(&lock);
	mine = turn;
	arrived++;
	pthread_cond_broadcast(&moved);
	while (turn == mine)
		pthread_cond_wait(&moved, &lock);
	pthread_mutex_unlock(&lock);
	return x;
}
NOIPA long c_middle(long x) { return c_wait(c_leaf(x)) + 1; }
NOIPA long c_outer(long x) { return c_middle(x) + c_leaf(x); }
NOIPA long c_busy(long x) { return c_leaf(x) + c_leaf(x); }

static void *outer(void *unused)
{
	while (!over)
		sink = c_outer(sink);
	return unused;
}

static void *busy(void *unused)
{
	struct timespec pause = { 0, 200000 };

	while (!over) {
		sink = c_busy(sink);
		nanosleep(&pause, NULL);
	}
	return unused;
}

int main(void)
{
	pthread_t id[THREADS + 1];
	char line[64];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&id[i], NULL, outer, NULL);
	pthread_create(&id[THREADS], NULL, busy, NULL);
	puts("ready");
	fflush(stdout);
	while (!over && fgets(line, sizeof(line), stdin)) {
		pthread_mutex_lock(&lock);
		while (arrived < (turn + 1) * THREADS)
			pthread_cond_wait(&moved, &lock);
		turn++;
		over = !strcmp(line, "end\n");
		pthread_cond_broadcast(&moved);
		while (arrived < (over ? turn : turn + 1) * THREADS)
			pthread_cond_wait(&moved, &lock);
		pthread_mutex_unlock(&lock);
		puts("went");
		fflush(stdout);
	}
	for (int i = 0; i <= THREADS; i++)
		pthread_join(id[i], NULL);
	puts("done");
	return 7;
}
