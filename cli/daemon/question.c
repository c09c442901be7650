/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A timer looks, in the middle of a call of liblttng-ctl, whether a signal waits in the descriptor that
 * signals are read from. Then the connection to the daemon is shut down: liblttng-ctl sees a daemon
 * that has gone, and all that follows is what follows any failure. The signal stays in the
 * descriptor. The timer's handler makes only system calls.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "cli/base/say.h"
#include "cli/base/signals.h"
#include "cli/daemon/question.h"

#define ASKING_FIRST_MS	3000	/* a busy daemon's answer takes less */
#define ASKING_STEP_MS	100
#define ASKING_TOLD_MS	8000
#define ASKING_FDS	1024	/* where the connection is looked for */

static const char client_socket[] = "/client-lttng-sessiond";

static volatile sig_atomic_t is_over, waited_ms;
static struct sigaction action_before;
static sigset_t mask_before;

/* liblttng-ctl does not tell which descriptor it is. */
static void connection_shut_down(void)
{
	for (int fd = 3; fd < ASKING_FDS; fd++) {
		struct sockaddr_un peer = { .sun_family = AF_UNSPEC };
		socklen_t size = sizeof(peer);
		size_t n;

		if (getpeername(fd, (struct sockaddr *) &peer, &size) < 0 || peer.sun_family != AF_UNIX)
			continue;
		n = strnlen(peer.sun_path, sizeof(peer.sun_path));
		if (n >= sizeof(client_socket) - 1 &&
		    !memcmp(peer.sun_path + n - (sizeof(client_socket) - 1), client_socket, sizeof(client_socket) - 1))
			shutdown(fd, SHUT_RDWR);
	}
}

static void asking_takes_long(int number)
{
	struct pollfd signals = { .fd = signals_descriptor(), .events = POLLIN };
	int error = errno;

	waited_ms += waited_ms ? ASKING_STEP_MS : ASKING_FIRST_MS;
	if (!is_over && waited_ms == ASKING_TOLD_MS)
		say_warning("the session daemon has not answered for %d s: is it stopped? ^C gives it up", ASKING_TOLD_MS / 1000);
	if (!is_over && signals.fd >= 0 && poll(&signals, 1, 0) > 0) {
		say_error("the session daemon does not answer: given up; end it (kill -KILL) and start it again");
		is_over = 1;
	}
	if (is_over)
		connection_shut_down();
	errno = error;
}

static void asking_timer(unsigned int first, unsigned int step)
{
	struct itimerval timer = { .it_value = { first / 1000, first % 1000 * 1000 }, .it_interval = { 0, step * 1000 } };

	setitimer(ITIMER_REAL, &timer, NULL);
}

void asking_begin(void)
{
	struct sigaction action = { .sa_handler = asking_takes_long, .sa_flags = SA_RESTART };
	sigset_t set;

	waited_ms = 0;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigaction(SIGALRM, &action, &action_before);
	sigprocmask(SIG_UNBLOCK, &set, &mask_before);
	asking_timer(is_over ? ASKING_STEP_MS : ASKING_FIRST_MS, ASKING_STEP_MS);
}

void asking_end(void)
{
	asking_timer(0, 0);
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
	sigaction(SIGALRM, &action_before, NULL);
}

int asking_is_over(void)
{
	return is_over;
}
