/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* One thing that may happen in a process: argv[1] names the thing. The program prints what an observer has to see. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noipa))

KEPT int leaf(int x)
{
	return 3 * x;
}

KEPT int other(int x)
{
	return leaf(x) + 1;
}

static int handled;

static void handler(int number)
{
	handled = number;
}

static int wait_for(pid_t child)
{
	int status = 0;

	waitpid(child, &status, 0);
	return status;
}

static int run(const char *what, const char *path)
{
	char *const argv[] = { "echo", "executed", NULL }, *const truth[] = { "true", NULL }, *const env[] = { NULL };
	int (*function)(int);
	void *library;
	pid_t child;

	if (!strcmp(what, "fork")) {
		child = fork();
		if (!child && path)
			_exit(4);
		if (!child)
			exit(leaf(1));
		wait_for(child);
		printf("child %d\n", (int) child);
	} else if (!strcmp(what, "exec")) {
		execve("/bin/echo", argv, env);
	} else if (!strcmp(what, "exec-fails")) {
		execve(path, argv, env);
	} else if (!strcmp(what, "spawn")) {
		posix_spawn(&child, "/bin/true", NULL, NULL, truth, env);
		wait_for(child);
		printf("child %d\n", (int) child);
	} else if (!strcmp(what, "signal")) {
		signal(SIGUSR1, handler);
		signal(SIGCHLD, handler);
		errno = ENOENT;
		raise(SIGUSR1);
		raise(SIGUSR1);
		printf("errno %d\n", errno == ENOENT);
		printf("handled %d\n", handled == SIGUSR1);
		raise(SIGCHLD);
		signal(SIGCHLD, SIG_DFL);
		raise(SIGCHLD);
		signal(SIGUSR2, SIG_IGN);
		raise(SIGUSR2);
		printf("handled %d\n", handled == SIGCHLD);
	} else if (!strcmp(what, "term")) {
		raise(SIGTERM);
	} else if (!strcmp(what, "fault")) {
		*(volatile int *) ((char *) NULL + (path ? 4096 : 64)) = 1;
	} else if (!strcmp(what, "_exit")) {
		fflush(stdout);
		_exit(9);
	} else if (!strcmp(what, "load")) {
		library = dlopen(path, RTLD_NOW);
		function = library ? (int (*)(int)) dlsym(library, "loaded_function") : NULL;
		printf("loaded %d\n", function ? function(2) : -1);
		if (library)
			dlclose(library);
	}
	return 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	run(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : NULL);
	printf("end %d\n", other(2));
	return 7;
}
