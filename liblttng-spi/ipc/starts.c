/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Trees that begin with a message. The controller has said which byte of which channel it begins with
 * (SPI_MSG_CHANNEL). Each receive is compared with that, and the first one that has this byte or a later one begins
 * the tree, before the program is told of it.
 *
 * The control thread writes places; any thread reads them. A place is whole while `trees` is not 0.
 */
#include <errno.h>
#include <string.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/rules/rules.h"
#include "liblttng-spi/tree/tree.h"
#include "liblttng-spi/ipc/internal.h"

#define STARTS		256u

static struct start {
	uint32_t trees;
	struct spi_msg_channel channel;
} starts[STARTS];
static uint32_t next;			/* the place that is used again first */

/* ---- a receive ---- */

static int is_same_address(const struct spi_msg_address *a, const struct spi_msg_address *b)
{
	return a->port == b->port && !memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

static int is_same_word(const char *a, const char *b)
{
	const size_t n = strcspn(a, " ");

	return n == strcspn(b, " ") && !memcmp(a, b, n);
}

static int is_of(const struct spi_ipc_channel *channel, const struct spi_msg_channel *told)
{
	if (channel->kind != told->kind)
		return 0;
	switch (told->kind) {
	case SPI_CHANNEL_TCP:
		return is_same_address(&channel->from, &told->from) && is_same_address(&channel->to, &told->to);
	case SPI_CHANNEL_UDP:
		return channel->to.port == told->to.port;
	case SPI_CHANNEL_OTHER:
		return channel->said == told->sender && is_same_word(channel->path, told->path);
	default:
		return (told->receiver && channel->inode == told->receiver) || (told->sender && channel->peer == told->sender);
	}
}

static int is_datagram(uint32_t kind)
{
	return kind == SPI_CHANNEL_UDP || kind == SPI_CHANNEL_UNIX_DATAGRAM;
}

/* Trees that begin with it. */
static uint32_t trees_of(const struct spi_ipc_op *op, uint64_t count)
{
	const struct spi_ipc_channel *channel = op->channel;
	uint32_t trees = 0;

	for (uint32_t i = 0; i < STARTS; i++) {
		const uint32_t these = __atomic_load_n(&starts[i].trees, __ATOMIC_ACQUIRE);
		int is_it;

		if (!these || !is_of(channel, &starts[i].channel))
			continue;
		is_it = is_datagram(channel->kind) ?
			op->position == starts[i].channel.position && count == starts[i].channel.length :
			op->position + count > starts[i].channel.position;
		is_it = spi_ipc_worker_may_start(channel, op->fd, op->position, is_it);
		if (is_it && __atomic_load_n(&starts[i].trees, __ATOMIC_ACQUIRE) == these)
			trees |= these;
	}
	return trees;
}

void spi_ipc_received(const struct spi_ipc_op *op, uint64_t count)
{
	const uint32_t trees = trees_of(op, count) & __atomic_load_n(&spi_tree_awaiting, __ATOMIC_ACQUIRE);

	if (!trees)
		return;
	spi_tree_message_came(trees);
	spi_ipc_worker_local(op->channel, op->position, 1);
}

/* ---- the control thread ---- */

/* Places of trees that wait no more are free again. */
static void starts_look(void)
{
	const uint32_t awaiting = spi_tree_awaiting;

	for (uint32_t i = 0; i < STARTS; i++)
		if (starts[i].trees & ~awaiting)
			__atomic_store_n(&starts[i].trees, starts[i].trees & awaiting, __ATOMIC_RELEASE);
}

static struct start *start_get(const struct spi_msg_channel *channel)
{
	for (uint32_t i = 0; i < STARTS; i++)
		if (starts[i].trees && !memcmp(&starts[i].channel, channel, sizeof(*channel)))
			return &starts[i];
	for (uint32_t i = 0; i < STARTS; i++)
		if (!starts[i].trees)
			return &starts[i];
	return &starts[next++ % STARTS];
}

static uint32_t trees_named(const struct spi_msg_channel_told *told)
{
	uint32_t trees = 0;

	for (const struct spi_tree *tree = spi_trees; tree; tree = tree->next)
		for (uint32_t i = 0; i < told->nr_rules && i < SPI_PEER_RULES_MAX; i++)
			if (tree->rule->id == told->rules[i])
				trees |= tree->bit;
	return trees;
}

int spi_ipc_told(const struct spi_msg_channel_told *told)
{
	const uint32_t trees = trees_named(told) & spi_tree_awaiting;
	const int r = told->channel.kind == SPI_CHANNEL_PIPE || told->channel.kind == SPI_CHANNEL_UNIX_STREAM ||
		told->channel.kind == SPI_CHANNEL_OTHER ? spi_ipc_align(&told->channel) : 0;

	starts_look();
	if (trees) {
		struct start *start = start_get(&told->channel);
		const uint32_t before = memcmp(&start->channel, &told->channel, sizeof(told->channel)) ? 0 : start->trees;

		__atomic_store_n(&start->trees, 0, __ATOMIC_SEQ_CST);
		start->channel = told->channel;
		__atomic_store_n(&start->trees, before | trees, __ATOMIC_RELEASE);
	}
	return r == -ENOENT ? 0 : r;		/* a connection that is not accepted yet has no descriptor here */
}
