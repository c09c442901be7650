/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of calls/ share: chunks of slots. The calling thread's own; no lock, no memory. */
#ifndef SPI_CALLS_INTERNAL_H
#define SPI_CALLS_INTERNAL_H

#include "liblttng-spi/calls/calls.h"

_Static_assert(CHUNK_BYTES == SPI_SLOT_CHUNK && SPI_SLOT_COUNT == SPI_SLOT_HALF / SPI_SLOT_SIZE, "arch/offsets.h");

/* ---- slots.c ---- */
void spi_slot_left(struct spi_thread *t, struct spi_slot *slot, enum spi_left how);
void spi_thread_use_chunk(struct spi_thread *t, uint32_t chunk, int at_end);

/* ---- slot-arena.c ---- */
int spi_arena_init(void);
uint32_t spi_chunk_get(void);			/* CHUNK_NONE: the arena is used up */
void spi_chunk_put(uint32_t chunk);

/* ---- threads.c ---- */
int spi_thread_begin(struct spi_thread *t);	/* the thread's first call; signals blocked. -1: never record it */

/* ---- first-call.c ---- */
void spi_first_call_init(void);
int spi_first_call_has_memory(void);	/* lttng-ust is there, and the calling thread has its memory for that */

/* The first of a chunk is never used, and dead for ever: so words.S may look below any slot. */
SPI_INLINE struct spi_slot *spi_chunk_first(uint32_t chunk)
{
	return spi_chunk_slots(chunk) + 1;
}

#endif /* SPI_CALLS_INTERNAL_H */
