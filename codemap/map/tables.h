/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The map that is being made: its tables grow while functions are looked at. */
#ifndef CODEMAP_MAP_TABLES_H
#define CODEMAP_MAP_TABLES_H

#include "codemap/base/base.h"
#include "codemap/map/format.h"

struct tables {
	struct strings strings;
	struct vec_of(struct spi_map_func) funcs;
	struct vec_of(struct spi_map_field) fields;
	struct vec_of(struct spi_map_insn) insns;
	struct vec_of(struct spi_map_enum) enums;
	struct vec_of(struct spi_map_label) labels;
	struct vec_of(struct spi_map_skip) skipped;
	struct vec_of(struct spi_map_site) sites;
	struct vec_of(uint32_t) enum_hash;
	int has_detail;				/* these are asked for: */
	struct vec_of(struct spi_map_block) blocks;
	struct vec_of(struct spi_map_edge) edges;
	struct vec_of(uint32_t) texts;		/* of each site */
};

/*
 * Lay the tables out in one block behind `head`, and verify that block. A function that no reader
 * would take is moved to the refused ones, so one function never costs another.
 */
const struct spi_map_header *tables_finish(struct tables *t, struct spi_map_header *head);

#endif /* CODEMAP_MAP_TABLES_H */
