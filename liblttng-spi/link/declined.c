/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What could not be instrumented, on its way to the controller: several reasons a packet. Control lock. */
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"

static char declined_text[8192];
static SPI_FORK_DATA size_t declined_size;

void spi_link_declined_flush(struct spi_link *link)
{
	if (declined_size && link && link->fd >= 0)
		spi_link_send(link, SPI_MSG_DECLINED, 0, declined_text, declined_size + 1, NULL, 0, -1);
	declined_size = 0;
}

void spi_link_declined_forget(void)
{
	declined_size = 0;
}

void spi_link_declined(struct spi_link *link, const char *object, const char *function, const char *reason)
{
	int n;

	__atomic_fetch_add(&spi_status->declined, 1, __ATOMIC_RELAXED);
	if (!link) {
		spi_note("not instrumented: %s:%s: %s", object, function, reason);
		return;
	}
	for (int tries = 0; tries < 2; tries++) {
		n = spi_format(declined_text + declined_size, sizeof(declined_text) - declined_size, "%s\t%s\t%s\n", object,
			function, reason);
		if (declined_size + (size_t) n < sizeof(declined_text)) {
			declined_size += (size_t) n;
			return;
		}
		declined_text[declined_size] = 0;
		spi_link_declined_flush(link);
	}
}
