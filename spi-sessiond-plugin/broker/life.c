/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The broker's life: a broker is started, listened to, given up, killed, and started again.
 *
 * The broker is started when the plugin is, and again when it ended, after 0.1 s at first and up to
 * 5 s when it doesn't stay. Without a broker, nothing is held. A broker is given up when it says
 * what can't be understood, reads nothing, or answers nothing while held applications wait. Then its
 * socket is closed, which makes the broker end; it is killed if it doesn't within a second. The next
 * one starts only when the last is gone, as they use the same socket names.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spi-sessiond-plugin/base/base.h"
#include "spi-sessiond-plugin/broker/broker.h"

#define BACKOFF_MIN_MS	100
#define BACKOFF_MAX_MS	5000
#define STEADY_MS	10000	/* one that lived so long is started again soon */
#define SILENCE_MS	5000	/* and holds ran out: given up */
#define GRACE_MS	1000	/* from the end of the socket to SIGKILL */
#define REFRESH_MS	1000	/* between two times that all is told again */
#define SOCKETS_MS	1000	/* how long to wait for the daemon's client socket */

enum broker_state {
	BROKER_NONE,		/* to be started at `when` */
	BROKER_RUNS,
	BROKER_ENDS,		/* given up; to be killed at `when` */
};

static struct {
	enum broker_state state;
	int socket, pidfd;
	pid_t pid;		/* 0: none; read by hooks */
	int64_t when, first, started, heard, read, refreshed;
	int backoff;
	bool full, killed, lost;
} broker = { .socket = -1, .pidfd = -1, .backoff = BACKOFF_MIN_MS };

static const struct broker_events *events;

void broker_set_events(const struct broker_events *new_events)
{
	events = new_events;
}

/* ---- finding it ----------------------------------------------------------- */

/* Beside the plugin in the build tree, else where it was installed. 0 or a negative errno. */
static int broker_path(char path[static PATH_MAX])
{
	const char *value = secure_getenv("LTTNG_SPI_BROKER");
	Dl_info self;

	if (value) {
		if (!*value || snprintf(path, PATH_MAX, "%s", value) >= PATH_MAX)
			return -ENOENT;
		return access(path, X_OK) ? -errno : 0;
	}
	if (dladdr((void *) broker_path, &self) && self.dli_fname && *self.dli_fname == '/') {
		static const char built[] = "/spi-sessiond-plugin/.libs/" PLUGIN_LIBRARY;
		size_t n = strlen(self.dli_fname);

		if (n > sizeof(built) && !strcmp(self.dli_fname + n - (sizeof(built) - 1), built) &&
		    snprintf(path, PATH_MAX, "%.*s/broker/spi-broker", (int) (n - (sizeof(built) - 1)),
			     self.dli_fname) < PATH_MAX && !access(path, X_OK))
			return 0;
	}
	if (snprintf(path, PATH_MAX, "%s/spi-broker", SPI_PKGLIBEXECDIR) >= PATH_MAX)
		return -ENAMETOOLONG;
	return access(path, X_OK) ? -errno : 0;
}

/* Its helpers are its children, and theirs spi-codemap. */
bool broker_family(pid_t pid)
{
	pid_t top = __atomic_load_n(&broker.pid, __ATOMIC_RELAXED);

	for (unsigned int level = 0; top && pid > 1 && level < 4; level++) {
		if (pid == top)
			return true;
		pid = process_parent(pid);
	}
	return false;
}

/* ---- its life ---------------------------------------------------------------- */

static void broker_set_pid(pid_t pid)
{
	__atomic_store_n(&broker.pid, pid, __ATOMIC_RELAXED);
}

static void broker_retry(int64_t now)
{
	broker.state = BROKER_NONE;
	broker.when = now + broker.backoff;
	broker.backoff = broker.backoff * 2 < BACKOFF_MAX_MS ? broker.backoff * 2 : BACKOFF_MAX_MS;
}

static void broker_start(int64_t now)
{
	char path[PATH_MAX];
	int pair[2], ret = broker_path(path);

	if (!ret && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		ret = -errno;
	if (ret) {
		plugin_note("no broker: %s", strerror(-ret));
		broker_retry(now);
		return;
	}
	ret = spawn_broker(path, pair[1], &broker.pidfd);
	close(pair[1]);
	if (ret < 0) {
		close(pair[0]);
		plugin_note("cannot start %s: %s", path, strerror(-ret));
		broker_retry(now);
		return;
	}
	plugin_note("%s started, pid %d", path, ret);
	broker_set_pid(ret);
	broker.socket = pair[0];
	broker.state = BROKER_RUNS;
	broker.started = broker.heard = broker.read = now;
	broker.full = broker.killed = broker.lost = false;
	events->begun();
}

/* No more of this one: whoever is held goes on at once. */
static void broker_give_up(int64_t now, const char *why)
{
	if (broker.state != BROKER_RUNS)
		return;
	plugin_note("broker %d: %s", (int) broker.pid, why);
	events->given_up();
	close(broker.socket);
	broker.socket = -1;
	queue_wake();	/* another round of the loop: they are to be played back, and a new deadline */
	if (now - broker.started >= STEADY_MS)
		broker.backoff = BACKOFF_MIN_MS;
	broker.state = BROKER_ENDS;
	broker.when = now + GRACE_MS;
}

/* Is it gone? It is init's to reap, or ours when the daemon is init. */
static bool broker_gone(void)
{
	struct pollfd polled = { .fd = broker.pidfd, .events = POLLIN };
	siginfo_t info;

	if (poll(&polled, 1, 0) <= 0)
		return false;
	waitid(P_PIDFD, broker.pidfd, &info, WEXITED | WNOHANG | __WALL);
	return true;
}

/* The daemon makes its two sockets listen in two threads: a while is waited for the client's. */
static int64_t broker_due(int64_t now)
{
	if (!broker.first)
		broker.first = now;
	if (events->must_wait() && now < broker.first + SOCKETS_MS)
		return broker.first + SOCKETS_MS;
	return broker.when;
}

/* Messages were left out: now that it has read the rest, tell of everything again, from time to time. */
static int broker_refresh(int64_t now)
{
	broker.lost |= queue_lost();
	if (!broker.lost)
		return -1;
	if (now < broker.refreshed + REFRESH_MS)
		return broker.refreshed + REFRESH_MS - now;
	broker.lost = false;
	broker.refreshed = now;
	plugin_note("the broker lagged: told again");
	events->lagged();
	return -1;
}

/* Send what there is; one that doesn't read for seconds is given up. */
static int broker_feed(int64_t now)
{
	int ret = queue_send(broker.socket);

	broker.full = ret > 0;
	if (!broker.full)
		broker.read = now;
	if (ret < 0)
		broker_give_up(now, strerror(-ret));
	else if (broker.full && now - broker.read >= SILENCE_MS)
		broker_give_up(now, "does not read");
	if (broker.state != BROKER_RUNS)
		return 0;
	return broker.full ? (int) (broker.read + SILENCE_MS - now) : broker_refresh(now);
}

int broker_advance(int64_t now)
{
	if (broker.state == BROKER_NONE && now >= broker_due(now))
		broker_start(now);
	if (broker.state != BROKER_NONE && broker_gone()) {
		broker_give_up(now, "ended");
		close(broker.pidfd);
		broker.pidfd = -1;
		broker_set_pid(0);
		broker_retry(now);
	}
	if (broker.state == BROKER_ENDS && now >= broker.when && !broker.killed) {
		syscall(SYS_pidfd_send_signal, broker.pidfd, SIGKILL, NULL, 0);
		broker.killed = true;
	}
	if (broker.state == BROKER_RUNS)
		return broker_feed(now);
	if (broker.state == BROKER_ENDS && broker.killed)
		return -1;
	if (broker.state == BROKER_NONE)
		broker.when = broker_due(now);
	return broker.when > now ? (int) (broker.when - now) : 0;
}

void broker_expired(int64_t since, int64_t now)
{
	if (broker.state == BROKER_RUNS && broker.heard < since && now - broker.heard >= SILENCE_MS)
		broker_give_up(now, "answers nothing");
}

/* ---- what it says --------------------------------------------------------------- */

/* Without room for control data, a descriptor that comes along is closed by the kernel. */
static int message_receive(void)
{
	static _Alignas(8) char buffer[sizeof(struct spi_broker_msg) + SPI_BROKER_MESSAGE_MAX];
	struct spi_broker_msg head;
	struct iovec data = { buffer, sizeof(buffer) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };
	ssize_t n = recvmsg(broker.socket, &message, MSG_DONTWAIT);

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (!n)
		return -EPIPE;
	if (n < (ssize_t) sizeof(head) || (message.msg_flags & MSG_TRUNC))
		return -EBADMSG;
	memcpy(&head, buffer, sizeof(head));
	if (head.magic != SPI_BROKER_MAGIC || head.version != SPI_BROKER_VERSION || head.size != n - sizeof(head))
		return -EBADMSG;
	broker.heard = plugin_clock();
	return events->said(&head, buffer + sizeof(head));
}

void broker_dispatch(void)
{
	int ret = 0;

	if (broker.state != BROKER_RUNS)
		return;
	/* Bounded: deadlines are looked at in between. */
	for (unsigned int i = 0; i < 64 && !ret; i++)
		ret = message_receive();
	if (ret && ret != -EAGAIN)
		broker_give_up(plugin_clock(), ret == -EPIPE ? "closed its socket" : strerror(-ret));
}

unsigned int broker_poll(struct pollfd *set)
{
	unsigned int n = 0;

	if (broker.socket >= 0)
		set[n++] = (struct pollfd) { .fd = broker.socket, .events = POLLIN | (broker.full ? POLLOUT : 0) };
	if (broker.pidfd >= 0)
		set[n++] = (struct pollfd) { .fd = broker.pidfd, .events = POLLIN };
	return n;
}
