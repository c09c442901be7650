/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include "liblttng-spi/base/base.h"

uint64_t spi_tree_epoch = SPI_TREE_EPOCH_FIRST;
uint32_t spi_tree_others, spi_tree_everybody, spi_tree_whole;
uint32_t spi_tree_existing, spi_tree_limited, spi_tree_flat, spi_tree_compact, spi_tree_threads;
uint32_t spi_tree_depths[SPI_TREES_MAX];
uint32_t spi_tree_ended[SPI_TREES_MAX];
uint32_t spi_tree_tagged;
uint32_t spi_tree_awaiting, spi_tree_asked, spi_tree_decided, spi_client_trees;
