/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Which socket a UNIX socket is connected to: the kernel tells whoever asks (sock_diag(7)), within a network
 * namespace. Once a connection. A descriptor is open for these few system calls; nothing waits, as the answer is
 * there when the question was sent.
 */
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include "liblttng-spi/ipc/internal.h"

static uint64_t peer_in(const uint8_t *bytes, long size)
{
	const struct nlmsghdr *head = (const struct nlmsghdr *) bytes;
	const struct rtattr *attribute;
	long left;

	if (size < (long) NLMSG_LENGTH(sizeof(struct unix_diag_msg)) || head->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
			head->nlmsg_len > (uint64_t) size)
		return 0;
	attribute = (const struct rtattr *) ((const uint8_t *) NLMSG_DATA(head) +
					     NLMSG_ALIGN(sizeof(struct unix_diag_msg)));
	left = (long) head->nlmsg_len - ((const uint8_t *) attribute - bytes);
	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left))
		if (attribute->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(attribute) >= 4) {
			uint32_t peer;

			memcpy(&peer, RTA_DATA(attribute), 4);
			return peer;
		}
	return 0;
}

uint64_t spi_ipc_unix_peer(uint64_t inode)
{
	struct {
		struct nlmsghdr head;
		struct unix_diag_req request;
	} question = {
		{.nlmsg_len = sizeof(question), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
		{.sdiag_family = AF_UNIX,
			.udiag_states = ~0u,
			.udiag_ino = (uint32_t) inode,
			.udiag_show = UDIAG_SHOW_PEER,
			.udiag_cookie = {~0u, ~0u}},
	};
	_Alignas(8) uint8_t answer[512];
	long fd, size;

	if (inode > UINT32_MAX)
		return 0;
	fd = spi_raw3(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
	if (fd < 0)
		return 0;
	size = spi_raw6(SYS_sendto, (uint64_t) fd, (uint64_t) &question, sizeof(question), 0, 0, 0);
	if (size > 0)
		size = spi_raw6(SYS_recvfrom, (uint64_t) fd, (uint64_t) answer, sizeof(answer), MSG_DONTWAIT, 0, 0);
	spi_raw3(SYS_close, (uint64_t) fd, 0, 0);
	return peer_in(answer, size);
}
