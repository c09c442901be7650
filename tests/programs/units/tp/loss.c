/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Bursts of nested calls into buffers that are far too small, and a pause after
 * each so that the consumer can make room. Each call works out its own value, so
 * that the trace shows which exit belongs to which entry. On a busy machine the
 * consumer may come by only when all is over: the bursts go on until an exit that
 * found no room was made up for.
 *
 *	loss THREADS BURSTS DEPTH
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "host.h"

#define BURSTS_MOST	10000	/* 2 ms and more each */

static const struct host_field args[] = {
	{ "a", SPI_KIND_INT, SPI_PLACE_GPR, RDI, 4, 1 }, { "s", SPI_KIND_STRING, SPI_PLACE_GPR, RSI, 8 },
};
static const struct host_field ret[] = {
	{ "ret", SPI_KIND_INT, SPI_PLACE_GPR, RAX, 4, 1 }, { "rest", SPI_KIND_STRING, SPI_PLACE_GPR, RDX, 8 },
};
static const struct host_func pair[] = { { "work", args, ret, 2, 2 } }, one[] = { { "task", args, ret, 2, 2 } };
static struct spi_point *work, *task;
static int bursts, depth_max;

static void nest(unsigned int depth, int value, int width)
{
	struct host_frame *f = host_frame(depth);
	struct spi_slot *slot;

	f->f.rdi = (uint64_t) value;
	f->f.rsi = (uint64_t) "some text to fill the buffers";
	slot = host_enter(work, f);
	if (depth < (unsigned int) depth_max)
		for (int i = 0; i < width; i++)
			nest(depth + 1, value * 3 + i, depth % 4 ? 1 : 3);
	f->f.rax = (uint64_t) (value + 1000);
	f->f.rdx = (uint64_t) "some more";
	host_leave(slot, f);
	f->f.rdi = (uint64_t) value;
	slot = host_enter(task, f);
	f->f.rdx = (uint64_t) "text";
	host_leave(slot, f);
}

static void *run(void *unused)
{
	struct timespec pause = { .tv_nsec = 2000000 };

	for (int i = 0; i < bursts || (i < BURSTS_MOST && !host_count().owed_exits); i++) {
		nest(0, 1, 3);
		nanosleep(&pause, NULL);
	}
	host_thread_end();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[16];
	int n = atoi(argv[1]);
	struct spi_thread_count c;

	bursts = atoi(argv[2]);
	depth_max = atoi(argv[3]);
	host_start();
	host_bind(pair, 1, 0, &work);
	host_bind(one, 1, SPI_POINT_ONE_EVENT, &task);
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	c = host_count();
	printf("%lu %lu %lu %lu %lu\n", (unsigned long) c.entries, (unsigned long) c.exits,
		(unsigned long) c.lost_entries, (unsigned long) c.lost_exits, (unsigned long) c.owed_exits);
	return 0;
}
