/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The pages of trampolines (trampoline.c).
 *
 * A constrained jump can reach few addresses, sometimes one, so its trampoline may need a
 * page of its own: 8 000 of them would cost 32 MB. But each fills a dozen bytes at
 * a rather random offset. So many virtual pages show the same physical page, in
 * which their trampolines occupy different bytes; a page whose bytes are taken by
 * others is moved to another physical page. mremap() with an old size of 0 makes
 * another mapping of a shared page without its descriptor. What remains bounded is
 * the number of mappings.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/patch/internal.h"

#define PHYS_BATCH	16u			/* physical pages that are mapped at once */
#define MAPPINGS_MAX	30000u			/* the kernel's limit for a process is 65 530 */
#define FIRST_LOOK	64u			/* pages that are taken before anybody looks: what a short program needs */

/* Bytes of a page that are in use. */
struct byte_set {
	uint64_t bits[SPI_PAGE / 64];
};

/* A physical page of trampolines, of all virtual pages that show it. */
struct phys_page {
	struct phys_page *next;
	uint64_t rx;
	uint8_t *rw;
	uint32_t frozen;
	struct byte_set used;
};

struct virt_page {
	struct spi_hash_link link;
	uint64_t address;
	struct phys_page *phys;
	struct byte_set own;		/* its part of phys->used */
};

static struct phys_page *phys_pages;
static struct spi_hash_link *virt_buckets[4096];
static struct spi_hash virt_pages = SPI_HASH_OVER(virt_buckets);
static uint32_t mappings_before;
static const char no_memory[] = "the process may have no more memory";
static uint64_t recent[SPI_TRAMPOLINE_RECENT];
static uint32_t recent_next;

/* ---- physical pages ---- */

static struct phys_page *phys_new(void)
{
	uint8_t *rw;
	uint64_t rx;
	struct phys_page *pages = spi_alloc(PHYS_BATCH * sizeof(*pages));

	if (!pages)
		return NULL;
	rx = spi_code_map(0, PHYS_BATCH * SPI_PAGE, &rw);
	if (!rx)
		return NULL;
	spi_bytes_set(rw, SPI_CODE_TRAP, PHYS_BATCH * SPI_PAGE);
	for (unsigned int i = 0; i < PHYS_BATCH; i++) {
		pages[i].rx = rx + i * SPI_PAGE;
		pages[i].rw = rw + i * SPI_PAGE;
		pages[i].next = i + 1 < PHYS_BATCH ? &pages[i + 1] : phys_pages;
	}
	phys_pages = pages;
	return pages;
}

static int set_has(const struct byte_set *set, uint32_t at)
{
	return set->bits[at / 64] >> (at % 64) & 1;
}

/* 0: there is room for a jump; else how far on there might be. */
static uint32_t set_busy(const struct byte_set *set, uint32_t at)
{
	for (uint32_t n = SPI_JUMP_SIZE; n--;)
		if (set_has(set, at + n))
			return n + 1;
	return 0;
}

static int phys_has_room_for(const struct phys_page *phys, const struct byte_set *set)
{
	for (uint32_t i = 0; i < SPI_PAGE / 64; i++)
		if (phys->used.bits[i] & set->bits[i])
			return 0;
	return 1;
}

static void virt_mark(struct virt_page *v, uint32_t at)
{
	for (uint32_t n = 0; n < SPI_JUMP_SIZE; n++, at++) {
		v->own.bits[at / 64] |= UINT64_C(1) << (at % 64);
		v->phys->used.bits[at / 64] |= UINT64_C(1) << (at % 64);
	}
}

/* The page has room for a jump there, and for all that is in `own`. */
static struct phys_page *phys_with_room(uint32_t at, const struct byte_set *own)
{
	struct phys_page *phys = phys_pages;

	while (phys && (phys->frozen || set_busy(&phys->used, at) || !phys_has_room_for(phys, own)))
		phys = phys->next;
	return phys ? phys : phys_new();
}

/*
 * Show a physical page at a virtual address, replacing what is mapped there, where threads may run. Before Linux knows
 * whether it may map one page more (RLIMIT_AS), it has unmapped what was there (mm/mremap.c, until 6.16). To move a
 * page needs no more room than there is.
 */
static int phys_show(struct phys_page *phys, uint64_t address)
{
	long at, ret;

	at = spi_raw6(SYS_mremap, phys->rx, 0, SPI_PAGE, MREMAP_MAYMOVE, 0, 0);
	if (spi_raw_failed(at))
		return (int) at;
	ret = spi_raw6(SYS_mremap, (uint64_t) at, SPI_PAGE, SPI_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, address, 0);
	if (!spi_raw_failed(ret))
		return 0;
	spi_munmap((uint64_t) at, SPI_PAGE);
	return (int) ret;
}

/* ---- virtual pages ---- */

static struct virt_page *virt_find(uint64_t address)
{
	struct virt_page *v = spi_hash_find(&virt_pages, spi_hash_number(address));

	while (v && v->address != address)
		v = spi_hash_again(&v->link);
	return v;
}

static int virt_has_room_for_one(void)
{
	if (virt_pages.count % 1024 == FIRST_LOOK) {
		uint32_t now = spi_places_look();

		mappings_before = now > virt_pages.count ? now - (uint32_t) virt_pages.count : 0;
	}
	return virt_pages.count + mappings_before < MAPPINGS_MAX;
}

int spi_trampoline_page_may_be(uint64_t page)
{
	return page >= LOWEST_JUMP && page < HIGHEST_JUMP && !spi_place_obstacle(page, page + SPI_PAGE);
}

/* A new virtual page with room for a jump there. NULL: something else is there. */
static struct virt_page *virt_new(uint64_t address, uint32_t at, const char **reason)
{
	static const struct byte_set nothing;
	struct phys_page *phys;
	struct virt_page *v;
	int error;

	if (!virt_has_room_for_one()) {
		*reason = "the process has too many memory mappings for another trampoline page";
		return NULL;
	}
	if (!spi_trampoline_page_may_be(address))
		return NULL;
	phys = phys_with_room(at, &nothing);
	v = phys ? spi_alloc(sizeof(*v)) : NULL;
	if (!v) {
		*reason = no_memory;
		return NULL;
	}
	error = spi_map_reserve(address, SPI_PAGE);
	if (error) {
		if (error == -ENOMEM)
			*reason = no_memory;
		return NULL;
	}
	if (phys_show(phys, address) < 0) {
		spi_munmap(address, SPI_PAGE);
		return NULL;
	}
	v->address = address;
	v->phys = phys;
	spi_hash_add(&virt_pages, &v->link, spi_hash_number(address));
	recent[recent_next++ % SPI_TRAMPOLINE_RECENT] = address;
	return v;
}

/*
 * Give the page another physical page, one in which everything that it has is
 * free, and a jump's room, too: because those bytes are taken by another page, or
 * because a parent process shares it. Threads may run in the page meanwhile:
 * what they run is the same in both.
 */
static int virt_move(struct virt_page *v, uint32_t at)
{
	struct phys_page *from = v->phys, *to = phys_with_room(at, &v->own);

	if (!to)
		return -1;
	for (uint32_t i = 0; i < SPI_PAGE; i++)
		if (set_has(&v->own, i))
			to->rw[i] = ((const uint8_t *) v->address)[i];
	if (phys_show(to, v->address) < 0)
		return -1;
	for (uint32_t i = 0; i < SPI_PAGE / 64; i++) {
		to->used.bits[i] |= v->own.bits[i];
		from->used.bits[i] &= ~v->own.bits[i];
	}
	v->phys = to;
	return 0;
}

int spi_trampoline_place(uint64_t place, uint64_t to, const char **reason)
{
	struct virt_page *v = virt_find(SPI_PAGE_OF(place));
	uint32_t at = (uint32_t) (place & (SPI_PAGE - 1));

	if (spi_trampoline_busy(place))
		return -1;
	if (v && (v->phys->frozen || set_busy(&v->phys->used, at)) && virt_move(v, at) < 0)
		return -1;
	if (!v)
		v = virt_new(SPI_PAGE_OF(place), at, reason);
	if (!v)
		return -1;
	virt_mark(v, at);
	spi_jump_bytes(place, to, v->phys->rw + at);
	return 0;
}

int spi_trampoline_page_is_ours(uint64_t page)
{
	return virt_find(page) != NULL;
}

uint32_t spi_trampoline_busy(uint64_t address)
{
	const struct virt_page *v = virt_find(SPI_PAGE_OF(address));
	uint32_t at = (uint32_t) address & (SPI_PAGE - 1);

	if (at + SPI_JUMP_SIZE > SPI_PAGE)
		return SPI_PAGE - at;
	return v ? set_busy(&v->own, at) : 0;
}

uint64_t spi_trampoline_recent(uint32_t i)
{
	return recent[(recent_next - 1 - i) % SPI_TRAMPOLINE_RECENT];
}

void spi_trampoline_fork_child(void)
{
	for (struct phys_page *phys = phys_pages; phys; phys = phys->next)
		phys->frozen = 1;
}
