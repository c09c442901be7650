/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Which socket a UNIX socket is connected to: the kernel tells whoever asks (sock_diag(7)), within a network
 * namespace. Once a connection. Other threads would see the number of a descriptor that is open for it; so it is
 * asked in a child that has the memory and no descriptors in common with the program. Nothing waits: the answer is
 * there when the question was sent.
 */
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "liblttng-spi/ipc/internal.h"

#define STACK	2048u

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

struct look {
	uint64_t inode, peer;
};

static void look(void *data)
{
	struct look *l = data;
	struct {
		struct nlmsghdr head;
		struct unix_diag_req request;
	} question = {
		{ .nlmsg_len = sizeof(question), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST },
		{ .sdiag_family = AF_UNIX, .udiag_states = ~0u, .udiag_ino = (uint32_t) l->inode, .udiag_show = UDIAG_SHOW_PEER,
			.udiag_cookie = { ~0u, ~0u } },
	};
	_Alignas(8) uint8_t answer[512];
	const long fd = spi_raw3(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
	long size;

	if (fd < 0)
		return;
	size = spi_raw6(SYS_sendto, (uint64_t) fd, (uint64_t) &question, sizeof(question), 0, 0, 0);
	if (size > 0)
		size = spi_raw6(SYS_recvfrom, (uint64_t) fd, (uint64_t) answer, sizeof(answer), MSG_DONTWAIT, 0, 0);
	l->peer = peer_in(answer, size);
}

uint64_t spi_ipc_unix_peer(uint64_t inode)
{
	struct look l = { inode, 0 };
	_Alignas(16) uint8_t stack[STACK];
	uint64_t before;
	long process;

	if (inode > UINT32_MAX)
		return 0;
	before = spi_signals_hold(~UINT64_C(0));
	process = spi_call_apart(look, &l, stack + sizeof(stack));
	if (process > 0)
		spi_raw4(SYS_wait4, (uint64_t) process, 0, __WCLONE, 0);
	spi_signals_release(before);
	return l.peer;
}
