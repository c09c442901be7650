/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Threads that call malloc() and free() alone: in each, the first calls of madvise(), mprotect() and munmap() are made by those, some
 * under the lock of an arena.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *allocates(void *unused)
{
	void *block[64];

	for (int i = 0; i < 64; i++)
		block[i] = malloc(100000);
	for (int i = 0; i < 64; i++)
		free(block[i]);
	return unused;
}

int main(void)
{
	pthread_t threads[8];

	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 8; i++)
			pthread_create(&threads[i], NULL, allocates, NULL);
		for (int i = 0; i < 8; i++)
			pthread_join(threads[i], NULL);
	}
	puts("done");
	return 0;
}
