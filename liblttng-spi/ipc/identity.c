/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What channel a descriptor is an end of: its kind, its id, which both ends have, and the names of the ends. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "rules/rule.h"
#include "liblttng-spi/ipc/internal.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE	71
#endif
uint64_t spi_ipc_id(const char *kind, uint64_t a, uint64_t b)
{
	uint64_t id = spi_hash_number(spi_hash_number(spi_hash_text(SPI_HASH_SEED, kind) ^ a) + b);

	return id ? id : 1;
}

/* ---- what the kernel says of a socket ---- */

static long option_get(int fd, int level, int name, void *value, socklen_t size)
{
	return spi_raw6(SYS_getsockopt, (uint64_t) fd, (uint64_t) level, (uint64_t) name, (uint64_t) value,
		(uint64_t) &size, 0);
}

static int option(int fd, int level, int name)
{
	int value = -1;

	return option_get(fd, level, name, &value, sizeof(value)) < 0 ? -1 : value;
}

static uint64_t network_of(int fd)
{
	uint64_t value = 0;

	return option_get(fd, SOL_SOCKET, SO_NETNS_COOKIE, &value, sizeof(value)) < 0 ? 0 : value;
}

/* The bytes of the address; 0: it has none. */
static socklen_t name_of(int fd, long which, union spi_ipc_name *address)
{
	socklen_t size = sizeof(*address);

	memset(address, 0, sizeof(*address));
	if (spi_raw3(which, (uint64_t) fd, (uint64_t) address, (uint64_t) &size) < 0)
		return 0;
	return size < sizeof(*address) ? size : sizeof(*address);
}

/* IPv4 in IPv6's clothes is IPv4. */
static void internet_take(struct spi_msg_address *to, const union spi_ipc_name *from, socklen_t size)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (from->any.sa_family == AF_INET && size >= sizeof(from->in)) {
		to->family = AF_INET;
		to->port = ntohs(from->in.sin_port);
		memcpy(to->bytes, &from->in.sin_addr, 4);
	} else if (from->any.sa_family == AF_INET6 && size >= offsetof(struct sockaddr_in6, sin6_scope_id)) {
		const int is_mapped = !memcmp(&from->in6.sin6_addr, mapped, sizeof(mapped));

		to->family = is_mapped ? AF_INET : AF_INET6;
		to->port = ntohs(from->in6.sin6_port);
		memcpy(to->bytes, (const uint8_t *) &from->in6.sin6_addr + (is_mapped ? 12 : 0), is_mapped ? 4 : 16);
	}
}

static void path_take(char *to, size_t room, const union spi_ipc_name *from, socklen_t size)
{
	const size_t at = offsetof(struct sockaddr_un, sun_path);
	size_t n = size > at ? size - at : 0;

	if (from->any.sa_family != AF_UNIX || !n)
		return;
	n = n < room ? n : room - 1;
	memcpy(to, from->un.sun_path, n);
	if (!to[0])			/* abstract: NULs within it are shown as such, and '@' instead of the first */
		for (size_t i = 0; i < n; i++)
			to[i] = to[i] ? to[i] : '@';
	to[n] = 0;
}

static int is_loopback(const struct spi_msg_address *a)
{
	static const uint8_t six[16] = { [15] = 1 };

	return a->family == AF_INET ? a->bytes[0] == 127 : !memcmp(a->bytes, six, sizeof(six));
}

static uint64_t address_hash(const struct spi_msg_address *a)
{
	uint64_t words[2];

	memcpy(words, a->bytes, sizeof(words));
	return spi_hash_number(words[0] ^ spi_hash_number(words[1] ^ ((uint64_t) a->family << 16 | a->port)));
}

/* ---- kinds ---- */

static uint32_t kind_of(int fd, uint32_t *is_packets)
{
	const int domain = option(fd, SOL_SOCKET, SO_DOMAIN), type = option(fd, SOL_SOCKET, SO_TYPE);
	const int is_internet = domain == AF_INET || domain == AF_INET6;
	const int protocol = is_internet ? option(fd, SOL_SOCKET, SO_PROTOCOL) : 0;

	*is_packets = domain == AF_UNIX && type == SOCK_SEQPACKET;
	if (domain == AF_UNIX)
		return type == SOCK_DGRAM ? SPI_CHANNEL_UNIX_DATAGRAM : SPI_CHANNEL_UNIX_STREAM;
	if (is_internet && type == SOCK_STREAM && protocol == IPPROTO_TCP)
		return SPI_CHANNEL_TCP;
	return is_internet && type == SOCK_DGRAM && protocol == IPPROTO_UDP ? SPI_CHANNEL_UDP : SPI_CHANNEL_NONE;
}

static void internet_fill(struct spi_ipc_channel *c, int fd, const union spi_ipc_name *to, socklen_t to_size)
{
	struct spi_msg_address *own = c->is_receiver ? &c->to : &c->from, *other = c->is_receiver ? &c->from : &c->to;
	union spi_ipc_name address;
	uint64_t network = 0;

	internet_take(own, &address, name_of(fd, SYS_getsockname, &address));
	if (to_size)
		internet_take(other, to, to_size);
	else
		internet_take(other, &address, name_of(fd, SYS_getpeername, &address));
	if (c->kind == SPI_CHANNEL_UDP) {
		c->id = c->to.port ? spi_ipc_id("udp", c->to.port, 0) : 0;
		return;
	}
	if (is_loopback(&c->from) && is_loopback(&c->to))	/* each network namespace has its own */
		network = network_of(fd);
	c->id = other->port ? spi_ipc_id("tcp", address_hash(&c->from) ^ network, address_hash(&c->to)) : 0;
}

/* A socket that was not bound has a port of its own since it has sent. */
void spi_ipc_channel_name(struct spi_ipc_channel *c, int fd)
{
	union spi_ipc_name address;

	if (c->kind == SPI_CHANNEL_UDP && !c->is_receiver && !c->from.port)
		internet_take(&c->from, &address, name_of(fd, SYS_getsockname, &address));
}

static void unix_fill(struct spi_ipc_channel *c, int fd, const union spi_ipc_name *to, socklen_t to_size)
{
	union spi_ipc_name address;
	socklen_t size = to_size;

	if (c->kind == SPI_CHANNEL_UNIX_STREAM) {
		path_take(c->path, sizeof(c->path), &address, name_of(fd, SYS_getsockname, &address));
		c->is_path_own = c->path[0] != 0;
		if (!c->path[0])
			path_take(c->path, sizeof(c->path), &address, name_of(fd, SYS_getpeername, &address));
		c->peer = spi_ipc_unix_peer(c->inode);
		if (!c->is_receiver)
			c->id = spi_ipc_id("unix", c->inode, 0);
		else if (c->peer)
			c->id = spi_ipc_id("unix", c->peer, 0);
		return;
	}
	/* by the receiver's name where it has one, else by the socket that is connected to it */
	if (!to_size) {
		size = name_of(fd, c->is_receiver ? SYS_getsockname : SYS_getpeername, &address);
		to = &address;
	}
	c->is_path_own = c->is_receiver;
	if (size)
		path_take(c->path, sizeof(c->path), to, size);
	if (c->path[0]) {
		c->id = spi_ipc_id(
			"unixdgram", spi_hash_text(SPI_HASH_SEED, c->path), c->path[0] == '@' ? network_of(fd) : 0);
		return;
	}
	c->peer = spi_ipc_unix_peer(c->inode);
	if (!c->is_receiver || c->peer)
		c->id = spi_ipc_id("unixdgram", c->is_receiver ? c->peer : c->inode, 0);
}

void spi_ipc_channel_identify(
	struct spi_ipc_channel *c, int fd, const struct stat *st, const union spi_ipc_name *to, socklen_t to_size)
{
	c->inode = st->st_ino;
	if (S_ISFIFO(st->st_mode)) {
		c->kind = SPI_CHANNEL_PIPE;
		c->peer = c->inode;
		c->id = spi_ipc_id("pipe", c->inode, st->st_dev);
		return;
	}
	c->kind = kind_of(fd, &c->is_packets);
	if (c->kind == SPI_CHANNEL_TCP || c->kind == SPI_CHANNEL_UDP)
		internet_fill(c, fd, to, to_size);
	else if (c->kind)
		unix_fill(c, fd, to, to_size);
}

void spi_ipc_channel_identify_other(struct spi_ipc_channel *c, const struct spi_ipc_said *said)
{
	c->kind = SPI_CHANNEL_OTHER;
	c->worker = said->kind;
	c->said = said->channel.id;
	c->id = spi_ipc_id(spi_ipc_worker_name(said->kind), c->said, 0);
	c->inode = said->channel.inode;
	c->device = said->channel.device;
	memcpy(c->pids, said->channel.peers, sizeof(c->pids));
	spi_format(c->path, sizeof(c->path), "%s %s", spi_ipc_worker_name(said->kind), said->channel.name);
}

/* A TCP socket that is not connected yet, a UNIX stream whose sender nobody knows. */
void spi_ipc_channel_complete(struct spi_ipc_channel *c, int fd)
{
	if (c->kind == SPI_CHANNEL_TCP) {
		internet_fill(c, fd, NULL, 0);
	} else if (c->is_receiver && c->kind != SPI_CHANNEL_UDP) {
		if (!c->peer)
			c->peer = spi_ipc_unix_peer(c->inode);
		if (c->peer)
			c->id = spi_ipc_id(c->kind == SPI_CHANNEL_UNIX_STREAM ? "unix" : "unixdgram", c->peer, 0);
	}
}

/* The id of the direction that goes out of it; 0: a socket that is none of a UNIX domain, or no channel. */
uint64_t spi_ipc_born_id(int fd, uint32_t *kind)
{
	struct stat st;

	if (spi_raw3(SYS_fstat, (uint64_t) fd, (uint64_t) &st, 0) < 0)
		return 0;
	*kind = S_ISFIFO(st.st_mode) ? SPI_CHANNEL_PIPE : SPI_CHANNEL_UNIX_STREAM;
	if (S_ISFIFO(st.st_mode))
		return spi_ipc_id("pipe", st.st_ino, st.st_dev);
	return option(fd, SOL_SOCKET, SO_DOMAIN) == AF_UNIX ? spi_ipc_id("unix", st.st_ino, 0) : 0;
}
