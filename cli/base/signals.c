/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Signals, read from a descriptor: see signals.h. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/base/signals.h"

static int signals_fd = -1;
static sigset_t signals_old_mask;
static struct sigaction signals_old_pipe, signals_old_child;

int signals_take(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, plain = { .sa_handler = SIG_DFL };
	struct sigaction hangup;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTERM);
	/* Blocked, a signal would come although it is ignored, and `nohup` would protect from nothing. */
	if (sigaction(SIGHUP, NULL, &hangup) < 0 || hangup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, &signals_old_mask) < 0)
		return -errno;
	sigaction(SIGPIPE, &ignore, &signals_old_pipe);
	/* A parent that ignores SIGCHLD would leave us without exit statuses. */
	sigaction(SIGCHLD, &plain, &signals_old_child);
	signals_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return signals_fd < 0 ? -errno : signals_fd;
}

int signals_descriptor(void)
{
	return signals_fd;
}

int signals_wait(int limit)
{
	struct pollfd fd = { .fd = signals_fd, .events = POLLIN };

	return poll(&fd, 1, limit) > 0;
}

int signals_next(int *sender)
{
	struct signalfd_siginfo info;

	if (signals_fd < 0 || read(signals_fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	if (sender)
		*sender = info.ssi_code > 0 ? 0 : (int) info.ssi_pid;
	return (int) info.ssi_signo;
}

void signals_restore(void)
{
	if (signals_fd < 0)
		return;
	sigaction(SIGPIPE, &signals_old_pipe, NULL);
	sigaction(SIGCHLD, &signals_old_child, NULL);
	sigprocmask(SIG_SETMASK, &signals_old_mask, NULL);
}

void signals_default(void)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t none;
	int i;

	for (i = 1; i < NSIG; i++)
		sigaction(i, &plain, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void signals_die(int number)
{
	struct rlimit none = { 0, 0 };
	struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t set;

	setrlimit(RLIMIT_CORE, &none);
	sigaction(number, &plain, NULL);
	raise(number);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	_exit(128 + number);
}
