/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Events of clients' own: they are registered with the event module once, before the first of their client's calls. */
#include <errno.h>
#include "liblttng-spi/payload/internal.h"

static int ready(const struct spi_client *client, char *why, size_t size)
{
	const char *reason = NULL;

	for (struct spi_record *r = client->records; r; r = r->next)
		if (!r->gate && spi_payload->record_prepare(r, &reason) < 0) {
			spi_format(why, size, "payload %s: the event %s:%s cannot be made: %s", client->name,
				r->provider,
				r->name, reason);
			return -ELIBACC;
		}
	return 0;
}

int spi_clients_records_ready(uint32_t which, char *why, size_t size)
{
	int r = 0;

	for (; which && r == 0; which &= which - 1)
		r = ready(spi_clients[__builtin_ctz(which)], why, size);
	return r;
}
