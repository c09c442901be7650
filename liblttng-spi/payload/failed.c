/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The list of clients, and those that have failed: they are told later, by a thread that may. */
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

static uint32_t end_is_due;	/* the process ends, in a thread that may not talk */

void spi_clients_end_later(void)
{
	__atomic_store_n(&end_is_due, 1, __ATOMIC_RELEASE);
}

/* Control side, or at the process's end. */
void spi_clients_tell(void)
{
	if (__atomic_exchange_n(&end_is_due, 0, __ATOMIC_ACQ_REL))
		spi_clients_end((1u << SPI_CLIENTS_MAX) - 1);
	for (unsigned int i = 0; i < SPI_CLIENTS_MAX && spi_clients[i]; i++) {
		const char *why = __atomic_exchange_n(&spi_clients[i]->failure, NULL, __ATOMIC_ACQ_REL);

		if (why) {
			char line[300];

			spi_format(line, sizeof(line), "payload %s: %s: it is switched off, and the program goes on",
				spi_clients[i]->name, why);
			spi_client_say(line);
		}
	}
}
