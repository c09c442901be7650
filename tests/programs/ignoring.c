/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * ignoring: what it and programs that it executes by all ways see of SIGUSR1; then, once it was told on its standard input to go
 * on, work() and the same of itself, and of what it becomes.
 */
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void show(const char *who)
{
	struct sigaction action;

	sigaction(SIGUSR1, NULL, &action);
	printf("%s: %s\n", who, action.sa_handler == SIG_IGN ? "ignored" : action.sa_handler == SIG_DFL ? "default" : "a handler");
	fflush(stdout);
}

static int returned;

__attribute__((noinline)) int work(int n)
{
	int sum = n ? work(n - 1) + 1 : 0;

	returned++;
	return sum;
}

static char *as_child[] = { "ignoring", "child", NULL, NULL };

static void execute(const char *who)
{
	as_child[2] = (char *) who;
	execv("./ignoring", as_child);
	_exit(127);
}

int main(int argc, char **argv)
{
	char line[10], *none[] = { "none", NULL };
	pid_t child;

	if (argc > 2) {
		show(argv[2]);
		return 0;
	}
	show("itself");
	execv("./none", none);
	fflush(stdout);
	if (system("exec ./ignoring child system") != 0)
		return 1;
	as_child[2] = "posix_spawn";
	if (posix_spawn(&child, "./ignoring", NULL, NULL, as_child, environ) || waitpid(child, NULL, 0) < 0)
		return 1;
	if (posix_spawn(&child, "./none", NULL, NULL, none, environ) == 0)
		return 1;
	child = fork();
	if (!child)
		execute("fork");
	waitpid(child, NULL, 0);
	child = vfork();
	if (!child)
		execute("vfork");
	waitpid(child, NULL, 0);
	show("itself later");
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	work(9);
	show("itself, signalled");
	execute("exec");
}
