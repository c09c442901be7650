/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * How an object is linked to others: the words that the dynamic linker fills in (GOT slots), the
 * symbols that they stand for, and the PLT stubs that jump through them. All is read from the
 * dynamic section, which a stripped object has as well.
 */
#ifndef CODEMAP_CODE_PLT_H
#define CODEMAP_CODE_PLT_H

#include "codemap/elf/image.h"

struct slot {
	uint64_t vaddr;
	uint32_t type;		/* R_X86_64_*: JUMP_SLOT, GLOB_DAT, 64, IRELATIVE, TLSDESC, or RELATIVE (into code only) */
	uint32_t symbol;	/* in the dynamic symbol table, 0: none */
	uint64_t addend;
};

struct links {
	const struct image *image;
	struct vec_of(struct slot) slots;	/* by address */
	const uint8_t *symbols, *versions;
	uint64_t symbols_size, versions_size;
	const char *names;
	uint64_t names_size;
	struct vec_of(const char *) version_names;	/* by version index; NULL: none */
	int has_tlsdesc;
};

void links_read(struct links *links, const struct image *image);
/* What the dynamic linker does to the word at vaddr; NULL: nothing that is kept. */
const struct slot *links_slot(const struct links *links, uint64_t vaddr);
/* The name and version ("" when none) of the symbol that a slot is bound to; NULL: it has none. */
const char *links_import(const struct links *links, const struct slot *slot, const char **version);
/* Is there a stub at vaddr, a jump through a slot that is the linker's? Returns the slot, or NULL. */
const struct slot *links_stub(const struct links *links, uint64_t vaddr);

#endif /* CODEMAP_CODE_PLT_H */
