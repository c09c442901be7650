/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls of a thread that a fork() of another one waits for: they come while fork() has the tracer's lock, from a function that
 * writes for a stream, as libc has the lock of all streams then, which fork() takes. The first call of work() makes them without
 * a fork; the second, when the file "go" is there, with. Prints `ready` after the first one, and the child's status.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS	5

static volatile int may_fork, is_waited;
static int forks;		/* the stream is written to for a fork */

__attribute__((noipa)) int known(int a)
{
	return a + 1;
}

__attribute__((noipa)) int direct(int a)
{
	return a + 2;
}

static int (*volatile way)(int) = known;

/* The first thread is in fork(), and waits for a lock of libc's, whose data stdout's lie among. */
static int fork_waits(void)
{
	char path[64], text[64] = { 0 };
	unsigned long address;
	static int file;
	int number;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int) getpid());
	if (!file)		/* not a stream, which would have to be put among the others; nor closed, which waits for a fork */
		file = open(path, O_RDONLY);
	if (pread(file, text, sizeof(text) - 1, 0) < 0)
		*text = 0;
	return sscanf(text, "%d %lx", &number, &address) == 2 && number == SYS_futex &&
		labs((long) (address - (unsigned long) stdout)) < 1 << 16;
}

static ssize_t written(void *cookie, const char *bytes, size_t size)
{
	int sum = 0;

	(void) bytes;
	if (forks) {
		may_fork = 1;
		while (!is_waited)
			;
	}
	for (int i = 0; i < CALLS; i++)
		sum += way(i) + direct(i);
	return sum && !cookie ? (ssize_t) size : 0;
}

/* The root. */
__attribute__((noipa)) void work(FILE *stream)
{
	fputs("x", stream);
	fflush(NULL);
}

static void *look(void *data)
{
	while (!may_fork)
		usleep(1000);
	while (!fork_waits())
		usleep(1000);
	is_waited = 1;
	return data;
}

static void *worker(void *data)
{
	work(data);
	return NULL;
}

int main(void)
{
	cookie_io_functions_t functions = { .write = written };
	FILE *stream = fopencookie(NULL, "w", functions);
	pthread_t thread, looker;
	int status = -1;
	pid_t child;

	work(stream);
	write(1, "ready\n", 6);
	while (access("go", F_OK))
		usleep(1000);
	forks = 1;
	pthread_create(&looker, NULL, look, NULL);
	pthread_create(&thread, NULL, worker, stream);
	while (!may_fork)
		usleep(1000);
	child = fork();
	if (!child)
		_exit(7);
	waitpid(child, &status, 0);
	pthread_join(thread, NULL);
	pthread_join(looker, NULL);
	dprintf(1, "child %d\n", WEXITSTATUS(status));
	while (access("end", F_OK))
		usleep(1000);
	return 0;
}
