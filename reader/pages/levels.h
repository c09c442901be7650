/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls at all levels of detail, so that a page draws hours and nanoseconds alike without looking at each call.
 *
 * Level n has bound 64 ns * 4^n. A call is kept by itself in the level of its duration, the first whose bound is
 * above it. Each level also has blocks: runs of all calls of a thread's row below the bound, with no gap as long
 * as the bound between two. Where a pixel is as long as a level's bound, the calls of higher levels and the blocks
 * of this one are the whole picture.
 *
 * Both are in chunks of calls, packed. When all chunks together exceed a limit, calls of the lowest level go: blocks
 * remain of them.
 */
#ifndef SPI_READER_LEVELS_H
#define SPI_READER_LEVELS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define LEVELS		20u
#define LEVEL_COLUMNS	7u
#define LEVEL_DEEPEST	1000u		/* rows of a thread */

struct level_call {
	uint32_t thread, function, depth;
	int64_t begin, duration;	/* ns; begin: may be negative */
	int64_t inner;			/* ns in the calls that it made; of a block: in its calls */
	int left;			/* enum spi_left, or CALL_... */
	const char *text;		/* values; no NUL ends them */
	size_t text_size;
};

struct level_chunk {
	int is_blocks;
	uint32_t level, count;
	int64_t begin, end;		/* ns */
	size_t size;			/* 0: gone */
	uint8_t *data;			/* as zlib has it: the count, then column by column; see levels.c */
};

struct levels {
	size_t limit, size;		/* bytes, packed */
	uint32_t least;			/* the lowest level whose calls are kept; of the one below it, and all above, blocks are */
	uint64_t counts[LEVELS];	/* calls */
	uint64_t too_deep;		/* calls deeper than LEVEL_DEEPEST: in the last row */
	struct level_chunk *chunks;
	uint32_t chunk_count, chunk_room;
	/* levels.c's */
	struct level_open *open;	/* [is_blocks][level] */
	struct level_thread *threads;
	uint32_t thread_room;
};

/* 0 or -ENOMEM */
int levels_init(struct levels *levels, size_t limit);
int levels_add(struct levels *levels, const struct level_call *call);
/* All calls were given: chunks has all. */
int levels_end(struct levels *levels);
/* How many rows a thread has. */
uint32_t levels_depth(const struct levels *levels, uint32_t thread);
void levels_free(struct levels *levels);

#endif /* SPI_READER_LEVELS_H */
