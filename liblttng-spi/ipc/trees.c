/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Which trees follow messages, and along which kinds of channels. The hooks stand while there is such a tree, or one that
 * waits for a message.
 */
#include <string.h>
#include "rules/rule.h"
#include "liblttng-spi/hooks/hooks.h"
#include "liblttng-spi/tree/tree.h"
#include "liblttng-spi/ipc/internal.h"

/* By kind; the trees' bits as in spi_thread.tree. */
static uint32_t trees[SPI_CHANNEL_KINDS];
static uint32_t everywhere;	/* trees that began with a message: messages of all threads are theirs */

static const uint32_t asked_of[SPI_CHANNEL_KINDS] = {
	[SPI_CHANNEL_PIPE] = SPI_CHANNELS_PIPE, [SPI_CHANNEL_UNIX_STREAM] = SPI_CHANNELS_UNIX,
	[SPI_CHANNEL_UNIX_DATAGRAM] = SPI_CHANNELS_UNIX, [SPI_CHANNEL_TCP] = SPI_CHANNELS_TCP,
	[SPI_CHANNEL_UDP] = SPI_CHANNELS_UDP,
};

void spi_ipc_trees_changed(void)
{
	uint32_t on_message = 0, any = 0;

	for (uint32_t kind = 0; kind < SPI_CHANNEL_KINDS; kind++) {
		uint32_t mask = 0;

		for (const struct spi_tree *tree = spi_trees; tree; tree = tree->next) {
			any |= tree->enabled || tree->waits ? tree->asked->ipc : 0;
			if (!tree->enabled || !(tree->asked->ipc & asked_of[kind]))
				continue;
			mask |= tree->bit;
			if (tree->asked->on_message)
				on_message |= tree->bit;
		}
		__atomic_store_n(&trees[kind], mask, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&everywhere, on_message, __ATOMIC_RELEASE);
	(void) any;
}

/* A whole program's messages are those before main() and after it, too: stdio's last ones come with exit(). */
uint32_t spi_ipc_trees_of(uint32_t kind)
{
	const uint32_t which = __atomic_load_n(&trees[kind], __ATOMIC_ACQUIRE);

	if (!which || spi_thread.busy)
		return 0;
	return which & (spi_tree_of_caller() | spi_tree_whole | __atomic_load_n(&everywhere, __ATOMIC_RELAXED));
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
}
