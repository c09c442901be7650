/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Threads that create threads, and their ends: threads MODE [N].
 *   tree      N levels of threads that each create two and wait for them
 *   many      64 threads that create and end N threads, one after the other
 *   ends      threads that return, call pthread_exit(), are cancelled in a call
 *             deep down, with cleanup handlers and thread-specific destructors (-fexceptions)
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FN __attribute__((noipa))

static atomic_ulong sum;
static pthread_key_t key;

static FN void note(unsigned long v)
{
	sum += v;
}

static FN int work(int n)
{
	return n ? work(n - 1) + 1 : 0;
}

static FN pthread_t start(void *(*f)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	while ((err = pthread_create(&thread, &attr, f, arg)) == EAGAIN)
		usleep(1000);
	pthread_attr_destroy(&attr);
	if (err)
		abort();
	return thread;
}

static FN void *node(void *arg)
{
	long level = (long) arg;
	pthread_t two[2];

	note(work((int) level));
	if (!level)
		return NULL;
	for (int i = 0; i < 2; i++)
		two[i] = start(node, (void *) (level - 1));
	for (int i = 0; i < 2; i++)
		pthread_join(two[i], NULL);
	return arg;
}

static FN void *short_one(void *arg)
{
	note(work(3));
	return arg;
}

static FN void *creator(void *arg)
{
	for (long i = 0; i < (long) arg; i++)
		pthread_join(start(short_one, NULL), NULL);
	return NULL;
}

static FN void at_end(void *value)
{
	note((unsigned long) value);
}

/* As pthread_cleanup_push() would have it, which is a call or none as the compiler likes. */
static FN void cleanup(unsigned long *value)
{
	note(*value * 3);
}
#define CLEANUP __attribute__((cleanup(cleanup))) unsigned long

static sem_t reached;

static FN void wait_for_ever(int depth)
{
	if (depth) {
		wait_for_ever(depth - 1);
		note(1000000);
		return;
	}
	sem_post(&reached);
	for (;;)
		pause();
}

static FN void *cancelled(void *arg)
{
	CLEANUP guard = 7;

	pthread_setspecific(key, (void *) 5L);
	wait_for_ever((int) (long) arg);
	return (void *) guard;
}

static FN void leaves(int depth)
{
	if (depth)
		leaves(depth - 1);
	else
		pthread_exit((void *) 9L);
	note(1000000);
}

static FN void *exits(void *arg)
{
	CLEANUP guard = 8;

	pthread_setspecific(key, (void *) 6L);
	leaves((int) (long) arg);
	return (void *) guard;
}

static FN void ends(int n)
{
	void *result;

	sem_init(&reached, 0, 0);
	for (int i = 0; i < n; i++) {
		pthread_t t = start(cancelled, (void *) 300L);

		while (sem_wait(&reached))
			;
		pthread_cancel(t);
		pthread_join(t, &result);
		note(result == PTHREAD_CANCELED);
		pthread_join(start(exits, (void *) 100L), &result);
		note((unsigned long) result);
		pthread_join(start(short_one, NULL), NULL);
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "tree";
	long n = argc > 2 ? atol(argv[2]) : 3;
	pthread_t all[64];

	pthread_key_create(&key, at_end);
	if (!strcmp(mode, "tree")) {
		node((void *) n);
	} else if (!strcmp(mode, "many")) {
		for (int i = 0; i < 64; i++)
			all[i] = start(creator, (void *) (n / 64));
		for (int i = 0; i < 64; i++)
			pthread_join(all[i], NULL);
	} else {
		ends((int) n);
	}
	printf("%lu\n", (unsigned long) sum);
	return 0;
}
