/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Ways to run another program: follow WAY [PROGRAM [ARG...]]. Prints how it ended.
 *	execve, execv, execvp, execvpe, execl, execlp, execle, fexecve, execveat	in a forked child
 *	syscall, syscall-at	in a forked child, by syscall(); inline: by no function of libc's
 *	vfork, spawn, spawnp, system, popen, clone
 *	exec, exec-inline	in this process, from some calls deep
 *	wait WAY	the same when a line has come
 *	fails	each of the exec family on what cannot be executed; the errors; and goes on
 *	late	execve() that fails once it has looked as if it would not; and goes on
 *	many N	N children at once, each by another way
 *	threads N	N threads, each of which spawns ten times
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FN __attribute__((noipa))

extern char **environ;
static char *default_argv[] = { "true", NULL };
static char *path = "/bin/true", **arguments = default_argv;

FN int t_leaf(int a)
{
	return a + 1;
}

FN static int ended(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

FN static void run_exec(const char *way)
{
	if (!strcmp(way, "execve"))
		execve(path, arguments, environ);
	else if (!strcmp(way, "execv"))
		execv(path, arguments);
	else if (!strcmp(way, "execvp"))
		execvp(path, arguments);
	else if (!strcmp(way, "execvpe"))
		execvpe(path, arguments, environ);
	else if (!strcmp(way, "execl"))
		execl(path, arguments[0], arguments[1], NULL);
	else if (!strcmp(way, "execlp"))
		execlp(path, arguments[0], arguments[1], NULL);
	else if (!strcmp(way, "execle"))
		execle(path, arguments[0], arguments[1], NULL, environ);
	else if (!strcmp(way, "fexecve"))
		fexecve(open(path, O_RDONLY | O_CLOEXEC), arguments, environ);
	else if (!strcmp(way, "execveat"))
		execveat(AT_FDCWD, path, arguments, environ, 0);
	else if (!strcmp(way, "syscall"))
		syscall(SYS_execve, path, arguments, environ);
	else if (!strcmp(way, "syscall-at"))
		syscall(SYS_execveat, AT_FDCWD, path, arguments, environ, 0);
	else if (!strcmp(way, "inline")) {
		long r;

		__asm__ __volatile__("syscall" : "=a"(r) : "0"(SYS_execve), "D"(path), "S"(arguments), "d"(environ)
			: "rcx", "r11", "memory");
	}
}

static int in_clone(void *way)
{
	run_exec(way);
	_exit(97);
}

FN static int run_popen(void)
{
	char text[200];
	FILE *f = popen(path, "r");

	while (f && fgets(text, sizeof(text), f))
		fputs(text, stdout);
	return f ? WEXITSTATUS(pclose(f)) : -1;
}

FN static int run_way(const char *way)
{
	static char stack[65536];
	pid_t pid;

	fflush(stdout);
	t_leaf(1);
	if (!strcmp(way, "vfork")) {
		pid = vfork();
		if (!pid) {
			t_leaf(2);
			execl(path, arguments[0], arguments[1], NULL);
			_exit(97);
		}
		t_leaf(3);
		return ended(pid);
	}
	if (!strcmp(way, "spawn"))
		return posix_spawn(&pid, path, NULL, NULL, arguments, environ) ? -1 : ended(pid);
	if (!strcmp(way, "spawnp"))
		return posix_spawnp(&pid, path, NULL, NULL, arguments, environ) ? -1 : ended(pid);
	if (!strcmp(way, "system"))
		return WEXITSTATUS(system(path));
	if (!strcmp(way, "popen"))
		return run_popen();
	if (!strcmp(way, "clone"))
		return ended(clone(in_clone, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, "execve"));
	pid = fork();
	if (!pid) {
		run_exec(way);
		_exit(97);
	}
	return ended(pid);
}

static int inlined;

FN static int deep(int n)
{
	if (!n)
		run_exec(inlined ? "inline" : "execve");
	return n ? t_leaf(deep(n - 1)) : 0;
}

FN static void fails(const char *file)
{
	static const char *const ways[] = { "execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "execveat", "syscall",
		"syscall-at" };
	pid_t pid = -1;
	int r;

	path = (char *) file;
	for (unsigned int i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		errno = 0;
		run_exec(ways[i]);
		printf("%s %s: %d\n", ways[i], file ? file : "-", errno);
		t_leaf(4);
	}
	r = posix_spawn(&pid, file, NULL, NULL, arguments, environ);
	printf("posix_spawn %s: %d\n", file, r);
	errno = 0;
	fexecve(-1, arguments, environ);
	printf("fexecve: %d\n", errno);
	pid = vfork();
	if (!pid) {
		t_leaf(5);
		execv(file, arguments);
		_exit(errno);
	}
	t_leaf(6);
	printf("vfork %s: %d\n", file, ended(pid));
}

/* A file that somebody writes to: ETXTBSY. */
FN static void late(void)
{
	int fd = open(path, O_WRONLY);

	errno = 0;
	deep(5);
	printf("late: %d\n", errno);
	close(fd);
	deep(3);
}

FN static void many(int n)
{
	static const char *const ways[] = { "execve", "vfork", "spawn", "execvp" };
	pid_t pids[1000];
	int bad = 0;

	for (int i = 0; i < n; i++) {
		fflush(stdout);
		pids[i] = fork();
		if (!pids[i])
			_exit(run_way(ways[i % 4]));
	}
	for (int i = 0; i < n; i++)
		bad += ended(pids[i]) != 0;
	printf("%d children, %d failed\n", n, bad);
}

static void *spawns(void *bad)
{
	for (int i = 0; i < 10; i++) {
		pid_t pid;

		t_leaf(i);
		if (posix_spawn(&pid, path, NULL, NULL, arguments, environ) || ended(pid))
			__atomic_fetch_add((int *) bad, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

FN static void threads(int n)
{
	pthread_t ids[64];
	int bad = 0;

	for (int i = 0; i < n; i++)
		pthread_create(&ids[i], NULL, spawns, &bad);
	for (int i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	printf("%d threads, %d failed\n", n, bad);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "execve";

	if (!strcmp(way, "many")) {
		many(atoi(argv[2]));
		return 0;
	}
	if (!strcmp(way, "threads")) {
		threads(atoi(argv[2]));
		return 0;
	}
	if (!strcmp(way, "wait")) {
		char line[64];

		puts("ready");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return 9;
		way = (++argv)[1];
		argc--;
	}
	if (argc > 2) {
		path = argv[2];
		arguments = argv + 2;
	}
	if (!strcmp(way, "fails"))
		for (int i = 2; i < argc; i++)
			fails(argv[i]);
	else if (!strcmp(way, "late"))
		late();
	else if (!strcmp(way, "exec") || (inlined = !strcmp(way, "exec-inline")))
		deep(5);
	else
		printf("%s: %d\n", way, run_way(way));
	return 0;
}
