/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Room for a jump or call of 5 bytes at a call site. */
#include <string.h>
#include "codemap/sites.h"

void room_find(const struct sites *sites, const struct stretch *stretch, size_t index, struct spi_map_site *site)
{
	(void) sites;
	(void) stretch;
	(void) index;
	if (site->kind == SPI_SITE_CALL_INDIRECT || site->kind == SPI_SITE_JUMP_INDIRECT)
		return;
	if (site->size >= (site->kind == SPI_SITE_JCC || site->kind == SPI_SITE_JCC_SLOT ? 6 : 5))
		site->window = site->size;
}

void pads_collect(struct sites *sites, const struct stretch *stretch)
{
	(void) sites;
	(void) stretch;
}

void pads_assign(struct sites *sites)
{
	(void) sites;
}
