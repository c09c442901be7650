/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The cache directory: maps, prototypes of whole objects, and marks (marks.h), so that a second
 * request is answered at once. Only the supervising process uses the cache; the analysing one
 * could not open files. Without a cache directory all functions do nothing and give NULL or -1.
 */
#ifndef CODEMAP_MAP_CACHE_H
#define CODEMAP_MAP_CACHE_H

#include "codemap/base/base.h"
#include "codemap/map/format.h"

/* What the cache knows an object by. */
struct cache_key {
	const char *name;		/* the object's path, as the user wrote it */
	const uint8_t *build_id;
	uint32_t build_id_size;		/* 0: nothing is kept of this object */
	uint64_t identity;		/* of the object's file and its debug files: device, inode, size, times */
	uint64_t file_identity;		/* of the object's file alone */
	struct text witnesses;		/* what else an answer depends on: struct spi_witness records (cache-key.h) */
};

/* Choose the directory: LTTNG_SPI_CACHE, or the user's own; make it where there is none. */
void cache_open(void);
/*
 * The name of a file in the cache; `kind`: "map", "list", "types", "marks" or "detail". NULL: nothing is kept of this
 * object.
 */
char *cache_name(const struct cache_key *key, const char *kind, uint64_t hash);
char *cache_tree_name(const struct cache_key *key);
/* A kept map, checked and mapped; NULL: there is none that holds. `is_tree`: its witnesses must be as they were. */
const struct spi_map_header *cache_read(const struct cache_key *key, const char *name, int is_tree, uint64_t *size);
/* A file that may be trusted, or -1. */
int cache_open_file(const char *name, uint64_t *size);
void cache_remove(const char *name);
void cache_write(const char *name, const void *data, uint64_t size);
void cache_write_tree(const struct cache_key *key, const char *name, const void *data, uint64_t size);

#endif /* CODEMAP_MAP_CACHE_H */
