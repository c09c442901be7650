/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Has all its memory locked, what it has and what it gets, and goes on: deep calls, and threads. Then it says whether one of its
 * mappings of more than 64 MB is resident.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static volatile int returned;

__attribute__((noinline)) static int t_deep(int n)
{
	int sum = n ? t_deep(n - 1) + 1 : 0;

	returned++;
	return sum;
}

static void *thread(void *unused)
{
	t_deep(300);
	return unused;
}

int main(void)
{
	pthread_t threads[8];
	char line[300];
	unsigned long size = 0, resident = 0, most = 0;
	FILE *file;

	t_deep(300);
	printf("mlockall: %s\n", mlockall(MCL_CURRENT | MCL_FUTURE) ? strerror(errno) : "done");
	printf("deep %d\n", t_deep(5000));
	for (int i = 0; i < 8; i++)
		if (pthread_create(&threads[i], NULL, thread, NULL))
			return 1;
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	file = fopen("/proc/self/smaps", "r");
	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "Size: %lu", &size);
		if (sscanf(line, "Rss: %lu", &resident) == 1 && size > 65536 && resident > most)
			most = resident;
	}
	printf("large mappings are %sresident\n", most > 32768 ? "" : "not ");
	return 0;
}
