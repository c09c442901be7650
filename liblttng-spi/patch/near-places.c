/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Where near memory may be: not where something is mapped, nor where the heap and the main thread's stack grow.
 *
 * What is mapped is known as of the last look at the list of mappings. Memory that the program gave back since is
 * passed by. Memory that came since is met by spi_map_reserve(), which looks again after some of these.
 */
#include <errno.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/patch/internal.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define HEAP_ROOM	(UINT64_C(1) << 30)	/* as far as there is another way */
#define HEAP_ROOM_LEAST	(UINT64_C(128) << 20)	/* beyond that malloc goes on with mmap() */
#define STACK_ROOM	(UINT64_C(64) << 20)	/* at least, when the stack's limit is lower */
#define MAPPED_MAX	4096u
#define MET_MAX		8u			/* places that were taken, against what was thought, before a look */

static struct spi_place heap, stack;		/* now, and what they may grow to */
static struct spi_place mapped[MAPPED_MAX];	/* ascending, not touching each other */
static uint32_t mapped_count, met, mappings;

void spi_near_look(int into_heap_room)
{
	static uint64_t in_stack;	/* somewhere in the main thread's stack, near its upper end */
	uint64_t limit[2] = { 0, 0 }, room = STACK_ROOM;

	if (!in_stack)
		in_stack = getauxval(AT_RANDOM);
	spi_raw4(SYS_prlimit64, 0, RLIMIT_STACK, 0, (uint64_t) limit);
	if (limit[0] > room)
		room = limit[0] < UINT64_C(1) << 34 ? limit[0] : UINT64_C(1) << 30;
	heap.low = (uint64_t) spi_raw3(SYS_brk, 0, 0, 0);
	heap.high = heap.low + (into_heap_room ? HEAP_ROOM_LEAST : HEAP_ROOM);
	stack.low = in_stack - room;
	stack.high = in_stack + (1 << 20);
}

uint32_t spi_places_look(void)
{
	struct spi_maps maps;
	struct spi_vma vma;
	uint32_t n = 0;

	met = mappings = 0;
	if (spi_maps_open(&maps) < 0)
		return 1000;
	for (; spi_maps_next(&maps, &vma); mappings++) {
		if (n && mapped[n - 1].high == vma.start)
			mapped[n - 1].high = vma.end;
		else if (n < MAPPED_MAX)
			mapped[n++] = (struct spi_place) { vma.start, vma.end };
	}
	spi_maps_close(&maps);
	mapped_count = n;
	return mappings;
}

const struct spi_place *spi_place_obstacle(uint64_t low, uint64_t high)
{
	uint32_t first = 0, end = mapped_count;

	while (first < end) {
		uint32_t middle = (first + end) / 2;

		if (mapped[middle].high <= low)
			first = middle + 1;
		else
			end = middle;
	}
	if (first < mapped_count && mapped[first].low < high)
		return &mapped[first];
	if (low < heap.high && high > heap.low)
		return &heap;
	return low < stack.high && high > stack.low ? &stack : NULL;
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
	if (++met > MET_MAX + mappings / 32)	/* a look takes as long as some tries at each mapping */
		spi_places_look();
	return -EEXIST;
}
