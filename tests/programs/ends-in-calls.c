/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * last HOW [N] - ends while N threads are in calls: some wait in the kernel, some call
 * all the time. HOW: exit, _exit, syscall, quick_exit, return, exec, thread (another thread calls
 * exit()), late (execve() that the kernel refuses when it has begun, then return).
 * Prints nothing but what the program that it executes prints.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOIPA __attribute__((noipa))

static atomic_int ready;
static volatile long sink;
static const char *how;
static pthread_barrier_t go;

NOIPA long t_leaf(long x) { return x + 1; }
NOIPA long t_fib(long x) { return x < 2 ? t_leaf(x) : t_fib(x - 1) + t_fib(x - 2); }
NOIPA void t_wait(long depth)
{
	if (depth) {
		t_wait(depth - 1);
		sink++;
		return;
	}
	ready++;
	for (;;)
		pause();
}
NOIPA void t_spin(void)
{
	ready++;
	for (;;)
		sink += t_fib(6);
}
NOIPA void t_end(void)
{
	if (!strcmp(how, "_exit"))
		_exit(7);
	if (!strcmp(how, "syscall"))
		syscall(SYS_exit_group, 7);
	if (!strcmp(how, "quick_exit"))
		quick_exit(7);
	exit(7);
}
static void *t_thread(void *arg)
{
	long i = (long) arg;

	pthread_barrier_wait(&go);
	if (i % 2)
		t_wait(i * 300);	/* more than one chunk of slots */
	else
		t_spin();
	return arg;
}
static void *t_ender(void *arg)
{
	t_end();
	return arg;
}
NOIPA static void t_exec(void)
{
	char *argv[] = { "echo", "executed", NULL }, *env[] = { "A=1", NULL };

	execve("/bin/echo", argv, env);
}
/* Its arguments are more than the kernel takes: that is seen late. */
NOIPA static void t_late(void)
{
	size_t size = 100000, n = 400;
	char **argv = calloc(n + 2, sizeof(*argv)), *one = malloc(size + 1), *env[] = { NULL };

	memset(one, 'x', size);
	one[size] = 0;
	for (size_t i = 0; i < n; i++)
		argv[i] = one;
	execve("/bin/echo", argv, env);
	printf("late: %d\n", errno);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 4;
	pthread_t id;

	how = argv[1];
	pthread_barrier_init(&go, NULL, (unsigned int) n + 1);
	for (long i = 0; i < n; i++)
		pthread_create(&id, NULL, t_thread, (void *) i);
	pthread_barrier_wait(&go);
	while (ready < n)
		usleep(100);
	if (!strcmp(how, "thread")) {
		pthread_create(&id, NULL, t_ender, NULL);
		pause();
	}
	if (!strcmp(how, "exec"))
		t_exec();
	if (!strcmp(how, "late")) {
		t_late();
		for (int i = 0; i < 100; i++)
			sink += t_fib(6);
		usleep(20000);
	}
	if (!strcmp(how, "exit") || !strcmp(how, "_exit") || !strcmp(how, "syscall") || !strcmp(how, "quick_exit"))
		t_end();
	return 7;
}
