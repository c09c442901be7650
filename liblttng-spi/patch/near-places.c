/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Where near memory may be: not where the heap and the main thread's stack grow,
 * nor where others' mappings were met before.
 */
#include <errno.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "liblttng-spi/patch/near-places.h"
#include "liblttng-spi/patch/internal.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define HEAP_ROOM	(UINT64_C(1) << 30)	/* as far as there is another way */
#define HEAP_ROOM_LEAST	(UINT64_C(128) << 20)	/* beyond that malloc goes on with mmap() */
#define STACK_ROOM	(UINT64_C(64) << 20)	/* at least, when the stack's limit is lower */
#define TAKEN_MAX	8u

static uint64_t heap_room = HEAP_ROOM;

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

int spi_heap_is_spared(void)
{
	return heap_room == HEAP_ROOM;
}

uint64_t spi_heap_end(uint64_t low, uint64_t high)
{
	return low < growing.heap + heap_room && high > growing.heap ? growing.heap + heap_room : 0;
}

int spi_near_is_reserved(uint64_t low, uint64_t high, uint64_t lowest)
{
	if (low < lowest || high > HIGHEST)
		return 1;
	if (spi_heap_end(low, high))
		return 1;
	return low < growing.stack_end && high > growing.stack;
}

int spi_map_reserve(uint64_t address, uint64_t size)
{
	uint64_t flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
	long got = spi_raw6(SYS_mmap, address, size, PROT_NONE, flags, ~UINT64_C(0), 0);

	if ((uint64_t) got == address)
		return 0;
	if (got == -ENOMEM)
		return -ENOMEM;
	if (!spi_raw_failed(got))	/* a kernel before 4.17 */
		spi_munmap((uint64_t) got, size);
	return -EEXIST;
}

/*
 * Where no whole chunk was free: other libraries, and the return slots. Libraries lie side by side, so the next one's
 * search would pass by the same 200 places. What the program frees there meanwhile is found by smaller chunks.
 */
static struct {
	uint64_t low, high;
} taken[TAKEN_MAX];
static uint32_t taken_next;

void spi_place_is_taken(uint64_t at, uint64_t size)
{
	if (size < CODE_CHUNK)
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

uint64_t spi_place_below(uint64_t below, uint64_t size)
{
	for (uint32_t i = 0; size >= CODE_CHUNK && i < TAKEN_MAX; i++)
		if (taken[i].high && below > taken[i].low && below - size < taken[i].high) {
			below = taken[i].low & ~(size - 1);
			i = (uint32_t) -1;	/* from the beginning: another may lie there */
		}
	return below;
}
