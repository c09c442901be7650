/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include "liblttng-spi/tree-rule.h"

uint32_t spi_tree_stacks_look(uint32_t tree)
{
	return 0;
}

void spi_tree_follow_start(struct spi_tree *tree)
{
	spi_tree_handlers_look();
}

void spi_tree_follow_stop(void)
{
}

void spi_tree_hot(struct spi_link *link)
{
}

int spi_tree_is_awaited(uint64_t address)
{
	return 0;
}
