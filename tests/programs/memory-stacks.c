/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* memory-stacks - three threads with the smallest stacks there may be allocate. */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

static void *volatile kept;

static void *work(void *unused)
{
	kept = malloc(10);
	return unused;
}

int main(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 16384);
	for (int i = 0; i < 3; i++)
		if (pthread_create(&thread, &attributes, work, NULL) || pthread_join(thread, NULL))
			return 1;
	return 0;
}
