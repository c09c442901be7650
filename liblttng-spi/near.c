/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Memory that patched code can reach.
 *
 * Arenas. Everything that belongs to one object (its code, stubs, points, gates)
 * lies within 2 GB, so that each part addresses the others rip-relative. Chunks
 * are taken below the object, as far as that goes; what is above a program is its
 * heap, which must be able to grow: nothing within HEAP_ROOM above the break,
 * or HEAP_ROOM_LEAST when there is no other place. (The gap that the kernel
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
#include <linux/futex.h>
#include <linux/memfd.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "liblttng-spi/steps.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* A chunk of code: a quarter is code, half of it describes the frames there (frames.c), two bytes a byte. */
#define CODE_CHUNK	(1u << 20)	/* bytes of address space; pages are taken as they are written */
#define CODE_PART(size)	((size) / 4)
#define DATA_CHUNK	(1u << 20)
#define CHUNK_LEAST	(64u << 10)	/* tried when the usual size is refused: ulimit -v */
#define REACH		(UINT64_C(0x7fff0000))	/* from the lowest to the highest byte of an object's arena */
#define HEAP_ROOM	(UINT64_C(1) << 30)	/* as far as there is another way */
#define HEAP_ROOM_LEAST	(UINT64_C(128) << 20)	/* beyond that malloc goes on with mmap() */
#define STACK_ROOM	(UINT64_C(64) << 20)	/* at least, when the stack's limit is lower */
#define LOWEST		(UINT64_C(16) << 20)	/* chunks; below is where NULL + offset may land */
#define HIGHEST		(UINT64_C(0x7fffffff0000))
#define TAKEN_MAX	8u
#define AHEAD_MAX	(32 * SPI_PAGE)

struct chunk {
	struct chunk *next;
	uint64_t rx;			/* where it runs, or is read */
	uint8_t *rw;
	uint32_t size, used;
	uint32_t ready;			/* up to there its pages were asked for ahead of their use */
	uint32_t frozen;		/* shared with another process: not to be written */
};

/*
 * The patch lock: near memory, the byte index, the table of int3 and text being
 * written by threads of the program (call trees) or by the control side. A futex;
 * its holder takes no signal that could come from elsewhere and calls nothing outside of the agent, so nobody can
 * wait for himself. Innermost: taken under the control lock and the dynamic
 * linker's, never the other way round. What would take another lock, telling
 * libgcc about frames, is put off until the control side comes by.
 */
static int patch_lock;

uint64_t spi_patch_lock(void)
{
	/* what our own reads of memory may raise, and int3, which another thread must not take for blocked by the program */
	uint64_t most = ~(SPI_SIGNAL_BIT(SIGSEGV) | SPI_SIGNAL_BIT(SIGBUS) | SPI_SIGNAL_BIT(SIGTRAP)), before;
	int seen = 0;

	before = spi_signals_hold(most);
	if (!__atomic_compare_exchange_n(&patch_lock, &seen, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		while (__atomic_exchange_n(&patch_lock, 2, __ATOMIC_ACQUIRE))
			spi_raw4(SYS_futex, (uint64_t) &patch_lock, FUTEX_WAIT_PRIVATE, 2, 0);
	return before;
}

void spi_patch_unlock(uint64_t before)
{
	if (__atomic_exchange_n(&patch_lock, 0, __ATOMIC_RELEASE) == 2)
		spi_raw3(SYS_futex, (uint64_t) &patch_lock, FUTEX_WAKE_PRIVATE, 1);
	spi_signals_release(before);
}

struct spi_arena {
	struct spi_arena *next;
	uint64_t object_low, object_high;
	uint64_t low, high;		/* of the object and all chunks */
	uint64_t below, above;		/* next addresses to try */
	struct chunk *code, *data;	/* the first of each list has room */
};

static struct spi_arena *arenas;
static uint64_t heap_room = HEAP_ROOM;

/* ---- anywhere ---- */

uint64_t spi_mmap(uint64_t address, uint64_t size, int prot, int flags, int fd)
{
	long ret = spi_raw6(SYS_mmap, address, size, (uint64_t) prot, (uint64_t) flags, (uint64_t) (int64_t) fd, 0);

	return spi_raw_failed(ret) ? 0 : (uint64_t) ret;
}

void spi_munmap(uint64_t address, uint64_t size)
{
	spi_raw3(SYS_munmap, address, size, 0);
}

struct pool {
	uint64_t used, size;
};
static struct pool *pool;

/* Any thread, any time: the current pool's cursor is moved atomically, a race for a new pool is lost without harm. */
void *spi_alloc(size_t size)
{
	size = (size + 15) & ~(size_t) 15;
	if (size >= 64 << 10)
		return (void *) spi_mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	for (;;) {
		struct pool *p = __atomic_load_n(&pool, __ATOMIC_ACQUIRE), *fresh;

		if (p) {
			uint64_t at = __atomic_fetch_add(&p->used, size, __ATOMIC_RELAXED);

			if (at + size <= p->size)
				return (uint8_t *) p + at;
		}
		fresh = (struct pool *) spi_mmap(0, 256 << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		if (!fresh)
			return NULL;
		fresh->used = 64;
		fresh->size = 256 << 10;
		if (!__atomic_compare_exchange_n(&pool, &p, fresh, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			spi_munmap((uint64_t) fresh, 256 << 10);
	}
}

/* ---- where ---- */

/* Where the heap and the main thread's stack are now, and may grow to. */
static struct {
	uint64_t heap, stack, stack_end;
} growing;

void spi_near_look(int into_heap_room)
{
	static uint64_t stack;		/* somewhere in the main thread's stack, near its upper end */
	uint64_t limit[2] = { 0, 0 }, room = STACK_ROOM;

	if (!stack)
		stack = getauxval(AT_RANDOM);
	spi_raw4(SYS_prlimit64, 0, RLIMIT_STACK, 0, (uint64_t) limit);
	if (limit[0] > room)
		room = limit[0] < UINT64_C(1) << 34 ? limit[0] : UINT64_C(1) << 30;
	growing.heap = (uint64_t) spi_raw3(SYS_brk, 0, 0, 0);
	growing.stack = stack - room;
	growing.stack_end = stack + (1 << 20);
	heap_room = into_heap_room ? HEAP_ROOM_LEAST : HEAP_ROOM;
}

int spi_near_is_reserved(uint64_t low, uint64_t high, uint64_t lowest)
{
	if (low < lowest || high > HIGHEST)
		return 1;
	if (low < growing.heap + heap_room && high > growing.heap)
		return 1;
	return low < growing.stack_end && high > growing.stack;
}

int spi_map_reserve(uint64_t address, uint64_t size)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
	uint64_t got = spi_mmap(address, size, PROT_NONE, flags, -1);

	if (got == address)
		return 0;
	if (got)	/* a kernel before 4.17 */
		spi_munmap(got, size);
	return -1;
}

/*
 * Where no whole chunk was free: other libraries, and the return slots. Libraries lie side by side, so the next one's
 * search would pass by the same 200 places. What the program frees there meanwhile is found by smaller chunks.
 */
static struct {
	uint64_t low, high;
} taken[TAKEN_MAX];
static uint32_t taken_next;

static void taken_add(uint64_t at, uint64_t size)
{
	if (size != CODE_CHUNK)
		return;
	for (uint32_t i = 0; i < TAKEN_MAX; i++) {
		if (taken[i].low == at + size)
			taken[i].low = at;
		else if (taken[i].high == at && at)
			taken[i].high = at + size;
		else
			continue;
		return;
	}
	taken[taken_next].low = at;
	taken[taken_next].high = at + size;
	taken_next = (taken_next + 1) % TAKEN_MAX;
}

void spi_near_is_taken(uint64_t low, uint64_t high)
{
	uint64_t before = spi_patch_lock();

	if (!taken[0].high) {
		taken[0].low = low;
		taken[0].high = high;
		taken_next = 1;
	}
	spi_patch_unlock(before);
}

/* The next place to try below, as large as that. */
static uint64_t taken_skip(uint64_t below, uint64_t size)
{
	for (uint32_t i = 0; size >= CODE_CHUNK && i < TAKEN_MAX; i++)
		if (taken[i].high && below > taken[i].low && below - size < taken[i].high) {
			below = taken[i].low & ~(size - 1);
			i = (uint32_t) -1;	/* from the beginning: another may lie there */
		}
	return below;
}

/* Reserve size bytes that keep the arena within REACH; the mapping has no access rights yet. 0: none. */
static uint64_t arena_reserve(struct spi_arena *arena, uint64_t size)
{
	while ((arena->below = taken_skip(arena->below, size)) >= LOWEST + size && arena->high - (arena->below - size) <= REACH) {
		uint64_t at = arena->below -= size;

		if (spi_near_is_reserved(at, at + size, LOWEST))
			continue;
		if (spi_map_reserve(at, size) == 0) {
			arena->low = at < arena->low ? at : arena->low;
			return at;
		}
		taken_add(at, size);
	}
	while (arena->above + size - arena->low <= REACH && arena->above + size <= HIGHEST) {
		uint64_t at = arena->above;

		if (at < growing.heap + heap_room && at + size > growing.heap) {
			arena->above = (growing.heap + heap_room + size) & ~(size - 1);
			continue;
		}
		arena->above += size;
		if (!spi_near_is_reserved(at, at + size, LOWEST)
			&& spi_map_reserve(at, size) == 0) {
			arena->high = at + size > arena->high ? at + size : arena->high;
			return at;
		}
	}
	return 0;
}

static struct spi_arena *arena_of(struct spi_object *object)
{
	struct spi_arena *arena = object->arena;

	if (arena)
		return arena;
	arena = spi_alloc(sizeof(*arena));
	if (!arena)
		return NULL;
	arena->low = arena->object_low = SPI_PAGE_OF(object->low);
	arena->high = arena->object_high = SPI_PAGE_OF(object->high + SPI_PAGE - 1);
	arena->below = arena->low & ~(uint64_t) (CODE_CHUNK - 1);
	arena->above = (arena->high + CODE_CHUNK - 1) & ~(uint64_t) (CODE_CHUNK - 1);
	arena->next = arenas;
	arenas = arena;
	object->arena = arena;
	return arena;
}

/* ---- chunks ---- */

/*
 * Replace the reserved pages at `rx` (0: anywhere) by code that *rw writes. A
 * system without memfd gets plain memory that is both.
 */
uint64_t spi_code_map(uint64_t rx, uint64_t size, uint8_t **rw)
{
	int fixed = rx ? MAP_FIXED : 0;
	long fd = spi_raw3(SYS_memfd_create, (uint64_t) "lttng-spi", MFD_CLOEXEC, 0);
	uint64_t alias = 0, code = 0;

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
		if (heap_room == HEAP_ROOM) {
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

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ	22
#define MADV_POPULATE_WRITE	23
#endif

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

int spi_near_leads_to(uint64_t address)
{
	const uint8_t *code = (const uint8_t *) address;	/* what has just been run, or is about to be: it can be read */
	uint64_t to;
	int32_t by;

	for (const struct spi_arena *arena = arenas; arena; arena = arena->next)
		if (address >= arena->object_low && address < arena->object_high)
			return 0;
	if (!spi_page_readable(address))
		return 0;		/* code that can only be run */
	if (code[0] == 0xe9) {
		spi_bytes_copy(&by, code + 1, 4);
		return spi_near_code_has(address + 5 + (uint64_t) (int64_t) by);
	}
	if (code[0] != 0xff || code[1] != 0x25)
		return 0;
	spi_bytes_copy(&by, code + 2, 4);
	spi_bytes_copy(&to, code + 6, 8);
	return !by && spi_near_code_has(to);
}

void spi_near_fork_child(void)
{
	for (struct spi_arena *arena = arenas; arena; arena = arena->next)
		for (struct chunk *chunk = arena->code; chunk; chunk = chunk->next)
			chunk->frozen = (uint64_t) chunk->rw != chunk->rx;
}
