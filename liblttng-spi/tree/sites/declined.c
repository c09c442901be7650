/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What could not be done anywhere on a tree's way is kept in a list, since the
 * thread that notices is the program's, and reported when the control side comes by.
 * A place is told once, however often its library is loaded and whichever trees come to
 * it, until no tree is left: who controls the next one may be another. What there is no room for is counted.
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/tree/sites/sites.h"

#define DECLINED_MAX	32768u		/* places: what there is no room for is counted */
#define INDEX_SIZE	(2 * DECLINED_MAX)

/* Who notices adds at `count`, under the patch lock; who reports goes from `told` on, under the control lock. */
static struct {
	const struct spi_tree_object *to;
	uint64_t address, place;
	const char *reason;
} declined[DECLINED_MAX];
static uint32_t declined_count, declined_told;
static uint32_t declined_lost;			/* 1: there was no room for some; 3: and that was said */
static uint32_t declined_index[INDEX_SIZE];	/* by place: 1 + its number; 0: free */

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (uint8_t) *text) * UINT64_C(0x100000001b3);
	return hash;
}

/* Of the file, where in it, and why: two of them are taken for one another once in some 10^10 lists that are full. */
static uint64_t place_of(const struct spi_tree_object *to, uint64_t address, const char *reason)
{
	const struct spi_object *object = to->object;
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (address - object->bias) * UINT64_C(0x9e3779b97f4a7c15);

	for (uint32_t i = 0; i < object->build_id_size; i++)
		hash = (hash ^ object->build_id[i]) * UINT64_C(0x100000001b3);
	hash = hash_text(hash_text(hash, object->path), reason);
	hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ? hash : 1;
}

void spi_tree_decline(const struct spi_tree_object *to, uint64_t address, const char *reason)
{
	spi_debug(SPI_DEBUG_TREE, "not %lx of %s: %s", address, to->object->name, reason);
	uint64_t place = place_of(to, address, reason ? reason : "cannot be redirected"), at = place >> 32;
	uint32_t n = declined_count;

	for (; declined_index[at % INDEX_SIZE]; at++)
		if (declined[declined_index[at % INDEX_SIZE] - 1].place == place)
			return;
	if (n == DECLINED_MAX) {
		__atomic_fetch_add(&spi_status->declined, 1, __ATOMIC_RELAXED);
		declined_lost |= 1;
		return;
	}
	declined[n].to = to;
	declined[n].address = address;
	declined[n].place = place;
	declined[n].reason = reason ? reason : "cannot be redirected";
	declined_index[at % INDEX_SIZE] = n + 1;
	__atomic_store_n(&declined_count, n + 1, __ATOMIC_RELEASE);
}

void spi_tree_report(struct spi_link *link)
{
	uint32_t end = __atomic_load_n(&declined_count, __ATOMIC_ACQUIRE);

	for (; declined_told != end; declined_told++) {
		const struct spi_tree_object *to = declined[declined_told].to;
		uint64_t address = declined[declined_told].address;
		int64_t func = to->gone ? -1 : spi_tree_func_around(to, address);
		char where[400];

		spi_format(where, sizeof(where), "%s+0x%lx", func < 0 ? "" : spi_tree_func_name(to, (uint64_t) func),
			address - to->object->bias - (func < 0 ? 0 : spi_tree_map_func(to, (uint64_t) func)->vaddr));
		spi_link_declined(link, to->object->name, where, declined[declined_told].reason);
	}
	if (link)
		spi_link_declined_flush(link);
	if (__atomic_load_n(&declined_lost, __ATOMIC_RELAXED) != 1)
		return;
	__atomic_store_n(&declined_lost, 3, __ATOMIC_RELAXED);
	spi_note("not instrumented: more places than the agent has room to name; these are counted");
}

void spi_tree_report_forget(void)
{
	uint64_t before = spi_patch_lock();

	for (uint32_t i = 0; declined_count && i < INDEX_SIZE; i++)
		if (declined_index[i])		/* a page that was never written to need not be */
			declined_index[i] = 0;
	declined_count = declined_told = declined_lost = 0;
	spi_patch_unlock(before);
}
