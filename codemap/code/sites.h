/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The call sites of an object, and how each can be led to another function. */
#ifndef CODEMAP_CODE_SITES_H
#define CODEMAP_CODE_SITES_H

#include "codemap/code/flow.h"
#include "codemap/code/x86.h"
#include "codemap/map/tables.h"

/* An instruction of the stretch that is looked at. */
struct item {
	uint64_t vaddr;
	const uint8_t *bytes;
	struct x86_decoded insn;
};

/* Padding that nothing runs through. */
struct pad {
	uint64_t vaddr, size;
};

struct sites {
	const struct flow *flow;
	struct links *links;
	struct tables *tables;		/* sites go to tables->sites */
	struct vec_of(struct item) items;
	struct vec_of(struct pad) pads;	/* by address */
	struct cfa_walk cfa;
	/* In a stretch that is not all code: bytes where a reached instruction begins; where else to look. */
	struct vec_of(uint8_t) reached;
	struct vec_of(uint64_t) places;
};

/* Fill tables->sites, by ascending address. */
void sites_find(struct sites *sites, const struct flow *flow, struct links *links, struct tables *tables);

/*
 * blocks.c: the stretch that sites->items has, as basic blocks. A block begins where control may arrive, as far as
 * flow.c knows, and behind each instruction that control may leave by.
 */
void blocks_add(struct sites *sites, const struct stretch *stretch);
/* The text of each site's instruction, as the disassembler prints it, and where a direct one leads to. */
void texts_add(struct sites *sites);

/*
 * displaced.c: set what may be moved, and the code that does that and gets the target, for
 * the site made of items[index]; kind and size are set already. 0: its target
 * cannot be had, and so nothing can be done there.
 */
int room_find(const struct sites *sites, const struct stretch *stretch, size_t index, struct spi_map_site *site);

/* padding.c: */
/* Bytes of padding behind a jump, SPI_SITE_AFTER at most. */
unsigned int pads_behind(const struct sites *sites, const struct stretch *stretch, size_t index);
void pads_collect(struct sites *sites, const struct stretch *stretch);
void pads_assign(struct sites *sites);

#endif /* CODEMAP_CODE_SITES_H */
