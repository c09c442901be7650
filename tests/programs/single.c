/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Enters user namespaces, which the kernel allows to processes of one thread.
 *	single N	N times, one below the other
 *	single N FILE	when FILE is there
 *	single setns	into one of a child's
 */
#define _GNU_SOURCE
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int before(int n)
{
	__asm__ volatile("" : "+r" (n));
	return n;
}

__attribute__((noinline)) int after(int n)
{
	__asm__ volatile("" : "+r" (n));
	return n;
}

/* Those that stay: the tracer's threads, which come again, have one for microseconds as they look into /proc (doc/architecture.md). */
static int low_files(void)
{
	int least = 64;

	for (int look = 0; look < 5; look++) {
		int n = 0;

		for (int fd = 0; fd < 64; fd++)
			n += fcntl(fd, F_GETFD) >= 0;
		least = n < least ? n : least;
		usleep(5000);		/* longer than such a look */
	}
	return least;
}

static void *thread(void *data)
{
	for (int i = 0; i < 10; i++)
		after(i);
	return data;
}

static int enter(int (*how)(void))
{
	int ret;

	errno = 0;
	ret = how();
	return ret ? -errno : errno;
}

static int by_unshare(void)
{
	return unshare(CLONE_NEWUSER);
}

static int ns = -1;
static int by_setns(void)
{
	return setns(ns, CLONE_NEWUSER);
}

/* Deeper than what is called below it */
__attribute__((noinline)) static int nested(int depth, int (*how)(void))
{
	int r = depth ? nested(depth - 1, how) : enter(how);

	__asm__ volatile("" : "+r" (r));
	return r;
}

static int child_namespace(void)
{
	char path[40], c;
	int up[2], down[2], fd;
	pid_t pid;

	if (pipe(up) || pipe(down))
		return -1;
	pid = fork();
	if (!pid) {
		c = unshare(CLONE_NEWUSER) ? 'n' : 'y';
		if (write(up[1], &c, 1) != 1 || read(down[0], &c, 1) < 0)
			_exit(1);
		_exit(0);
	}
	if (read(up[0], &c, 1) != 1 || c != 'y')
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int) pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (write(down[1], "", 1) != 1)
		return -1;
	waitpid(pid, NULL, 0);
	close(up[0]), close(up[1]), close(down[0]), close(down[1]);
	return fd;
}

int main(int argc, char **argv)
{
	int is_setns = argc > 1 && !strcmp(argv[1], "setns"), times = is_setns ? 1 : argc > 1 ? atoi(argv[1]) : 1;
	sigset_t some, now;
	pthread_t t;

	sigemptyset(&some);
	sigaddset(&some, SIGUSR1);
	sigaddset(&some, SIGRTMIN + 3);
	sigprocmask(SIG_SETMASK, &some, NULL);
	for (int i = 0; i < 100; i++)
		before(i);
	if (argc > 2)
		while (access(argv[2], F_OK))
			usleep(1000);
	if (is_setns)
		ns = child_namespace();
	for (int i = 0; i < times; i++) {
		int files = low_files(), r;

		r = nested(5, is_setns ? by_setns : by_unshare);
		printf("%d: %d, files %d, ", i, r, low_files() - files);
		sigprocmask(SIG_SETMASK, NULL, &now);
		printf("signals %d %d %d\n", sigismember(&now, SIGUSR1), sigismember(&now, SIGRTMIN + 3), sigismember(&now, SIGUSR2));
		for (int k = 0; k < 100; k++)
			after(k);
	}
	times = low_files();
	fflush(stdout);
	if (fork() == 0) {
		printf("child: files %d\n", low_files() - times);
		for (int k = 0; k < 100; k++)
			after(k);
		exit(0);
	}
	wait(NULL);
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	printf("setgid %d, setuid %d\n", setgid(getgid()), setuid(getuid()));
	return 0;
}
