/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Tables that any thread looks into and adds to, without a lock and without memory of its own. */
#ifndef PAYLOADS_TABLE_H
#define PAYLOADS_TABLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The place that has the key, which is not 0. Each of the `count` places, a power of two, has `size` bytes and begins
 * with its key; one whose key is 0 is free, and is taken. NULL: all have others.
 */
static inline void *table_place(void *places, uint32_t count, size_t size, uint64_t key)
{
	uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	for (uint32_t tries = 0; tries < count; tries++, at++) {
		uint64_t *place = (uint64_t *) ((char *) places + (at & (count - 1)) * size);
		uint64_t known = __atomic_load_n(place, __ATOMIC_ACQUIRE);

		if (!known && __atomic_compare_exchange_n(place, &known, key, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			known = key;
		if (known == key)
			return place;
	}
	return NULL;
}

#endif /* PAYLOADS_TABLE_H */
