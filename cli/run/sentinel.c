/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* A process that tells which signals its process group got: see sentinel.h. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/run/sentinel.h"

#define SENTINEL_MOMENT_MS	20	/* timeout(1) sends to its child, and then to the group */
#define SENTINEL_ANSWER_MS	2000	/* it may be stopped, as any process */

/* Takes `signal` where it is pending (and blocked): 1 or 0. */
static int signal_take(int signal)
{
	struct timespec none = { 0, 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	return sigtimedwait(&set, NULL, &none) == signal;
}

/* A byte that comes is the number of a signal, the byte that goes whether it was pending. */
static void sentinel_serve(int fd, pid_t parent) __attribute__((noreturn));
static void sentinel_serve(int fd, pid_t parent)
{
	sigset_t all;
	uint8_t byte;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "lttng-sentinel");
	if (getppid() != parent || dup2(fd, 0) < 0)
		_exit(1);
	syscall(SYS_close_range, 1, ~0u, 0);	/* a pipe's reader is not to wait for us */
	while (read(0, &byte, 1) == 1) {
		byte = (uint8_t) signal_take(byte);
		if (write(0, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

void sentinel_begin(struct sentinel *s)
{
	pid_t parent = getpid();
	int fds[2];

	s->pid = 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return;
	s->pid = fork();
	if (s->pid == 0)
		sentinel_serve(fds[1], parent);
	close(fds[1]);
	s->fd = fds[0];
	if (s->pid < 0) {
		close(s->fd);
		s->pid = 0;
	}
}

/* 1, 0, or -1 when there is no answer: then there will be none. */
static int sentinel_ask(struct sentinel *s, int signal)
{
	struct pollfd answer = { .fd = s->fd, .events = POLLIN };
	uint8_t byte = (uint8_t) signal;
	int ready;

	if (!s->pid)
		return -1;
	if (send(s->fd, &byte, 1, MSG_NOSIGNAL) == 1) {
		do
			ready = poll(&answer, 1, SENTINEL_ANSWER_MS);
		while (ready < 0 && errno == EINTR);
		if (ready > 0 && read(s->fd, &byte, 1) == 1)
			return byte;
	}
	sentinel_end(s);
	return -1;
}

int sentinel_got(struct sentinel *s, int signal)
{
	int got = sentinel_ask(s, signal);

	if (got == 0) {
		poll(NULL, 0, SENTINEL_MOMENT_MS);
		/* In this order: one that comes in between is passed on, rather than another that comes later is not. */
		signal_take(signal);
		got = sentinel_ask(s, signal);
	}
	if (got > 0)
		signal_take(signal);
	return got;
}

void sentinel_end(struct sentinel *s)
{
	int status;

	if (!s->pid)
		return;
	kill(s->pid, SIGKILL);
	waitpid(s->pid, &status, 0);
	close(s->fd);
	s->pid = 0;
}
