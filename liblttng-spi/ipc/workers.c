/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Channels of kinds that payloads' own workers know (struct spi_ipc_worker). A worker is set while its agent is
 * configured, and is asked while a tree that follows channels names its client.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include "liblttng-spi/payload/payload.h"
#include "liblttng-spi/process/process.h"
#include "liblttng-spi/ipc/internal.h"

#define WORKERS		4u
#define NAME_MOST	15u

struct spi_ipc_kind {
	struct spi_client *client;	/* NULL: free. Written first */
	struct spi_ipc_worker worker;
	char name[NAME_MOST + 1];
	uint32_t is_set;
};

static struct spi_ipc_kind kinds[WORKERS];
uint32_t spi_ipc_workers;

/* ---- which there are ---- */

static int is_word(const char *name)
{
	size_t n = name ? strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") : 0;

	return n && n <= NAME_MOST && !name[n];
}

static struct spi_ipc_kind *kind_get(struct spi_client *client)
{
	for (uint32_t i = 0; i < WORKERS; i++)
		if (kinds[i].client == client)
			return &kinds[i];
	for (uint32_t i = 0; i < WORKERS; i++) {
		struct spi_client *none = NULL;

		if (__atomic_compare_exchange_n(&kinds[i].client, &none, client, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return &kinds[i];
	}
	return NULL;
}

int spi_ipc_worker_set(struct spi_client *client, const struct spi_ipc_worker *worker)
{
	struct spi_ipc_kind *kind;

	if (worker && (worker->size < offsetof(struct spi_ipc_worker, inject) || !worker->channel || !is_word(worker->name)))
		return -EINVAL;
	kind = kind_get(client);
	if (!kind)
		return worker ? -ENOSPC : 0;
	memset(&kind->worker, 0, sizeof(kind->worker));
	if (worker) {
		memcpy(&kind->worker, worker, worker->size < sizeof(*worker) ? worker->size : sizeof(*worker));
		spi_format(kind->name, sizeof(kind->name), "%s", worker->name);
	}
	kind->is_set = worker != NULL;
	return 0;
}

static void closes(int fd);

void spi_ipc_workers_take(uint32_t clients)
{
	uint32_t now = 0, are_told = 0;

	for (uint32_t i = 0; i < WORKERS; i++)
		if (kinds[i].is_set && clients & 1u << kinds[i].client->number) {
			now |= 1u << i;
			are_told |= kinds[i].worker.close != NULL;
		}
	__atomic_store_n(&spi_ipc_workers, now, __ATOMIC_RELEASE);
	__atomic_store_n(&spi_descriptor_closes, are_told ? closes : NULL, __ATOMIC_RELEASE);
}

const char *spi_ipc_worker_name(const struct spi_ipc_kind *kind)
{
	return kind->name;
}

/* ---- what they are asked ---- */

struct question {
	int fd;
	enum spi_ipc_end end;
	struct spi_ipc_said *said;
};

static uint64_t ask(const struct question *q, const struct spi_ipc_kind *kind)
{
	return kind->worker.channel(q->fd, q->end == SPI_IPC_SEND, q->said->offset, &q->said->channel, kind->worker.data) > 0;
}

int spi_ipc_worker_ask(int fd, enum spi_ipc_end end, const struct stat *st, struct spi_ipc_said *said)
{
	struct question q = { fd, end, said };

	for (uint32_t which = __atomic_load_n(&spi_ipc_workers, __ATOMIC_ACQUIRE); which; which &= which - 1) {
		const struct spi_ipc_kind *kind = &kinds[__builtin_ctz(which)];

		memset(&said->channel, 0, sizeof(said->channel));
		said->channel.size = sizeof(said->channel);
		said->channel.device = st->st_dev;
		said->channel.inode = st->st_ino;
		if (!spi_client_run_often(kind->client, (void *) ask, &q, (void *) kind) || !said->channel.id)
			continue;
		said->channel.name[sizeof(said->channel.name) - 1] = 0;
		said->kind = kind;
		return 1;
	}
	return 0;
}

/* A further question about a channel of the worker's. */
struct order {
	enum { INJECT, REMOTE, LOCAL, MAY_START, CLOSE } what;
	int fd, is_on;
	struct spi_channel channel;
};

static uint64_t carry_out(const struct order *o, const struct spi_ipc_kind *kind)
{
	const struct spi_ipc_worker *w = &kind->worker;

	switch (o->what) {
	case INJECT:
		return w->inject(&o->channel, w->data) > 0;
	case REMOTE:
		return (uint64_t) w->set_remote_start(&o->channel, o->is_on, w->data);
	case LOCAL:
		return (uint64_t) w->set_local_start(&o->channel, o->is_on, w->data);
	case MAY_START:
		return w->can_start(o->fd, &o->channel, w->data) > 0;
	default:
		w->close(o->fd, w->data);
		return 0;
	}
}

static int order(const struct spi_ipc_channel *c, uint64_t position, struct order o)
{
	o.channel = (struct spi_channel) {
		.size = sizeof(o.channel), .id = c->said, .position = position, .device = c->device, .inode = c->inode,
	};
	memcpy(o.channel.peers, c->pids, sizeof(o.channel.peers));
	spi_format(o.channel.name, sizeof(o.channel.name), "%s", c->path + strlen(c->worker->name) + 1);
	return (int) spi_client_run_often(c->worker->client, (void *) carry_out, &o, (void *) c->worker);
}

int spi_ipc_worker_injects(const struct spi_ipc_channel *c, uint64_t position)
{
	return c->worker && c->worker->worker.inject && order(c, position, (struct order) { .what = INJECT });
}

void spi_ipc_worker_remote(const struct spi_ipc_channel *c, uint64_t position, int is_on)
{
	if (c->worker && c->worker->worker.set_remote_start)
		order(c, position, (struct order) { .what = REMOTE, .is_on = is_on });
}

void spi_ipc_worker_local(const struct spi_ipc_channel *c, uint64_t position, int is_on)
{
	if (c->worker && c->worker->worker.set_local_start)
		order(c, position, (struct order) { .what = LOCAL, .is_on = is_on });
}

int spi_ipc_worker_may_start(const struct spi_ipc_channel *c, int fd, uint64_t position, int usual)
{
	if (!c->worker || !c->worker->worker.can_start)
		return usual;
	return order(c, position, (struct order) { .what = MAY_START, .fd = fd });
}

/* A close() of the program's. */
static void closes(int fd)
{
	struct order o = { .what = CLOSE, .fd = fd };

	if (__atomic_load_n(&spi_mode, __ATOMIC_RELAXED) > SPI_MODE_CHILD_LEFT || spi_thread_is_foreign(&spi_thread) ||
			spi_thread.busy)
		return;
	for (uint32_t which = __atomic_load_n(&spi_ipc_workers, __ATOMIC_ACQUIRE); which; which &= which - 1) {
		const struct spi_ipc_kind *kind = &kinds[__builtin_ctz(which)];

		if (kind->worker.close)
			spi_client_run_often(kind->client, (void *) carry_out, &o, (void *) kind);
	}
}
