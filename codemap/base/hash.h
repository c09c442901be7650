/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The hash function of spi-codemap. The agent computes the same hash: it is part of the names
 * of files in the cache (codemap/map/cache-key.h).
 */
#ifndef CODEMAP_BASE_HASH_H
#define CODEMAP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a, a word at a time where it can, with a final mix. */
static inline uint64_t spi_hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
	const uint8_t *p = (const uint8_t *) bytes;
	uint64_t h = seed ^ UINT64_C(0xcbf29ce484222325), word;

	for (; size >= 8; size -= 8, p += 8) {
		__builtin_memcpy(&word, p, 8);
		h = (h ^ word) * UINT64_C(0x100000001b3);
		h ^= h >> 29;
	}
	for (; size; size--, p++)
		h = (h ^ *p) * UINT64_C(0x100000001b3);
	h ^= h >> 32;
	h *= UINT64_C(0x9e3779b97f4a7c15);
	return h ^ (h >> 29);
}

#endif /* CODEMAP_BASE_HASH_H */
