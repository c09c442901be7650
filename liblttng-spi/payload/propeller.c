/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Which call sites of a function a client's trees take: kinds that the client leaves out, a set of addresses that its
 * payload has given, and the user's own decision. All under the patch lock, as sites come into place.
 */
#include <sys/syscall.h>
#include "liblttng-spi/payload/payload.h"

/* ---- code of a user's own under the patch lock ---- */

static int32_t holder;		/* the thread that runs it; 0: none */

int spi_clients_hold_patch(void)
{
	const int32_t thread = __atomic_load_n(&holder, __ATOMIC_RELAXED);

	return thread && thread == (int32_t) spi_raw3(SYS_gettid, 0, 0, 0);
}

uint64_t spi_client_run_locked(struct spi_client *client, void *function, void *first, void *second)
{
	const int32_t outer = holder;
	uint64_t result;

	__atomic_store_n(&holder, (int32_t) spi_raw3(SYS_gettid, 0, 0, 0), __ATOMIC_RELAXED);
	result = spi_client_run(client, function, first, second);
	__atomic_store_n(&holder, outer, __ATOMIC_RELAXED);
	return result;
}

/* ---- decisions ---- */

static struct {
	uint32_t trees;			/* that the set is for; 0: there is no set */
	const uint64_t *addresses;
	size_t count;
} chosen;

void spi_clients_choose(uint32_t trees, const uint64_t *addresses, size_t count)
{
	chosen.trees = trees;
	chosen.addresses = addresses;
	chosen.count = count;
}

static uint32_t without_unchosen(uint32_t trees, const struct spi_call_site *site)
{
	for (size_t i = 0; i < chosen.count; i++)
		if (chosen.addresses[i] == site->address)
			return trees;
	return trees & ~chosen.trees;
}

static uint64_t decide(struct spi_client *client, const struct spi_call_site *site)
{
	return client->decide(client->owner, site, client->decide_data) != 0;
}

/* A client that fails while it decides takes the site: it gets no call any more. */
static int is_taken(struct spi_client *client, const struct spi_call_site *site)
{
	if (client->left_out >> site->kind & 1)
		return 0;
	if (!client->decide || client->state == SPI_CLIENT_FAILED)
		return 1;
	return spi_client_run_locked(client, (void *) decide, client, (void *) site) ||
		client->state == SPI_CLIENT_FAILED;
}

uint32_t spi_clients_decide(uint32_t trees, const struct spi_call_site *site)
{
	if (trees & chosen.trees)
		trees = without_unchosen(trees, site);
	for (unsigned int i = 0; i < SPI_CLIENTS_MAX && spi_clients[i]; i++) {
		struct spi_client *client = spi_clients[i];

		if ((trees & client->trees) && (client->left_out || client->decide) && !is_taken(client, site))
			trees &= ~client->trees;
	}
	return trees;
}

int spi_clients_have_decision(uint32_t which)
{
	for (; which; which &= which - 1) {
		const struct spi_client *client = spi_clients[__builtin_ctz(which)];

		if (client->decide || client->left_out)
			return 1;
	}
	return 0;
}
