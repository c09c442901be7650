/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A daemon that is what it is within milliseconds of its start: daemons US PIDFILE [USER] - a call before its first fork(), one in the child
 * in a session of its own, and after the second fork(), as USER if one is named, ten, two hundred microseconds apart. Then it waits
 * for SIGTERM.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noipa)) int serve(int a)
{
	return a + 1;
}

static void leave_parent(void)
{
	pid_t pid = fork();

	if (pid)
		_exit(pid < 0);
}

int main(int argc, char **argv)
{
	sigset_t term;
	FILE *file;
	int number;

	if (errno)		/* C11 7.5: 0 at a program's start */
		return 4;
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	if (argc < 3)		/* just to have been executed */
		return usleep(300000);
	if (atoi(argv[1]))
		usleep((useconds_t) atoi(argv[1]));
	serve(1);
	leave_parent();
	setsid();
	serve(2);
	leave_parent();
	if (argc > 3 && setuid((uid_t) atoi(argv[3])))
		return 3;
	for (int i = 0; i < 10; i++) {
		serve(10 + i);
		usleep(200);
	}
	file = fopen(argv[2], "w");
	fprintf(file, "%d\n", (int) getpid());
	fclose(file);
	sigwait(&term, &number);
	serve(99);
	return 0;
}
