/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The map of an object for call trees: all functions, all call sites. */
#ifndef CODEMAP_REQUEST_TREE_H
#define CODEMAP_REQUEST_TREE_H

#include "codemap/elf/functions.h"
#include "codemap/map/tables.h"

/* Fill the tables of a tree's map. Returns flags for its header. */
uint32_t tree_make(const struct image *image, struct functions *functions, struct tables *tables);

#endif /* CODEMAP_REQUEST_TREE_H */
