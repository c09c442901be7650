/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Descriptors that strangers send to a socket of ours, and how to get rid of them.
 *
 * Anybody may send any open file. Two things that the kernel does with a file may wait for its
 * sender:
 *
 *   close(), and dup2() over it, at every single descriptor: a file system in user space is asked
 *   (FUSE_FLUSH), and a process that waits for the answer cannot even be killed. Such a
 *   descriptor, once in our table, would stay there for ever.
 *
 *   The release of the last reference: of a TCP socket with SO_LINGER it waits for a peer to read.
 *   Messages that are thrown away unread have references, too: it is enough to close the socket
 *   that they were sent to, or to receive them without room for descriptors.
 *
 * So no such descriptor is ever in our table, and we throw nothing away that may carry one. A child
 * does both: it hands on what is known to be harmless, ends at once, and may take any time for that
 * end, in which the rest is closed. The child is not waited for. A thread would not do: it would
 * keep our whole process from ending.
 *
 * Whether a message has descriptors is asked first (MSG_PEEK, with no room for them: none is
 * installed, and the message keeps its references). That answer holds only if nobody else can take
 * the message meanwhile: on a socket that we accepted, and not on one end of a pair that another
 * process made and may have kept. From such a pair the child receives everything.
 *
 * The child that receives has our memory, and we stand still until it lets go of that memory
 * (CLONE_VFORK), which is before it closes anything. So nothing is copied but the table of
 * descriptors. The child makes only system calls that wait for nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "injector/base/foreign-fd.h"

#define LEFT_OLD_MS	1000u	/* who ends in that time is only slow */
#define LEFT_OLD_MAX	16u	/* one user's that are older: he gets no more */
#define LEFT_MAX	256u	/* one user's at all */

struct left {
	struct left *next;
	pid_t pid;
	uid_t uid;
	uint64_t since_ms;
};

/* Not closed yet: its user has too many children that do not end, or there was no memory. */
struct parked {
	struct parked *next;
	int fd;
	uid_t uid;
};

static struct left *left;
static struct parked *parked;

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

/* ---- children that end when they can ---------------------------------------- */

void spi_foreign_leave(pid_t pid, uid_t uid)
{
	struct left *l = malloc(sizeof(*l));

	if (!l)
		return;		/* a zombie, until we end */
	*l = (struct left) { left, pid, uid, now_ms() };
	left = l;
}

static void reap(void)
{
	for (struct left **at = &left, *l; (l = *at);) {
		pid_t got = waitpid(l->pid, NULL, WNOHANG | __WALL);

		if (!got || (got < 0 && errno == EINTR)) {
			at = &l->next;
			continue;
		}
		*at = l->next;
		free(l);
	}
}

bool spi_foreign_has_many(uid_t uid)
{
	unsigned int all = 0, old = 0;
	uint64_t now;

	reap();
	if (!left)
		return false;
	now = now_ms();
	for (const struct left *l = left; l; l = l->next) {
		all += l->uid == uid;
		old += l->uid == uid && now - l->since_ms > LEFT_OLD_MS;
	}
	return old >= LEFT_OLD_MAX || all >= LEFT_MAX;
}

/* A child's other descriptors: while it cannot end, nobody's connection is to stay open for that. */
static void keep_two(int a, int b)
{
	unsigned int low = (unsigned int) (a < b ? a : b), high = (unsigned int) (a < b ? b : a);

	if (low)
		syscall(SYS_close_range, 0u, low - 1, 0u);
	if (high > low + 1)
		syscall(SYS_close_range, low + 1, high - 1, 0u);
	syscall(SYS_close_range, high + 1, ~0u, 0u);
}

/* ---- receiving --------------------------------------------------------------- */

bool spi_foreign_is_packet_socket(int fd)
{
	int domain, type, listens;
	socklen_t size = sizeof(int);

	return !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) && domain == AF_UNIX &&
	       !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) && type == SOCK_SEQPACKET &&
	       !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) && !listens;
}

struct order {
	int socket, answer, nice;
	void *packet;
	size_t size;
	ssize_t n;
	struct ucred *sender;
};

/* Room for the most that the kernel sends (SCM_MAX_FD) and a security label: what has no room would be released at once. */
static _Alignas(struct cmsghdr) char room[16384];
static _Alignas(16) char stack[65536];

static void hand_on(int socket, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec io = { "", 1 };
	struct msghdr message = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* What came with a message: the first descriptor, or -1, and who sent it. */
static int look_through(struct msghdr *message, struct ucred *sender)
{
	int fd = -1;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_CREDENTIALS && c->cmsg_len == CMSG_LEN(sizeof(*sender)))
			memcpy(sender, CMSG_DATA(c), sizeof(*sender));
		else if (c->cmsg_type == SCM_RIGHTS && c->cmsg_len >= CMSG_LEN(sizeof(int)))
			memcpy(&fd, CMSG_DATA(c), sizeof(int));
	}
	return fd;
}

/* The child. */
static int receive(void *data)
{
	struct order *o = data;
	struct iovec io = { o->packet, o->size };
	struct msghdr message = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room) };
	int fd;

	/* We are waited for: the kernel has put us behind others, as any child. */
	if (o->nice < 0)
		setpriority(PRIO_PROCESS, 0, o->nice);
	keep_two(o->socket, o->answer);
	o->n = recvmsg(o->socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (o->n < 0) {
		o->n = -errno;
		return 0;
	}
	if (message.msg_flags & MSG_TRUNC)
		o->n = -EPROTO;
	fd = look_through(&message, o->sender);
	/* Only a file in memory has seals to tell of. */
	if (fd >= 0 && (fcntl(fd, F_GET_SEALS) >= 0 || spi_foreign_is_packet_socket(fd)))
		hand_on(o->answer, fd);
	/* We, who started it, have these two still. */
	close(o->socket);
	close(o->answer);
	return 0;
}

static ssize_t receive_by_child(int socket, uid_t uid, void *packet, size_t size, int *fd, struct ucred *sender)
{
	struct order order = { .socket = socket, .nice = getpriority(PRIO_PROCESS, 0), .packet = packet, .size = size, .n = -EIO,
			       .sender = sender };
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	char byte;
	struct iovec io = { &byte, 1 };
	struct msghdr message = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	sigset_t all, before;
	struct ucred nobody;
	int pair[2];
	pid_t pid;

	if (spi_foreign_has_many(uid))
		return -EBUSY;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
		return -errno;
	order.answer = pair[1];
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);	/* no handler runs twice in one memory */
	pid = clone(receive, stack + sizeof(stack), CLONE_VM | CLONE_VFORK, &order);
	if (pid < 0)
		order.n = -errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid > 0)
		spi_foreign_leave(pid, uid);
	if (pid > 0 && recvmsg(pair[0], &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) > 0)
		*fd = look_through(&message, &nobody);
	close(pair[0]);
	close(pair[1]);
	return order.n;
}

ssize_t spi_foreign_receive(int socket, bool shared, uid_t uid, void *packet, size_t size, int *fd, struct ucred *sender)
{
	struct iovec io = { packet, 0 };
	struct msghdr message = { .msg_iov = &io, .msg_iovlen = 1 };	/* no room for anything else: nothing is installed */
	struct pollfd polled = { .fd = socket, .events = POLLIN };
	ssize_t n;

	*fd = -1;
	sender->pid = 0;
	if (shared)
		return poll(&polled, 1, 0) > 0 ? receive_by_child(socket, uid, packet, size, fd, sender) : -EAGAIN;
	if (recvmsg(socket, &message, MSG_DONTWAIT | MSG_PEEK) < 0)
		return -errno;
	if (message.msg_flags & MSG_CTRUNC)
		return receive_by_child(socket, uid, packet, size, fd, sender);
	io.iov_len = size;
	n = recvmsg(socket, &message, MSG_DONTWAIT);
	if (n < 0)
		return -errno;
	return message.msg_flags & MSG_TRUNC ? -EPROTO : n;
}

/* ---- closing ------------------------------------------------------------------ */

/* Nothing can come any more: is there anything left? */
static bool is_empty(int socket)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
	char byte;
	struct iovec io = { &byte, 1 };
	int on = 1;

	/* So that a packet without a byte is not taken for the end. It comes first, and fills the room: nothing is installed. */
	if (setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)))
		return false;
	/* An error is told once, whatever is left. */
	for (unsigned int i = 0; i < 2; i++) {
		struct msghdr message = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
		ssize_t n = recvmsg(socket, &message, MSG_DONTWAIT | MSG_PEEK);

		if (n >= 0)
			return !n && !message.msg_controllen && !(message.msg_flags & MSG_CTRUNC);
	}
	return false;
}

/* Its last reference is to be the child's: it keeps one until we have closed ours. */
static bool close_by_child(int fd, uid_t uid)
{
	struct clone_args args = { 0 };
	int pair[2];
	pid_t pid;

	if (spi_foreign_has_many(uid) || pipe2(pair, O_CLOEXEC))
		return false;
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (!pid) {
		char byte;

		keep_two(fd, pair[0]);
		while (read(pair[0], &byte, 1) < 0 && errno == EINTR)
			;
		_exit(0);
	}
	if (pid > 0) {
		spi_foreign_leave(pid, uid);
		close(fd);
	}
	close(pair[0]);
	close(pair[1]);
	return pid > 0;
}

void spi_foreign_close(int socket, bool shared, uid_t uid)
{
	struct parked *p;

	shutdown(socket, SHUT_RDWR);
	if (!shared && is_empty(socket)) {
		close(socket);
		return;
	}
	if (close_by_child(socket, uid))
		return;
	p = malloc(sizeof(*p));
	if (!p)
		return;		/* open for good rather than waiting for its sender */
	*p = (struct parked) { parked, socket, uid };
	parked = p;
}

bool spi_foreign_reap(void)
{
	reap();
	for (struct parked **at = &parked, *p; (p = *at);) {
		if (!close_by_child(p->fd, p->uid)) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		free(p);
	}
	return left || parked;
}
