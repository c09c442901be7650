/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Code maps that were made a moment ago, for the next process that asks for the same. */
#ifndef SPI_INJECTOR_SERVE_KEPT_MAP_H
#define SPI_INJECTOR_SERVE_KEPT_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "liblttng-spi/base/agent-proto.h"

#define SPI_KEPT_BYTES	(32 << 20)	/* larger maps are not kept */

struct spi_control;
struct spi_root;

struct spi_map_file {
	uint64_t device, inode, size;
	int64_t modified_s, modified_ns, changed_s, changed_ns;
};

struct spi_map_key {
	struct {
		struct spi_map_file object;
		uint64_t root_namespace, root_device, root_inode;	/* 0: our own root */
		uint32_t uid, gid, limit, flags;
		uint64_t prototypes;	/* spi_prototypes.hash */
	} same;
	char *words;		/* path and patterns, from malloc(); NULL: nothing is kept under this key */
	size_t words_size;
};

/* `file` may be NULL. 0; -1 when nothing is to be kept. spi_map_key_free() in both cases. */
int spi_map_key_make(struct spi_map_key *key, const struct spi_root *root, uid_t uid, gid_t gid,
		     const struct spi_msg_map_request *request, const struct spi_msg_map_file *file, const char *path, const char *patterns);
int spi_map_key_other(struct spi_map_key *other, const struct spi_map_key *key, const char *path, const char *patterns);
void spi_map_key_free(struct spi_map_key *key);
/* The same map; the same object under this path, whatever is asked about it. */
bool spi_map_key_same(const struct spi_map_key *a, const struct spi_map_key *b);
bool spi_map_key_same_object(const struct spi_map_key *a, const struct spi_map_key *b, const char *path);

/*
 * Is the answer known? Then *fd is a descriptor of the map, the caller's to close,
 * or -1 when nothing matches, as *why says (valid until the next call).
 */
bool spi_kept_map_find(struct spi_control *control, const struct spi_map_key *key, int *fd, const char **why);
/* Keep a sealed map, or with fd -1 that nothing matches; takes the key's text over. */
void spi_kept_map_add(struct spi_control *control, struct spi_map_key *key, int fd, const char *why);
void spi_kept_maps_free(struct spi_control *control);

#endif /* SPI_INJECTOR_SERVE_KEPT_MAP_H */
