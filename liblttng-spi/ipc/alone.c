/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Channels of payloads' trees whose other end nobody looks for: there is no controller, or the controller does not know
 * the tree. The user is told of each one, where payloads write.
 */
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/payload/payload.h"
#include "liblttng-spi/tree/tree.h"
#include "liblttng-spi/ipc/internal.h"

#define NAMED_MOST	32u

static uint32_t channels, told;

void spi_ipc_alone(struct spi_ipc_channel *channel)
{
	char name[200], line[400];
	uint32_t n;

	if (!(spi_ipc_trees_of(channel->kind) & spi_client_trees) ||
			__atomic_exchange_n(&channel->is_named, 1, __ATOMIC_ACQ_REL))
		return;
	n = __atomic_fetch_add(&channels, 1, __ATOMIC_RELAXED);
	if (n >= NAMED_MOST)
		return;
	spi_ipc_channel_text(channel, name, sizeof(name));
	spi_format(line, sizeof(line), "messages to %s: nobody looks for the process at the other end, and brings the "
		"payload in: lttng trace --payload FILE --tree --ipc COMMAND does", name);
	spi_client_say(line);
}

void spi_ipc_alone_tell(void)
{
	const uint32_t n = __atomic_load_n(&channels, __ATOMIC_RELAXED);
	char line[100];

	if (n <= NAMED_MOST || __atomic_exchange_n(&told, 1, __ATOMIC_ACQ_REL))
		return;
	spi_format(line, sizeof(line), "messages to the other ends of %u more channels: likewise", n - NAMED_MOST);
	spi_client_say(line);
}
