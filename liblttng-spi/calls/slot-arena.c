/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The arena of return slots at run time (slots.S has its place and its unwind
 * table): chunks of 256 slots, handed to threads and taken back.
 *
 * A chunk's code is written when the chunk is first used, into private pages that
 * are no longer writable afterwards: a debugger that waits for a function's return
 * puts its breakpoint where that goes, which is a slot, and Linux lets it do so in
 * private pages only (FOLL_FORCE, mm/gup.c). Where a policy forbids to execute what
 * was written (systemd's MemoryDenyWriteExecute=, SELinux's execmem), it is a second
 * mapping of one shared pattern. A chunk's data is made usable and initialised at the same time. Both
 * are kept for ever. What is not in use may not be accessed: so a program that has all its memory locked
 * (mlockall()) does not get all 256 MB of it. The list of returned chunks is a lock-free stack whose head carries a
 * tag, so that a chunk which comes back meanwhile is not taken for the one seen.
 */
#include <sys/mman.h>
#include <sys/syscall.h>
#include "liblttng-spi/arch/offsets.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/internal.h"

struct spi_chunk spi_chunks[CHUNK_COUNT];
static uint64_t free_chunks;		/* tag << 32 | index + 1 */
static uint32_t next_chunk;		/* never used ones start here */
static uint8_t *slot_pattern;		/* one chunk of code, for those that may not have their own; NULL: there is none */

static void write_pattern(uint8_t *page)
{
	for (unsigned int i = 0; i < CHUNK_SLOTS; i++)
		spi_slot_code_write(page + i * SPI_SLOT_SIZE);
}

static void map_pattern(void)
{
	uint8_t *rw;
	uint64_t rx = spi_code_map(0, CHUNK_BYTES, &rw);

	if (!rx)
		return;
	write_pattern(rw);
	spi_munmap((uint64_t) rw, CHUNK_BYTES);
	slot_pattern = (uint8_t *) rx;
}

static long chunk_write(uint8_t *code)
{
	long p = spi_sys(SYS_mmap, code, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1L, 0L);

	if (spi_raw_failed(p))
		return p;
	write_pattern(code);
	return spi_sys(SYS_mprotect, code, CHUNK_BYTES, PROT_READ | PROT_EXEC);
}

static int chunk_map(uint32_t chunk)
{
	uint8_t *code = spi_slot_code_base + (size_t) chunk * CHUNK_BYTES;
	struct spi_slot *slots = spi_chunk_slots(chunk);
	long p = chunk_write(code);

	if (spi_raw_failed(p) && slot_pattern)	/* an old size of 0: a second mapping of the same pages (mremap(2)) */
		p = spi_sys(SYS_mremap, slot_pattern, 0L, CHUNK_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, code);
	if (!spi_raw_failed(p))
		p = spi_sys(SYS_mprotect, slots, CHUNK_BYTES, PROT_READ | PROT_WRITE);
	if (spi_raw_failed(p))
		return (int) p;
	for (unsigned int i = 0; i < CHUNK_SLOTS; i++) {
		slots[i].p = SPI_SLOT_DEAD;
		slots[i].target = 0;
		slots[i].state = SPI_SLOT_LIVE;
	}
	spi_chunks[chunk].mapped = 1;
	return 0;
}

int spi_arena_init(void)
{
	long p;

	if (spi_chunks[0].mapped)
		return 0;
	p = spi_sys(SYS_mprotect, spi_slot_code_base, SLOT_HALF, PROT_NONE);
	if (!p)
		p = spi_sys(SYS_mmap, spi_slot_data_base, SLOT_HALF, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1L, 0L);
	if (spi_raw_failed(p))
		return (int) p;
	map_pattern();		/* the policy may come later */
	return chunk_map(0);
}

uint32_t spi_chunk_get(void)
{
	uint64_t top = __atomic_load_n(&free_chunks, __ATOMIC_ACQUIRE), next;
	uint32_t chunk;

	while ((uint32_t) top) {
		chunk = (uint32_t) top - 1;
		next = ((top >> 32) + 1) << 32 | (uint32_t) (spi_chunks[chunk].prev + 1);
		if (__atomic_compare_exchange_n(&free_chunks, &top, next, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return chunk;
	}
	chunk = __atomic_fetch_add(&next_chunk, 1, __ATOMIC_RELAXED);
	if (chunk >= CHUNK_COUNT) {
		__atomic_store_n(&next_chunk, CHUNK_COUNT, __ATOMIC_RELAXED);
		return CHUNK_NONE;
	}
	if (!spi_chunks[chunk].mapped && (!spi_may(SPI_MAY_ACT) || chunk_map(chunk) < 0))
		return CHUNK_NONE;
	return chunk;
}

/* Why a call gets no slot: the arena is used up, or there was no memory for more of it. */
SPI_EXPORT enum spi_lost spi_slots_lack(void)
{
	return __atomic_load_n(&next_chunk, __ATOMIC_RELAXED) >= CHUNK_COUNT ? SPI_LOST_OPEN : SPI_LOST_MEMORY;
}

void spi_chunk_put(uint32_t chunk)
{
	uint64_t top = __atomic_load_n(&free_chunks, __ATOMIC_ACQUIRE), next;

	do {
		spi_chunks[chunk].prev = (uint32_t) top - 1;	/* 0 becomes CHUNK_NONE */
		next = ((top >> 32) + 1) << 32 | (chunk + 1);
	} while (!__atomic_compare_exchange_n(&free_chunks, &top, next, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
}
