/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * fork-waits load LIBRARY - says "ready"; for each line that it reads another thread loads the library, and when the line
 * has been followed by the thread's "loading" this one forks five times, one after the other.
 * fork-waits lock - another thread is in a callback of dl_iterate_phdr() and waits for a lock, which this one has while it
 * forks.
 * Each says "fork N MS": how long each fork() took, in milliseconds; and "ended STATUS" of each child, which makes a call.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t inside;
static const char *library;

__attribute__((noipa)) int work(int n)
{
	return n + 1;
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void fork_once(int n)
{
	long begin = now_ms();
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(work(n) - n - 1);
	printf("fork %d %ld\n", n, now_ms() - begin);
	waitpid(pid, &status, 0);
	printf("ended %d\n", status);
}

static void *load(void *unused)
{
	sem_post(&inside);
	if (!dlopen(library, RTLD_NOW))
		printf("%s\n", dlerror());
	return unused;
}

static int in_callback(struct dl_phdr_info *info, size_t size, void *data)
{
	sem_post(&inside);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return 1;
}

static void *iterate(void *unused)
{
	dl_iterate_phdr(in_callback, NULL);
	return unused;
}

static void run(void *(*other)(void *), int forks)
{
	pthread_t thread;

	pthread_create(&thread, NULL, other, NULL);
	sem_wait(&inside);
	for (int i = 0; i < forks; i++) {
		struct timespec pause = { 0, 20000000 };

		nanosleep(&pause, NULL);	/* it may just have begun */
		fork_once(i);
	}
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	char line[16];

	setvbuf(stdout, NULL, _IOLBF, 0);
	sem_init(&inside, 0, 0);
	work(0);
	pthread_mutex_lock(&lock);
	if (!strcmp(argv[1], "lock")) {
		run(iterate, 1);
	} else {
		library = argv[2];
		puts("ready");
		while (fgets(line, sizeof(line), stdin))
			run(load, 5);
	}
	puts("done");
	return 0;
}
