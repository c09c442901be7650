/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A chunk's columns, all of variable-length numbers (7 bits a byte, the lowest first): begin (the difference to the
 * one before, zigzag), duration, inner, function, thread, depth * 2 + more; then for each call with more: how it was
 * left (zigzag), and its text's length and bytes. Blocks have no `more`: their last column is how many calls they are.
 * A block's times are in sixteenths of its level's bound, which no picture shows finer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "reader/pages/levels.h"

#define CHUNK_CALLS	16384u
#define BLOCK_MOST	32		/* a block is at most so many bounds long */

struct column {
	uint8_t *data;
	size_t size, room;
};

struct level_open {
	uint32_t count;
	int64_t last, begin, end;
	struct column columns[LEVEL_COLUMNS];
};

struct block {
	int64_t begin, end, busy, function_busy;
	uint64_t count;
	uint32_t function;		/* the one with the most time, as far as one pass can say */
};

struct level_row {
	struct block blocks[LEVELS];
};

struct level_thread {
	struct level_row **rows;
	uint32_t room;
};

static int64_t bound(uint32_t level)
{
	return INT64_C(64) << 2 * level;
}

/* ---- columns ---- */

static int column_bytes(struct column *c, const void *data, size_t size)
{
	if (c->size + size > c->room) {
		size_t room = c->room ? c->room * 2 : 4096;
		uint8_t *more;

		while (room < c->size + size)
			room *= 2;
		more = realloc(c->data, room);
		if (!more)
			return -ENOMEM;
		c->data = more;
		c->room = room;
	}
	memcpy(c->data + c->size, data, size);
	c->size += size;
	return 0;
}

static int column_add(struct column *c, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	do {
		bytes[n++] = (uint8_t) ((value & 127) | (value > 127 ? 128 : 0));
	} while (value >>= 7);
	return column_bytes(c, bytes, n);
}

static uint64_t zigzag(int64_t value)
{
	return (uint64_t) value << 1 ^ (uint64_t) (value >> 63);
}

/* ---- chunks ---- */

/* The lowest level's calls, and blocks that nothing needs then, are given up. */
static void least_raise(struct levels *l)
{
	l->least++;
	for (uint32_t i = 0; i < l->chunk_count; i++) {
		struct level_chunk *chunk = &l->chunks[i];

		if (!chunk->size || chunk->level + (uint32_t) chunk->is_blocks >= l->least)
			continue;
		l->size -= chunk->size;
		free(chunk->data);
		chunk->data = NULL;
		chunk->size = 0;
	}
}

static int columns_join(const struct level_open *open, struct column *all)
{
	int r = column_add(all, open->count);

	for (uint32_t i = 0; r == 0 && i < LEVEL_COLUMNS; i++)
		if (open->columns[i].size)
			r = column_bytes(all, open->columns[i].data, open->columns[i].size);
	return r;
}

static int chunk_pack(struct level_chunk *chunk, const struct column *all)
{
	uLongf size = compressBound(all->size);
	uint8_t *smaller;

	chunk->data = malloc(size);
	if (!chunk->data || compress2(chunk->data, &size, all->data, all->size, 1) != Z_OK)
		return -ENOMEM;
	chunk->size = size;
	smaller = realloc(chunk->data, size);
	if (smaller)
		chunk->data = smaller;
	return 0;
}

static int chunk_close(struct levels *l, int is_blocks, uint32_t level)
{
	struct level_open *open = &l->open[(uint32_t) is_blocks * LEVELS + level];
	struct column all = { .data = NULL };
	struct level_chunk *chunk;
	int r;

	if (!open->count || level + (uint32_t) is_blocks < l->least)
		return 0;
	if (l->chunk_count == l->chunk_room) {
		uint32_t room = l->chunk_room ? l->chunk_room * 2 : 256;
		struct level_chunk *more = realloc(l->chunks, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		l->chunks = more;
		l->chunk_room = room;
	}
	chunk = &l->chunks[l->chunk_count++];
	*chunk = (struct level_chunk) { .is_blocks = is_blocks, .level = level, .count = open->count, .begin = open->begin,
		.end = open->end };
	r = columns_join(open, &all);
	if (r == 0)
		r = chunk_pack(chunk, &all);
	free(all.data);
	l->size += chunk->size;
	open->count = 0;
	for (uint32_t i = 0; i < LEVEL_COLUMNS; i++)
		open->columns[i].size = 0;
	while (l->size > l->limit && l->least < LEVELS - 1)
		least_raise(l);
	return r;
}

static int item_add(struct levels *l, int is_blocks, uint32_t level, const struct level_call *call, uint64_t count)
{
	struct level_open *open = &l->open[(uint32_t) is_blocks * LEVELS + level];
	struct column *c = open->columns;
	const int64_t unit = is_blocks ? bound(level) / 16 : 1;
	const int64_t begin = call->begin * unit, end = begin + call->duration * unit;
	const int has_more = !is_blocks && (call->left || call->text_size);
	int r;

	if (level + (uint32_t) is_blocks < l->least)
		return 0;
	r = column_add(&c[0], zigzag(call->begin - (open->count ? open->last : 0)));
	r |= column_add(&c[1], (uint64_t) call->duration);
	r |= column_add(&c[2], (uint64_t) (call->inner > 0 ? call->inner : 0));
	r |= column_add(&c[3], call->function);
	r |= column_add(&c[4], call->thread);
	r |= column_add(&c[5], (uint64_t) call->depth * 2 + (uint64_t) has_more);
	if (is_blocks)
		r |= column_add(&c[6], count);
	if (has_more) {
		r |= column_add(&c[6], zigzag(call->left));
		r |= column_add(&c[6], call->text_size);
		r |= column_bytes(&c[6], call->text, call->text_size);
	}
	if (!open->count || begin < open->begin)
		open->begin = begin;
	if (!open->count || end > open->end)
		open->end = end;
	open->last = call->begin;
	if (r == 0 && ++open->count == CHUNK_CALLS)
		r = chunk_close(l, is_blocks, level);
	return r ? -ENOMEM : 0;
}

/* ---- blocks ---- */

static struct level_row *row_get(struct levels *l, uint32_t thread, uint32_t depth)
{
	struct level_thread *t;

	if (thread >= l->thread_room) {
		uint32_t room = thread * 2 + 16;
		struct level_thread *more = realloc(l->threads, room * sizeof(*more));

		if (!more)
			return NULL;
		memset(more + l->thread_room, 0, (room - l->thread_room) * sizeof(*more));
		l->threads = more;
		l->thread_room = room;
	}
	t = &l->threads[thread];
	if (depth >= t->room) {
		uint32_t room = depth * 2 + 16;
		struct level_row **more = realloc(t->rows, room * sizeof(struct level_row *));

		if (!more)
			return NULL;
		memset(more + t->room, 0, (room - t->room) * sizeof(struct level_row *));
		t->rows = more;
		t->room = room;
	}
	if (!t->rows[depth])
		t->rows[depth] = calloc(1, sizeof(**t->rows));
	return t->rows[depth];
}

/* Does the new one go on where the block ends, or begins? */
static int is_near(const struct block *block, const struct block *next, int64_t most)
{
	const int64_t begin = next->begin < block->begin ? next->begin : block->begin;
	const int64_t end = next->end > block->end ? next->end : block->end;

	return next->begin - block->end <= most && block->begin - next->end <= most && end - begin <= BLOCK_MOST * most;
}

static void block_extend(struct block *block, const struct block *next)
{
	if (next->begin < block->begin)
		block->begin = next->begin;
	if (next->end > block->end)
		block->end = next->end;
	if (next->function == block->function) {
		block->function_busy += next->function_busy;
	} else if (next->function_busy > block->function_busy) {
		block->function = next->function;
		block->function_busy = next->function_busy;
	}
	block->busy += next->busy;
	block->count += next->count;
}

static int block_write(struct levels *l, uint32_t thread, uint32_t depth, uint32_t level, const struct block *block)
{
	const int64_t unit = bound(level) / 16;
	const int64_t begin = block->begin >= 0 ? block->begin / unit : -((unit - 1 - block->begin) / unit);
	const struct level_call call = { .thread = thread, .depth = depth, .function = block->function, .begin = begin,
		.duration = (block->end - begin * unit + unit - 1) / unit, .inner = (block->busy + unit / 2) / unit };

	return item_add(l, 1, level, &call, block->count);
}

/* A call or a block joins the level's open block of the row. What it takes the place of goes to the level above. */
static int block_feed(struct levels *l, uint32_t thread, uint32_t depth, uint32_t level, struct block next)
{
	struct level_row *row = row_get(l, thread, depth);

	if (!row)
		return -ENOMEM;
	for (; level < LEVELS; level++) {
		struct block *block = &row->blocks[level], before = *block;
		int r;

		if (block->count && is_near(block, &next, bound(level))) {
			block_extend(block, &next);
			return 0;
		}
		*block = next;
		if (!before.count)
			return 0;
		r = block_write(l, thread, depth, level, &before);
		if (r < 0)
			return r;
		next = before;
	}
	return 0;
}

static int row_end(struct levels *l, uint32_t thread, uint32_t depth, struct level_row *row)
{
	int r = 0;

	for (uint32_t level = 0; r == 0 && level < LEVELS; level++) {
		const struct block block = row->blocks[level];

		if (!block.count)
			continue;
		row->blocks[level].count = 0;
		r = block_write(l, thread, depth, level, &block);
		if (r == 0 && level + 1 < LEVELS)
			r = block_feed(l, thread, depth, level + 1, block);
	}
	return r;
}

/* ---- calls ---- */

int levels_init(struct levels *l, size_t limit)
{
	*l = (struct levels) { .limit = limit };
	l->open = calloc(2 * LEVELS, sizeof(*l->open));
	return l->open ? 0 : -ENOMEM;
}

int levels_add(struct levels *l, const struct level_call *given)
{
	struct level_call call = *given;
	struct block block = { .begin = call.begin, .count = 1, .function = call.function };
	uint32_t level = 0;
	int r;

	if (call.duration < 0)
		call.duration = 0;
	if (call.depth >= LEVEL_DEEPEST) {
		call.depth = LEVEL_DEEPEST - 1;
		l->too_deep++;
	}
	while (level < LEVELS - 1 && bound(level) <= call.duration)
		level++;
	l->counts[level]++;
	r = item_add(l, 0, level, &call, 1);
	block.end = call.begin + call.duration;
	block.busy = block.function_busy = call.duration;
	return r < 0 ? r : block_feed(l, call.thread, call.depth, level, block);
}

int levels_end(struct levels *l)
{
	int r = 0;

	for (uint32_t i = 0; i < l->thread_room; i++)
		for (uint32_t depth = 0; r == 0 && depth < l->threads[i].room; depth++)
			if (l->threads[i].rows[depth])
				r = row_end(l, i, depth, l->threads[i].rows[depth]);
	for (uint32_t level = 0; r == 0 && level < LEVELS; level++) {
		r = chunk_close(l, 0, level);
		if (r == 0)
			r = chunk_close(l, 1, level);
	}
	return r;
}

uint32_t levels_depth(const struct levels *l, uint32_t thread)
{
	uint32_t depth = thread < l->thread_room ? l->threads[thread].room : 0;

	while (depth && !l->threads[thread].rows[depth - 1])
		depth--;
	return depth;
}

void levels_free(struct levels *l)
{
	for (uint32_t i = 0; l->open && i < 2 * LEVELS; i++)
		for (uint32_t c = 0; c < LEVEL_COLUMNS; c++)
			free(l->open[i].columns[c].data);
	for (uint32_t i = 0; i < l->thread_room; i++) {
		for (uint32_t depth = 0; depth < l->threads[i].room; depth++)
			free(l->threads[i].rows[depth]);
		free(l->threads[i].rows);
	}
	for (uint32_t i = 0; i < l->chunk_count; i++)
		free(l->chunks[i].data);
	free(l->threads);
	free(l->chunks);
	free(l->open);
}
