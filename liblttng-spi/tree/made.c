/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Regions of code that was made at run time come and go. A region is in the list of objects that trees go into, and in
 * a list of its own: the dynamic linker knows nothing of it.
 *
 * What a program may do to such code at any time, nothing tells the agent: write it anew, unmap it, take its rights
 * away. So text is only written where the mapping of that moment lets it run, with the mapping's own rights given back,
 * and where the bytes are those that the map has (spi_site_text_write()).
 */
#include <errno.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/tree/internal.h"
#include "liblttng-spi/tree/made.h"

#define VDSO_MOST	65536u
#define UNKNOWN_MAX	8192u		/* addresses that nobody knows; a power of two */

struct made {
	struct spi_tree_object to;	/* first */
	struct spi_object object;
	struct spi_made_refusals refusals;
};

struct spi_object *spi_made_objects;
int (*spi_made_ask)(uint64_t code, uint32_t trees, uint64_t p);

/* ---- what nobody knows ---- */

static uint64_t unknown[UNKNOWN_MAX];	/* by address; a place is filled once, without a lock */
static uint32_t unknown_count;

static uint64_t *unknown_place(uint64_t code)
{
	uint64_t at = (code * UINT64_C(0x9e3779b97f4a7c15)) >> 40, seen;

	for (uint32_t i = 0; i < UNKNOWN_MAX; i++, at++) {
		seen = __atomic_load_n(&unknown[at % UNKNOWN_MAX], __ATOMIC_ACQUIRE);
		if (!seen || seen == code)
			return &unknown[at % UNKNOWN_MAX];
	}
	return NULL;
}

/* Was it asked for, or can nothing more be remembered? Then it is not asked for. */
static int is_unknown(uint64_t code)
{
	const uint64_t *place = unknown_place(code);

	return __atomic_load_n(&unknown_count, __ATOMIC_RELAXED) >= UNKNOWN_MAX / 2 || !place || *place == code;
}

static void unknown_add(uint64_t code)
{
	uint64_t *place = unknown_place(code), none = 0;

	if (place && __atomic_compare_exchange_n(place, &none, code, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED) &&
			__atomic_add_fetch(&unknown_count, 1, __ATOMIC_RELAXED) == UNKNOWN_MAX / 2)
		spi_note("no parser is asked any more for code that was made at run time: %u addresses were not known",
			UNKNOWN_MAX / 2);
}

void spi_made_ask_again(void)
{
	for (uint32_t i = 0; i < UNKNOWN_MAX; i++)
		__atomic_store_n(&unknown[i], 0, __ATOMIC_RELEASE);
	__atomic_store_n(&unknown_count, 0, __ATOMIC_RELEASE);
}

/* ---- a region comes ---- */

/* Is all of it mapped, and can it be run? */
static int is_code(uint64_t low, uint64_t high)
{
	struct spi_maps maps;
	struct spi_vma vma;

	if (spi_maps_open(&maps) < 0)
		return 0;
	while (low < high && spi_maps_next(&maps, &vma) && vma.start <= low)
		if (low < vma.end && (vma.prot & (PROT_READ | PROT_EXEC)) == (PROT_READ | PROT_EXEC))
			low = vma.end;
	spi_maps_close(&maps);
	return low >= high;
}

static int is_taken(uint64_t low, uint64_t high)
{
	for (const struct spi_object *o = spi_objects_list(); o; o = o->next)
		if (o->seen && low < o->high && o->low < high)
			return 1;
	for (const struct spi_object *o = __atomic_load_n(&spi_made_objects, __ATOMIC_ACQUIRE); o; o = o->next)
		if (o->seen && low < o->high && o->low < high)
			return 1;
	return 0;
}

static int is_full(void)
{
	uint32_t ever = 0, now = 0;

	for (const struct spi_object *o = spi_made_objects; o; o = o->next) {
		ever++;
		now += o->seen != 0;
	}
	return now >= SPI_MADE_MAX || ever >= SPI_MADE_EVER;
}

static int fill(struct made *m, const struct spi_parser_region *region, const char **why)
{
	struct spi_tree_object *to = &m->to;
	struct spi_object *object = &m->object;
	const int result = spi_made_map(region, &to->map, &m->refusals, why);

	if (result < 0)
		return result;
	object->low = to->low = region->low;
	object->high = to->high = region->high;
	object->is_made = 1;
	object->seen = 1;
	if (region->name && region->name[0])
		spi_format(object->name, sizeof(object->name), "%s", region->name);
	else
		spi_format(object->name, sizeof(object->name), "code-0x%lx", region->low);
	spi_format(object->path, sizeof(object->path), "%s", object->name);
	object->whole = &to->map;
	to->object = object;
	to->text[0] = (struct spi_tree_text) {
		SPI_PAGE_OF(region->low), SPI_PAGE_OF(region->high + SPI_PAGE - 1), PROT_READ | PROT_EXEC,
	};
	to->text_count = 1;
	to->no_trap = "only a breakpoint (int3) fits, and code that was made at run time gets none";
	to->ends_taken = 1;
	to->funcs = spi_map_pages(to->map.head->funcs.count * sizeof(*to->funcs) + 1);
	to->sites = spi_map_pages(to->map.head->sites.count * sizeof(*to->sites) + 1);
	*why = "the agent has no memory left";
	return to->funcs && to->sites ? 0 : -ENOMEM;
}

/* In near memory, as stubs address it; never 0, as clients want calls always. Under the patch lock. */
static int gate_make(struct made *m)
{
	int *gate;

	for (const struct spi_object *o = spi_made_objects; o && !m->object.arena; o = o->next)
		spi_near_join(&m->object, o);
	gate = spi_near_data(&m->object, sizeof(*gate), sizeof(*gate));
	if (!gate)
		return -ENOMEM;
	*gate = 1;
	m->to.gate[0] = gate;
	return 0;
}

/* Under the patch lock. */
static int publish(struct made *m, const char **why)
{
	*why = "another object has a part of it";
	if (is_taken(m->object.low, m->object.high))
		return -EEXIST;
	*why = "there are too many regions";
	if (is_full())
		return -ENOSPC;
	*why = "no free memory within reach of it";
	if (gate_make(m) < 0)
		return -ENOMEM;
	m->to.covered = spi_client_trees;
	m->object.next = spi_made_objects;
	__atomic_store_n(&spi_made_objects, &m->object, __ATOMIC_RELEASE);
	spi_tree_object_enter(&m->to);
	for (uint32_t i = 0; i < m->refusals.count && i < SPI_MADE_REFUSALS_MAX; i++)
		spi_tree_decline(&m->to, m->refusals.refusal[i].address, m->refusals.refusal[i].why);
	return 0;
}

int spi_made_add(const struct spi_parser_region *region, struct spi_object **object, const char **why)
{
	struct made *m;
	uint64_t before;
	int result;

	*why = "its code is not mapped, or cannot be run";
	if (region->low < region->high && !is_code(region->low, region->high))
		return -EFAULT;
	*why = "the agent has no memory left";
	m = spi_alloc(sizeof(*m));
	if (!m)
		return -ENOMEM;
	result = fill(m, region, why);
	if (result < 0)
		return result;
	*why = "another thread forks";
	if (spi_patch_lock_soon(&before) < 0)
		return -EAGAIN;
	result = publish(m, why);
	spi_patch_unlock(before);
	if (result == 0 && object)
		*object = &m->object;
	return result;
}

/* ---- and goes ---- */

int spi_made_forget(struct spi_object *object)
{
	struct spi_tree_object *to;
	uint64_t before;

	if (!object || !object->is_made)
		return -EINVAL;
	to = &((struct made *) ((uint8_t *) object - offsetof(struct made, object)))->to;
	if (to->gone)
		return -EINVAL;
	if (spi_patch_lock_soon(&before) < 0)
		return -EAGAIN;
	spi_sites_leave(to, ~UINT32_C(0));
	__atomic_store_n(&to->gone, 1, __ATOMIC_RELEASE);	/* no thread puts its sites in place again */
	spi_patch_unlock(before);
	spi_tree_object_leave(to);
	return 0;
}

/* ---- a call leads to code ---- */

/* The kernel's own code in each process, which nobody misses. */
int spi_tree_is_vdso(uint64_t address)
{
	return address - getauxval(AT_SYSINFO_EHDR) < VDSO_MOST;
}

/* Trees that have begun since the region came have it, too. */
static void cover(struct spi_tree_object *to, uint32_t trees)
{
	trees &= spi_client_trees & ~__atomic_load_n(&to->covered, __ATOMIC_RELAXED);
	if (trees)
		__atomic_fetch_or(&to->covered, trees, __ATOMIC_RELEASE);
}

int spi_made_look(uint64_t code, uint32_t trees, uint64_t p)
{
	struct spi_tree_object *to = spi_tree_object_at(code);
	uint64_t target;
	int result;

	if (to && to->object->is_made)
		cover(to, trees);
	if (to || !spi_made_ask || spi_tree_is_vdso(code) || spi_symbols_know(code, 0) || is_unknown(code))
		return 0;
	/* a few instructions that lead to a function of a file's need no parser */
	target = spi_code_made_target(code, spi_memory_copy);
	to = target ? spi_tree_object_at(target) : NULL;
	if (to && !to->object->is_made)
		return 0;
	result = spi_made_ask(code, trees, p);
	if (result == -ENOENT)
		unknown_add(code);
	return result == -EAGAIN ? result : 0;
}
