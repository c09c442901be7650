/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* An instrumented place: its instruction, the stub that runs in the instruction's stead, and what a stub saves. */
#include <errno.h>
#include <string.h>
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/tree.h"
#include "liblttng-spi/api/internal.h"

int64_t spi_api_site(uint64_t address, struct spi_tree_object **to)
{
	const struct spi_map_func *f;
	int64_t func;

	*to = address ? spi_tree_object_at(address - 1) : NULL;
	func = *to ? spi_tree_func_around(*to, address - 1) : -1;
	if (func < 0 || !spi_tree_func_is_good(*to, (uint64_t) func))
		return -1;
	f = spi_tree_map_func(*to, (uint64_t) func);
	for (uint32_t i = f->site_first; i < f->site_first + f->site_count; i++) {
		const struct spi_map_site *site = SPI_MAP_AT(&(*to)->map, sites, struct spi_map_site, i);

		if (site->vaddr + site->size + (*to)->object->bias == address)
			return i;
	}
	return -1;
}

SPI_API struct spi_function *spi_point_callee(const struct spi_point *point)
{
	struct spi_tree_object *to;
	int64_t site;

	if (!point)
		return NULL;
	if (point->flags & SPI_POINT_TREE && point->call_site) {
		site = spi_api_site(point->call_site, &to);
		if (site < 0 || !(spi_site_is_direct(SPI_MAP_AT(&to->map, sites, struct spi_map_site, site)) ||
				spi_site_is_slot(SPI_MAP_AT(&to->map, sites, struct spi_map_site, site))))
			return NULL;
	}
	return spi_function_of_point(point);
}

SPI_API int spi_point_instruction(const struct spi_point *point, uint64_t *address, size_t *size)
{
	const struct spi_map_site *site;
	struct spi_tree_object *to;
	const int64_t index = point ? spi_api_site(point->call_site, &to) : -1;

	if (index < 0)
		return -ENODATA;
	site = SPI_MAP_AT(&to->map, sites, struct spi_map_site, index);
	*address = site->vaddr + to->object->bias;
	*size = site->size;
	return 0;
}

SPI_API int spi_point_snippet(const struct spi_point *point, uint64_t *address, size_t *size)
{
	const struct spi_patch *patch = point ? point->patch : NULL;
	const struct spi_site *site = NULL;
	struct spi_tree_object *to;
	const int64_t index = point && point->call_site ? spi_api_site(point->call_site, &to) : -1;

	if (index >= 0)
		site = to->sites[index];
	if (site && site->stub && site->stub_size) {
		*address = site->stub;
		*size = site->stub_size;
		return 0;
	}
	if (!patch && point && !point->call_site) {	/* a call tree's entry point has the function's jump */
		const struct spi_entry *e = spi_entry_find(point->address);

		patch = e ? e->point.patch : NULL;
	}
	if (!patch || !patch->stub_size)
		return -ENODATA;
	*address = patch->stub;
	*size = patch->stub_size;
	return 0;
}

SPI_API int spi_call_register(const struct spi_call *call, unsigned int number, uint64_t *value)
{
	const uint8_t at = spi_frame_register(number);

	if (!call->frame)
		return -ENODATA;
	if (number == SPI_DWARF_PC)
		*value = spi_call_return_address(call);
	else if (number == SPI_DWARF_SP)
		*value = (uint64_t) call->frame->stack;
	else if (at != SPI_FRAME_NOWHERE)
		memcpy(value, (const uint8_t *) call->frame + at, sizeof(*value));
	else
		return -ENODATA;
	return 0;
}

SPI_API struct spi_agent *spi_call_agent(const struct spi_call *call)
{
	return call->client->owner;
}
