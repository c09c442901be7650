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
 * Code is a memfd mapped twice, to write and to run, and closed at once: no page
 * is ever both, no descriptor is left for the program to close or to inherit.
 * After a fork these pages are shared with the parent, so the child writes none
 * of them again: it takes new chunks, and copies a page before it adds to it.
 */
#include <errno.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include "liblttng-spi/patch/near-places.h"
#include "liblttng-spi/patch/internal.h"

/* A chunk of code: a quarter is code, half of it describes the frames there (frames.c), two bytes a byte. */
#define CODE_PART(size)	((size) / 4)
#define DATA_CHUNK	(1u << 20)
#define CHUNK_LEAST	(64u << 10)	/* tried when the usual size is refused: ulimit -v */
#define REACH		(UINT64_C(0x7fff0000))	/* from the lowest to the highest byte of an object's arena */
#define AHEAD_MAX	(32 * SPI_PAGE)
#define STRIDE_PROBES	8u		/* in vain, before the next ones are four times as far apart */
#define STRIDE_SHIFT_MAX 6u

struct chunk {
	struct chunk *next;
	uint64_t rx;			/* where it runs, or is read */
	uint8_t *rw;
	uint32_t size, used;
	uint32_t ready;			/* up to there its pages were asked for ahead of their use */
	uint32_t frozen;		/* shared with another process: not to be written */
};

struct spi_arena {
	struct spi_arena *next;
	uint64_t object_low, object_high;
	uint64_t low, high;		/* of the object and all chunks, former objects included */
	const struct spi_object *left;	/* whose it was, and that was unloaded */
	uint64_t below, above;		/* next addresses to try */
	struct chunk *code, *data;	/* the first of each list has room */
};

static struct spi_arena *arenas;

/* ---- where ---- */

/*
 * How far below the last place that was taken to look next: what lies below libraries, as ring buffers, is often a hundred
 * chunks large. What is passed by is found where only smaller chunks are asked for.
 */
static uint64_t arena_step(const struct spi_arena *arena, uint64_t size, uint32_t failed)
{
	uint32_t shift = failed / STRIDE_PROBES * 2;
	uint64_t step = size < CODE_CHUNK ? size : size << (shift < STRIDE_SHIFT_MAX ? shift : STRIDE_SHIFT_MAX);

	return arena->below >= LOWEST + step && arena->high - (arena->below - step) <= REACH ? step : size;
}

/*
 * Reserve size bytes that keep the arena within REACH; the mapping has no access rights yet. 0: none. A process that has all the
 * memory that its limit lets it have (RLIMIT_AS) gets none anywhere.
 */
static uint64_t arena_reserve(struct spi_arena *arena, uint64_t size)
{
	uint32_t failed = 0;
	int refused;

	while ((arena->below = spi_place_below(arena->below, size)) >= LOWEST + size && arena->high - (arena->below - size) <= REACH) {
		uint64_t step = arena_step(arena, size, failed), at = arena->below -= step;

		if (spi_near_is_reserved(at, at + size, LOWEST))
			continue;
		refused = spi_map_reserve(at, size);
		if (refused == 0) {
			arena->low = at < arena->low ? at : arena->low;
			return at;
		}
		if (refused == -ENOMEM)
			return 0;
		spi_place_is_taken(at, step);
		failed++;
	}
	while (arena->above + size - arena->low <= REACH && arena->above + size <= HIGHEST) {
		uint64_t at = arena->above, end;

		if ((end = spi_heap_end(at, at + size))) {
			arena->above = (end + size) & ~(size - 1);
			continue;
		}
		arena->above += size;
		refused = spi_near_is_reserved(at, at + size, LOWEST) ? -EEXIST : spi_map_reserve(at, size);
		if (refused == 0) {
			arena->high = at + size > arena->high ? at + size : arena->high;
			return at;
		}
		if (refused == -ENOMEM)
			return 0;
	}
	return 0;
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
	arena->below = low & ~(uint64_t) (CODE_CHUNK - 1);
	arena->above = (high + CODE_CHUNK - 1) & ~(uint64_t) (CODE_CHUNK - 1);
	object->arena = arena;
	return arena;
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

/* spi_code_map() without a file (RLIMIT_FSIZE). An old size of 0 makes a second mapping of shared pages. */
static uint64_t code_map_shared(uint64_t rx, uint64_t size, uint8_t **rw)
{
	uint64_t alias = spi_mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
	uint64_t flags = MREMAP_MAYMOVE | (rx ? MREMAP_FIXED : 0);
	long code = alias ? spi_raw6(SYS_mremap, alias, 0, size, flags, rx, 0) : -ENOMEM;

	if (!spi_raw_failed(code) && spi_raw3(SYS_mprotect, (uint64_t) code, size, PROT_READ | PROT_EXEC) == 0) {
		*rw = (uint8_t *) alias;
		return (uint64_t) code;
	}
	if (!spi_raw_failed(code) && !rx)
		spi_munmap((uint64_t) code, size);
	if (alias)
		spi_munmap(alias, size);
	return 0;
}

/*
 * Replace the reserved pages at `rx` (0: anywhere) by code that *rw writes. A
 * system without memfd gets plain memory that is both.
 */
uint64_t spi_code_map(uint64_t rx, uint64_t size, uint8_t **rw)
{
	int fixed = rx ? MAP_FIXED : 0, fits = spi_file_fits(size);
	long fd = fits ? spi_raw3(SYS_memfd_create, (uint64_t) "lttng-spi", MFD_CLOEXEC, 0) : -EFBIG;
	uint64_t alias = 0, code = fits ? 0 : code_map_shared(rx, size, rw);

	if (code)
		return code;
	if (fd >= 0) {
		if (spi_raw3(SYS_ftruncate, (uint64_t) fd, size, 0) == 0)
			alias = spi_mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED, (int) fd);
		if (alias)
			code = spi_mmap(rx, size, PROT_READ | PROT_EXEC, MAP_SHARED | fixed, (int) fd);
		spi_raw3(SYS_close, (uint64_t) fd, 0, 0);
		if (code) {
			*rw = (uint8_t *) alias;
			return code;
		}
		if (alias)
			spi_munmap(alias, size);
	}
	code = spi_mmap(rx, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1);
	*rw = (uint8_t *) code;
	return code;
}

static struct chunk *chunk_new(struct spi_arena *arena, uint32_t least, uint32_t usual, int is_code)
{
	struct chunk *chunk = spi_alloc(sizeof(*chunk));
	uint32_t size = usual;
	uint64_t at = 0;

	if (!chunk)
		return NULL;
	while (size < least)
		size *= 2;
	spi_near_look(0);
	while (!(at = arena_reserve(arena, size))) {
		if (spi_heap_is_spared()) {
			spi_near_look(1);
		} else if (size > CHUNK_LEAST && size / 2 >= least) {
			size /= 2;
			spi_near_look(0);
		} else {
			break;
		}
		arena->below = SPI_PAGE_OF(arena->object_low) & ~(uint64_t) (size - 1);
		arena->above = (arena->object_high + size - 1) & ~(uint64_t) (size - 1);
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
		int prot = (uint64_t) chunk->rw == at ? PROT_READ | PROT_WRITE : PROT_READ;

		chunk->size = CODE_PART(size);
		spi_raw3(SYS_mprotect, at + chunk->size, size - chunk->size, (uint64_t) prot);
		spi_frames_register(at, chunk->size, at + chunk->size);
	} else {
		chunk->rw = (uint8_t *) at;
		chunk->size = size;
	}
	return chunk;
}

static struct chunk *chunk_with_room(struct spi_arena *arena, struct chunk **list, uint32_t size, uint32_t usual,
	int is_code)
{
	struct chunk *chunk = *list;

	if (chunk && !chunk->frozen && chunk->size - chunk->used >= size)
		return chunk;
	chunk = chunk_new(arena, is_code ? size * 4 : size, usual, is_code);
	if (chunk) {
		chunk->next = *list;
		*list = chunk;
	}
	return chunk;
}

/*
 * Up to `end` of the chunk is about to be written. A chunk that grows gets the pages that it will need next at once,
 * a quarter of what it has: each would cost a fault, those of code two. Linux before 5.14 has no such advice.
 */
static void chunk_ready(struct chunk *chunk, uint32_t end, int is_code)
{
	static int is_missing;
	uint32_t from = chunk->ready, ahead = end / 4, to;

	if (end <= chunk->ready || is_missing)
		return;
	if (ahead > AHEAD_MAX)
		ahead = AHEAD_MAX;
	to = (uint32_t) SPI_PAGE_OF((uint64_t) end + ahead + SPI_PAGE - 1);
	if (to > chunk->size)
		to = chunk->size;
	chunk->ready = to;
	if (to < from + 2 * SPI_PAGE)
		return;		/* one fault is as good */
	is_missing = spi_raw3(SYS_madvise, (uint64_t) chunk->rw + from, to - from, MADV_POPULATE_WRITE) == -EINVAL;
	if (!is_code || (uint64_t) chunk->rw == chunk->rx)
		return;
	spi_raw3(SYS_madvise, chunk->rx + from, to - from, MADV_POPULATE_READ);
	spi_raw3(SYS_madvise, (uint64_t) chunk->rw + chunk->size + 2 * from, 2 * (to - from), MADV_POPULATE_WRITE);
}

void *spi_near_data(struct spi_object *object, size_t size, size_t align)
{
	struct spi_arena *arena = arena_of(object);
	struct chunk *chunk;
	uint32_t at;

	if (!arena || size > DATA_CHUNK * 16u || align > SPI_PAGE)
		return NULL;
	if (align < 8)
		align = 8;
	chunk = chunk_with_room(arena, &arena->data, (uint32_t) (size + align), DATA_CHUNK, 0);
	if (!chunk)
		return NULL;
	at = (uint32_t) ((chunk->used + align - 1) & ~(align - 1));
	chunk_ready(chunk, at + (uint32_t) size, 0);
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
	uint32_t size = CODE_CHUNK, data_size = DATA_CHUNK;
	int result = -ENOSPC;

	while (CODE_PART(size) < code)
		size *= 2;
	while (data_size < data)
		data_size *= 2;
	if (arena && chunk_with_room(arena, &arena->code, code < CODE_PART(size) ? code : CODE_PART(size), size, 1) &&
			chunk_with_room(arena, &arena->data, data < data_size ? data : data_size, data_size, 0))
		result = 0;
	spi_patch_unlock(before);
	return result;
}

int spi_near_code(struct spi_object *object, struct spi_emit *emit, uint32_t size)
{
	struct spi_arena *arena = arena_of(object);
	struct chunk *chunk = arena ? chunk_with_room(arena, &arena->code, size, CODE_CHUNK, 1) : NULL;

	if (!chunk)
		return -ENOSPC;
	chunk_ready(chunk, chunk->used + size, 1);
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

int spi_near_code_has(uint64_t address)
{
	for (const struct spi_arena *arena = arenas; arena; arena = arena->next)
		for (const struct chunk *chunk = arena->code; chunk; chunk = chunk->next)
			if (address - chunk->rx < chunk->size)
				return 1;
	return 0;
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
			chunk->frozen = (uint64_t) chunk->rw != chunk->rx;
}
