/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* One request for one object, as the supervising process (main.c) hands it to the analysing one (request.c). */
#ifndef CODEMAP_REQUEST_H
#define CODEMAP_REQUEST_H

#include "codemap/functions.h"
#include "codemap/image.h"
#include "codemap/map-each.h"

enum request_kind { REQUEST_MAP, REQUEST_LIST, REQUEST_FIND, REQUEST_TREE, REQUEST_WHICH, REQUEST_EACH };

struct request {
	enum request_kind kind;
	const struct pattern *patterns;
	unsigned int pattern_count;
	uint32_t limit;			/* functions at most, 0: no limit */
	const char *find_name;
};

/* An object and the files that may hold its debug info, open and mapped. */
struct object {
	const char *name;		/* FILE as the user wrote it */
	struct image *image;
	struct image *debug;		/* separate debug file, NULL: none */
	const char *debug_name;
	int debug_by_link;		/* found by .gnu_debuglink: its checksum must be compared */
	uint32_t debug_crc;
	struct image *alt;		/* dwz's supplementary file, NULL: none */
	uint64_t identity;		/* which files exactly these are: device, inode, size, times */
	uint64_t file_identity;		/* of FILE alone */
	struct text debug_lost;		/* what of its debug info cannot be read, and why; empty: nothing is known of */
	struct text witnesses;		/* what else the answer depends on, as the cache keeps it (cache-key.h) */
	const struct spi_map_header *types;	/* cached prototypes of all functions, NULL: none */
	int wants_marks;		/* write new marks to marks_out (marks.h) */
	int marks_in, marks_out;	/* -1: none */
	uint64_t marks_key;
	int walk_only;			/* read debug info from the front */
};

/* debug-lost.c: add "WHAT: WHY" to what is said of debug info that cannot be read; once each. */
void debug_lose(struct object *object, const char *what, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* What the reader of DWARF met, once functions were looked for. `none`: it found no types at all. */
struct dw_file;
void debug_judge(struct object *object, struct dw_file *file, int none);

/* debugfile.c: open FILE, or take it from fd (-1: none), and what belongs to it. Ends the process on bad input. */
struct object *object_open(const char *name, int fd, const char *root);
/* In the sandbox: read the headers of all of them, which object_open() has not. */
void object_read(struct object *object);

/*
 * request.c: answer the request: write a map, find's lines, a '0', '1' or '-' for each pattern (none, functions, parts or
 * stubs alone), or each pattern's map (map-each.h), to out_fd.
 * Returns the process's exit status. Runs in the sandbox: opens nothing.
 */
int request_run(const struct request *request, struct object *object, int out_fd);

/*
 * find.c: write lines "distance<TAB>name" of functions that are called `name`
 * (distance 0), or else of those whose names come nearest; find_print() prints
 * the best of all such lines. Returns EXIT_DONE when one was exact, else EXIT_BAD.
 */
void find_write(const struct functions *functions, const char *name, int out_fd);
int find_print(const char *lines, size_t size);

/* sandbox.c: from here on this process can read and write what it has, and nothing else; `talks`: and send and receive by sockets that it has. */
void sandbox_enter(int talks);

/* cache.c: see there. All do nothing when there is no cache. */
void cache_open(void);
char *cache_name(const struct object *object, const char *kind, uint64_t hash);
char *cache_tree_name(const struct object *object);
const struct spi_map_header *cache_read(const struct object *object, const char *name, int is_tree, uint64_t *size);
int cache_open_file(const char *name, uint64_t *size);	/* a file that may be trusted, or -1 */
void cache_remove(const char *name);
void cache_write(const char *name, const void *data, uint64_t size);
void cache_write_tree(const struct object *object, const char *name, const void *data, uint64_t size);

#endif /* CODEMAP_REQUEST_H */
