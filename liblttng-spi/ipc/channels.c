/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * From a descriptor to the channel that it is an end of. fstat() tells the inode at each call, as a number may mean
 * something else by then; what else there is to know of an inode is asked once and kept here.
 *
 * The table is a cache: when a bucket is full, the end that was used least lately goes, and is made anew when it is
 * met again. Positions are elsewhere (positions.c), and nothing but a second question to the kernel, and a second
 * event, comes of it.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include "rules/rule.h"
#include "liblttng-spi/ipc/internal.h"

#define BUCKETS		512u
#define WAYS		8u
#define CLAIMED		UINT32_C(0x80000000)	/* in `users`: being written */

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE	71
#endif

static struct spi_ipc_channel table[BUCKETS][WAYS];

uint64_t spi_ipc_id(const char *kind, uint64_t a, uint64_t b)
{
	uint64_t id = spi_hash_number(spi_hash_number(spi_hash_text(SPI_HASH_SEED, kind) ^ a) + b);

	return id ? id : 1;
}

/* ---- what the kernel says of a socket ---- */

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
	uint8_t bytes[128];
};

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
static socklen_t name_of(int fd, long which, union address *address)
{
	socklen_t size = sizeof(*address);

	memset(address, 0, sizeof(*address));
	if (spi_raw3(which, (uint64_t) fd, (uint64_t) address, (uint64_t) &size) < 0)
		return 0;
	return size < sizeof(*address) ? size : sizeof(*address);
}

/* IPv4 in IPv6's clothes is IPv4. */
static void internet_take(struct spi_msg_address *to, const union address *from, socklen_t size)
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

static void path_take(char *to, size_t room, const union address *from, socklen_t size)
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

static void internet_fill(struct spi_ipc_channel *c, int fd, const union address *to, socklen_t to_size)
{
	struct spi_msg_address *own = c->is_receiver ? &c->to : &c->from, *other = c->is_receiver ? &c->from : &c->to;
	union address address;
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
	union address address;

	if (c->kind == SPI_CHANNEL_UDP && !c->is_receiver && !c->from.port)
		internet_take(&c->from, &address, name_of(fd, SYS_getsockname, &address));
}

static void unix_fill(struct spi_ipc_channel *c, int fd, const union address *to, socklen_t to_size)
{
	union address address;
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

static void channel_fill(
	struct spi_ipc_channel *c, int fd, const struct stat *st, const union address *to, socklen_t to_size)
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

static void other_fill(struct spi_ipc_channel *c, const struct spi_ipc_said *said)
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

/* ---- the table ---- */

static int channel_use(struct spi_ipc_channel *c, uint64_t key)
{
	if (__atomic_load_n(&c->key, __ATOMIC_RELAXED) != key)
		return 0;
	__atomic_fetch_add(&c->users, 1, __ATOMIC_SEQ_CST);
	if (spi_likely(__atomic_load_n(&c->key, __ATOMIC_SEQ_CST) == key))
		return 1;
	__atomic_fetch_sub(&c->users, 1, __ATOMIC_SEQ_CST);
	return 0;
}

void spi_ipc_channel_leave(struct spi_ipc_channel *c)
{
	__atomic_fetch_sub(&c->users, 1, __ATOMIC_SEQ_CST);
}

/* One that is free, or was used least lately and is not now. It is the caller's to write. */
static struct spi_ipc_channel *channel_claim(struct spi_ipc_channel *bucket)
{
	for (uint32_t tries = 0; tries < WAYS; tries++) {
		struct spi_ipc_channel *best = NULL;
		uint32_t none = 0;

		for (struct spi_ipc_channel *c = bucket; c < bucket + WAYS; c++)
			if (!__atomic_load_n(&c->users, __ATOMIC_RELAXED) &&
				(!best || !c->key || (best->key && c->used < best->used)))
				best = c;
		if (!best)
			return NULL;
		if (__atomic_compare_exchange_n(&best->users, &none, CLAIMED, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			return best;
	}
	return NULL;
}

/* What a descriptor is, and where its message goes. */
struct found {
	uint64_t key;
	struct stat st;
	union address address;
	socklen_t size;			/* of that; 0: where the socket is connected to */
	const struct spi_ipc_said *said;	/* NULL: it is no worker's */
};

static void end_fill(struct spi_ipc_channel *c, int fd, enum spi_ipc_end end, const struct found *found)
{
	c->is_receiver = end == SPI_IPC_RECV;
	if (found->said)
		other_fill(c, found->said);
	else
		channel_fill(c, fd, &found->st, &found->address, found->size);
}

static struct spi_ipc_channel *channel_make(int fd, enum spi_ipc_end end, const struct found *found)
{
	const uint64_t key = found->key;
	struct spi_ipc_channel *c = channel_claim(table[key % BUCKETS]);

	if (!c) {
		spi_ipc_not_followed(SPI_IPC_NOT_FULL);
		return NULL;
	}
	__atomic_store_n(&c->key, 0, __ATOMIC_SEQ_CST);
	c->id = c->inode = c->peer = 0;
	c->place = NULL;
	memset(&c->is_asked, 0, offsetof(struct spi_ipc_channel, users) - offsetof(struct spi_ipc_channel, is_asked));
	memset(&c->used, 0, sizeof(*c) - offsetof(struct spi_ipc_channel, used));
	end_fill(c, fd, end, found);
	__atomic_store_n(&c->key, key, __ATOMIC_SEQ_CST);
	__atomic_fetch_sub(&c->users, CLAIMED - 1, __ATOMIC_SEQ_CST);
	return c;
}

/* A TCP socket that is not connected yet, a UNIX stream whose sender nobody knows. */
static void id_complete(struct spi_ipc_channel *c, int fd)
{
	if (c->kind == SPI_CHANNEL_TCP) {
		internet_fill(c, fd, NULL, 0);
	} else if (c->is_receiver && c->kind != SPI_CHANNEL_UDP) {
		c->peer = spi_ipc_unix_peer(c->inode);
		if (!c->peer && !__atomic_exchange_n(&c->has_asked_peer, 1, __ATOMIC_RELAXED))
			spi_ipc_know_peer(c, fd);
		if (c->peer)
			c->id = spi_ipc_id(c->kind == SPI_CHANNEL_UNIX_STREAM ? "unix" : "unixdgram", c->peer, 0);
	}
}

static uint64_t key_of(const struct stat *st, enum spi_ipc_end end)
{
	return spi_hash_number(st->st_ino ^ spi_hash_number(st->st_dev * 2 + end));
}

struct spi_ipc_channel *spi_ipc_channel_by_key(uint64_t key)
{
	struct spi_ipc_channel *bucket = table[key % BUCKETS];

	for (struct spi_ipc_channel *c = bucket; c < bucket + WAYS; c++)
		if (channel_use(c, key))
			return c;
	return NULL;
}

/* 0; -ENOENT: it is no channel's end; -EFAULT: the call will fail. */
static int look(struct found *found, int fd, enum spi_ipc_end end, const struct spi_ipc_address *to,
	struct spi_ipc_said *said)
{
	found->size = 0;
	found->said = NULL;
	if (spi_raw3(SYS_fstat, (uint64_t) fd, (uint64_t) &found->st, 0) < 0)
		return -EBADF;
	if (!S_ISFIFO(found->st.st_mode) && !S_ISSOCK(found->st.st_mode)) {
		if (spi_likely(!said || !__atomic_load_n(&spi_ipc_workers, __ATOMIC_RELAXED)) ||
			!spi_ipc_worker_ask(fd, end, &found->st, said))
			return -ENOENT;
		found->said = said;
		found->key = spi_hash_number(spi_ipc_id(spi_ipc_worker_name(said->kind), said->channel.id, end));
		found->key += !found->key;
		return 0;
	}
	if (said && said->offset >= 0)
		return -EFAULT;
	found->key = key_of(&found->st, end);
	if (to && to->name && to->size && to->size <= sizeof(found->address) && S_ISSOCK(found->st.st_mode)) {
		memset(&found->address, 0, sizeof(found->address));
		if (spi_memory_copy(&found->address, (uint64_t) to->name, to->size) < 0)
			return -EFAULT;
		found->size = to->size;
		for (uint32_t i = 0; i < sizeof(found->address) / 8; i++) {
			uint64_t word;

			memcpy(&word, found->address.bytes + i * 8, 8);
			found->key = word ? spi_hash_number(found->key ^ word) + i : found->key;
		}
	}
	found->key += !found->key;
	return 0;
}

struct spi_ipc_channel *spi_ipc_channel_of_call(int fd, enum spi_ipc_end end, const struct spi_ipc_address *to,
	struct spi_ipc_said *said)
{
	struct spi_ipc_channel *c;
	struct found found;

	if (look(&found, fd, end, to, said) < 0)
		return NULL;
	c = spi_ipc_channel_by_key(found.key);
	if (spi_unlikely(!c))
		c = channel_make(fd, end, &found);
	if (!c)
		return NULL;
	if (spi_likely(spi_ipc_follows(c->kind))) {
		if (spi_unlikely(!c->id))
			id_complete(c, fd);
		c->used = (uint32_t) (spi_ticks() >> 24);
		return c;
	}
	spi_ipc_channel_leave(c);
	return NULL;
}

struct spi_ipc_channel *spi_ipc_channel_find(int fd, enum spi_ipc_end end, const struct spi_ipc_address *to)
{
	return spi_ipc_channel_of_call(fd, end, to, NULL);
}

int spi_ipc_channel_copy(struct spi_ipc_channel *copy, int fd, enum spi_ipc_end end, struct spi_ipc_said *said)
{
	struct found found;
	struct spi_ipc_channel *c;
	const int r = look(&found, fd, end, NULL, said);

	if (r < 0)
		return r;
	memset(copy, 0, sizeof(*copy));
	c = spi_ipc_channel_by_key(found.key);
	if (c) {
		*copy = *c;
		spi_ipc_channel_leave(c);
	} else {
		end_fill(copy, fd, end, &found);
	}
	spi_ipc_channel_name(copy, fd);
	return copy->kind ? 0 : -ENOENT;
}

void spi_ipc_others_end(void)
{
	for (uint32_t i = 0; i < BUCKETS * WAYS; i++) {
		struct spi_ipc_channel *c = &table[0][0] + i;
		const uint64_t key = __atomic_load_n(&c->key, __ATOMIC_ACQUIRE);

		if (!key || !c->worker || !channel_use(c, key))
			continue;
		if (c->is_asked)
			spi_ipc_worker_remote(c, SPI_CHANNEL_COUNTED, 0);
		if (c->is_receiver)
			spi_ipc_worker_local(c, SPI_CHANNEL_COUNTED, 0);
		spi_ipc_channel_leave(c);
	}
}

/* Its next datagram goes elsewhere. What was made for names that the program gives stays true. */
void spi_ipc_channel_forget(int fd)
{
	struct spi_ipc_channel *bucket;
	struct stat st;
	uint64_t key;

	if (spi_raw3(SYS_fstat, (uint64_t) fd, (uint64_t) &st, 0) < 0 || !S_ISSOCK(st.st_mode))
		return;
	for (int end = 0; end < 2; end++) {
		key = key_of(&st, (enum spi_ipc_end) end);
		key += !key;
		bucket = table[key % BUCKETS];
		for (struct spi_ipc_channel *c = bucket; c < bucket + WAYS; c++)
			__atomic_compare_exchange_n(
				&c->key, &(uint64_t){key}, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	}
}

/* The id of the direction that goes out of it; 0: who makes a channel knows nothing of where it is. */
uint64_t spi_ipc_born_id(int fd)
{
	struct stat st;

	if (spi_raw3(SYS_fstat, (uint64_t) fd, (uint64_t) &st, 0) < 0)
		return 0;
	if (S_ISFIFO(st.st_mode))
		return spi_ipc_follows(SPI_CHANNEL_PIPE) ? spi_ipc_id("pipe", st.st_ino, st.st_dev) : 0;
	if (!spi_ipc_follows(SPI_CHANNEL_UNIX_STREAM) || option(fd, SOL_SOCKET, SO_DOMAIN) != AF_UNIX)
		return 0;
	return spi_ipc_id("unix", st.st_ino, 0);
}

void spi_ipc_channel_fill(const struct spi_ipc_channel *channel, struct spi_msg_channel *message)
{
	memset(message, 0, sizeof(*message));
	message->kind = channel->kind;
	message->sender = channel->is_receiver ? channel->peer : channel->inode;
	message->receiver = channel->is_receiver ? channel->inode : channel->peer;
	message->from = channel->from;
	message->to = channel->to;
	memcpy(message->path, channel->path, sizeof(message->path));
	if (channel->kind != SPI_CHANNEL_OTHER)
		return;
	message->sender = channel->said;
	message->receiver = channel->inode;
	message->device = channel->device;
	memcpy(message->pids, channel->pids, sizeof(message->pids));
}

/* ---- for the public interface ---- */

int spi_ipc_describe(int fd, int is_write, struct spi_channel *channel)
{
	const enum spi_ipc_end end = is_write ? SPI_IPC_SEND : SPI_IPC_RECV;
	struct spi_ipc_said said = { .offset = -1 };
	struct spi_ipc_channel c;
	int r = spi_ipc_channel_copy(&c, fd, end, &said);

	if (r < 0)
		return r == -EFAULT ? -ENOENT : r;
	channel->id = c.id;
	channel->position = SPI_CHANNEL_COUNTED;
	if (c.worker) {
		channel->position = said.channel.position;
		channel->device = c.device;
		channel->inode = c.inode;
	}
	if (c.place && c.is_aligned && c.place->id == c.id && channel->position == SPI_CHANNEL_COUNTED)
		channel->position = __atomic_load_n(&c.place->end[end].position, __ATOMIC_RELAXED);
	memcpy(channel->peers, c.pids, sizeof(channel->peers));
	spi_ipc_channel_text(&c, channel->name, sizeof(channel->name));
	return 0;
}
