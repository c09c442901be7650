/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Children are forks of the broker that never return to its code: the broker has
 * one thread, so whatever state its libraries are in is a whole one. They die
 * with the broker (PDEATHSIG), whatever becomes of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "broker/base/base.h"
#include "injector/inject/as-user.h"
#include "injector/base/foreign-fd.h"

#define REAP_MS	50u	/* children that were killed are looked for so often */

static void child_settle(int socket, pid_t parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	if (socket != CHILD_FD)
		dup2(socket, CHILD_FD);
	fcntl(CHILD_FD, F_SETFD, FD_CLOEXEC);
	syscall(SYS_close_range, CHILD_FD + 1u, ~0u, 0u);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	setrlimit(RLIMIT_CORE, &(struct rlimit) { 0, 0 });
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

int child_start(struct child *child, int (*work)(void *data), void *data,
		void (*ready)(struct loop_source *, uint32_t))
{
	pid_t parent = getpid(), pid;
	int pair[2], ret;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	pid = fork();
	if (!pid) {
		child_settle(pair[1], parent);
		_exit(work(data));
	}
	ret = pid < 0 ? -errno : 0;
	close(pair[1]);
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	child->uid = (uid_t) -1;
	child->pid = ret ? 0 : pid;
	child->socket.fd = -1;
	if (!ret)
		ret = loop_add(&child->socket, pair[0], EPOLLIN, ready);
	if (ret) {
		close(pair[0]);
		child_stop(child);
	}
	return ret;
}

static struct loop_timer reaping;

static void reap_later(struct loop_timer *timer)
{
	if (spi_foreign_reap())
		loop_timer_set(timer, REAP_MS, reap_later);
}

void children_reap(void)
{
	if (!reaping.armed)
		reap_later(&reaping);
}

void child_stop(struct child *child)
{
	if (child->pid > 0) {
		kill(child->pid, SIGKILL);
		/* An injector may be within a file system of its user's, where it cannot be killed. */
		spi_foreign_leave(child->pid, child->uid);
		children_reap();
	}
	child->pid = 0;
	loop_remove(&child->socket);
}

/* ---- packets ------------------------------------------------------------- */

#define FDS_MAX 4u

int packet_send(int socket, const void *data, size_t size, const int *fds, unsigned int nr_fds)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
	} control = { 0 };
	struct iovec io = { (void *) data, size };
	struct msghdr message = { .msg_iov = &io, .msg_iovlen = 1 };

	if (nr_fds) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(nr_fds * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(nr_fds * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fds, nr_fds * sizeof(int));
	}
	while (sendmsg(socket, &message, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

ssize_t packet_receive(int socket, void *data, size_t size, int *fds, unsigned int max_fds, unsigned int *nr_fds)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
	} control;
	struct iovec io = { data, size };
	struct msghdr message = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	ssize_t n;

	*nr_fds = 0;
	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (*nr_fds < max_fds) {
				fds[(*nr_fds)++] = fd;
			} else {
				close(fd);
				n = -EPROTO;
			}
		}
	}
	if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		n = -EPROTO;
	if (n < 0)
		while (*nr_fds)
			close(fds[--*nr_fds]);
	return n;
}

/* ---- rights --------------------------------------------------------------- */

bool others_exist(void)
{
	unsigned int inside, outside, count = 0;
	FILE *map = fopen("/proc/self/uid_map", "re");

	if (map && fscanf(map, "%u %u %u", &inside, &outside, &count) != 3)
		count = 0;
	if (map)
		fclose(map);
	return count > 1;
}

int become(uid_t uid, gid_t gid)
{
	int ret = spi_become(uid, gid, 0);

	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* a change of user clears it */
	return ret;
}
