/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Prototypes: what debug info says about a function, as a map records it. */
#ifndef CODEMAP_PROTOTYPE_H
#define CODEMAP_PROTOTYPE_H

#include "codemap/abi.h"
#include "codemap/functions.h"
#include "codemap/map-format.h"

/* Tables of the map that is being made. */
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
};

struct prototype {
	const char *parameters;	/* "int a, const char *b" */
	uint32_t field_first;
	uint16_t field_count, ret_count;
	uint32_t flags;		/* enum spi_map_func_flags */
	uint32_t source;	/* string */
};

/*
 * prototype_read() - make the prototype of the function that `die` describes (a
 * subprogram with an address). `function` is the one at that address. Fields go
 * to `tables`. Allocated, never NULL.
 */
struct prototype *prototype_read(const struct dw_die *die, const struct function *function, struct tables *tables);
/* The same for a function without debug info: six words in hex, and a word back. */
struct prototype *prototype_unknown(struct tables *tables);

/* fields.c: add the fields of a value of this type; `name` is its parameter's. */
struct field_maker {
	struct tables *tables;
	uint32_t first;		/* of this function's entry or exit fields: names are unique from here on */
	uint32_t param;
	const struct passing *passing;
};
void fields_add(struct field_maker *maker, const char *name, const struct type *type, const struct dw_die *typed);

/* place.c: correct where the psABI says a parameter is by what debug info says about the function's first byte. */
struct parameter {
	struct dw_die die;
	struct type type;
	struct passing passing;
	const char *name;
	int is_told;		/* debug info said where it is */
};
void parameters_place(const struct dw_die *function, uint64_t pc, struct parameter *list, size_t count, int is_clone);

#endif /* CODEMAP_PROTOTYPE_H */
