/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The other end of a socket, as the kernel tells it (sock_diag(7)), in the network namespace of the process that asks.
 *
 * A UNIX socket: the kernel says which socket is its peer (unix-sockets.c). TCP and UDP: the kernel looks the addresses
 * up as it does for a packet (inet-sockets.c).
 *
 * Runs in a child of the broker's, which goes from namespace to namespace (setns()), as root. Elsewhere only its own
 * is seen.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/peers/sock-diag.h"

#define ANSWER_MS	200

static int netlink = -1;		/* in namespace net_device, net_inode */
static uint64_t net_device, net_inode;

int sock_refuse(struct found *found, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(found->why, sizeof(found->why), format, args);
	va_end(args);
	return -error;
}

/* ---- the namespace --------------------------------------------------------------------------------------------- */

static int netlink_open(void)
{
	const struct timeval patience = { .tv_usec = ANSWER_MS * 1000 };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

int sock_open(void)
{
	netlink = netlink_open();
	return netlink < 0 ? netlink : 0;
}

/* Go into the network namespace of that process, and ask there. */
static int enter_namespace(int directory, struct found *found)
{
	int theirs = openat(directory, "ns/net", O_RDONLY | O_CLOEXEC), ret = 0;
	struct stat st, own;

	if (theirs < 0 || fstat(theirs, &st)) {
		ret = errno;
		if (theirs >= 0)
			close(theirs);
		return sock_refuse(found, ret, "its network namespace cannot be read: %s", strerror(ret));
	}
	if (netlink >= 0 && st.st_dev == net_device && st.st_ino == net_inode) {
		close(theirs);
		return 0;
	}
	if (netlink >= 0)
		close(netlink);
	netlink = -1;
	if (stat("/proc/self/ns/net", &own) || own.st_dev != st.st_dev || own.st_ino != st.st_ino)
		ret = setns(theirs, CLONE_NEWNET) ? errno : 0;
	close(theirs);
	if (ret)
		return sock_refuse(found, ret, "it is in another network namespace, where only root may look: %s", strerror(ret));
	netlink = netlink_open();
	if (netlink < 0)
		return sock_refuse(found, -netlink, "the kernel does not tell of sockets: %s", strerror(-netlink));
	net_device = st.st_dev;
	net_inode = st.st_ino;
	return 0;
}

/* ---- asking the kernel ----------------------------------------------------------------------------------------- */

/* What is left of a former answer is of another sequence. 0, what `sees` returned, or a negative errno. */
static int answers_take(uint32_t sequence, bool dumps, sock_sees_fn sees, void *data)
{
	static _Alignas(struct nlmsghdr) char room[65536];
	int seen = 0;

	for (;;) {
		ssize_t n = recv(netlink, room, sizeof(room), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		for (struct nlmsghdr *head = (struct nlmsghdr *) room; NLMSG_OK(head, n); head = NLMSG_NEXT(head, n)) {
			if (head->nlmsg_seq != sequence)
				continue;
			if (head->nlmsg_type == NLMSG_DONE)
				return seen;
			if (head->nlmsg_type == NLMSG_ERROR)
				return ((const struct nlmsgerr *) NLMSG_DATA(head))->error ?: seen;
			if (!seen)
				seen = sees(data, NLMSG_DATA(head), NLMSG_PAYLOAD(head, 0));
			if (!dumps)
				return seen;
		}
	}
}

int sock_ask(const void *request, size_t size, bool dumps, sock_sees_fn sees, void *data)
{
	static uint32_t sequence;
	struct nlmsghdr head = {
		.nlmsg_len = NLMSG_LENGTH(size), .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		.nlmsg_flags = NLM_F_REQUEST | (dumps ? NLM_F_DUMP : 0), .nlmsg_seq = ++sequence,
	};
	struct iovec parts[] = { { &head, sizeof(head) }, { (void *) request, size } };
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct msghdr message = { .msg_name = &kernel, .msg_namelen = sizeof(kernel), .msg_iov = parts, .msg_iovlen = 2 };

	if (sendmsg(netlink, &message, 0) < 0)
		return -errno;
	return answers_take(sequence, dumps, sees, data);
}

const void *sock_attribute(const void *body, size_t all, size_t skip, unsigned short type, size_t *size)
{
	const struct rtattr *at = (const struct rtattr *) ((const char *) body + NLMSG_ALIGN(skip));
	int left = all > NLMSG_ALIGN(skip) ? (int) (all - NLMSG_ALIGN(skip)) : 0;

	for (; RTA_OK(at, left); at = RTA_NEXT(at, left))
		if (at->rta_type == type) {
			*size = RTA_PAYLOAD(at);
			return RTA_DATA(at);
		}
	return NULL;
}

int sockets_find(const struct question *q, int directory, struct found *found)
{
	int ret = enter_namespace(directory, found);

	if (ret)
		return ret;
	if (q->channel.kind == SPI_CHANNEL_TCP || q->channel.kind == SPI_CHANNEL_UDP)
		return inet_find(q, found);
	if (q->channel.kind == SPI_CHANNEL_UNIX_DATAGRAM && *q->channel.path && !q->by_receiver)
		return unix_find_named(q, directory, found);
	return unix_find_connected(q->by_receiver ? q->channel.receiver : q->channel.sender, found);
}

static int listening_compare(const void *a, const void *b)
{
	uint64_t x = ((const struct listening *) a)->inode, y = ((const struct listening *) b)->inode;

	return (x > y) - (x < y);
}

int sockets_listening(struct listening list[LISTENING_MAX])
{
	unsigned int count = 0;
	int ret = sock_open();

	if (!ret)
		ret = inet_listening(list, &count);
	if (!ret)
		ret = unix_listening(list, &count);
	if (ret < 0)
		return ret;
	qsort(list, count, sizeof(*list), listening_compare);
	return (int) count;
}
