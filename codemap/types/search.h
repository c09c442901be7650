/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Finding the debug info of wanted functions, in debug info itself or in a cached map of all prototypes. */
#ifndef CODEMAP_TYPES_SEARCH_H
#define CODEMAP_TYPES_SEARCH_H

#include "codemap/types/prototype.h"

/*
 * Set `type` of all wanted functions that have no reason against them, as far as debug info knows them. Between
 * the two calls other threads inflate it already.
 */
struct search *collect_begin(struct dw_file *file, struct functions *functions, struct tables *tables);
void collect_finish(struct search *search);
void collect_cached(const struct spi_map_header *types, struct functions *functions, struct tables *tables);

#endif /* CODEMAP_TYPES_SEARCH_H */
