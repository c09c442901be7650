/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls in trees that are for payloads of a user's own. A point serves the trees of the event module and those of
 * clients: each part is given the call where trees of its own have it.
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/tree/sites/internal.h"

uint64_t spi_tree_record_parts(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride, uint32_t parts)
{
	const struct spi_thread *t = &spi_thread;
	uint32_t trees = t->tree & point->tree_live & ~t->tree_over, clients = trees & spi_client_trees;
	uint64_t code = 0;

	if (point->record && (trees & ~clients) && (parts & SPI_PART_RECORDER))
		code = point->record(point, frame, vec, stride);
	if (!clients || !(parts & SPI_PART_CLIENTS))
		return code;
	return spi_clients_call(point, spi_clients_of_trees(clients), clients, code, frame, vec, stride);
}

int spi_tree_bind(struct spi_point *point, uint32_t trees)
{
	if ((trees & spi_client_trees) && spi_clients_have(point) < 0)
		return -1;
	return !(trees & ~spi_client_trees) || point->record ? 0 : spi_payload->tree_bind(point);
}
