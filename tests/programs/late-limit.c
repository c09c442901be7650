/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* late-limit THREADS LIMIT FULL - threads begin, the limit (setrlimit(2)) is set, malloc() is exhausted; then each makes its first 1000 calls */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static pthread_barrier_t begun, go;

__attribute__((noinline, noipa)) int t_work(int a)
{
	return a + 1;
}

static void *run(void *data)
{
	int sum = 0;

	pthread_barrier_wait(&begun);
	pthread_barrier_wait(&go);
	for (int i = 0; i < 1000; i++)
		sum += t_work(i);
	return data + (sum & 1);
}

int main(int argc, char **argv)
{
	const int n = atoi(argv[1]), limit = atoi(argv[2]);
	struct rlimit r = { 1000000, 1000000 };
	pthread_t threads[64];

	pthread_barrier_init(&begun, NULL, n + 1);
	pthread_barrier_init(&go, NULL, n + 1);
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	pthread_barrier_wait(&begun);
	if (setrlimit(limit, &r))
		return 1;
	for (size_t size = 1024; atoi(argv[3]) && size >= 16; size /= 4)
		while (malloc(size))
			;
	if (!n)
		for (int i = 0; i < 1000; i++)
			t_work(i);
	pthread_barrier_wait(&go);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	puts("done");
	return 3;
}
