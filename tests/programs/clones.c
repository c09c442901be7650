/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Children and threads that pthread_create() and fork() did not make: clones WAY...
 *	fork, clone-fork	by syscall(); the child calls functions, and ends, or executes /bin/true
 *	_Fork		the same by the function of this name
 *	vm		clone() with CLONE_VM, not a thread: runs beside its parent, in its memory and on its thread-local variables
 *	vfork-clone	clone() with CLONE_VM | CLONE_VFORK, ends without executing anything
 *	vfork-only	clone() with CLONE_VFORK: memory of its own
 *	thread		a thread without thread-local variables of its own
 *	thread-tls	a thread with an empty block of its own, which libc does not know
 *	unshare		CLONE_FILES and CLONE_FS, in a thread
 * Prints what came of each.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FN __attribute__((noipa))
#define STACK 262144

static volatile int sum, words[64];
static int tid;

FN static int c_leaf(int a)
{
	return a + 1;
}

FN static int c_work(int n)
{
	int total = 0;

	for (int i = 0; i < n; i++) {
		total += c_leaf(i);
		words[i % 64] += total;
	}
	return total;
}

FN static int ended(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* A child that runs in the caller's memory, or in a copy of it. */
FN static int in_child(void *data)
{
	int n = (int) (intptr_t) data;

	sum = c_work(n) & 127;
	return 40 + n % 10;
}

/* Without libc's state of a thread nothing of libc's is called. */
static long raw(long n, long a, long b)
{
	long r;

	__asm__ __volatile__("syscall" : "=a"(r) : "0"(n), "D"(a), "S"(b) : "rcx", "r11", "memory");
	return r;
}

FN static int in_thread(void *data)
{
	sum = c_work((int) (intptr_t) data) & 127;
	raw(SYS_exit, 0, 0);
	return 0;
}

FN static char *stack_new(void)
{
	return mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

FN static void tid_wait(void)
{
	int now;

	while ((now = __atomic_load_n(&tid, __ATOMIC_ACQUIRE)))
		syscall(SYS_futex, &tid, FUTEX_WAIT, now, NULL, NULL, 0);
}

FN static int run_clone(int flags, int (*function)(void *), int n)
{
	char *stack = stack_new();
	int r = clone(function, stack + STACK - 64, flags, (void *) (intptr_t) n);

	return r < 0 ? -errno : ended(r);
}

FN static int run_thread(int more)
{
	static uint64_t block[512];
	char *stack = stack_new();
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_PARENT_SETTID |
		CLONE_CHILD_CLEARTID | more;

	block[256] = (uint64_t) &block[256];	/* fs:0 is itself */
	block[258] = (uint64_t) &block[256];
	tid = 1;
	if (clone(in_thread, stack + STACK - 64, flags, (void *) 50L, &tid, &block[256], &tid) < 0)
		return -errno;
	tid_wait();
	return sum;
}

FN static int run_unshare(void)
{
	return unshare(CLONE_FILES | CLONE_FS) ? -errno : c_work(9);
}

static void *unshares(void *result)
{
	*(int *) result = run_unshare();
	return NULL;
}

FN static int run_by_syscall(const char *way, int executes)
{
	static char *arguments[] = { "true", NULL };
	int pid = !strcmp(way, "fork") ? (int) syscall(SYS_fork) :
		!strcmp(way, "_Fork") ? (int) _Fork() : (int) syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (!pid) {
		c_work(3);
		if (executes)
			syscall(SYS_execve, "/bin/true", arguments, environ);
		_exit(33);
	}
	return ended(pid);
}

FN static int run_way(const char *way)
{
	pthread_t thread;
	int result = -1;

	sum = 0;
	if (!strcmp(way, "vm"))
		result = run_clone(CLONE_VM | SIGCHLD, in_child, 2000);
	else if (!strcmp(way, "vfork-clone"))
		result = run_clone(CLONE_VM | CLONE_VFORK | SIGCHLD, in_child, 21);
	else if (!strcmp(way, "vfork-only"))
		result = run_clone(CLONE_VFORK | SIGCHLD, in_child, 22);
	else if (!strcmp(way, "thread"))
		result = run_thread(0);
	else if (!strcmp(way, "thread-tls"))
		result = run_thread(CLONE_SETTLS);
	else if (!strcmp(way, "unshare")) {
		if (!pthread_create(&thread, NULL, unshares, &result))
			pthread_join(thread, NULL);
	} else
		result = run_by_syscall(way, 0) * 1000 + run_by_syscall(way, 1);
	return result + c_work(4) - c_work(4);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	for (int i = 1; i < argc; i++)
		printf("%s: %d\n", argv[i], run_way(argv[i]));
	printf("end %d\n", c_work(10));
	return 0;
}
