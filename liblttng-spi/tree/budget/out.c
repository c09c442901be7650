/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Leaving functions out of a tree, and bringing them back.
 *
 * A function that is left out counts as excluded for the tree: no site that is new
 * leads to it, and those that there are leave the tree. Where no other tree is, the
 * program's bytes stand there again, so that its calls cost nothing. Calls that are
 * open have their slots, and get their exits; what it calls itself stays in the
 * tree. A site whose callee changes goes on to its stub for the sake of other
 * callees; if that alone takes too much, the site is left out.
 *
 * Those that take most go first, as many as have to. What was called a few times only
 * in the window that was looked at stays: how much it takes will be seen when
 * the others are gone.
 *
 * A root that is left out begins the tree no more, so nothing of what it calls is recorded
 * either. What else is entered from outside of the tree (handlers, start routines of
 * threads, what a function calls whose sites are not in place) is recorded there all the same, until
 * that itself takes too much: a thread's first record has to be made
 * where lttng-ust may allocate its thread-local memory. For the same reason none of
 * libc's own calls is the first of a thread: malloc() may be under its lock.
 *
 * A thread of the program may write to the program itself only: a library may be unloaded meanwhile. There the sites lead to nothing until
 * the control thread, for which what is loaded is kept, has put back the program's bytes. It alone brings back what was left out.
 *
 * One comes back after a second, those that took more than four times the whole
 * budget after ten; each time it is left out again the pause is doubled.
 *
 * What was ever left out has a record, as the pauses and what is told want that. A program that calls very many functions once while
 * it is far behind has its last records kept for what takes most. One that is in again is used anew: those that never took
 * anything as soon as there are a few, the others, and those of libraries that are gone, when there are no more.
 */
#include "liblttng-spi/tree/budget/budget.h"
#include "liblttng-spi/tree/entry.h"

#define OUT_MAX		32768u	/* a record is written to only when it is used: so only then it takes memory */
#define OUT_FEW		4096u	/* from then on those of functions that never took anything are used anew */
#define OUT_KEPT	2048u	/* of OUT_MAX, for functions that have taken something */
#define OUT_LOOK	64u	/* records that are looked at for one that may be used anew */
#define OUT_LISTS	4096u
#define AT_ONCE		256u
#define NEW_AT_ONCE	64u	/* come back, that were never in */
#define FEWEST_CALLS	16u	/* in a window: of what was called less often nothing is known */
#define FIRST_NS	(1000 * SPI_BUDGET_MS)
#define HOPELESS	4u
#define HOPELESS_TIMES	10u
#define DOUBLED_MOST	8u

static struct spi_out outs[OUT_MAX];
struct spi_out *spi_outs = outs;
uint32_t spi_out_count, spi_out_news;
static uint32_t out_lists[OUT_LISTS];	/* by out_list(): 1 + the first one's number; 0: none */
static uint32_t out_hand;		/* where the next one that may be used anew is looked for */

/* ---- which ---- */

struct candidate {
	struct spi_tree_object *to;
	uint64_t func, cost;
	struct spi_site *site;
};

/* Functions and sites by what they took, in powers of two. */
struct histogram {
	uint64_t cost[64];
};

typedef void (*candidate_fn)(const struct candidate *candidate, void *data);

/* Is its entry point what records the calls of a function that is left out already? */
static int entry_records(const struct spi_tree_object *to, uint64_t func, uint32_t bit)
{
	const struct spi_entry *e = spi_entry_find(spi_tree_map_func(to, func)->vaddr + to->object->bias);

	return e && (e->point.tree_live & ~e->rests & bit);
}

static void candidates_each(uint32_t bit, candidate_fn fn, void *data)
{
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next)
		for (uint32_t i = 0; !to->gone && to->recent && (to->covered & bit) && i < to->map.head->funcs.count; i++)
			if (to->recent[i] && (!(to->funcs[i].excluded & bit) || entry_records(to, i, bit)))
				fn(&(struct candidate) { to, i, to->recent[i], NULL }, data);
	for (uint32_t i = 0; i < spi_calls_skipping_count; i++) {
		struct spi_site *s = spi_calls_skipping[i];
		int64_t func = s->owner->gone || !(s->trees & bit) ? -1 : spi_tree_func_around(s->owner, s->point.call_site - 1);

		if (func >= 0)
			fn(&(struct candidate) { s->owner, (uint64_t) func, s->skipped, s }, data);
	}
}

static uint32_t power_of(uint64_t cost)
{
	return 63 - (uint32_t) __builtin_clzll(cost);
}

static void histogram_add(const struct candidate *c, void *data)
{
	struct histogram *h = data;

	h->cost[power_of(c->cost)] += c->cost;
}

/* The lowest power that has to be left out, so that no more than `target` of `all` is left; not below `least`. */
static uint32_t histogram_cut(const struct histogram *h, uint64_t all, uint64_t target, uint32_t least)
{
	uint32_t power = 64;

	while (all > target && power > least) {
		power--;
		all -= h->cost[power] < all ? h->cost[power] : all;
	}
	return power;
}

/* The same function of a library that was unloaded, and is loaded again. */
static int was_before(const struct spi_out *out, const struct spi_tree_object *to)
{
	return !out->site && out->to->gone && out->to->map.head->funcs.count == to->map.head->funcs.count &&
		spi_object_is_same_file(out->to->object, to->object);
}

/* Not by the object: it may be another when the library is loaded again. */
static uint32_t *out_list(uint64_t func, const struct spi_site *site, uint32_t index)
{
	uint64_t key = (func * SPI_TREES_MAX + index + ((uint64_t) site >> 6)) * UINT64_C(0x9e3779b97f4a7c15);

	return &out_lists[(key >> 40) % OUT_LISTS];
}

static void out_enlist(struct spi_out *out)
{
	uint32_t *list = out_list(out->func, out->site, out->index);

	out->next = *list;
	*list = (uint32_t) (out - outs) + 1;
}

static void out_unlist(const struct spi_out *out)
{
	uint32_t *at = out_list(out->func, out->site, out->index);

	while (*at && &outs[*at - 1] != out)
		at = &outs[*at - 1].next;
	*at = out->next;
}

/* One that need not be known any more, the coolest of a few; is_full: also of what took something, or may be loaded again. */
static struct spi_out *out_anew(int is_full)
{
	struct spi_out *best = NULL;

	for (uint32_t n = 0; n < OUT_LOOK && n < spi_out_count; n++) {
		struct spi_out *out = &outs[out_hand++ % spi_out_count];

		if (out->to->gone ? is_full : !out->is_out && !out->news && (is_full || !out->rate))
			best = !best || out->rate < best->rate ? out : best;
	}
	out_hand %= spi_out_count;
	return best;
}

static struct spi_out *out_new(const struct candidate *c)
{
	int is_full = spi_out_count >= OUT_MAX - (c->cost ? 0 : OUT_KEPT);
	struct spi_out *out = spi_out_count < OUT_FEW ? NULL : out_anew(is_full);

	if (out)
		out_unlist(out);
	else if (!is_full)
		out = &outs[spi_out_count++];
	return out;
}

static struct spi_out *out_get(const struct candidate *c, uint32_t index)
{
	struct spi_out *out;

	for (uint32_t i = *out_list(c->func, c->site, index); i; i = out->next) {
		out = &outs[i - 1];
		if (out->index != index || out->func != c->func || out->site != c->site)
			continue;
		if (out->to == c->to || was_before(out, c->to)) {
			out->to = c->to;
			return out;
		}
	}
	out = out_new(c);
	if (!out)
		return NULL;
	*out = (struct spi_out) { .to = c->to, .func = c->func, .site = c->site, .index = index };
	out_enlist(out);
	return out;
}

/* Left out, or in again: the trace is to be told. */
static void out_set(struct spi_out *out, uint32_t is_out)
{
	uint32_t i = (uint32_t) (out - outs);

	out->is_out = is_out;
	out->news = SPI_NEWS;
	spi_out_news = i < spi_out_news ? i : spi_out_news;
}

static int out_mark(const struct candidate *c, uint32_t index, uint64_t now)
{
	const struct spi_budget *b = &spi_budgets[index];
	struct spi_out *out = out_get(c, index);
	/* never less than an eighth of the cost: what a call takes may have been taken for too much (budget_look()) */
	uint64_t own = (b->window_own > b->window_cost / 8 ? b->window_own : b->window_cost / 8) / 1000 + 1, pause = FIRST_NS;

	if (!out)
		return 0;
	if (!c->site) {
		c->to->funcs[c->func].excluded |= 1u << index;
		c->to->funcs[c->func].budget |= 1u << index;
	}
	out_set(out, 1);
	out->calls = !c->site && c->to->calls ? c->to->calls[c->func] : 0;
	out->share = spi_calls_cost_of[index] ? (uint32_t) (c->cost * 1000 / spi_calls_cost_of[index]) : 0;
	out->rate = c->cost * 1000 / own * 1000;
	if (out->rate / HOPELESS > (uint64_t) b->tenths * SPI_BUDGET_MS)
		pause *= HOPELESS_TIMES;
	if (c->cost) {
		pause <<= out->tries < DOUBLED_MOST ? out->tries : DOUBLED_MOST;
		out->tries++;
	}
	out->back_at = now + pause;
	return 1;
}

void spi_budget_loaded(struct spi_tree_object *to, uint32_t index)
{
	uint64_t before = spi_patch_lock();

	for (uint32_t i = 0; i < spi_out_count; i++) {
		struct spi_out *out = &outs[i];

		if (out->index != index || !out->is_out || !was_before(out, to) || to->funcs[out->func].budget & 1u << index)
			continue;
		out->to = to;
		to->funcs[out->func].excluded |= 1u << index;
		to->funcs[out->func].budget |= 1u << index;
	}
	spi_patch_unlock(before);
}

int spi_budget_leave_new(struct spi_tree_object *to, uint64_t func, uint32_t index)
{
	return out_mark(&(struct candidate) { to, func, 0, NULL }, index, spi_now_ns());
}

/* ---- out ---- */

struct chosen {
	uint32_t index, bit, power;
	uint64_t left, target, now;
	uint32_t n, sites;
	uint64_t address[AT_ONCE];	/* of functions, ascending */
};

static int is_chosen(const struct chosen *chosen, uint64_t address)
{
	uint32_t low = 0, high = chosen->n;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (chosen->address[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < chosen->n && chosen->address[low] == address;
}

static void chosen_add(struct chosen *chosen, uint64_t address)
{
	uint32_t i = chosen->n++;

	for (; i && chosen->address[i - 1] > address; i--)
		chosen->address[i] = chosen->address[i - 1];
	chosen->address[i] = address;
}

/* All that took more than the last power that has to go; of that one as much as is needed. */
static void candidate_choose(const struct candidate *c, void *data)
{
	struct chosen *chosen = data;
	uint32_t power = power_of(c->cost);

	if (power < chosen->power || (power == chosen->power && chosen->left <= chosen->target))
		return;
	if (!c->site && chosen->n == AT_ONCE)
		return;
	if (!out_mark(c, chosen->index, chosen->now))
		return;
	if (c->site)
		chosen->sites += c->site->is_leaving = 1;
	else
		chosen_add(chosen, spi_tree_map_func(c->to, c->func)->vaddr + c->to->object->bias);
	chosen->left -= c->cost < chosen->left ? c->cost : chosen->left;
}

static void site_out(struct spi_tree_object *to, struct spi_site *s, const struct chosen *chosen)
{
	/* A library may be unloaded in this moment, by another thread; the program stays. */
	void (*leave)(struct spi_tree_object *to, struct spi_site *site, uint32_t trees) =
		to->object->is_exe ? spi_site_leave : spi_site_leave_late;

	if (s->is_leaving) {
		s->is_leaving = 0;
		leave(to, s, chosen->bit);
		return;
	}
	if (s->point.address && is_chosen(chosen, s->point.address)) {
		leave(to, s, chosen->bit);
		return;
	}
	for (struct spi_child *c = s->children; c; c = c->next)
		if (is_chosen(chosen, c->point.address))
			spi_tree_live_leave(&c->point, chosen->bit);
}

static void sites_out(const struct chosen *chosen)
{
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next) {
		for (uint32_t i = 0; !to->gone && (to->covered & chosen->bit) && i < to->map.head->funcs.count; i++) {
			const struct spi_map_func *f = spi_tree_map_func(to, i);

			for (uint32_t k = f->site_first; (to->funcs[i].done & chosen->bit) && k < f->site_first + f->site_count; k++)
				if (to->sites[k] && (to->sites[k]->trees & chosen->bit))
					site_out(to, to->sites[k], chosen);
		}
		spi_sites_flush(to, 0);
	}
}

static void entries_settle(int of_program)
{
	for (struct spi_entry *e = spi_entries; e; e = e->next)
		if (e->is_late && !e->to->gone && (!of_program || e->to->object->is_exe))
			spi_entry_settle(e);
}

/* A root that is chosen begins no tree, and what is entered from outside records no call. One that a site has replaced stays out. */
static void entries_rest(const struct chosen *chosen, int rest)
{
	for (struct spi_entry *e = spi_entries; e; e = e->next)
		if (!e->to->gone && (rest ? e->point.installed : e->rests & chosen->bit) && is_chosen(chosen, e->point.address))
			spi_entry_rest(e, chosen->bit, rest);
	entries_settle(1);
}

void spi_budget_settle_text(void)
{
	entries_settle(0);
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next)
		if (to->is_late)
			spi_sites_settle(to);
}

uint32_t spi_budget_leave_out(uint32_t index, uint64_t target, uint64_t now)
{
	static struct histogram histogram;	/* under the patch lock; a handler's stack may be small */
	static struct chosen chosen;
	uint64_t all = spi_calls_cost_of[index];

	for (uint32_t i = 0; i < 64; i++)
		histogram.cost[i] = 0;
	chosen.index = index;
	chosen.bit = 1u << index;
	chosen.left = all;
	chosen.target = target;
	chosen.now = now;
	chosen.n = chosen.sites = 0;
	candidates_each(chosen.bit, histogram_add, &histogram);
	chosen.power = histogram_cut(&histogram, all, target, power_of(FEWEST_CALLS * spi_budget_call_ns((spi_tree_compact & chosen.bit) != 0)));
	if (chosen.power == 64)
		return 0;
	candidates_each(chosen.bit, candidate_choose, &chosen);
	if (chosen.n + chosen.sites)
		sites_out(&chosen);
	entries_rest(&chosen, 1);
	return chosen.n + chosen.sites;
}

/* ---- and back ---- */

/* Does this site lead to one of these, or may it? */
static int site_may_lead(const struct spi_tree_object *to, uint32_t k, const struct chosen *chosen)
{
	const struct spi_map_site *map = SPI_MAP_AT(&to->map, sites, struct spi_map_site, k);
	const struct spi_site *s = to->sites[k];

	if (map->kind == SPI_SITE_CALL || map->kind == SPI_SITE_JUMP || map->kind == SPI_SITE_JCC)
		return is_chosen(chosen, map->target + to->object->bias);
	if (s && s->point.address)
		return is_chosen(chosen, s->point.address);
	/* behind a slot there was something that is not recorded, perhaps one of these: it looks again */
	return s && !(spi_site_live(s) & chosen->bit) && s->worker != SPI_SITE_NONE &&
		(map->kind == SPI_SITE_CALL_SLOT || map->kind == SPI_SITE_JUMP_SLOT || map->kind == SPI_SITE_JCC_SLOT);
}

static void site_back(struct spi_tree_object *to, uint32_t k, const struct chosen *chosen)
{
	struct spi_site *s;

	if (site_may_lead(to, k, chosen))
		spi_site_come(to, k, chosen->bit);
	s = to->sites[k];
	for (struct spi_child *c = s && (s->trees & chosen->bit) ? s->children : NULL; c; c = c->next)
		if (is_chosen(chosen, c->point.address))
			spi_tree_todo_add(&c->point, chosen->bit);
}

static void sites_back(const struct chosen *chosen)
{
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next) {
		for (uint32_t i = 0; !to->gone && (to->covered & chosen->bit) && i < to->map.head->funcs.count; i++) {
			const struct spi_map_func *f = spi_tree_map_func(to, i);

			for (uint32_t k = f->site_first; (to->funcs[i].done & chosen->bit) && k < f->site_first + f->site_count; k++)
				site_back(to, k, chosen);
		}
		spi_sites_flush(to, 1);
	}
}

/*
 * What is entered from outside of the tree was recorded all the while, but its sites were not put in place where that was put off.
 * It may be running, and never be entered again: so that is done now.
 */
static void entries_back(const struct chosen *chosen)
{
	for (struct spi_entry *e = spi_entries; e; e = e->next)
		if (!e->to->gone && (e->point.tree_live & e->to->covered & chosen->bit) && is_chosen(chosen, e->point.address))
			spi_sites_place(e->to, e->func, chosen->bit & ~spi_tree_flat);
}

static int is_ready(const struct spi_out *out, uint32_t index, uint64_t now)
{
	return out->index == index && out->is_out && !out->to->gone && now >= out->back_at;
}

static void out_back(struct spi_out *out, struct chosen *chosen)
{
	struct spi_tree_object *to = out->to;

	out_set(out, 0);
	if (out->site) {
		spi_site_come(to, (uint32_t) (out->site->map - SPI_MAP_AT(&to->map, sites, struct spi_map_site, 0)), chosen->bit);
		spi_sites_flush(to, 1);
	} else {
		to->funcs[out->func].excluded &= ~chosen->bit;
		to->funcs[out->func].budget &= ~chosen->bit;
		chosen_add(chosen, spi_tree_map_func(to, out->func)->vaddr + to->object->bias);
	}
}

uint32_t spi_budget_bring_back(uint32_t index, uint64_t now)
{
	static struct chosen chosen;
	struct spi_out *best = NULL;
	uint32_t n = 0;

	chosen.n = 0;
	chosen.bit = 1u << index;
	for (uint32_t i = 0; i < spi_out_count && n < NEW_AT_ONCE; i++) {
		if (!is_ready(&outs[i], index, now))
			continue;
		if (!best || outs[i].rate < best->rate)
			best = &outs[i];
		if (!outs[i].rate) {
			out_back(&outs[i], &chosen);
			n++;
		}
	}
	if (!n && best) {
		out_back(best, &chosen);
		n = 1;
	}
	if (chosen.n) {
		sites_back(&chosen);
		entries_back(&chosen);
		entries_rest(&chosen, 0);
	}
	return n;
}

/* The tree ends, and its sites have left, or will: so nothing is put back. */
void spi_budget_forget(uint32_t index)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < OUT_LISTS; i++)
		out_lists[i] = 0;
	for (uint32_t i = 0; i < spi_out_count; i++)
		if (outs[i].index != index) {
			outs[n] = outs[i];
			out_enlist(&outs[n++]);
		}
	spi_out_count = n;
	spi_out_news = 0;
}
