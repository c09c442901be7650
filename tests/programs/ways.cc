/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Functions t_* that are called, and left, in every way there is; each run of a way
 * makes the same calls. t_main is the first one called and the last one left.
 *
 *	ways nest|throw|jump|thread|cancel|signal|fork|exit|exec [N]
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define T extern "C" __attribute__((noipa))

static volatile long sink;
static long count = 100;
static sigjmp_buf back;
static volatile long handled, called;

T long t_leaf(long x)
{
	return x * 3 + 1;
}

T long t_twice(long x)
{
	return t_leaf(x) + t_leaf(x + 1);
}

T long t_deep(long depth)
{
	return depth > 0 ? t_deep(depth - 1) + t_leaf(depth) : t_twice(depth);
}

T long t_throw(long depth)
{
	if (depth == 0)
		throw 7L;
	return t_throw(depth - 1) + t_leaf(depth);
}

T long t_catch(long depth)
{
	try {
		return t_throw(depth);
	} catch (long v) {
		return v + t_leaf(depth);
	}
}

T long t_jump(long depth)
{
	if (depth == 0)
		siglongjmp(back, 1);
	return t_jump(depth - 1) + t_leaf(depth);
}

T long t_land(long depth)
{
	if (sigsetjmp(back, 1))
		return t_leaf(depth);
	return t_jump(depth);
}

T void *t_work(void *arg)
{
	for (long i = 0; i < count; i++)
		sink += t_deep((long) arg % 7 + i % 5);
	return arg;
}

T void t_end(long depth)
{
	if (depth == 0)
		pthread_exit(nullptr);
	t_end(depth - 1);
	sink += t_leaf(depth);
}

T void *t_ending(void *arg)
{
	t_end((long) arg);
	return arg;
}

T void t_handler(int)
{
	handled = handled + 1;
	sink += t_leaf(handled);
}

T void t_raise(long n)
{
	for (long i = 0; i < n; i++) {
		sink += t_leaf(i);
		raise(SIGUSR1);
	}
}

T void t_exit(long depth)
{
	if (depth == 0)
		exit(3);
	t_exit(depth - 1);
	sink += t_leaf(depth);
}

static void storm()
{
	struct itimerval often = {};

	signal(SIGALRM, t_handler);
	often.it_interval.tv_usec = often.it_value.tv_usec = 50;
	setitimer(ITIMER_REAL, &often, nullptr);
	for (long i = 0; i < count; i++) {
		sink += t_twice(i);
		called = called + 3;
	}
	memset(&often, 0, sizeof(often));
	setitimer(ITIMER_REAL, &often, nullptr);
	printf("calls %ld\n", called + 2 * handled + 1);
}

static void threads(void *(*start)(void *))
{
	pthread_t id[8];

	for (long i = 0; i < 8; i++)
		pthread_create(&id[i], nullptr, start, (void *) i);
	for (long i = 0; i < 8; i++)
		pthread_join(id[i], nullptr);
}

static void forks()
{
	for (int i = 0; i < 4; i++) {
		pid_t child = fork();

		if (child == 0) {
			sink += t_twice(i);
			if (i & 1)
				_exit(0);
			return;		/* through t_main, which the parent entered */
		}
		waitpid(child, nullptr, 0);
		sink += t_leaf(i);
	}
}

T long t_main(int argc, char **argv)
{
	const char *way = argv[1];

	for (long i = 0; !strcmp(way, "nest") && i < count; i++)
		sink += t_deep(i % 40);
	for (long i = 0; !strcmp(way, "throw") && i < count; i++)
		sink += t_catch(i % 40);
	for (long i = 0; !strcmp(way, "jump") && i < count; i++)
		sink += t_land(i % 40);
	if (!strcmp(way, "thread"))
		threads(t_work);
	if (!strcmp(way, "ending"))
		threads(t_ending);
	if (!strcmp(way, "signal")) {
		signal(SIGUSR1, t_handler);
		t_raise(count);
	}
	if (!strcmp(way, "storm"))
		storm();
	if (!strcmp(way, "fork"))
		forks();
	if (!strcmp(way, "exit"))
		t_exit(10);
	if (!strcmp(way, "rest")) {
		puts("resting");
		fflush(stdout);
		while (getchar() == 'c')	/* one call a character, and an end */
			sink += t_deep(20);
	}
	return sink;
}

int main(int argc, char **argv)
{
	if (argc > 2)
		count = atol(argv[2]);
	if (argc < 2)
		return 2;
	return t_main(argc, argv) < 0;
}
