/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Packets of the agent socket (agent-proto.h): the connection, sending, receiving,
 * waiting for an answer. While one is awaited, commands that arrive are put aside
 * in order. What the commands do is control/'s.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/internal.h"

#define MOMENT_MS	3
#define ANSWER_MS	70000		/* a code map of a large program takes its time; the controller has a deadline of 60 s */

SPI_FORK_DATA struct spi_link *spi_link_current;	/* guarded by the control lock */
SPI_FORK_DATA uint32_t spi_link_attached;
SPI_FORK_DATA int spi_link_renewed_fd = -1;
SPI_FORK_DATA int spi_link_fd = -1;			/* its descriptor, to be read without the lock: the link itself may be unmapped at any moment */

/* ---- packets ------------------------------------------------------------ */

int spi_link_send_with(struct spi_link *link, uint16_t type, uint32_t id, const void *a, size_t na, const void *b, size_t nb, int fd,
	long flags)
{
	struct spi_msg head = { SPI_PROTO_MAGIC, SPI_PROTO_VERSION, type, id, (uint32_t) (na + nb) };
	struct iovec iov[3] = { { &head, sizeof(head) }, { (void *) a, na }, { (void *) b, nb } };
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 3 };
	long r;

	if (!spi_may(SPI_MAY_TALK) && !spi_thread_is_tracer())	/* that could be its end */
		return -EPERM;
	if (fd >= 0) {
		memset(&control, 0, sizeof(control));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
	}
	do
		r = spi_sys(SYS_sendmsg, link->fd, &msg, MSG_NOSIGNAL | flags);
	while (r == -EINTR);
	return r < 0 ? (int) r : 0;
}

int spi_link_send(struct spi_link *link, uint16_t type, uint32_t id, const void *a, size_t na, const void *b, size_t nb, int fd)
{
	return spi_link_send_with(link, type, id, a, na, b, nb, fd, 0);
}

static long link_poll(struct spi_link *link, int timeout_ms)
{
	struct pollfd poll = { link->fd, POLLIN, 0 };
	long r;

	do
		r = spi_sys(SYS_poll, &poll, 1L, timeout_ms);
	while (r == -EINTR);
	return r;
}

/* Like poll(). Numbers of descriptors are not held for longer than a moment, which is what most answers take. */
static long link_wait(struct spi_link *link, int timeout_ms)
{
	int is_moment = spi_low_fds_are_held() && (timeout_ms < 0 || timeout_ms > MOMENT_MS), is_mine;
	long r;

	r = link_poll(link, is_moment ? MOMENT_MS : timeout_ms);
	if (r || !is_moment)
		return r;
	is_mine = spi_control_is_mine();
	if (!is_mine)
		spi_control_lock();
	spi_low_fds_wait();
	if (!is_mine)
		spi_control_unlock();
	r = link_poll(link, timeout_ms);
	if (!is_mine)
		spi_control_lock();
	spi_low_fds_wait_end();
	if (!is_mine)
		spi_control_unlock();
	return r;
}

/* By the connection that it has made as another user. 0: there is none. */
static int link_go_on(struct spi_link *link)
{
	int former;

	if (!link->renewed)
		return 0;
	former = link->fd;
	link->fd = link->renewed;
	link->renewed = 0;
	if (spi_link_current == link)
		__atomic_store_n(&spi_link_fd, link->fd, __ATOMIC_RELEASE);
	__atomic_store_n(&spi_link_renewed_fd, -1, __ATOMIC_RELEASE);
	spi_sys(SYS_close, former);
	return 1;
}

long spi_link_receive(struct spi_link *link, int timeout_ms, int *fd)
{
	struct iovec iov = { link->packet, SPI_PACKET_MAX };
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int) * 4)];
	} control;
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	const struct spi_msg *head = (const struct spi_msg *) link->packet;
	long r;

	*fd = -1;
	r = link_wait(link, timeout_ms);
	if (r <= 0)
		return r < 0 ? r : -ETIMEDOUT;
	do
		r = spi_sys(SYS_recvmsg, link->fd, &msg, MSG_CMSG_CLOEXEC);
	while (r == -EINTR);
	if (r <= 0)
		return r == 0 && link_go_on(link) ? -EPROTO : r;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		int n = (int) ((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (int i = 0; i < n; i++) {
			int got;

			memcpy(&got, CMSG_DATA(c) + (size_t) i * sizeof(int), sizeof(got));
			if (*fd < 0)
				*fd = got;
			else
				spi_sys(SYS_close, got);
		}
	}
	if ((size_t) r < sizeof(*head) || head->magic != SPI_PROTO_MAGIC || head->version != SPI_PROTO_VERSION ||
			head->size + sizeof(*head) != (size_t) r) {
		if (*fd >= 0)
			spi_sys(SYS_close, *fd);
		*fd = -1;
		return -EPROTO;
	}
	return r;
}

void spi_link_put_aside(struct spi_link *link, long size)
{
	size_t bytes = sizeof(struct spi_pending) + (size_t) size;
	struct spi_pending *p = spi_map_pages(bytes), **tail = &link->pending;

	if (!p)
		return;
	p->bytes = (uint32_t) bytes;
	p->size = (uint32_t) size;
	memcpy(p->packet, link->packet, (size_t) size);
	while (*tail)
		tail = &(*tail)->next;
	*tail = p;
}

/*
 * Another connection, which came over one that is allowed. Who made it is not asked: in a user namespace
 * of ours its user has no name.
 */
static void link_move(struct spi_link *link, int fd)
{
	spi_sys(SYS_close, link->fd);
	link->fd = spi_fd_high(fd);
}

long spi_link_answer(struct spi_link *link, uint16_t type, uint32_t id, void *body, size_t size, int *fd)
{
	const struct spi_msg *head = (const struct spi_msg *) link->packet;
	long r;

	for (;;) {
		r = spi_link_receive(link, ANSWER_MS, fd);
		if (r == 0)
			return -ECONNRESET;
		if (r < 0)
			return r;
		if (head->type == type && head->id == id)
			break;
		if (head->type == SPI_MSG_SOCKET && *fd >= 0 && link->hello_flags & SPI_HELLO_SOCKET) {
			link_move(link, *fd);
			continue;
		}
		if (*fd >= 0)
			spi_sys(SYS_close, *fd);
		spi_link_put_aside(link, r);
	}
	if (size > head->size)
		memset((char *) body + head->size, 0, size - head->size);
	memcpy(body, link->packet + sizeof(*head), head->size < size ? head->size : size);
	return head->size;
}

/* ---- opening and closing ------------------------------------------------ */

int spi_link_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	long fd, r;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = spi_sys(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0L);
	if (fd < 0)
		return (int) fd;
	do
		r = spi_sys(SYS_connect, fd, &address, sizeof(address));
	while (r == -EINTR);
	if (r < 0) {
		spi_sys(SYS_close, fd);
		return (int) r;
	}
	return spi_fd_high((int) fd);
}

void spi_link_close(struct spi_link *link)
{
	if (link->fd >= 0)
		spi_sys(SYS_close, link->fd);
	spi_link_renewed_close(link);
	link->fd = -1;
	while (link->pending) {
		struct spi_pending *p = link->pending;

		link->pending = p->next;
		spi_sys(SYS_munmap, p, p->bytes);
	}
	if (link->packet)
		spi_sys(SYS_munmap, link->packet, (SPI_PACKET_MAX + 4095) & ~4095ul);
	link->packet = NULL;
	if (spi_link_current == link) {
		spi_link_current = NULL;
		__atomic_store_n(&spi_link_fd, -1, __ATOMIC_RELEASE);
		spi_nursery_close();
	}
}
