/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The trees that rules want, in force or not, each with a bit of its own. Control side, under the control lock. */
#include <errno.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/tree/internal.h"

struct spi_tree *spi_trees;

int spi_tree_list_add(struct spi_tree *tree)
{
	static uint32_t next;
	uint32_t used = 0;

	for (const struct spi_tree *other = spi_trees; other; other = other->next)
		used |= other->bit;
	for (uint32_t i = 0; i < SPI_TREES_MAX; i++, next++) {
		uint32_t bit = 1u << next % SPI_TREES_MAX;

		if (used & bit)
			continue;
		tree->index = next++ % SPI_TREES_MAX;
		tree->bit = bit;
		tree->next = spi_trees;
		spi_trees = tree;
		return 0;
	}
	return -ENOSPC;
}

void spi_tree_list_remove(const struct spi_tree *tree)
{
	struct spi_tree **at = &spi_trees;

	while (*at && *at != tree)
		at = &(*at)->next;
	if (*at)
		*at = tree->next;
}

uint32_t spi_tree_budget_least(const struct spi_tree *and)
{
	uint32_t least = 0;

	for (const struct spi_tree *tree = spi_trees; tree; tree = tree->next)
		if ((tree->enabled || tree == and) && tree->asked->budget && (!least || tree->asked->budget < least))
			least = tree->asked->budget;
	return least;
}
