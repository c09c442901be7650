/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The call sites of a function, into place and out of it. All of a function are
 * written in one batch, after their stubs are ready. Nothing is asked of the kernel
 * but the pages' rights: where an object's code is and how it is mapped was looked
 * up before.
 *
 * A site can be among the first instructions of a function whose entry becomes a
 * point, too (a root, a handler). The entry's jump moves it then, and its copy goes
 * to the site's stub.
 */
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/rules/rules.h"
#include "liblttng-spi/tree/sites/internal.h"

#define BATCH		96u

uint32_t spi_sites_placed;

/* ---- sites of a function ---- */

/* The trees for which a site is worth it: of a direct call those that do not leave its callee out. */
static uint32_t site_wanted(const struct spi_tree_object *to, const struct spi_map_site *map, uint32_t trees, const char **why)
{
	int64_t callee;

	*why = NULL;
	if (!spi_site_is_direct(map))
		return trees;
	callee = spi_tree_func_at(to, map->target + to->object->bias);
	if (callee < 0) {
		*why = "no function begins where it leads";
		return 0;
	}
	*why = spi_tree_func_unfit(to, (uint64_t) callee);
	return *why ? 0 : trees & ~to->funcs[callee].excluded;
}

static struct spi_site *site_new(struct spi_tree_object *to, uint32_t index, uint32_t trees)
{
	const struct spi_map_site *map = SPI_MAP_AT(&to->map, sites, struct spi_map_site, index);
	int compact = !(trees & ~spi_tree_compact);
	struct spi_site *s = spi_near_data(to->object, sizeof(*s), 64);

	if (!s)
		return NULL;
	s->owner = to;
	s->map = map;
	s->point.object = to->object;
	s->point.map = &to->map;
	s->point.flags = SPI_POINT_TREE | (compact ? SPI_POINT_COMPACT : 0);
	s->point.gate[0] = to->gate[compact];
	s->point.gate[1] = (const volatile int *) &s->point.tree_todo;
	s->point.call_site = map->vaddr + to->object->bias + map->size;
	if (spi_site_is_direct(map))
		s->point.address = map->target + to->object->bias;
	spi_site_both_look(s, 0);
	to->sites[index] = s;
	to->is_met = 1;
	return s;
}

static struct spi_site *site_get(struct spi_tree_object *to, uint32_t index, uint32_t trees)
{
	const struct spi_map_site *map = SPI_MAP_AT(&to->map, sites, struct spi_map_site, index);
	struct spi_site *s = to->sites[index];

	if (s && (s->worker != SPI_SITE_NONE || s->reason))
		return s;
	if (!s)
		s = site_new(to, index, trees);
	if (!s) {
		spi_tree_decline(to, map->vaddr + to->object->bias, "no free memory within reach of its object");
		return NULL;
	}
	spi_site_choose(s);
	if (s->worker == SPI_SITE_NONE)
		spi_tree_decline(to, map->vaddr + to->object->bias, s->reason);
	return s;
}

/*
 * Sites among a function's first instructions, which an entry point is about to move: their stubs, to which the moved
 * call or jump then goes.
 */
void spi_sites_at_entry(struct spi_tree_object *to, uint64_t func, uint32_t trees)
{
	const struct spi_map_func *f = spi_tree_map_func(to, func);

	for (uint32_t i = f->site_first; i < f->site_first + f->site_count; i++) {
		const struct spi_map_site *map = SPI_MAP_AT(&to->map, sites, struct spi_map_site, i);
		const char *why;

		if (map->vaddr - f->vaddr >= SPI_MAP_ENTRY_BYTES || to->sites[i])
			continue;
		if (site_wanted(to, map, trees, &why)) {
			struct spi_site *s = site_new(to, i, trees);

			if (s)
				spi_site_stub(s, 0, 0);
		}
	}
}

/* The function around an address, if its sites may be looked at. */
static const struct spi_map_func *func_around(uint64_t address, struct spi_tree_object **to)
{
	int64_t func;

	*to = spi_tree_object_at(address);
	func = *to ? spi_tree_func_around(*to, address) : -1;
	return func < 0 || !spi_tree_func_is_good(*to, (uint64_t) func) ? NULL : spi_tree_map_func(*to, (uint64_t) func);
}

/* The stub of the site whose instruction stands there, entered as a call enters it; 0: it has none. */
uint64_t spi_site_stub_at(uint64_t address)
{
	struct spi_tree_object *to;
	const struct spi_map_func *f = func_around(address, &to);

	for (uint32_t i = f ? f->site_first : 0; f && i < f->site_first + f->site_count; i++)
		if (SPI_MAP_AT(&to->map, sites, struct spi_map_site, i)->vaddr + to->object->bias == address)
			return to->sites[i] && !to->sites[i]->pushes ? to->sites[i]->stub : 0;
	return 0;
}

/* Operations under way; under the patch lock. */
static struct {
	struct spi_text_op op[BATCH];
	struct spi_site *site[BATCH];
	uint32_t n;
} batch;

static void count_placed(int change)
{
	spi_sites_placed += (uint32_t) change;
	spi_status_points_change(change);
}

static const char *const worker_names[] = SPI_SITE_WORKER_NAMES;

static void batch_write(struct spi_tree_object *to, int install)
{
	for (uint32_t i = 0; i < batch.n; i++)
		batch.op[i].index = i;
	if (batch.n && spi_site_text_write(to, batch.op, batch.n) < 0)
		for (uint32_t i = 0; i < batch.n; i++)
			batch.op[i].error = "its code is in no executable part of its object";
	for (uint32_t i = 0; i < batch.n; i++) {
		struct spi_site *s = batch.site[batch.op[i].index];

		spi_debug(SPI_DEBUG_WORKER, "site %lx: %s worker %s", spi_site_address(s),
			install ? "in place by" : "back from", worker_names[s->worker]);
		if (!batch.op[i].error) {
			s->point.installed = (uint32_t) install;
			count_placed(install ? 1 : -1);
		} else if (install) {
			spi_tree_decline(to, s->point.call_site, batch.op[i].error);
			s->trees = 0;
		}
	}
	batch.n = 0;
}

/* 1: what a user's own worker does is done; 0: it has failed, and the agent's own do it. */
static int custom_write(struct spi_site *s, int install)
{
	spi_debug(SPI_DEBUG_WORKER, "site %lx: %s a payload's worker", spi_site_address(s),
		install ? "in place by" : "back from");
	if (spi_site_custom_change(s, install) == 0 && (!install || spi_site_custom_claim(s) == 0)) {
		s->point.installed = (uint32_t) install;
		count_placed(install ? 1 : -1);
		return 1;
	}
	if (!spi_bytes_conflict(spi_site_address(s), s->map->size, s->map->size)) {	/* it has never been in place */
		spi_site_choose(s);
		if (s->worker != SPI_SITE_NONE)
			return 0;
	}
	spi_tree_decline(s->owner, s->point.call_site, s->reason);
	s->trees = 0;
	return 1;
}

static void batch_add(struct spi_tree_object *to, struct spi_site *s, int install)
{
	struct spi_text_op *op = &batch.op[batch.n];
	uint8_t was[8];

	if (s->form == SPI_FORM_CUSTOM && custom_write(s, install))
		return;
	if (spi_site_change(s, op) < 0)
		return;
	if (!install) {
		spi_bytes_copy(was, op->from, 8);
		spi_bytes_copy(op->from, op->to, 8);
		spi_bytes_copy(op->to, was, 8);
	}
	batch.site[batch.n++] = s;
	if (batch.n == BATCH)
		batch_write(to, install);
}

/* ---- sites that an entry point moves ---- */

/* In place by what its own instruction has become, among the first ones; and how that is changed. */
static int is_changed_there(const struct spi_site *s, const struct spi_map_func *f, struct spi_text_op *op)
{
	return s && s->point.installed && s->worker == SPI_SITE_WORKER_CALL && s->form != SPI_FORM_ENTRY &&
		s->map->vaddr - f->vaddr < SPI_MAP_ENTRY_BYTES && spi_site_change(s, op) == 0;
}

/* What the file has where such a site has changed this byte: 1. But those that come by a jump of theirs, the byte index knows. */
int spi_site_byte_was(uint64_t address, uint8_t *byte)
{
	struct spi_tree_object *to;
	const struct spi_map_func *f = func_around(address, &to);
	struct spi_text_op op;

	for (uint32_t i = f ? f->site_first : 0; f && i < f->site_first + f->site_count; i++) {
		if (!is_changed_there(to->sites[i], f, &op) || address - op.address >= op.size)
			continue;
		*byte = op.from[address - op.address];
		return 1;
	}
	return 0;
}

/* A function's entry point has just been written: sites that it has moved are reached by that. */
void spi_sites_taken(struct spi_tree_object *to, uint64_t func, const struct spi_patch *entry)
{
	const struct spi_map_func *f = spi_tree_map_func(to, func);
	struct spi_text_op op, rest[8];

	if (!spi_tree_func_is_good(to, func))
		return;
	for (uint32_t i = f->site_first; i < f->site_first + f->site_count; i++) {
		struct spi_site *s = to->sites[i];
		uint32_t n = 0;

		if (!s || s->worker != SPI_SITE_WORKER_CALL || !s->stub || s->map->vaddr - f->vaddr >= SPI_MAP_ENTRY_BYTES ||
				!spi_bytes_conflict(spi_site_start(s), s->map->size, s->map->size))
			continue;
		if (!is_changed_there(s, f, &op)) {	/* of no tree at the moment */
			s->form = SPI_FORM_ENTRY;
			continue;
		}
		/* nobody runs what is left of its instruction */
		for (uint32_t k = 0; k < op.size; k++)
			if (op.address + k - entry->address >= entry->changed)
				rest[n++] = (struct spi_text_op) { .address = op.address + k, .size = 1, .how = SPI_TEXT_STORE,
					.from = { op.to[k] }, .to = { op.from[k] } };
		if (n)
			spi_site_text_write(to, rest, n);
		s->form = SPI_FORM_ENTRY;
		s->point.installed = 0;
		count_placed(-1);
	}
}

/*
 * Callees of calls that cannot be redirected: nobody will notice when they are reached, so their sites are put in place
 * ahead of time. One level of the tree is missing then, and not all that is below. Under the patch lock; whoever lets sites come
 * has them placed before it gives that back.
 */
#define BEYOND_MAX	256u
static struct beyond {
	struct spi_tree_object *to;
	uint64_t func;
	uint32_t trees;
} beyond[BEYOND_MAX];
static uint32_t beyond_count, beyond_depth;

static void beyond_add(struct spi_tree_object *to, const struct spi_map_site *map, uint32_t trees)
{
	int64_t callee;

	if (!spi_site_is_direct(map) || beyond_count == BEYOND_MAX)
		return;
	callee = spi_tree_func_at(to, map->target + to->object->bias);
	if (callee < 0 || !(trees & ~to->funcs[callee].done & ~spi_tree_flat))
		return;
	beyond[beyond_count++] = (struct beyond) { to, (uint64_t) callee, trees & ~spi_tree_flat };
}

/* What is below these may come, too: so not by recursion. */
static void beyond_place(void)
{
	if (beyond_depth++ == 0)
		while (beyond_count) {
			struct beyond next = beyond[--beyond_count];

			spi_sites_place(next.to, next.func, next.trees);
		}
	beyond_depth--;
}

/*
 * Trees for which nothing has to be looked at again. What a slot leads to may have been left out when the site's first
 * call looked at it, and be back: then the site is in place, but records nothing.
 */
static uint32_t site_has(const struct spi_site *s)
{
	return spi_site_is_slot(s->map) ? s->trees & spi_site_live(s) : s->trees;
}

void spi_site_come(struct spi_tree_object *to, uint32_t index, uint32_t trees)
{
	const struct spi_map_site *map = SPI_MAP_AT(&to->map, sites, struct spi_map_site, index);
	const char *why;
	uint32_t wanted = site_wanted(to, map, trees, &why), fresh, apart;
	struct spi_site *s;

	if (spi_unlikely(wanted & spi_tree_decided))
		wanted = spi_site_decided(to, map, wanted);
	s = wanted ? site_get(to, index, wanted) : NULL;
	if (why && !to->sites[index])
		spi_tree_decline(to, map->vaddr + to->object->bias, why);
	if (wanted && (!s || s->worker == SPI_SITE_NONE))
		beyond_add(to, map, wanted);
	if (!s || s->worker == SPI_SITE_NONE)
		return;
	fresh = wanted & ~site_has(s);
	apart = spi_trees_of(fresh, ~s->point.flags);
	s->trees |= fresh;
	if ((apart || (fresh && (s->trees & spi_client_trees))) && spi_site_both_look(s, apart) < 0) {
		spi_tree_decline(to, s->point.call_site, "the agent has no memory left");
		s->trees &= ~apart;
		fresh &= ~apart;
	}
	spi_tree_todo_add(&s->point, fresh);
	for (struct spi_child *c = s->children; c; c = c->next)
		spi_tree_todo_add(&c->point, fresh);
	if (fresh && s->form == SPI_FORM_ENTRY)
		spi_entry_hold(s);
	else if (!s->point.installed && fresh)
		batch_add(to, s, 1);
}

static void sites_of(struct spi_tree_object *to, const struct spi_map_func *func, uint32_t trees)
{
	for (uint32_t i = func->site_first; i < func->site_first + func->site_count; i++)
		spi_site_come(to, i, trees);
}

void spi_sites_place(struct spi_tree_object *to, uint64_t func, uint32_t trees)
{
	const struct spi_map_func *f = spi_tree_map_func(to, func);

	if (!(trees &= ~to->funcs[func].done))
		return;
	to->funcs[func].done |= trees;
	spi_debug(SPI_DEBUG_TREE, "into %s of %s", spi_tree_func_name(to, func), to->object->name);
	if (!spi_tree_func_is_good(to, func)) {
		spi_tree_decline(to, f->vaddr + to->object->bias, "its code map is damaged");
		return;
	}
	spi_entry_named_look(to, func, trees);
	sites_of(to, f, trees);
	for (uint32_t piece = f->reason == SPI_REASON_PART ? SPI_MAP_NONE : f->piece; piece != SPI_MAP_NONE;
			piece = spi_tree_map_func(to, piece)->piece) {
		if (!spi_tree_func_is_good(to, piece))
			break;
		if (!(trees & ~to->funcs[piece].done))
			continue;
		to->funcs[piece].done |= trees;
		sites_of(to, spi_tree_map_func(to, piece), trees);
	}
	batch_write(to, 1);
	if (spi_unlikely(trees & spi_tree_decided))
		spi_clients_choose(0, NULL, 0);		/* it was of this function alone */
	beyond_place();
}

static void place(struct spi_entry_want *w)
{
	spi_sites_place(w->to, w->func, w->trees);
}

void spi_sites_place_held(struct spi_tree_object *to, uint64_t func, uint32_t trees)
{
	struct spi_entry_want w = spi_entry_want(to, func, trees);

	spi_entry_held(&w, place);
}

/* No tree has it any more, but it is in place. */
static uint32_t is_left(const struct spi_site *s)
{
	return !s->trees && s->point.installed;
}

void spi_site_leave(struct spi_site *s, uint32_t trees)
{
	s->trees &= ~trees;
	__atomic_fetch_and(&s->ready, ~trees, __ATOMIC_RELEASE);
	spi_tree_live_leave(&s->point, trees);
	for (struct spi_child *c = s->children; c; c = c->next)
		spi_tree_live_leave(&c->point, trees);
	if (s->twin)
		spi_tree_live_leave(s->twin, trees);
	spi_site_both_look(s, 0);
	s->owner->is_late |= is_left(s);
}

void spi_sites_settle(struct spi_tree_object *to)
{
	to->is_late = 0;
	for (uint32_t i = 0; !to->gone && i < to->map.head->sites.count; i++)
		if (to->sites[i] && is_left(to->sites[i]))
			batch_add(to, to->sites[i], 0);
	batch_write(to, 0);
}

void spi_sites_flush(struct spi_tree_object *to)
{
	batch_write(to, 1);
	beyond_place();
}

void spi_sites_leave(struct spi_tree_object *to, uint32_t trees)
{
	for (uint32_t i = 0; i < to->map.head->funcs.count; i++)
		to->funcs[i].done &= ~trees;
	for (uint32_t i = 0; i < to->map.head->sites.count; i++)
		if (to->sites[i] && (to->sites[i]->trees & trees))
			spi_site_leave(to->sites[i], trees);
	spi_sites_settle(to);
}

/* Its callee turned out to be none that any tree records. */
void spi_site_restore(struct spi_site *s)
{
	s->trees = 0;
	__atomic_store_n(&s->ready, 0, __ATOMIC_RELEASE);
	if (!s->point.installed)
		return;
	batch_write(s->owner, 1);
	batch_add(s->owner, s, 0);
	batch_write(s->owner, 0);
}
