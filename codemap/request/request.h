/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * One request for one object. The supervising process (main.c, request/answer.c) hands it to
 * the analysing one (request/request.c), which runs in the sandbox and opens nothing.
 */
#ifndef CODEMAP_REQUEST_H
#define CODEMAP_REQUEST_H

#include "codemap/elf/functions.h"
#include "codemap/elf/object.h"

enum request_kind { REQUEST_MAP, REQUEST_LIST, REQUEST_FIND, REQUEST_TREE, REQUEST_WHICH, REQUEST_EACH };

struct request {
	enum request_kind kind;
	const struct pattern *patterns;
	unsigned int pattern_count;
	uint32_t limit;			/* functions at most, 0: no limit */
	int has_detail;			/* REQUEST_TREE: with struct spi_map_detail, and source lines */
	const char *find_name;
};

/*
 * Answer the request: write a map, find's lines, a '0', '1' or '-' for each pattern (none,
 * functions, parts or stubs alone), or each pattern's map (map/each.h), to out_fd. Returns the
 * process's exit status.
 */
int request_run(const struct request *request, struct object *object, int out_fd);

/*
 * detail.c: prototypes of all functions, for their source lines; before tree_make(). Then the lines into the tree's
 * map.
 */
const struct spi_map_header *detail_types(struct object *object, struct functions *functions);
struct tables;
void detail_sources(const struct spi_map_header *types, struct tables *tables);

/* text.c: `spi-codemap text ADDRESS BYTES`: the instructions, a line each. Ends the process's work: its exit status. */
int text_write(const char *address, const char *bytes, int out_fd);

/* prototypes.c: print what the files of prototypes declare, from the one numbered `from` on. The exit status. */
int prototypes_print(unsigned int from, int is_quiet);

/*
 * find.c: write lines "distance<TAB>name" of functions that are called `name`
 * (distance 0), or else of those whose names come nearest; find_print() prints
 * the best of all such lines. Returns EXIT_DONE when one was exact, else EXIT_BAD.
 */
void find_write(const struct functions *functions, const char *name, int out_fd);
int find_print(const char *lines, size_t size);

#endif /* CODEMAP_REQUEST_H */
