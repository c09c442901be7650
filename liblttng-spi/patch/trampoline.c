/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Trampolines: jumps to stubs from where a constrained jump leads. Some of the bits
 * of its displacement are given, the others are chosen so that the place it leads
 * to can be had: first in pages that trampolines were lately put in, then anywhere.
 * What the pages are is trampoline-pages.c's matter.
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/internal.h"

#define PAGES_TRIED	256u
#define REACH		(UINT64_C(1) << 31)

struct search {
	const struct spi_object *object;
	uint64_t from, to;
	uint32_t free_low, free_high;	/* displacement bits that may be chosen: below 12, from 12 up */
	uint32_t bits;			/* the others */
	uint64_t bad_page;		/* the latest page that could not be had */
	const char **reason;
};

static uint64_t search_target(const struct search *s, uint32_t displacement)
{
	return s->from + (uint64_t) (int64_t) (int32_t) displacement;
}

/* Can nothing be had in this page? Cheap; wrong only by being hopeful. A trampoline's jump reaches 2 GB. */
static int page_is_hopeless(const struct search *s, uint64_t page)
{
	if (page == s->bad_page || s->to - page + REACH - SPI_PAGE > 2 * (REACH - SPI_PAGE))
		return 1;
	/* a hole of the object itself would be unmapped by dlclose */
	if (page + 2 * SPI_PAGE > s->object->low && page < s->object->high + SPI_PAGE)
		return 1;
	return !spi_trampoline_page_may_be(page) && !spi_trampoline_page_is_ours(page);
}

static int search_try(struct search *s, uint32_t displacement, uint64_t *place)
{
	uint64_t target = search_target(s, displacement), page = SPI_PAGE_OF(target);

	if (page_is_hopeless(s, page)) {
		s->bad_page = page;
		return 0;
	}
	if (spi_trampoline_place(target, s->to, s->reason) == 0) {
		*place = target;
		return 1;
	}
	if (!spi_trampoline_page_is_ours(page))
		s->bad_page = page;
	return 0;
}

/* The least number from `least` on whose bits all lie in the mask, of 12 bits. SPI_PAGE: there is none. */
static uint64_t bits_at_least(uint32_t mask, uint64_t least)
{
	uint32_t wrong = (uint32_t) least & ~mask, above;

	if (least >= SPI_PAGE || !wrong)
		return least;
	/* the next bit up that may be set and is not yet; what is below it becomes 0 */
	above = mask & ~(uint32_t) least & ~((2u << (31 - __builtin_clz(wrong))) - 1);
	above &= -above;
	return above ? (least & ~(uint64_t) (above - 1)) | above : SPI_PAGE;
}

/*
 * All choices of the low bits for one choice of the high ones, upwards; but none where nothing can be: outside of
 * only_page, or in what turned out to be no page for us.
 */
static int search_low(struct search *s, uint32_t high, uint64_t only_page, uint64_t *place)
{
	uint64_t base = search_target(s, high | s->bits), last = base + s->free_low, low = 0, end = SPI_PAGE;

	if (page_is_hopeless(s, SPI_PAGE_OF(base)) && page_is_hopeless(s, SPI_PAGE_OF(last)))
		return 0;
	if (only_page) {
		uint64_t lowest = only_page, highest = only_page + SPI_PAGE - SPI_JUMP_SIZE;

		if (base > highest || last < lowest)
			return 0;
		low = base < lowest ? lowest - base : 0;
		end = highest - base + 1;
	}
	while ((low = bits_at_least(s->free_low, low)) < SPI_PAGE && low < end) {
		uint32_t busy = spi_trampoline_busy(base + low);

		if (busy) {
			low += busy;
			continue;
		}
		if (search_try(s, high | (uint32_t) low | s->bits, place))
			return 1;
		if (SPI_PAGE_OF(base + low) == s->bad_page)
			low = s->bad_page + SPI_PAGE - base;
		else
			low++;
	}
	return 0;
}

/* Pages that trampolines were lately put in, as far as the displacement reaches them. */
static int search_recent(struct search *s, uint64_t *place)
{
	for (unsigned int i = 0; i < SPI_TRAMPOLINE_RECENT; i++) {
		uint64_t page = spi_trampoline_recent(i);
		int64_t d = (int64_t) (page - s->from);

		if (!page || !spi_trampoline_page_is_ours(page) || d != (int32_t) d || d + SPI_PAGE != (int32_t) (d + SPI_PAGE))
			continue;
		for (unsigned int k = 0; k < 2; k++) {
			uint32_t high = ((uint32_t) d & ~(SPI_PAGE - 1)) + k * SPI_PAGE;

			if ((high & ~s->free_high) == (s->bits & ~(SPI_PAGE - 1)) && search_low(s, high, page, place))
				return 1;
		}
	}
	return 0;
}

/* Deposit the low bits of n into the set bits of mask. */
static uint32_t bits_deposit(uint32_t n, uint32_t mask)
{
	uint32_t out = 0;

	for (; mask; mask &= mask - 1, n >>= 1)
		if (n & 1)
			out |= mask & -mask;
	return out;
}

static const char taken[] = "no free memory where the bytes after its first instruction would make a jump go";

uint64_t spi_trampoline_make(struct spi_object *object, uint64_t from, uint32_t mask, uint32_t bits, uint64_t to,
	int into_heap_room, const char **reason)
{
	struct search s = {
		.object = object,
		.from = from,
		.to = to,
		.free_low = ~mask & (SPI_PAGE - 1),
		.free_high = ~mask & ~(SPI_PAGE - 1),
		.bits = bits & mask,
		.bad_page = 1,
		.reason = reason,
	};
	uint32_t choices = 1u << __builtin_popcount(s.free_high), tries = choices < PAGES_TRIED ? choices : PAGES_TRIED;
	uint64_t place = 0;

	*reason = taken;
	/* Most find room there: two system calls less for each of a program's thousands. */
	if (search_recent(&s, &place))
		return place;
	spi_near_look(into_heap_room);
	for (uint32_t i = 0; i < tries && !place && *reason == taken; i++) {
		/* an odd factor visits each choice once, far apart from the one before */
		uint32_t n = choices <= PAGES_TRIED ? i : i * 0x9e3779b1u >> 7;

		search_low(&s, bits_deposit(n & (choices - 1), s.free_high), 0, &place);
	}
	return place;
}
