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
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "rules/rule.h"
#include "liblttng-spi/ipc/internal.h"

#define BUCKETS		512u
#define WAYS		8u
#define CLAIMED		UINT32_C(0x80000000)	/* in `users`: being written */

static struct spi_ipc_channel table[BUCKETS][WAYS];

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
	union spi_ipc_name address;
	socklen_t size;			/* of that; 0: where the socket is connected to */
	const struct spi_ipc_said *said;	/* NULL: it is no worker's */
};

static void end_fill(struct spi_ipc_channel *c, int fd, enum spi_ipc_end end, const struct found *found)
{
	c->is_receiver = end == SPI_IPC_RECV;
	if (found->said)
		spi_ipc_channel_identify_other(c, found->said);
	else
		spi_ipc_channel_identify(c, fd, &found->st, &found->address, found->size);
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

/* The controller may know the sender of a UNIX stream that is not known here. */
static void id_complete(struct spi_ipc_channel *c, int fd)
{
	spi_ipc_channel_complete(c, fd);
	if (c->id || !c->is_receiver || c->kind == SPI_CHANNEL_TCP || c->kind == SPI_CHANNEL_UDP ||
			__atomic_exchange_n(&c->has_asked_peer, 1, __ATOMIC_RELAXED))
		return;
	spi_ipc_know_peer(c, fd);
	spi_ipc_channel_complete(c, fd);
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
