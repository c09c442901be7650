/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What near.c and near-places.c share. All under the patch lock. */
#ifndef SPI_NEAR_PLACES_H
#define SPI_NEAR_PLACES_H

#include <stdint.h>

#define CODE_CHUNK	(1u << 20)	/* bytes of address space; pages are taken as they are written */
#define LOWEST		(UINT64_C(16) << 20)	/* chunks; below is where NULL + offset may land */
#define HIGHEST		(UINT64_C(0x7fffffff0000))

/* Is the room that the heap is left with HEAP_ROOM, not the least? */
int spi_heap_is_spared(void);
/* Where that room ends, when any of [low, high) is in it; else 0. */
uint64_t spi_heap_end(uint64_t low, uint64_t high);
/* Something else was found there. */
void spi_place_is_taken(uint64_t at, uint64_t size);
/* Where the next place below that is worth trying ends, for as much as that. */
uint64_t spi_place_below(uint64_t below, uint64_t size);

#endif /* SPI_NEAR_PLACES_H */
