/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Functions that a rule traces by name, where call trees begin or have call sites among the first
 * instructions. There is room for one jump, so it is the tree's entry point (root.c): what it has moved leads on to
 * the sites. The rule's point has no jump of its own then; the entry calls it after what trees do, and a
 * call that both record has a slot of each, as a site in trees of both kinds has (tree/sites/both.c).
 *
 * Which of them comes first makes no difference. A point that stands there already hands its jump and its stub over, and
 * the entry adds a copy of the moved instructions that leads on to its sites. Once made, an entry
 * stays what stands there: a point that comes again is called by it.
 */
#include <errno.h>
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/rules/rules.h"
#include "liblttng-spi/tree/sites/internal.h"

/* ---- an entry comes to where a point is ---- */

void spi_entry_ask(struct spi_entry *e)
{
	struct spi_point *named = spi_point_find(e->point.address);

	if (!named || !named->patch)
		return;
	e->before = named;
	spi_patch_yield(named, 1);
}

void spi_entry_got(struct spi_entry *e, int r)
{
	struct spi_point *named = e->before;

	e->before = NULL;
	if (!named || !named->patch)
		return;
	if (r < 0) {
		spi_patch_yield(named, 0);
		return;
	}
	if (named->installed)
		__atomic_store_n(&e->named, named, __ATOMIC_RELEASE);
	spi_stub_lend(named, &e->point);	/* the jump stays: no call goes by in between, nothing is written that a forked process shares */
	spi_patch_hand_over(named, &e->point);
	if (e->point.installed)
		spi_sites_taken(e->to, e->func, e->point.patch);
	spi_sites_placed += e->point.installed;
	__atomic_store_n(&named->body, e->point.body, __ATOMIC_RELEASE);
}

/* ---- a point comes to where an entry is, or has to be ---- */

static int has_early_sites(const struct spi_tree_object *to, const struct spi_map_func *f)
{
	return f->site_count && SPI_MAP_AT(&to->map, sites, struct spi_map_site, f->site_first)->vaddr - f->vaddr < SPI_MAP_ENTRY_BYTES;
}

void spi_entry_named_look(struct spi_tree_object *to, uint64_t func, uint32_t trees)
{
	const struct spi_map_func *f = spi_tree_map_func(to, func);
	const struct spi_point *named = spi_point_find(f->vaddr + to->object->bias);
	struct spi_entry_want w = spi_entry_want(to, func, trees);

	if (named && named->patch && has_early_sites(to, f) && !spi_entry_find(named->address))
		spi_entry_told(&w);
}

static void entry_lend(struct spi_entry_want *w)
{
	spi_entry_told(w);
}

int spi_entry_lend(struct spi_point *named)
{
	struct spi_entry *e = spi_entry_find(named->address);
	struct spi_tree_object *to = e || named->patch ? NULL : spi_tree_object_at(named->address);
	int64_t func = to && to->covered ? spi_tree_func_at(to, named->address) : -1;
	uint32_t trees = func < 0 ? 0 : to->covered & spi_tree_existing & ~spi_tree_flat;
	struct spi_entry_want w = spi_entry_want(to, (uint64_t) func, trees);

	if (func >= 0 && spi_tree_func_is_good(to, w.func) && has_early_sites(to, spi_tree_map_func(to, w.func)))
		spi_entry_held(&w, entry_lend);
	e = spi_entry_find(named->address);
	if (!e || named->patch)
		return 0;
	named->body = e->point.body;
	return 1;
}

struct naming {
	struct spi_point *named;
	int install, r;
};

static void name_held(void *data)
{
	struct naming *naming = data;
	struct spi_point *named = naming->named;
	uint64_t before = spi_patch_lock();
	struct spi_entry *e = spi_entry_find(named->address);

	naming->r = 0;
	if (spi_point_find(named->address) != named) {
		spi_patch_unlock(before);
		return;			/* it was unloaded: no rule has it any more */
	}
	if (!e) {
		naming->r = -ENOENT;
	} else if (naming->install) {
		__atomic_store_n(&e->named, named, __ATOMIC_RELEASE);
		naming->r = spi_entry_write(e, 1);
	} else {
		__atomic_store_n(&e->named, NULL, __ATOMIC_RELEASE);
		if (!spi_entry_is_wanted(e, 0))
			naming->r = spi_entry_write(e, 0);
	}
	if (naming->r == 0)
		named->installed = (uint32_t) naming->install;
	spi_patch_unlock(before);
}

int spi_entry_name(struct spi_point *named, int install)
{
	struct naming naming = { named, install, -EAGAIN };

	spi_objects_hold(name_held, &naming);
	return naming.r;
}
