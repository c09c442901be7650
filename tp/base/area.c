/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Memory. Descriptors live for ever, so they are cut from large pieces, one
 * after the other. Beside that, every return slot may have an area of its own,
 * for what its 64 bytes cannot hold: a one-event call's arguments from entry to
 * exit, or the list of channels when several recorded an entry.
 *
 * Areas are found by the slot's number, in two tables by size; the small size
 * keeps a deep recursion from touching a page every few frames. A table's
 * element is a chunk for 64 slots, made when the first of them needs it. Slots
 * of one chunk may belong to different threads, hence the compare-and-swap; who
 * loses it gives his chunk to nobody, which is rare and bounded.
 */
#include <string.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/module/module.h"
#include "tp/base/base.h"

#define PIECE		(256u << 10)

const struct spi_core_ops *tp_core;
struct spi_thread_record tp_no_record;
static uint8_t *piece;
static size_t piece_left;
uint8_t *tp_area_small[SPI_SLOT_COUNT / TP_AREA_CHUNK];
uint8_t *tp_area_large[SPI_SLOT_COUNT / TP_AREA_CHUNK];

void *tp_alloc(size_t size)
{
	void *p;

	size = (size + 15) & ~(size_t) 15;
	if (size > PIECE / 4)
		return tp_core->alloc(size);
	if (size > piece_left) {
		p = tp_core->alloc(PIECE);
		if (!p)
			return NULL;
		piece = p;
		piece_left = PIECE;
	}
	p = piece;
	piece += size;
	piece_left -= size;
	return p;
}

char *tp_strndup(const char *s, size_t n)
{
	char *copy = tp_alloc(n + 1);

	if (copy)
		memcpy(copy, s, n);
	return copy;
}

uint8_t *tp_area_make(const struct spi_slot *slot, unsigned int size)
{
	uint64_t number = (uint64_t) (slot - spi_slot_data_base);
	uint8_t **place, *chunk, *fresh, *none = NULL;

	if (number >= SPI_SLOT_COUNT)
		return NULL;
	place = (size == TP_AREA_SMALL ? tp_area_small : tp_area_large) + number / TP_AREA_CHUNK;
	chunk = __atomic_load_n(place, __ATOMIC_ACQUIRE);
	if (!chunk) {
		fresh = tp_core->alloc((size_t) TP_AREA_CHUNK * size);
		if (!fresh)
			return NULL;
		if (__atomic_compare_exchange_n(place, &none, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			chunk = fresh;
		else
			chunk = none;
	}
	return chunk + number % TP_AREA_CHUNK * size;
}
