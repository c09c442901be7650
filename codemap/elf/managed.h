/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Code of languages whose runtime reads the return addresses on the stack: it is never changed. */
#ifndef CODEMAP_ELF_MANAGED_H
#define CODEMAP_ELF_MANAGED_H

#include "codemap/elf/image.h"

struct managed_mark {
	uint64_t vaddr;
	uint8_t is_end;
};

struct managed {
	struct vec_of(struct managed_mark) marks;
	uint8_t is_all;		/* the whole object */
	uint8_t copies_stacks;	/* SPI_MAP_COPIES_STACKS */
};

/* What the object's sections say; before any symbol. */
void managed_begin(struct managed *managed, const struct image *object);
/* A symbol of any kind. `room`: bytes up to the end of the names. */
void managed_symbol(struct managed *managed, uint64_t vaddr, uint64_t size, const char *name, uint64_t room);
/* All symbols were seen. */
void managed_end(struct managed *managed);
int managed_has(const struct managed *managed, uint64_t vaddr);

#endif /* CODEMAP_ELF_MANAGED_H */
