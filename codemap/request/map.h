/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The map of the functions that patterns chose. */
#ifndef CODEMAP_REQUEST_MAP_H
#define CODEMAP_REQUEST_MAP_H

#include "codemap/code/entry.h"
#include "codemap/elf/object.h"
#include "codemap/map/tables.h"

/* What the header of any map says of the object. */
void head_fill(struct spi_map_header *head, const struct object *object, const struct functions *functions,
	       struct tables *tables);

/*
 * Make a map of the wanted functions, `limit` at most (0: all). Without `code` the map has their
 * prototypes alone. `scanned`: code_scan() was done for `code` before.
 */
const struct spi_map_header *map_make(uint32_t limit, struct object *object, struct functions *functions,
				      struct code *code, int scanned);

#endif /* CODEMAP_REQUEST_MAP_H */
