/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Regions of code that was made at run time, as a user's parser (include/lttng/spi.h) tells of them: objects of call
 * trees, with a code map that the agent makes itself. A part of room tree; api/ gives it the parsers.
 *
 * Threads: any thread of the program, in any state, unless a function says otherwise. A region is never freed.
 */
#ifndef SPI_TREE_MADE_H
#define SPI_TREE_MADE_H

#include "include/lttng/spi.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/tree/sites/sites.h"

#define SPI_MADE_MAX		1024u			/* regions at the same time */
#define SPI_MADE_EVER		8192u			/* and in all: none is ever freed */
#define SPI_MADE_BYTES_MAX	(UINT64_C(256) << 20)	/* of one */
#define SPI_MADE_FUNCTIONS_MAX	(1u << 17)
#define SPI_MADE_CALLS_MAX	(1u << 18)
#define SPI_MADE_REFUSALS_MAX	64u			/* that are named, of one region */

/* Call instructions that the parser has given, and that cannot be redirected. */
struct spi_made_refusals {
	uint32_t count;			/* of all; the first are named */
	struct spi_made_refusal {
		uint64_t address;
		const char *why;
	} refusal[SPI_MADE_REFUSALS_MAX];
};

/* ---- made-map.c ---- */
/* The region's code map. 0, or a negative errno and *why. */
int spi_made_map(const struct spi_parser_region *region, struct spi_map *map, struct spi_made_refusals *refusals,
	const char **why);

/* ---- made.c ---- */
/* The region becomes an object of all trees that are for clients. 0, or a negative errno and *why. */
int spi_made_add(const struct spi_parser_region *region, struct spi_object **object, const char **why);
/* Its code goes. 0, -EINVAL: it is no region, or has gone; -EAGAIN: another thread forks. */
int spi_made_forget(struct spi_object *object);
extern struct spi_object *spi_made_objects SPI_HIDDEN;	/* all, the latest first; one that has gone is not `seen` */
/*
 * Asks the clients of these trees for code that no object has; a call with the return address at p leads there. 0:
 * spi_made_add() has it; -ENOENT: nobody knows it; -EAGAIN: nobody can be asked now. NULL: there is no parser.
 */
extern int (*spi_made_ask)(uint64_t code, uint32_t trees, uint64_t p) SPI_HIDDEN;
/* A site's call leads to this code: a region that has it is in these trees; else it is asked for. 0, or -EAGAIN. */
int spi_made_look(uint64_t code, uint32_t trees, uint64_t p);
/* A parser is there, or another: what was not known before may be known now. */
void spi_made_ask_again(void);

#endif /* SPI_TREE_MADE_H */
