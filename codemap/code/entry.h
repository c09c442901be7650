/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Function entries, jumps into them, and how wide the vector registers are that code uses. */
#ifndef CODEMAP_CODE_ENTRY_H
#define CODEMAP_CODE_ENTRY_H

#include "codemap/elf/functions.h"
#include "codemap/map/tables.h"

struct code {
	const struct image *image;
	struct functions *functions;
	uint64_t *targets; /* a function's bytes that some jump goes to: bit n is byte n; by its place in the list */
	uint8_t *loops;		/* it jumps to its own first byte */
	uint32_t flags;		/* SPI_MAP_USES_* */
	uintptr_t capstone;
};

/* Decode the object; whole when it is of reasonable size, else the wanted functions. */
void code_scan(struct code *code, const struct image *image, struct functions *functions);
/*
 * Describe the entry of a function in `record`. Returns SPI_REASON_NONE or why
 * there can be no point; the function's own reason is not looked at.
 */
enum spi_map_reason code_entry(struct code *code, const struct function *function, struct spi_map_func *record,
			       struct tables *tables);

/* How wide the vector registers are that the function's code uses: 16, 32 or 64 bytes. */
uint32_t function_vector_bytes(const struct image *image, const struct function *function);

#endif /* CODEMAP_CODE_ENTRY_H */
