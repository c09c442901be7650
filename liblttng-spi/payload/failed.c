/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The list of clients, and how one fails: it is told later, by a thread that may. client.c */
#include "liblttng-spi/payload/internal.h"

struct spi_client *spi_clients[SPI_CLIENTS_MAX];

void spi_client_fails(struct spi_client *client, const char *why)
{
	if (__atomic_exchange_n(&client->state, SPI_CLIENT_FAILED, __ATOMIC_ACQ_REL) == SPI_CLIENT_FAILED)
		return;
	spi_debug(SPI_DEBUG_PAYLOAD, "%s is switched off: %s", client->name, why);
	__atomic_store_n(&client->failure, why, __ATOMIC_RELEASE);
	spi_control_ring();
}
