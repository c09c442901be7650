/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The owner of a TCP socket of this host. The kernel is asked for one socket by its two ends, as it
 * would look for the socket that gets a packet; a listening socket has no other end. The owner is
 * the user who made the socket, whatever user that process is by now.
 */
#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/daemon/tcp-owner.h"

struct question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 request;
};

/* The kernel's answer is there when it has been asked. 0: `found` is filled. */
static int ask(const struct question *question, struct inet_diag_msg *found)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	_Alignas(struct nlmsghdr) char buffer[4096];
	const struct nlmsghdr *head = (const struct nlmsghdr *) buffer;
	struct timeval limit = { .tv_sec = 2 };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	struct sockaddr_nl from = { 0 };
	socklen_t size = sizeof(from);
	ssize_t n = -1;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (sendto(fd, question, sizeof(*question), 0, (const struct sockaddr *) &kernel, sizeof(kernel)) == sizeof(*question))
		n = recvfrom(fd, buffer, sizeof(buffer), 0, (struct sockaddr *) &from, &size);
	close(fd);
	if (n < 0 || from.nl_pid || !NLMSG_OK(head, n) || head->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    head->nlmsg_len < NLMSG_LENGTH(sizeof(*found)))
		return -1;
	memcpy(found, NLMSG_DATA(head), sizeof(*found));
	return 0;
}

/* The socket at `end`, connected to `other`, in that state: is it this user's or root's? */
static int is_trusted(const struct sockaddr_in *end, const struct sockaddr_in *other, int state)
{
	struct question question = {
		.head = { .nlmsg_len = sizeof(question), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST },
		.request = {
			.sdiag_family = AF_INET, .sdiag_protocol = IPPROTO_TCP, .idiag_states = 1u << state,
			.id = { .idiag_sport = end->sin_port, .idiag_dport = other->sin_port, .idiag_src = { end->sin_addr.s_addr },
				.idiag_dst = { other->sin_addr.s_addr }, .idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } },
		},
	};
	struct inet_diag_msg found;

	/* What is about to be over has no owner any more, and is said to be root's. */
	return ask(&question, &found) == 0 && found.idiag_state == state && found.id.idiag_sport == end->sin_port &&
		found.id.idiag_dport == other->sin_port && (found.idiag_uid == 0 || found.idiag_uid == geteuid());
}

int tcp_listener_is_trusted(unsigned int port)
{
	const struct sockaddr_in end = { .sin_port = htons((uint16_t) port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) }, none = { 0 };

	return is_trusted(&end, &none, TCP_LISTEN);
}

int tcp_peer_is_trusted(int fd)
{
	struct sockaddr_in own, peer;
	socklen_t own_size = sizeof(own), peer_size = sizeof(peer);

	return !getsockname(fd, (struct sockaddr *) &own, &own_size) && !getpeername(fd, (struct sockaddr *) &peer, &peer_size) &&
		own.sin_family == AF_INET && peer.sin_family == AF_INET && is_trusted(&peer, &own, TCP_ESTABLISHED);
}
