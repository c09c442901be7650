/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Where near memory may be. All under the patch lock. */
#ifndef SPI_NEAR_PLACES_H
#define SPI_NEAR_PLACES_H

#include <stdint.h>

struct spi_place {
	uint64_t low, high;
};

/* Look where heap and stack are; what follows keeps out of the room that they may want, or of less of the heap's. */
void spi_near_look(int into_heap_room);
/* Look at what is mapped. How many mappings the process has. */
uint32_t spi_places_look(void);
/* What stands in the way of a mapping of [low, high), as far as it is known; NULL: nothing. */
const struct spi_place *spi_place_obstacle(uint64_t low, uint64_t high);
/*
 * Make a mapping without access rights at exactly this address: 0, -EEXIST when anything is there, -ENOMEM where none
 * can be had anywhere.
 */
int spi_map_reserve(uint64_t address, uint64_t size);

#endif /* SPI_NEAR_PLACES_H */
