/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The hash table, for the agent and for programs of ours. An entry is a struct of the caller's that begins with a
 * struct spi_hash_link. The caller gives the buckets, and compares keys: the table allocates nothing. One thread at a
 * time uses a table. Tables that threads read without a lock (patch/trap.c, tree/callee.c, tp/describe/context.c) are not made of this.
 */
#ifndef SPI_BASE_HASH_H
#define SPI_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define SPI_HASH_INLINE static inline __attribute__((unused))
#define SPI_HASH_SEED	UINT64_C(0xcbf29ce484222325)

struct spi_hash_link {
	struct spi_hash_link *next;
	uint64_t hash;
};

struct spi_hash {
	struct spi_hash_link **bucket;	/* zeroed by the caller */
	size_t size;			/* buckets: a power of two, or 0: the table has no entry */
	size_t count;			/* entries */
};

/* A table over an array of buckets. */
#define SPI_HASH_OVER(buckets) { .bucket = (buckets), .size = sizeof(buckets) / sizeof((buckets)[0]) }

/* ---- keys: the same in all versions, as what is sent and what is named by a hash depends on them ---- */

/* FNV-1a, going on from `hash`. */
SPI_HASH_INLINE uint64_t spi_hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (uint8_t) *text) * UINT64_C(0x100000001b3);
	return hash;
}

SPI_HASH_INLINE uint64_t spi_hash_number(uint64_t number)
{
	number = (number ^ number >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	return number ^ number >> 29;
}

/* ---- the table ---- */

SPI_HASH_INLINE struct spi_hash_link *spi_hash_skip(struct spi_hash_link *link, uint64_t hash)
{
	while (link && link->hash != hash)
		link = link->next;
	return link;
}

/* The latest entry with this hash, or NULL; spi_hash_again() has the others. */
SPI_HASH_INLINE void *spi_hash_find(const struct spi_hash *table, uint64_t hash)
{
	return table->size ? spi_hash_skip(table->bucket[hash & (table->size - 1)], hash) : NULL;
}

SPI_HASH_INLINE void *spi_hash_again(const struct spi_hash_link *link)
{
	return spi_hash_skip(link->next, link->hash);
}

SPI_HASH_INLINE void spi_hash_add(struct spi_hash *table, struct spi_hash_link *link, uint64_t hash)
{
	struct spi_hash_link **at = &table->bucket[hash & (table->size - 1)];

	link->hash = hash;
	link->next = *at;
	*at = link;
	table->count++;
}

SPI_HASH_INLINE void spi_hash_remove(struct spi_hash *table, struct spi_hash_link *link)
{
	struct spi_hash_link **at = &table->bucket[link->hash & (table->size - 1)];

	while (*at != link)
		at = &(*at)->next;
	*at = link->next;
	table->count--;
}

/* All entries, one after the other: NULL first, NULL at the end. An entry may be removed once the next one is known. */
SPI_HASH_INLINE void *spi_hash_next(const struct spi_hash *table, const struct spi_hash_link *link)
{
	size_t i = link ? (size_t) (link->hash & (table->size - 1)) + 1 : 0;

	if (link && link->next)
		return link->next;
	while (i < table->size && !table->bucket[i])
		i++;
	return i < table->size ? table->bucket[i] : NULL;
}

/* The entries go to `bucket`, zeroed, of `size`. The former buckets are the caller's again. */
SPI_HASH_INLINE void spi_hash_move(struct spi_hash *table, struct spi_hash_link **bucket, size_t size)
{
	struct spi_hash fresh = { bucket, size, 0 };

	for (size_t i = 0; i < table->size; i++)
		for (struct spi_hash_link *link = table->bucket[i], *next; link; link = next) {
			next = link->next;
			spi_hash_add(&fresh, link, link->hash);
		}
	*table = fresh;
}

#endif /* SPI_BASE_HASH_H */
