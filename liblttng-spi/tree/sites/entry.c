/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Entry points of trees (root.c): made, put in place and taken out. Once made one
 * is never freed; its pair of points for a kind of records comes with the first tree
 * that wants that.
 */
#include <errno.h>
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/rules/rules.h"
#include "liblttng-spi/tree/sites/internal.h"

struct spi_entry *spi_entries;

struct spi_entry *spi_entry_find(uint64_t address)
{
	struct spi_entry *e = __atomic_load_n(&spi_entries, __ATOMIC_ACQUIRE);

	while (e && (e->point.address != address || e->to->gone))
		e = e->next;
	return e;
}

static void point_fill(struct spi_point *point, struct spi_tree_object *to, uint64_t func, int compact)
{
	const struct spi_map_func *f = spi_tree_map_func(to, func);

	point->address = f->vaddr + to->object->bias;
	point->object = to->object;
	point->map = &to->map;
	point->func = f;
	point->flags = SPI_POINT_APART | SPI_POINT_TREE | (compact ? SPI_POINT_COMPACT : 0);
	point->flags |= f->flags & SPI_FUNC_LOOPS_TO_ENTRY ? SPI_POINT_LOOPS : 0;
	spi_thread_thunks(point, to->map.head->flags & SPI_MAP_USES_YMM, to->map.head->flags & SPI_MAP_USES_ZMM);
}

static struct spi_pair *pair_new(struct spi_entry *e, int compact, uint32_t trees)
{
	struct spi_pair *pair = spi_alloc(sizeof(*pair));

	if (!pair)
		return NULL;
	pair->entry = e;
	point_fill(&pair->outer, e->to, e->func, compact);
	point_fill(&pair->inner, e->to, e->func, compact);
	if (spi_tree_bind(&pair->outer, trees) < 0 || spi_tree_bind(&pair->inner, trees) < 0)
		return NULL;
	pair->exit = pair->outer.exit;
	pair->left = pair->outer.left;
	pair->outer.exit = spi_tree_calls->pair_exit;
	pair->outer.left = spi_tree_calls->pair_left;
	return pair;
}

/*
 * The points of one kind, and what these trees need of them. A pair that was made for clients alone is left to the calls
 * that are under way, when trees come that the event module records.
 */
static int pair_use(struct spi_entry *e, int compact, uint32_t trees)
{
	struct spi_pair *pair = e->pairs[compact];

	if (!pair || ((trees & ~spi_client_trees) && !pair->outer.record)) {
		pair = pair_new(e, compact, trees | (pair ? spi_client_trees : 0));
		if (!pair)
			return -ENOMEM;
	} else if (spi_tree_bind(&pair->outer, trees) < 0 || spi_tree_bind(&pair->inner, trees) < 0) {
		return -ENOMEM;
	}
	pair->outer.body = pair->inner.body = e->point.body;
	__atomic_store_n(&e->pairs[compact], pair, __ATOMIC_RELEASE);
	return 0;
}

int spi_entry_use(struct spi_entry *e, uint32_t trees)
{
	uint32_t plain = trees & ~spi_tree_compact, compact = trees & spi_tree_compact;
	int r = plain ? pair_use(e, 0, plain) : 0;

	return r == 0 && compact ? pair_use(e, 1, compact) : r;
}

/* Memory and payload for these trees, no stub yet. */
static struct spi_entry *entry_make(struct spi_tree_object *to, uint64_t func, uint32_t trees)
{
	struct spi_entry *e = spi_tree_func_is_good(to, func) ? spi_near_data(to->object, sizeof(*e), 64) : NULL;

	if (!e)
		return NULL;
	e->to = to;
	e->func = func;
	spi_sites_at_entry(to, func, trees);
	point_fill(&e->point, to, func, 0);
	e->point.entry = spi_tree_calls->entry;
	return spi_entry_use(e, trees) < 0 ? NULL : e;
}

/* Its stub is there. */
static void entry_publish(struct spi_entry *e)
{
	for (int i = 0; i < 2; i++)
		if (e->pairs[i])
			pair_use(e, i, 0);	/* the body is known now */
	e->next = spi_entries;
	__atomic_store_n(&spi_entries, e, __ATOMIC_RELEASE);
}

int spi_entry_write(struct spi_entry *e, int install)
{
	const struct spi_tree_text *text = spi_tree_text_at(e->to, e->point.address);
	uint32_t was = e->point.installed;
	int r = -EFAULT;

	if (text)
		r = spi_patch_write_locked(&e->point, text->low, text->high, text->prot, install);
	spi_sites_placed += e->point.installed - was;
	if (install && r == 0)
		spi_sites_taken(e->to, e->func, e->point.patch);
	return r;
}

static struct spi_entry *entry_new(struct spi_entry_want *w)
{
	struct spi_entry *e = w->made ? w->made : entry_make(w->to, w->func, w->trees);
	int r;

	w->made = e;
	w->reason = "no free memory within reach of its object";
	if (!e)
		return NULL;
	spi_entry_ask(e);
	r = spi_patch_prepare_locked(&e->point, w->trap_asked, w->no_trap, &w->reason);
	if (r == 0)
		entry_publish(e);
	spi_entry_got(e, r);
	w->asks_trap = r == -EAGAIN;
	return r < 0 ? NULL : e;
}

struct spi_entry *spi_entry_get(struct spi_entry_want *w)
{
	struct spi_entry *e = spi_entry_find(spi_tree_map_func(w->to, w->func)->vaddr + w->to->object->bias);

	if (!e)
		return entry_new(w);
	w->reason = "the agent has no memory left";
	return spi_entry_use(e, w->trees) < 0 ? NULL : e;
}

struct spi_entry *spi_entry_told(struct spi_entry_want *w)
{
	struct spi_entry *e = spi_entry_get(w);

	if (!e && !w->asks_trap)
		spi_tree_decline(w->to, spi_tree_map_func(w->to, w->func)->vaddr + w->to->object->bias, w->reason);
	return e;
}

static void want_held(void *data)
{
	struct spi_entry_want *w = data;
	uint64_t before = spi_patch_lock();

	w->asks_trap = 0;
	if (!w->to->gone)
		w->work(w);
	spi_patch_unlock(before);
}

void spi_entry_held(struct spi_entry_want *w, void (*work)(struct spi_entry_want *w))
{
	w->work = work;
	w->trap_asked = 0;
	w->reason = "its object was unloaded";
	spi_frames_find_unwinder();
	spi_objects_hold(want_held, w);
	if (!w->asks_trap)
		return;
	w->trap_asked = 1;
	if (spi_trap_ready(w->to->object, &w->no_trap) == 0)
		w->no_trap = NULL;
	spi_objects_hold(want_held, w);
}

static void root_add(struct spi_entry_want *w)
{
	struct spi_entry *e = spi_entry_get(w);

	if (!e)
		return;
	e->opens |= w->trees;
	e->is_spare = 0;
	e->point.tree_todo |= w->trees;
	spi_sites_place(w->to, w->func, w->trees);
	w->reason = spi_entry_write(e, 1) < 0 ? "something else than lttng-spi has changed its code" : NULL;
}

const char *spi_tree_root_add(struct spi_tree_object *to, uint64_t func, uint32_t tree)
{
	struct spi_entry_want w = spi_entry_want(to, func, tree);

	spi_entry_held(&w, root_add);
	return w.reason;
}

/*
 * Sites among a function's first instructions are reached by the entry point that has moved these: so it stays while
 * another tree has them.
 */
static int entry_is_held(const struct spi_entry *e, uint32_t tree)
{
	const struct spi_map_func *f = spi_tree_map_func(e->to, e->func);

	for (uint32_t i = f->site_first; i < f->site_first + f->site_count; i++) {
		const struct spi_site *s = e->to->sites[i];

		if (s && s->form == SPI_FORM_ENTRY && (s->trees & ~tree))
			return 1;
	}
	return 0;
}

void spi_entry_spare_over(struct spi_entry *e)
{
	uint64_t before;

	if (!spi_tree_lock(&before, -1))
		return;
	if (e->is_spare && e->point.installed && !e->named && !entry_is_held(e, 0))
		spi_entry_write(e, 0);
	e->is_spare = 0;
	spi_tree_unlock(before);
}

int spi_entry_is_wanted(const struct spi_entry *e, uint32_t tree)
{
	tree |= e->rests;
	return e->named || ((e->point.tree_live | e->point.tree_todo) & ~tree) || entry_is_held(e, tree);
}

void spi_entry_rest(struct spi_entry *e, uint32_t tree, int rests)
{
	e->rests = rests ? e->rests | tree : e->rests & ~tree;
	e->is_late = 1;
}

void spi_entry_settle(struct spi_entry *e)
{
	int wanted = spi_entry_is_wanted(e, 0);

	e->is_late = 0;
	if (e->point.installed != (uint32_t) wanted)
		spi_entry_write(e, wanted);
}

void spi_entry_hold(const struct spi_site *s)
{
	const struct spi_tree_object *to = s->owner;
	int64_t func = spi_tree_func_around(to, s->point.call_site - 1);
	uint64_t address = func < 0 ? 0 : spi_tree_map_func(to, (uint64_t) func)->vaddr + to->object->bias;
	struct spi_entry *e = spi_entry_find(address);

	if (e && !e->point.installed)
		spi_entry_write(e, 1);
}

/* These trees are off, and all threads know: their calls are recorded no more, also where a thread is about to. root.c */
void spi_entries_forget(uint32_t trees)
{
	for (struct spi_entry *e = __atomic_load_n(&spi_entries, __ATOMIC_ACQUIRE); e; e = e->next)
		for (int i = 0; i < 2; i++)
			if (e->pairs[i]) {
				__atomic_fetch_and(&e->pairs[i]->outer.tree_live, ~trees, __ATOMIC_RELAXED);
				__atomic_fetch_and(&e->pairs[i]->inner.tree_live, ~trees, __ATOMIC_RELAXED);
			}
}

/* The tree ends: entries that nobody wants any more get their bytes back. While no object can be unloaded. */
void spi_tree_roots_leave(uint32_t tree)
{
	uint64_t before = spi_patch_lock();

	for (struct spi_entry *e = spi_entries; e; e = e->next) {
		e->opens &= ~tree;
		e->begins &= ~tree;
		__atomic_fetch_and(&e->point.tree_live, ~tree, __ATOMIC_RELEASE);
		__atomic_fetch_and(&e->point.tree_todo, ~tree, __ATOMIC_RELEASE);
		e->rests &= ~tree;
		if (e->point.installed && !e->to->gone && !spi_entry_is_wanted(e, tree))
			spi_entry_write(e, 0);
	}
	spi_patch_unlock(before);
}
