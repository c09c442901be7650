/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Source lines in the map of a call tree: debug info gives them with the functions' prototypes, of all functions at
 * once.
 */
#include <string.h>
#include "codemap/request/map.h"
#include "codemap/request/request.h"

const struct spi_map_header *detail_types(struct object *object, struct functions *functions)
{
	const size_t bytes = functions->list.count * sizeof(*functions->list.at);
	struct function *plain = heap_grow(NULL, bytes + 1);
	const struct spi_map_header *types = object->types;

	if (types)
		return types;
	memcpy(plain, functions->list.at, bytes);	/* names are those that a list has */
	functions_match(functions, NULL, 0);
	types = map_make(0, object, functions, NULL, 0);
	memcpy(functions->list.at, plain, bytes);
	return types;
}

void detail_sources(const struct spi_map_header *types, struct tables *tables)
{
	const struct spi_map_func *from = (const struct spi_map_func *) ((const uint8_t *) types + types->funcs.offset);
	const char *strings = (const char *) types + types->strings.offset;
	uint32_t k = 0;

	for (size_t i = 0; i < tables->funcs.count; i++) {
		struct spi_map_func *func = &tables->funcs.at[i];

		while (k < types->funcs.count && from[k].vaddr < func->vaddr)
			k++;
		if (k < types->funcs.count && from[k].vaddr == func->vaddr)
			func->source = strings_add(&tables->strings, strings + from[k].source);
	}
}
