/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Children: fork, set the signals (signals.h), exec. A close-on-exec pipe brings back the error
 * number when exec fails. A child is waited for through its pidfd, so no SIGCHLD handler is needed
 * and no other library's child is ever reaped.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/child.h"
#include "cli/base/signals.h"

static void child_move(int from, int to)
{
	if (from < 0)
		return;
	if (from == to)
		fcntl(to, F_SETFD, 0);
	else
		dup2(from, to);
}

static void child_exec(const struct child_options *o, pid_t parent, int report) __attribute__((noreturn));
static void child_exec(const struct child_options *o, pid_t parent, int report)
{
	extern char **environ;
	int error;

	if (o->socket && report == CHILD_SOCKET)
		report = fcntl(report, F_DUPFD_CLOEXEC, CHILD_SOCKET + 1);

	if (o->flags & CHILD_OWN_GROUP)
		setpgid(0, 0);
	if (o->flags & CHILD_TIED) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(125);
	}
	child_move(o->in, STDIN_FILENO);
	child_move(o->out, STDOUT_FILENO);
	child_move(o->err, STDERR_FILENO);
	if (o->socket)
		child_move(o->socket, CHILD_SOCKET);
	if (o->flags & CHILD_COMMAND)
		signals_restore();
	else
		signals_default();
	/* In a group of its own it would be stopped for writing to a terminal under `stty tostop`. */
	if (o->flags & CHILD_OWN_GROUP)
		signal(SIGTTOU, SIG_IGN);
	if (o->env)
		environ = (char **) o->env;
	if (o->path)
		execv(o->path, o->argv);
	else
		execvp(o->argv[0], o->argv);
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

pid_t child_spawn(const struct child_options *o)
{
	pid_t parent = getpid(), pid;
	int report[2], error = 0, status;

	if (pipe2(report, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		close(report[0]);
		child_exec(o, parent, report[1]);
	}
	error = pid < 0 ? errno : 0;
	close(report[1]);
	if (pid > 0 && read(report[0], &error, sizeof(error)) == sizeof(error))
		waitpid(pid, &status, 0);
	close(report[0]);
	return error ? -error : pid;
}

static int64_t child_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Poll, counting down to `end` (-1: never) across interruptions. Returns as poll(). */
static int child_poll(struct pollfd *fds, nfds_t n, int64_t end)
{
	int ready;

	do {
		int64_t left = end < 0 ? -1 : end - child_now();

		ready = poll(fds, n, end >= 0 && left < 0 ? 0 : (int) left);
	} while (ready < 0 && errno == EINTR);
	return ready;
}

int child_await(pid_t pid, int timeout, int stop_fd)
{
	struct pollfd fds[2] = { { .events = POLLIN }, { .fd = stop_fd, .events = POLLIN } };
	int ready, ret = 0;

	fds[0].fd = (int) syscall(SYS_pidfd_open, pid, 0);
	if (fds[0].fd < 0)
		return -errno;
	ready = child_poll(fds, 2, timeout < 0 ? -1 : child_now() + timeout);
	if (ready < 0)
		ret = -errno;
	else if (!fds[0].revents)
		ret = ready ? -EINTR : -ETIMEDOUT;
	close(fds[0].fd);
	return ret;
}

int child_wait(pid_t pid, int timeout, int stop_fd, int *status)
{
	int ret = child_await(pid, timeout, stop_fd);

	return ret == 0 && waitpid(pid, status, 0) < 0 ? -errno : ret;
}

void child_end(pid_t pid, int grace)
{
	int status;

	kill(pid, SIGTERM);
	if (child_wait(pid, grace, -1, &status) == -ETIMEDOUT) {
		kill(pid, SIGKILL);
		child_wait(pid, -1, -1, &status);
	}
}

struct child_text {
	char *bytes;
	size_t used, room;
};

/* Take what a pipe holds: 1, 0 at its end, or a negative errno. */
static int child_text_read(struct child_text *text, int fd)
{
	ssize_t n;

	if (text->room - text->used < 4096) {
		size_t room = text->room ? text->room * 2 : 16384;
		char *bytes = realloc(text->bytes, room);

		if (!bytes)
			return -ENOMEM;
		text->bytes = bytes;
		text->room = room;
	}
	n = read(fd, text->bytes + text->used, text->room - text->used - 1);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 1 : -errno;
	text->used += (size_t) n;
	text->bytes[text->used] = '\0';
	return n > 0;
}

static int child_collect(int *fds, struct child_text *texts, int stop_fd)
{
	for (;;) {
		struct pollfd polls[3] = { { fds[0], POLLIN, 0 }, { fds[1], POLLIN, 0 }, { stop_fd, POLLIN, 0 } };
		int i, ret;

		if (fds[0] < 0 && fds[1] < 0)
			return 0;
		if (child_poll(polls, 3, -1) < 0)
			return -errno;
		for (i = 0; i < 2; i++) {
			if (!polls[i].revents)
				continue;
			ret = child_text_read(&texts[i], fds[i]);
			if (ret < 0)
				return ret;
			if (ret == 0) {
				close(fds[i]);
				fds[i] = -1;
			}
		}
		if (polls[2].revents)
			return -EINTR;
	}
}

static char *child_text_take(struct child_text *text)
{
	return text->bytes ? text->bytes : calloc(1, 1);
}

int child_capture(const struct child_options *options, int stop_fd, char **out, char **err, int *status)
{
	struct child_options o = *options;
	struct child_text texts[2] = { { 0 } };
	int pipes[2][2] = { { -1, -1 }, { -1, -1 } }, fds[2] = { -1, -1 };
	pid_t pid;
	int i, ret = 0;

	for (i = 0; i < (err ? 2 : 1); i++) {
		if (pipe2(pipes[i], O_CLOEXEC) < 0)
			ret = -errno;
		fds[i] = pipes[i][0];
	}
	o.out = pipes[0][1];
	if (err)
		o.err = pipes[1][1];
	pid = ret ? ret : child_spawn(&o);
	for (i = 0; i < 2; i++)
		if (pipes[i][1] >= 0)
			close(pipes[i][1]);
	ret = pid < 0 ? (int) pid : child_collect(fds, texts, stop_fd);
	for (i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (pid > 0) {
		if (ret)
			child_end(pid, 0);
		else
			ret = child_wait(pid, -1, -1, status);
	}
	if (ret) {
		free(texts[0].bytes);
		free(texts[1].bytes);
		return ret;
	}
	*out = child_text_take(&texts[0]);
	if (err)
		*err = child_text_take(&texts[1]);
	return 0;
}
