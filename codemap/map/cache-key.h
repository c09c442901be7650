/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The names and contents of call trees' maps in the cache. Two programs read them: spi-codemap, and
 * the agent, which takes a map from the cache without starting a process.
 *
 * A file's name follows from what the agent knows of an object: build-id, path, and the identity of
 * its file (device, inode, size, times). Behind the map, at the next multiple of 8, are the
 * witnesses: every other file that the map depends on, which are the analysing program and the
 * paths at which debug files were looked for. Each witness has the identity that its file had
 * then; 0: there was no such file. A map holds as long as all witnesses are as they were.
 */
#ifndef CODEMAP_MAP_CACHE_KEY_H
#define CODEMAP_MAP_CACHE_KEY_H

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include "codemap/base/hash.h"
#include "codemap/map/format.h"

#define SPI_WITNESS_MAGIC	UINT64_C(0x53534e5449575053)	/* "SPWITNSS" */
#define SPI_WITNESS_BYTES	8192u	/* of all of them: a map with more is not cached */
#define SPI_TREE_NAME_SIZE	104u

struct spi_witness_head {
	uint64_t magic;
	uint32_t bytes;		/* of the head and all records; they end the file */
	uint32_t count;
};

struct spi_witness {
	uint64_t identity;
	uint32_t size;		/* of this record, a multiple of 8 */
	char path[];		/* NUL-terminated, inside the record */
};

/* Which file it is, and in which state; never 0. */
static inline uint64_t spi_file_identity(uint64_t seed, const struct stat *st)
{
	uint64_t words[7], identity;

	words[0] = st->st_dev;
	words[1] = st->st_ino;
	words[2] = (uint64_t) st->st_size;
	words[3] = (uint64_t) st->st_mtim.tv_sec;
	words[4] = (uint64_t) st->st_mtim.tv_nsec;
	words[5] = (uint64_t) st->st_ctim.tv_sec;
	words[6] = (uint64_t) st->st_ctim.tv_nsec;
	identity = spi_hash_bytes(seed, words, sizeof(words));
	return identity ? identity : 1;
}

static inline void spi_tree_name_hex(char **at, uint64_t value, unsigned int digits)
{
	while (digits--)
		*(*at)++ = "0123456789abcdef"[value >> 4 * digits & 15];
}

/* BUILD-ID-HASH-tree; the hash is of the format's version, the object's path and its identity. */
static inline void spi_tree_name(char name[SPI_TREE_NAME_SIZE], const uint8_t *build_id, uint32_t size, const char *path,
	uint64_t identity)
{
	uint64_t hash = spi_hash_bytes(SPI_MAP_VERSION, path, strlen(path));
	char *at = name;

	for (uint32_t i = 0; i < size && i < 32; i++)
		spi_tree_name_hex(&at, build_id[i], 2);
	*at++ = '-';
	spi_tree_name_hex(&at, spi_hash_bytes(hash, &identity, sizeof(identity)), 16);
	__builtin_memcpy(at, "-tree", 6);
}

#endif /* CODEMAP_MAP_CACHE_KEY_H */
