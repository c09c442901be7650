/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The other end of a TCP or UDP socket. The kernel looks the addresses up as it does for a packet, so the answer is the
 * socket that the message goes to, be it bound to all addresses. A TCP connection that is not accepted has no inode:
 * whoever listens at its address may take it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "broker/peers/sock-diag.h"
#include "rules/rule.h"

/* IPv4 also where it is written as IPv6. */
static struct spi_msg_address plain(const struct spi_msg_address *address)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct spi_msg_address is = *address;

	if (is.family == AF_INET6 && !memcmp(is.bytes, mapped, sizeof(mapped))) {
		is.family = AF_INET;
		memmove(is.bytes, is.bytes + sizeof(mapped), 4);
	}
	if (is.family == AF_INET)
		memset(is.bytes + 4, 0, sizeof(is.bytes) - 4);
	return is;
}

static bool is_any(const struct spi_msg_address *address)
{
	static const uint8_t none[16];

	return !memcmp(address->bytes, none, sizeof(none));
}

static bool is_many(const struct spi_msg_address *a)
{
	return a->family == AF_INET ? (a->bytes[0] & 0xf0) == 0xe0 || !memcmp(a->bytes, "\xff\xff\xff\xff", 4) : a->bytes[0] == 0xff;
}

static void address_text(const struct spi_msg_address *a, char text[64])
{
	char host[INET6_ADDRSTRLEN] = "?";

	inet_ntop(a->family, a->bytes, host, sizeof(host));
	snprintf(text, 64, a->family == AF_INET6 ? "[%s]:%u" : "%s:%u", host, a->port);
}

struct inet_socket {
	uint64_t inode;
	uint8_t state;
};

static int sees_socket(void *data, const void *body, size_t size)
{
	const struct inet_diag_msg *socket = body;

	*(struct inet_socket *) data = (struct inet_socket) { socket->idiag_inode, socket->idiag_state };
	return 1;
}

static struct inet_diag_req_v2 inet_request(uint8_t protocol, const struct spi_msg_address *local,
					    const struct spi_msg_address *remote)
{
	struct inet_diag_req_v2 request = {
		.sdiag_family = (uint8_t) local->family, .sdiag_protocol = protocol, .idiag_states = -1u,
		.id = { .idiag_sport = htons(local->port), .idiag_dport = htons(remote->port), .idiag_cookie = SOCK_NO_COOKIE },
	};

	memcpy(request.id.idiag_src, local->bytes, sizeof(request.id.idiag_src));
	memcpy(request.id.idiag_dst, remote->bytes, sizeof(request.id.idiag_dst));
	return request;
}

/* The socket that a packet from `remote` to `local` comes to. 1, 0: there is none, or a negative errno. */
static int inet_one(uint8_t protocol, const struct spi_msg_address *local, const struct spi_msg_address *remote,
		    struct inet_socket *socket)
{
	/* of UDP the kernel takes the addresses the other way round */
	struct inet_diag_req_v2 request = protocol == IPPROTO_UDP ? inet_request(protocol, remote, local) :
		inet_request(protocol, local, remote);
	int ret = sock_ask(&request, sizeof(request), false, sees_socket, socket);

	return ret == -ENOENT ? 0 : ret;
}

/* Of those who listen at the address the ones that are bound to just that, or where there are none those bound to all. */
struct listeners {
	const struct spi_msg_address *at;
	struct end exact, any;
};

static int sees_listener(void *data, const void *body, size_t size)
{
	const struct inet_diag_msg *socket = body;
	struct listeners *listeners = data;
	struct spi_msg_address bound = { .port = ntohs(socket->id.idiag_sport), .family = socket->idiag_family };
	size_t n = 0;
	const uint8_t *v6only = sock_attribute(body, size, sizeof(*socket), INET_DIAG_SKV6ONLY, &n);

	memcpy(bound.bytes, socket->id.idiag_src, sizeof(bound.bytes));
	bound = plain(&bound);
	if (socket->idiag_state != TCP_LISTEN || bound.port != listeners->at->port)
		return 0;
	if (is_any(&bound) && (bound.family == listeners->at->family || (bound.family == AF_INET6 && !(v6only && n && *v6only))))
		sock_end_add(&listeners->any, socket->idiag_inode);
	else if (bound.family == listeners->at->family && !memcmp(bound.bytes, listeners->at->bytes, sizeof(bound.bytes)))
		sock_end_add(&listeners->exact, socket->idiag_inode);
	return 0;
}

static int find_listeners(const struct spi_msg_address *at, struct found *found)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };
	struct listeners listeners = { .at = at };

	for (unsigned int i = 0; i < sizeof(families); i++) {
		struct inet_diag_req_v2 request = {
			.sdiag_family = families[i], .sdiag_protocol = IPPROTO_TCP, .idiag_states = 1u << TCP_LISTEN,
			.id = { .idiag_sport = htons(at->port), .idiag_cookie = SOCK_NO_COOKIE },
		};
		int ret = sock_ask(&request, sizeof(request), true, sees_listener, &listeners);

		if (ret < 0 && ret != -ENOENT)
			return sock_refuse(found, -ret, "the kernel does not tell who listens: %s", strerror(-ret));
	}
	found->end = listeners.exact.nr_inodes ? listeners.exact : listeners.any;
	found->end.is_listening = true;
	return found->end.nr_inodes ? 0 : sock_refuse(found, ENOENT, "nobody listens there any more");
}

int inet_find(const struct question *q, struct found *found)
{
	const uint8_t protocol = q->channel.kind == SPI_CHANNEL_TCP ? IPPROTO_TCP : IPPROTO_UDP;
	struct spi_msg_address from = plain(&q->channel.from), to = plain(&q->channel.to);
	const struct spi_msg_address *own = q->by_receiver ? &to : &from, *other = q->by_receiver ? &from : &to;
	uint64_t inode = q->by_receiver ? q->channel.receiver : q->channel.sender;
	struct inet_socket socket = { 0, 0 };
	char text[64];
	int ret;

	if (from.family != to.family || (from.family != AF_INET && from.family != AF_INET6))
		return sock_refuse(found, EAFNOSUPPORT, "its addresses are neither IPv4 nor IPv6");
	address_text(other, text);
	if (is_many(&to))
		return sock_refuse(found, EOPNOTSUPP, "%s is an address of many", text);
	/* a datagram to an address of this machine comes from that address where its socket is bound to none */
	if (is_any(&from))
		memcpy(from.bytes, to.bytes, sizeof(from.bytes));
	if (protocol == IPPROTO_TCP) {
		ret = inet_one(protocol, own, other, &socket);
		if (ret < 0)
			return sock_refuse(found, -ret, "the kernel does not tell of sockets: %s", strerror(-ret));
		if (!ret || socket.inode != inode)
			return sock_refuse(found, EPERM, "it has no connection to %s by this socket", text);
	}
	ret = inet_one(protocol, other, own, &socket);
	if (ret < 0)
		return sock_refuse(found, -ret, "the kernel does not tell of sockets: %s", strerror(-ret));
	if (!ret)
		return sock_refuse(found, EHOSTUNREACH, "%s is not in this network namespace", text);
	if (protocol == IPPROTO_TCP && (!socket.inode || socket.state == TCP_LISTEN))
		return find_listeners(other, found);
	sock_end_add(&found->end, socket.inode);
	found->inode = socket.inode;
	return found->end.nr_inodes ? 0 : sock_refuse(found, ENOENT, "%s is closed", text);
}

struct listing {
	struct listening *list;
	unsigned int *count;
	uint32_t channels;
};

static int sees_bound(void *data, const void *body, size_t size)
{
	const struct inet_diag_msg *socket = body;
	struct listing *listing = data;

	if (socket->id.idiag_sport)
		sock_listening_add(listing->list, listing->count, socket->idiag_inode, listing->channels);
	return 0;
}

int inet_listening(struct listening *list, unsigned int *count)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };

	for (unsigned int i = 0; i < 2 * sizeof(families); i++) {
		const bool is_udp = i % 2;
		struct listing listing = { list, count, is_udp ? SPI_CHANNELS_UDP : SPI_CHANNELS_TCP };
		/* a UDP socket that is connected to nobody is in this state */
		struct inet_diag_req_v2 request = {
			.sdiag_family = families[i / 2], .sdiag_protocol = is_udp ? IPPROTO_UDP : IPPROTO_TCP,
			.idiag_states = 1u << (is_udp ? TCP_CLOSE : TCP_LISTEN),
			.id = { .idiag_cookie = SOCK_NO_COOKIE },
		};
		int ret = sock_ask(&request, sizeof(request), true, sees_bound, &listing);

		if (ret < 0 && ret != -ENOENT)
			return ret;
	}
	return 0;
}
