/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The child of `lttng-spi top`: `lttng trace -p PID --payload top`, with the functions whose calls are wanted. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "reader/commands/top.h"

#define NOTHING		"libc.so.6:gnu_get_libc_version"	/* instrumented while nothing is counted */
#define END_MS		10000

/* `lttng` beside this program: in the build tree, or where both are installed. */
static void lttng_path(char *path, size_t size)
{
	char self[4096];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[n > 0 ? n : 0] = 0;
	slash = strrchr(self, '/');
	if (slash)
		*slash = 0;
	snprintf(path, size, "%s/../cli/lttng", self);
	if (access(path, X_OK) < 0)
		snprintf(path, size, "%s/lttng", self);
	if (access(path, X_OK) < 0)
		snprintf(path, size, "lttng");
}

/* OBJECT:FUNCTION, in which nothing stands for anything else. */
void top_pattern(const struct top_row *row, char *text, size_t size)
{
	const char *const parts[] = { row->object, ":", row->name };
	size_t used = 0;

	for (unsigned int i = 0; i < 3; i++)
		for (const char *s = parts[i]; *s && used + 3 < size; s++) {
			if (strchr("*?[]\\", *s))
				text[used++] = '\\';
			text[used++] = *s;
		}
	text[used] = 0;
}

/*
 * A child in a process group of its own, as ^C is for this program, which ends the child; so does this program's end.
 */
static pid_t spawn(char **arguments, int out, int err)
{
	const pid_t parent = getpid();
	char path[4200];
	pid_t pid;
	int null;

	lttng_path(path, sizeof(path));
	arguments[0] = path;
	pid = fork();
	if (pid)
		return pid < 0 ? -errno : pid;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGINT);
	null = open("/dev/null", O_RDWR);
	dup2(null, STDIN_FILENO);
	dup2(out >= 0 ? out : null, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	if (getppid() == parent)
		execvp(path, arguments);
	_exit(127);
}

void top_child_begin(struct top *t)
{
	char pid[16], patterns[TOP_COUNTED_MOST][4400];
	char *arguments[TOP_COUNTED_MOST * 2 + 16];
	unsigned int n = 0, counted = 0;
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK) < 0)
		return;
	snprintf(pid, sizeof(pid), "%d", t->pid);
	arguments[n++] = NULL;
	arguments[n++] = (char *) "trace";
	arguments[n++] = (char *) "-p";
	arguments[n++] = pid;
	arguments[n++] = (char *) "--payload";
	arguments[n++] = (char *) "top";
	for (uint32_t i = 0; i < t->count; i++) {
		t->rows[i]->is_counted = 0;
		if (!t->rows[i]->is_wanted || counted == TOP_COUNTED_MOST)
			continue;
		top_pattern(t->rows[i], patterns[counted], sizeof(patterns[0]));
		t->rows[i]->is_counted = 1;
		arguments[n++] = (char *) "-f";
		arguments[n++] = patterns[counted++];
	}
	t->children++;
	if (!counted) {
		arguments[n++] = (char *) "-f";
		arguments[n++] = (char *) NOTHING;
	}
	arguments[n++] = (char *) "--payload-arg";
	arguments[n++] = (char *) "interval=400";
	arguments[n] = NULL;
	t->child = spawn(arguments, -1, pipes[1]);
	close(pipes[1]);
	t->from = pipes[0];
	t->used = 0;
	t->child_samples = t->child_tracing = 0;
	if (t->child < 0) {
		snprintf(t->error, sizeof(t->error), "lttng cannot be started: %s", strerror((int) -t->child));
		t->child = 0;
	}
}

/* The child takes the payload out of the process first. */
static void child_wait(pid_t child)
{
	const struct timespec pause = { 0, 10000000 };

	kill(child, SIGINT);
	for (int i = 0; i < END_MS / 10; i++) {
		if (waitpid(child, NULL, WNOHANG) == child)
			return;
		nanosleep(&pause, NULL);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

void top_child_end(struct top *t)
{
	if (t->child > 0)
		child_wait(t->child);
	if (t->from >= 0)
		close(t->from);
	t->child = 0;
	t->from = -1;
}

void top_child_anew(struct top *t)
{
	top_child_end(t);
	top_child_begin(t);
}

void top_trace(struct top *t, const char *function)
{
	char pid[16];
	char *arguments[] = { NULL, (char *) "trace", (char *) "-p", pid, (char *) "-f", (char *) (uintptr_t) function,
		(char *) "--format=calls", (char *) "--duration", (char *) "3", NULL };
	pid_t child;

	snprintf(pid, sizeof(pid), "%d", t->pid);
	child = spawn(arguments, STDOUT_FILENO, STDERR_FILENO);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}
