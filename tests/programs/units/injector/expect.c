/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * spi_inject() with expectations. expect PID LIBRARY START UID: inject process
 * PID, expected to have that start time (0: any; +N: its own and N more) and user
 * id (-: any). expect exec PROGRAM LIBRARY: start a process that cannot be
 * injected at first; once the injector has found that out, it runs PROGRAM.
 * Prints "RESULT TEXT".
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "injector/inject/inject.h"
#include "injector/procfs/procfs.h"

static int feed[2], answer[2];

/* Blocked in a long write, which must not be cut short. */
static void child(const char *program)
{
	static char much[200 * 1024];

	close(answer[0]);
	close(feed[1]);
	dup2(feed[0], 0);
	dup2(answer[1], 1);
	if (write(1, much, sizeof(much)) != sizeof(much))
		_exit(1);
	execl(program, program, "block", "read", NULL);
	_exit(127);
}

/* "not now": take what it writes, up to what the new program says. */
static void now_exec(const char *line, void *data)
{
	static int done;
	char text[4096];
	ssize_t n;

	if (done++)
		return;
	do
		n = read(answer[0], text, sizeof(text));
	while (n > 0 && !memmem(text, n, "ready", 5));
}

static void report(int ret, struct spi_inject_result *result)
{
	printf("%s %s\n", ret ? strerrorname_np(-ret) : "0", result->text);
	if (result->fd >= 0)
		close(result->fd);
}

int main(int argc, char **argv)
{
	struct spi_inject_options options = { .size = sizeof(options), .library = argv[3], .deadline_ms = 2000 };
	struct spi_inject_result result = { .size = sizeof(result), .fd = -1 };
	pid_t pid;
	int status;

	if (!strcmp(argv[1], "exec")) {
		if (pipe(feed) || pipe(answer))
			return 1;
		pid = fork();
		if (!pid)
			child(argv[2]);
		close(feed[0]);
		close(answer[1]);
		options.progress = now_exec;
		report(spi_inject(pid, &options, &result), &result);
		close(feed[1]);
		if (waitpid(pid, &status, 0) != pid || status)
			puts("the process did not end well");
		return 0;
	}
	pid = atoi(argv[1]);
	options.library = argv[2];
	options.expect_start_time = strtoull(argv[3], NULL, 10);
	if (argv[3][0] == '+')
		options.expect_start_time += spi_process_start_time(pid);
	if (strcmp(argv[4], "-")) {
		options.flags |= SPI_INJECT_EXPECT_UID;
		options.expect_uid = atoi(argv[4]);
	}
	report(spi_inject(pid, &options, &result), &result);
	return 0;
}
