/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Processes and their ends, also those that a process cannot tell itself. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int handled;

static void handler(int number)
{
	(void) number;
	handled++;
}

static void exit_raw(long code)
{
	__asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(code) : "rcx", "r11", "memory");
}

static int cloned(void *unused)
{
	(void) unused;
	return 11;
}

static int clones(void)
{
	char *stack = malloc(65536);
	siginfo_t info;
	pid_t pid;

	pid = clone(cloned, stack + 65536, SIGCHLD, NULL);
	waitpid(pid, NULL, 0);
	pid = clone(cloned, stack + 65536, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	waitpid(pid, NULL, 0);
	pid = (pid_t) syscall(SYS_fork);
	if (!pid)
		_exit(14);
	return waitid(P_PID, (id_t) pid, &info, WEXITED) || info.si_status != 14;
}

/* The middle one ends at once; the last one is killed when nobody is its parent who knows it. */
static int orphan(void)
{
	int ends[2];
	char c;

	if (pipe(ends) < 0)
		return 1;
	if (!fork()) {
		if (!fork()) {
			const pid_t middle = getppid();

			while (getppid() == middle && middle != 1)
				usleep(1000);
			kill(getpid(), SIGKILL);
		}
		_exit(0);
	}
	wait(NULL);
	close(ends[1]);
	return read(ends[0], &c, 1) != 0;	/* both are gone */
}

static int children(int count)
{
	for (int i = 0; i < count; i++)
		if (!fork())
			_exit(i);
	while (wait(NULL) > 0 || errno == EINTR)
		;
	return 0;
}

static int serve(void)
{
	char line[100];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (!fork()) {
			execl("/bin/sh", "sh", "-c", "exit 3", NULL);
			_exit(127);
		}
		wait(NULL);
		puts("done");
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "raw")) {
		if (!fork())
			exit_raw(12);
		wait(NULL);
		exit_raw(13);
	} else if (!strcmp(what, "kill")) {
		pid_t pid = fork();

		if (!pid)
			kill(getpid(), SIGKILL);
		waitpid(pid, NULL, 0);
		pid = fork();
		if (!pid)
			for (;;)
				pause();
		kill(pid, SIGTERM);
		waitpid(pid, NULL, 0);
	} else if (!strcmp(what, "orphan")) {
		return orphan();
	} else if (!strcmp(what, "ignored")) {
		signal(SIGCHLD, SIG_IGN);
		return children(20);
	} else if (!strcmp(what, "handler")) {
		signal(SIGCHLD, handler);
		children(5);
		printf("handled %d\n", handled);
	} else if (!strcmp(what, "clone")) {
		return clones();
	} else if (!strcmp(what, "exec")) {
		if (!fork()) {
			execl(argv[2], argv[2], NULL);
			_exit(127);
		}
		wait(NULL);
	} else if (!strcmp(what, "fault")) {
		*(volatile int *) 8 = 1;
	} else if (!strcmp(what, "serve")) {
		return serve();
	}
	return 0;
}
