/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What threads.c, slots.c, slot-arena.c and nesting.c share. None of it locks or
 * allocates; a thread's own slots are changed with its signals blocked, or in an
 * order that a handler in between can live with.
 */
#ifndef SPI_THREADS_INTERNAL_H
#define SPI_THREADS_INTERNAL_H

#include <stddef.h>
#include "liblttng-spi/core.h"

#define CHUNK_SLOTS	256u
#define CHUNK_BYTES	(CHUNK_SLOTS * SPI_SLOT_SIZE)
#define CHUNK_COUNT	(SPI_SLOT_COUNT / CHUNK_SLOTS)
#define CHUNK_NONE	UINT32_MAX
_Static_assert(CHUNK_BYTES == SPI_SLOT_CHUNK && SPI_SLOT_COUNT == SPI_SLOT_HALF / SPI_SLOT_SIZE, "arch/offsets.h");
#define SLOT_HALF	((uint64_t) SPI_SLOT_HALF)

/* ---- slot-arena.c ---- */
struct spi_chunk {
	uint32_t prev;		/* the chunk below in the owner's stack, or the next one on the free list */
	uint32_t mapped;
};
extern struct spi_chunk spi_chunks[CHUNK_COUNT] SPI_HIDDEN;
int spi_arena_init(void);
uint32_t spi_chunk_get(void);			/* CHUNK_NONE: the arena is used up */
void spi_chunk_put(uint32_t chunk);

SPI_INLINE uint32_t spi_chunk_of(const struct spi_slot *slot)
{
	return (uint32_t) ((slot - spi_slot_data_base) / CHUNK_SLOTS);
}

SPI_INLINE struct spi_slot *spi_chunk_slots(uint32_t chunk)
{
	return spi_slot_data_base + (size_t) chunk * CHUNK_SLOTS;
}

/* The first of a chunk is never used, and dead for ever: so words.S may look below any slot. */
SPI_INLINE struct spi_slot *spi_chunk_first(uint32_t chunk)
{
	return spi_chunk_slots(chunk) + 1;
}

/* The slot whose code a word that may be anything points into; NULL: none's that was ever in use, whose data is not to be read. */
SPI_INLINE const struct spi_slot *spi_slot_of_word(uint64_t word)
{
	uint64_t at = word - (uint64_t) spi_slot_code_base;

	return at < SLOT_HALF && spi_chunks[at / CHUNK_BYTES].mapped ? &spi_slot_data_base[at / SPI_SLOT_SIZE] : NULL;
}

/* ---- slots.c ---- */
void spi_thread_use_chunk(struct spi_thread *t, uint32_t chunk, int at_end);
struct spi_slot *spi_thread_top(struct spi_thread *t);
struct spi_slot *spi_slot_below(struct spi_slot *slot);	/* NULL: it is the outermost */
void spi_slots_leave_handler(struct spi_thread *t, uint64_t at, enum spi_left how);
void spi_thread_leave_all(struct spi_thread *t, enum spi_left how);

/* The ledger looks at calls when recording is over: threads keep their chunks, also those that they have left. */
extern uint32_t spi_slots_kept SPI_HIDDEN;

/* ---- threads.c ---- */
int spi_thread_begin(struct spi_thread *t);	/* the thread's first call; signals blocked. -1: never record it */

/* ---- first-call.c ---- */
void spi_first_call_init(void);
void spi_first_call_loaded(void);	/* lttng-ust is there; who may call the dynamic linker */
int spi_first_call_has_memory(void);	/* lttng-ust is there, and the calling thread has its memory for that */
int spi_first_call_has_room(int has_memory);	/* module/payload.h */
int spi_first_call_is_in_malloc(uint64_t p);	/* the call whose return address is at p, in a thunk's frame: is it malloc()'s or a handler's within it? */

/* ---- nesting.c ---- */
/* The return address that is meant, where it is a slot's. Of a tail call's that is another slot's. */
uint64_t spi_behind_slots(uint64_t address);
uint64_t spi_restorer_of(uint64_t word);	/* the restorer that the word, a return address, is or stands for; 0: none */
uint64_t spi_thread_busy_at(const struct spi_thread *t);

#endif /* SPI_THREADS_INTERNAL_H */
