/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls in trees that are for payloads of a user's own. A point serves the trees of the event module and those of
 * clients: each part is given the call where trees of its own have it.
 */
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/tree/sites/internal.h"

static __attribute__((noinline)) uint64_t record_all(struct spi_point *point, struct spi_frame *frame,
	const uint8_t *vec, uint64_t stride, uint32_t trees, uint32_t parts)
{
	const uint32_t clients = trees & spi_client_trees;
	uint64_t code = 0;

	if (clients && (parts & SPI_PART_CLIENTS))
		spi_clients_before(point, (uint64_t) &frame->ra);
	if (point->record && (trees & ~clients) && (parts & SPI_PART_RECORDER))
		code = point->record(point, frame, vec, stride);
	if (!clients || !(parts & SPI_PART_CLIENTS))
		return code;
	return spi_clients_call(point, spi_clients_of_trees(clients), clients, code, frame, vec, stride);
}

/* Usually the call is in one tree, which is for one client. */
uint64_t spi_tree_record_parts(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride,
	uint32_t parts)
{
	const struct spi_thread *t = &spi_thread;
	const uint32_t trees = t->tree & point->tree_live & ~t->tree_over;
	struct spi_client *one = NULL;

	if (spi_likely(trees && !(trees & (trees - 1)) && (trees & spi_client_trees)) && (parts & SPI_PART_CLIENTS))
		one = __atomic_load_n(&spi_client_of_tree[__builtin_ctz(trees)], __ATOMIC_ACQUIRE);
	if (spi_likely(one != NULL))
		return spi_client_call_fast(point, frame, vec, stride, one, trees);
	return record_all(point, frame, vec, stride, trees, parts);
}

int spi_tree_bind(struct spi_point *point, uint32_t trees)
{
	if ((trees & spi_client_trees) && spi_clients_have(point) < 0)
		return -1;
	return !(trees & ~spi_client_trees) || point->record ? 0 : spi_payload->tree_bind(point);
}

/* ---- which sites clients take ---- */

static uint32_t kind_for_clients(const struct spi_map_site *map)
{
	static const uint8_t kinds[SPI_SITE_COUNT_] = {
		[SPI_SITE_CALL] = SPI_CALL_SITE_DIRECT, [SPI_SITE_CALL_SLOT] = SPI_CALL_SITE_LIBRARY,
		[SPI_SITE_CALL_INDIRECT] = SPI_CALL_SITE_INDIRECT, [SPI_SITE_JUMP] = SPI_CALL_SITE_TAIL_DIRECT,
		[SPI_SITE_JUMP_SLOT] = SPI_CALL_SITE_TAIL_LIBRARY,
		[SPI_SITE_JUMP_INDIRECT] = SPI_CALL_SITE_TAIL_INDIRECT,
		[SPI_SITE_JCC] = SPI_CALL_SITE_TAIL_DIRECT, [SPI_SITE_JCC_SLOT] = SPI_CALL_SITE_TAIL_LIBRARY,
	};

	return kinds[map->kind];
}

/* Clients leave sites of their trees alone. */
uint32_t spi_site_decided(const struct spi_tree_object *to, const struct spi_map_site *map, uint32_t trees)
{
	const uint64_t address = map->vaddr + to->object->bias;
	const int64_t func = spi_tree_func_around(to, address);
	const struct spi_call_site site = {
		.size = sizeof(site), .address = address, .length = map->size, .kind = kind_for_clients(map),
		.function = func < 0 ? 0 : spi_tree_map_func(to, (uint64_t) func)->vaddr + to->object->bias,
		.callee = spi_site_is_direct(map) ? map->target + to->object->bias : 0,
	};

	return spi_clients_decide(trees, &site);
}
