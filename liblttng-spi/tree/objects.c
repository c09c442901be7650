/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Objects that call trees go into come and go. Control side.
 *
 * An object has its map, and the tables of its functions and sites, before it is in the list of objects. When an object
 * is unloaded, its sites are gone, and what led to its functions has to look again.
 */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "codemap/map/check.h"
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/internal.h"

#define STUB_USUAL	64u	/* bytes of a site's stub */
#define FEWEST_SITES	64u
#define LOOK_SITES	64u
#define SHARE		4u	/* one of so many sites is ever reached, at first guess */

static int find_text(struct dl_phdr_info *info, size_t size, void *data)
{
	struct spi_tree_object *to = data;

	(void) size;
	if (info->dlpi_addr != to->object->bias)
		return 0;
	to->text_count = 0;
	for (int i = 0; i < info->dlpi_phnum && to->text_count < SPI_TREE_TEXTS_MAX; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_DYNAMIC)
			to->dynamic = start;
		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X) || start < to->low || start >= to->high)
			continue;
		to->text[to->text_count++] = (struct spi_tree_text) {
			.low = SPI_PAGE_OF(start), .high = SPI_PAGE_OF(start + ph->p_memsz + SPI_PAGE - 1),
			.prot = PROT_EXEC | (ph->p_flags & PF_R ? PROT_READ : 0) | (ph->p_flags & PF_W ? PROT_WRITE : 0),
		};
	}
	return to->text_count != 0;
}

static struct spi_tree_object *object_known(const struct spi_object *object)
{
	struct spi_tree_object *to = spi_tree_objects;

	while (to && (to->object != object || to->gone))
		to = to->next;
	return to;
}

/*
 * Ask whether int3 may be while that can be asked, if some site looks as if nothing else would do. In a large object
 * some does; to look would bring its whole map in.
 */
static void look_at_trap(struct spi_tree_object *to)
{
	uint32_t sites = to->map.head->sites.count, i = 0;

	to->no_trap = "only a breakpoint (int3) fits, and none was prepared for its object";
	while (i < sites && i < LOOK_SITES && !spi_site_wants_trap(SPI_MAP_AT(&to->map, sites, struct spi_map_site, i)))
		i++;
	if (i == sites)
		return;
	if (spi_trap_ready_anywhere(&to->no_trap) < 0)
		return;
	to->no_trap = NULL;
	to->is_runtime = (uint32_t) spi_object_is_runtime(to->object);
}

static int object_fill(struct spi_tree_object *to)
{
	uint32_t funcs = to->map.head->funcs.count, sites = to->map.head->sites.count;
	uint32_t reached = sites / SHARE + FEWEST_SITES;

	to->funcs = spi_map_pages(funcs * sizeof(*to->funcs) + 1);
	to->sites = spi_map_pages(sites * sizeof(*to->sites) + 1);
	if (!to->funcs || !to->sites)
		return -ENOMEM;
	dl_iterate_phdr(find_text, to);
	look_at_trap(to);
	to->is_libc = !strcmp(to->object->name, "libc.so.6");
	spi_near_reserve(to->object, reached * STUB_USUAL, (uint32_t) (reached * sizeof(struct spi_site)));
	spi_frames_tell();
	return 0;
}

static void forget_callee(const struct spi_site *s, struct spi_point *point)
{
	spi_tree_live_leave(point, ~SPI_TREE_OPEN);
	if (point->clients) {
		point->clients->propelled = 0;
		__atomic_store_n(&point->clients->callee, NULL, __ATOMIC_RELEASE);
	}
	spi_tree_todo_add(point, s->trees);
}

/* Points whose callee was, or is from now on, in that range: they have to look again. */
static void forget_callees(const struct spi_tree_object *gone)
{
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next)
		for (uint32_t i = 0; !to->gone && to->is_met && i < to->map.head->sites.count; i++) {
			struct spi_site *s = to->sites[i];

			if (!s)
				continue;
			if (to != gone && s->point.address >= gone->low && s->point.address < gone->high) {
				forget_callee(s, &s->point);
				if (s->twin)
					forget_callee(s, s->twin);
			}
			for (struct spi_child *c = s->children; c; c = c->next)
				if (c->target >= gone->low && c->target < gone->high)
					forget_callee(s, &c->point);
		}
}

/*
 * The map that was asked for before (spi_object_parse()), or that the object had when it was loaded before, here or
 * elsewhere: found by build-id, so it is the same.
 */
static int map_again(const struct spi_object *object, struct spi_map *map)
{
	const struct spi_map *whole = __atomic_load_n(&object->whole, __ATOMIC_ACQUIRE);

	if (whole) {
		*map = *whole;
		return 1;
	}
	for (const struct spi_tree_object *other = spi_tree_objects; other; other = other->next)
		if (spi_object_is_same_file(other->object, object)) {
			*map = other->map;
			return 1;
		}
	return 0;
}

static struct spi_tree_object *object_new(struct spi_link *link, struct spi_object *object, char *error,
	size_t error_size)
{
	struct spi_tree_object *to;
	struct spi_map map = { 0 };
	int r = map_again(object, &map) ? 0 : spi_map_fetch_tree(link, object, &map, error, error_size);

	if (r < 0) {
		if (!error[0])
			spi_format(error, error_size, "no map of its calls: error %d", -r);
		return NULL;
	}
	to = spi_alloc(sizeof(*to));
	if (to) {
		to->object = object;
		to->low = object->low;
		to->high = object->high;
		to->map = map;
		__atomic_store_n(&object->whole, &to->map, __ATOMIC_RELEASE);
	}
	if (to && object_fill(to) == 0)
		return to;
	spi_format(error, error_size, "the agent has no memory left");
	return NULL;
}

void spi_tree_object_enter(struct spi_tree_object *to)
{
	to->next = spi_tree_objects;
	__atomic_store_n(&spi_tree_objects, to, __ATOMIC_RELEASE);
	forget_callees(to);
}

static void object_publish(struct spi_tree_object *to)
{
	uint64_t before = spi_patch_lock();

	spi_tree_object_enter(to);
	spi_patch_unlock(before);
}

/* What the tree's points will need. A tree for clients alone has a gate that is open for ever. 0, or a negative errno and *why. */
static int object_prepare(const struct spi_tree_object *known, struct spi_object *object, uint32_t tree, const volatile int **gate,
	const char **why)
{
	const int compact = !!(tree & spi_tree_compact);

	if (!(tree & spi_client_trees))
		return spi_payload->tree_prepare ? spi_payload->tree_prepare(object, compact, gate, why) : -ENOTSUP;
	*gate = known ? known->gate[compact] : NULL;
	if (!*gate) {
		int *open = spi_near_alloc(object, sizeof(*open), sizeof(*open));

		if (!open)
			return -ENOMEM;
		*open = 1;
		*gate = open;
	}
	return 0;
}

struct spi_tree_object *spi_tree_object_get(struct spi_link *link, struct spi_object *object, uint32_t tree, char *error,
	size_t error_size)
{
	const int compact = !!(tree & spi_tree_compact), is_clients = !!(tree & spi_client_trees);
	struct spi_tree_object *known = object_known(object), *to;
	const char *why = "the event module makes no call trees";
	const volatile int *gate;
	int r;

	if (known && known->gate[compact] && (is_clients || known->is_recorded[compact]))
		return known;
	r = object_prepare(known, object, tree, &gate, &why);
	if (r < 0) {
		spi_format(error, error_size, "%s", r == -ENOMEM ? "the agent has no memory left" : why);
		return NULL;
	}
	to = known ? known : object_new(link, object, error, error_size);
	if (to && !to->gate[compact])
		to->gate[compact] = gate;
	if (to)
		to->is_recorded[compact] |= !is_clients;
	if (to && !known)
		object_publish(to);
	return to;
}

void spi_tree_maps_announce(const struct spi_tree *tree, struct spi_link *link)
{
	struct spi_map map;

	for (struct spi_object *o = link ? spi_objects_scan() : NULL; o; o = o->next)
		if (spi_tree_covers(tree, o) && !object_known(o) && !map_again(o, &map))
			spi_map_announce_tree(link, o);
}

void spi_tree_object_leave(struct spi_tree_object *to)
{
	uint64_t before = spi_patch_lock();

	__atomic_store_n(&to->gone, 1, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < to->map.head->sites.count; i++)
		if (to->sites[i] && to->sites[i]->point.installed) {
			to->sites[i]->point.installed = 0;
			spi_sites_placed--;
			spi_status_points_change(-1);
		}
	forget_callees(to);
	spi_patch_unlock(before);
	__atomic_store_n(&to->object->whole, NULL, __ATOMIC_RELEASE);
	if (to->object->is_made)
		to->object->seen = 0;
	spi_patch_forget(to->object);
}

/* Was it loaded anew since its sites were put in place? Then the program's bytes stand there. */
static int is_anew(const struct spi_tree_object *to)
{
	uint32_t looked = 0;

	for (uint32_t i = 0; i < to->map.head->sites.count && looked < 16; i++) {
		const struct spi_site *s = to->sites[i];
		struct spi_text_op op;
		uint8_t bytes[8];

		if (!s || !s->point.installed || spi_site_change(s, &op) < 0)
			continue;
		looked++;
		if (spi_memory_copy(bytes, op.address, op.size) < 0 || spi_bytes_equal(bytes, op.from, op.size))
			return 1;
	}
	return 0;
}

void spi_tree_objects_look(void)
{
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next)
		if (!to->gone && !to->object->is_exe && (!to->object->seen || is_anew(to)))
			spi_tree_object_leave(to);
}
