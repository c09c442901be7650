/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Memory that patched code can reach.
 *
 * Arenas. Everything that belongs to one object (its code, stubs, points, gates)
 * lies within 2 GB, so that each part addresses the others rip-relative. Chunks
 * are taken below the object, as far as that goes; what is above a program is its
 * heap, which must be able to grow: nothing within a gigabyte above the break,
 * or 128 MB when there is no other place (near-places.c). (The gap that the kernel
 * leaves between a program and its heap is free for all.)
 * Code and data are never in one page: a store beside code that runs makes the
 * CPU throw away what it decoded.
 *
 * Code is shared memory mapped twice, to write and to run: no page is ever both.
 * After a fork these pages are shared with the parent, so the child writes none
 * of them again: it takes new chunks, and copies a page before it adds to it.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/internal.h"

/* A chunk of code: a quarter is code, half of it describes the frames there (frames.c), two bytes a byte. */
#define CODE_PART(size)	((size) / 4)
#define CHUNK		(1u << 20)	/* bytes of address space; pages are taken as they are written */
#define CHUNK_LEAST	(64u << 10)	/* tried when the usual size is refused: ulimit -v */
#define LOWEST		(UINT64_C(16) << 20)	/* below is where NULL + offset may land */
#define REACH		(UINT64_C(0x7fff0000))	/* from the lowest to the highest byte of an object's arena */

struct chunk {
	struct chunk *next;
	uint64_t rx;			/* where it runs, or is read */
	uint8_t *rw;
	uint32_t size, used;
	uint32_t frozen;		/* shared with another process: not to be written */
};

struct spi_arena {
	struct spi_arena *next;
	uint64_t object_low, object_high;
	uint64_t low, high;		/* of the object and all chunks, former objects included */
	const struct spi_object *left;	/* whose it was, and that was unloaded */
	struct chunk *code, *data;	/* the first of each list has room */
};

static struct spi_arena *arenas;

/* ---- where ---- */

/* The place is in reach, and nothing is known to be there. 1: it is reserved; 0; -1: the process gets no memory. */
static int arena_try(struct spi_arena *arena, uint64_t at, uint64_t size)
{
	int refused = spi_map_reserve(at, size);

	if (refused)
		return refused == -ENOMEM ? -1 : 0;
	arena->low = at < arena->low ? at : arena->low;
	arena->high = at + size > arena->high ? at + size : arena->high;
	return 1;
}

/*
 * Reserve size bytes that keep the arena within REACH: the nearest below the object, else above; the mapping has no
 * access rights yet. 0: none. A process that has all the memory that its limit lets it have (RLIMIT_AS) gets none.
 */
static uint64_t arena_reserve(struct spi_arena *arena, uint64_t size)
{
	const struct spi_place *obstacle;
	uint64_t at = (arena->object_low & ~(size - 1)) - size;
	int done = 0;

	while (at >= LOWEST && at < arena->high && arena->high - at <= REACH) {
		obstacle = spi_place_obstacle(at, at + size);
		if (!obstacle && (done = arena_try(arena, at, size)))
			return done > 0 ? at : 0;
		at = (obstacle ? obstacle->low & ~(size - 1) : at) - size;
	}
	at = (arena->object_high + size - 1) & ~(size - 1);
	at = at < LOWEST ? LOWEST : at;
	while (at + size - arena->low <= REACH && at + size <= HIGHEST_JUMP) {
		obstacle = spi_place_obstacle(at, at + size);
		if (!obstacle && (done = arena_try(arena, at, size)))
			return done > 0 ? at : 0;
		at = obstacle ? (obstacle->high + size - 1) & ~(size - 1) : at + size;
	}
	return 0;
}

/* The same; in a part of the room that the heap may want where there is no other place. */
static uint64_t arena_find(struct spi_arena *arena, uint64_t size)
{
	uint64_t at = 0;

	for (int into_heap_room = 0; into_heap_room < 2 && !at; into_heap_room++) {
		spi_near_look(into_heap_room);
		at = arena_reserve(arena, size);
	}
	return at;
}

/*
 * One whose object was unloaded, in reach; that of the same file before others, as its points are there. Nothing in it is
 * given back, as threads may still use what was made for that
 * object; but it has room left. A program that loads and unloads libraries for ever would else use up its mappings.
 */
static struct spi_arena *arena_left(const struct spi_object *object, uint64_t low, uint64_t high)
{
	struct spi_arena *best = NULL;

	for (struct spi_arena *arena = arenas; arena; arena = arena->next) {
		uint64_t lowest = low < arena->low ? low : arena->low, highest = high > arena->high ? high : arena->high;

		if (!arena->left || highest - lowest > REACH)
			continue;
		if (!best || spi_object_is_same_file(arena->left, object))
			best = arena;
	}
	if (best) {
		best->left = NULL;
		best->low = low < best->low ? low : best->low;
		best->high = high > best->high ? high : best->high;
	}
	return best;
}

static struct spi_arena *arena_of(struct spi_object *object)
{
	uint64_t low = SPI_PAGE_OF(object->low), high = SPI_PAGE_OF(object->high + SPI_PAGE - 1);
	struct spi_arena *arena = object->arena;

	if (arena)
		return arena;
	arena = arena_left(object, low, high);
	if (!arena) {
		arena = spi_alloc(sizeof(*arena));
		if (!arena)
			return NULL;
		arena->low = low;
		arena->high = high;
		arena->next = arenas;
		arenas = arena;
	}
	arena->object_low = low;
	arena->object_high = high;
	object->arena = arena;
	return arena;
}

void spi_near_join(struct spi_object *object, const struct spi_object *with)
{
	const uint64_t low = SPI_PAGE_OF(object->low), high = SPI_PAGE_OF(object->high + SPI_PAGE - 1);
	struct spi_arena *arena = with->arena;
	uint64_t lowest, highest;

	if (!arena)
		return;
	lowest = low < arena->low ? low : arena->low;
	highest = high > arena->high ? high : arena->high;
	if (highest - lowest > REACH)
		return;
	arena->low = lowest;
	arena->high = highest;
	object->arena = arena;
}

void spi_near_leave(struct spi_object *object)
{
	uint64_t before = spi_patch_lock();

	if (object->arena) {
		object->arena->object_low = object->arena->object_high = 0;
		object->arena->left = object;
		object->arena = NULL;
	}
	spi_patch_unlock(before);
}

int spi_near_has(const struct spi_object *object, const void *p)
{
	return object->arena && (uint64_t) p >= object->arena->low && (uint64_t) p < object->arena->high;
}

/* ---- chunks ---- */

static struct chunk *chunk_new(struct spi_arena *arena, uint32_t least, int is_code)
{
	struct chunk *chunk = spi_alloc(sizeof(*chunk));
	uint32_t most = CHUNK, size = 0;
	uint64_t at = 0;

	if (!chunk)
		return NULL;
	while (most < least)
		most *= 2;
	/* what the list of mappings has may be gone: it is read anew before there is no room */
	for (int is_fresh = 0; is_fresh < 2 && !at; is_fresh++) {
		if (is_fresh)
			spi_places_look();
		for (size = most; !(at = arena_find(arena, size)) && size > CHUNK_LEAST && size / 2 >= least; size /= 2)
			;
	}
	if (!at)
		return NULL;
	if (is_code)
		chunk->rx = spi_code_map(at, size, &chunk->rw);
	else
		chunk->rx = spi_mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1);
	if (!chunk->rx) {
		spi_munmap(at, size);
		return NULL;
	}
	if (is_code) {
		chunk->size = CODE_PART(size);
		spi_raw3(SYS_mprotect, at + chunk->size, size - chunk->size, PROT_READ);
		spi_frames_register(at, chunk->size, at + chunk->size);
	} else {
		chunk->rw = (uint8_t *) at;
		chunk->size = size;
	}
	return chunk;
}

static struct chunk *chunk_with_room(struct spi_arena *arena, struct chunk **list, uint32_t size, int is_code)
{
	struct chunk *chunk = *list;

	if (chunk && !chunk->frozen && chunk->size - chunk->used >= size)
		return chunk;
	chunk = chunk_new(arena, is_code ? size * 4 : size, is_code);
	if (chunk) {
		chunk->next = *list;
		*list = chunk;
	}
	return chunk;
}

void *spi_near_data(struct spi_object *object, size_t size, size_t align)
{
	struct spi_arena *arena = arena_of(object);
	struct chunk *chunk;
	uint32_t at;

	if (!arena || size > CHUNK * 16u || align > SPI_PAGE)
		return NULL;
	if (align < 8)
		align = 8;
	chunk = chunk_with_room(arena, &arena->data, (uint32_t) (size + align), 0);
	if (!chunk)
		return NULL;
	at = (uint32_t) ((chunk->used + align - 1) & ~(align - 1));
	chunk->used = at + (uint32_t) size;
	return chunk->rw + at;
}

void *spi_near_alloc(struct spi_object *object, size_t size, size_t align)
{
	uint64_t before = spi_patch_lock();
	void *p = spi_near_data(object, size, align);

	spi_patch_unlock(before);
	return p;
}

/*
 * Have this much at hand, in one piece each: what comes later, in a thread of the
 * program, then makes no chunk, and libgcc knows all of it.
 */
int spi_near_reserve(struct spi_object *object, uint32_t code, uint32_t data)
{
	uint64_t before = spi_patch_lock();
	struct spi_arena *arena = arena_of(object);
	int result = -ENOSPC;

	if (arena && chunk_with_room(arena, &arena->code, code, 1) && chunk_with_room(arena, &arena->data, data, 0))
		result = 0;
	spi_patch_unlock(before);
	return result;
}

int spi_near_code(struct spi_object *object, struct spi_emit *emit, uint32_t size)
{
	struct spi_arena *arena = arena_of(object);
	struct chunk *chunk = arena ? chunk_with_room(arena, &arena->code, size, 1) : NULL;

	if (!chunk)
		return -ENOSPC;
	emit->rx = chunk->rx + chunk->used;
	emit->rw = chunk->rw + chunk->used;
	emit->frames = (uint16_t *) (chunk->rw + chunk->size) + chunk->used;
	emit->size = size;
	chunk->used += size;
	return 0;
}

void spi_near_code_trim(struct spi_object *object, uint64_t end)
{
	struct chunk *chunk = object->arena->code;

	/* stubs begin at 32-byte boundaries: none shares its first fetch block with the end of another */
	chunk->used = (uint32_t) ((end - chunk->rx + 31) & ~UINT64_C(31));
}

static const struct chunk *code_at(uint64_t address)
{
	for (const struct spi_arena *arena = arenas; arena; arena = arena->next)
		for (const struct chunk *chunk = arena->code; chunk; chunk = chunk->next)
			if (address - chunk->rx < chunk->size)
				return chunk;
	return NULL;
}

int spi_near_code_has(uint64_t address)
{
	return code_at(address) != NULL;
}

/* What has just been run, or is about to be: it can be read. */
static int copy_here(void *to, uint64_t from, size_t n)
{
	spi_bytes_copy(to, (const void *) from, n);
	return 0;
}

int spi_near_leads_to(uint64_t address)
{
	uint64_t to;

	for (const struct spi_arena *arena = arenas; arena; arena = arena->next)
		if (address >= arena->object_low && address < arena->object_high)
			return 0;
	if (!spi_page_readable(address))
		return 0;		/* code that can only be run */
	to = spi_code_jump_target(address, copy_here);
	return to && spi_near_code_has(to);
}

void spi_near_fork_child(void)
{
	for (struct spi_arena *arena = arenas; arena; arena = arena->next)
		for (struct chunk *chunk = arena->code; chunk; chunk = chunk->next)
			chunk->frozen = 1;
}
