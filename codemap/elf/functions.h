/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The functions of an object: one for each address that a symbol or an FDE says
 * a function begins at, with all its names.
 */
#ifndef CODEMAP_ELF_FUNCTIONS_H
#define CODEMAP_ELF_FUNCTIONS_H

#include "codemap/elf/ehframe.h"
#include "codemap/elf/image.h"
#include "codemap/map/format.h"
#include "codemap/names/names.h"

struct alias {
	const char *name;	/* without symbol version */
	uint8_t is_global;
};

struct function {
	uint64_t vaddr, size;
	uint32_t alias_first, alias_count;	/* 0: known from its FDE only */
	uint16_t flags;		/* enum spi_map_func_flags */
	uint8_t reason;		/* enum spi_map_reason */
	uint8_t wanted;		/* a pattern matched it */
	uint8_t dwarf;		/* debug info was found for it */
	uint8_t is_global;	/* it has a symbol that is not local */
	const char *name;	/* linkage name: the alias that matched literally, or the best one */
	const char *known_as;	/* the function that callers call, when they are led here: an indirect one; NULL: itself */
	const char *base;	/* display name, without parameters; function_name() */
	const char *event;	/* the same as LTTng can carry it */
	uint32_t ordinal;	/* among functions of the same event name, by address, from 1; functions_number() */
	void *type;		/* struct prototype, from debug info */
};

struct functions {
	struct vec_of(struct function) list;	/* by ascending address */
	struct vec_of(struct alias) aliases;
	const struct image *image;	/* the object */
	uint64_t total;		/* those that have a symbol or an FDE, stubs and parts included */
	int copies_stacks;	/* SPI_MAP_COPIES_STACKS */
};

/* Where symbols are looked for; any may be NULL but the first. */
struct symbol_sources {
	const struct image *object, *debug, *mini;
};

void functions_read(struct functions *functions, const struct symbol_sources *from);

/* The function that begins at vaddr, or NULL. */
struct function *functions_at(const struct functions *functions, uint64_t vaddr);
/* The function whose bytes hold vaddr, or the last that begins before it; NULL: none begins before it. */
struct function *functions_around(const struct functions *functions, uint64_t vaddr);

/*
 * functions_match() - mark what the patterns ask for. Returns how many. No
 * pattern: all. Parts and stubs are marked too; they carry their reason.
 */
uint64_t functions_match(struct functions *functions, const struct pattern *patterns, unsigned int count);

/* Set `base` and `event` of one function. */
void function_name(struct function *function);
/* Set names and `ordinal` of all functions that are wanted. */
void functions_number(struct functions *functions);

#endif /* CODEMAP_ELF_FUNCTIONS_H */
