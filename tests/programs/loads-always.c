/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Loads and unloads a library all the time, until there is a file: loads-always END LIBRARY. Another thread closes a number that
 * is never open. Prints the longest time that a round took, in milliseconds.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int ended;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e3 + (double) t.tv_nsec / 1e6;
}

static void *closer(void *data)
{
	long wrong = 0;

	(void) data;
	while (!__atomic_load_n(&ended, __ATOMIC_RELAXED)) {
		for (int i = 0; i < 2000; i++)
			wrong += close(1000000) != -1 || errno != EBADF;
		usleep(1000);
	}
	return (void *) wrong;
}

int main(int argc, char **argv)
{
	double most = 0;
	pthread_t thread;
	void *wrong = NULL;

	if (argc < 3 || pthread_create(&thread, NULL, closer, NULL))
		return 9;
	puts("ready");
	fflush(stdout);
	while (access(argv[1], F_OK)) {
		double from = now(), took;
		void *library = dlopen(argv[2], RTLD_NOW);

		if (!library)
			return 8;
		dlclose(library);
		took = now() - from;
		most = took > most ? took : most;
		usleep(500);
	}
	__atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
	pthread_join(thread, &wrong);
	printf("%.0f\n", most);
	return wrong != NULL;
}
