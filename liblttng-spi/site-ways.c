/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include "liblttng-spi/site.h"

void spi_site_way_choose(struct spi_site *s)
{
}

int spi_site_way_change(const struct spi_site *s, struct spi_text_op *op)
{
	return -1;
}
