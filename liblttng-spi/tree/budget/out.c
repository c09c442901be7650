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
 * threads) is recorded there all the same, until that itself takes too much: a thread's first record has to be made
 * where lttng-ust may allocate its thread-local memory. For the same reason none of
 * libc's own calls is the first of a thread: malloc() may be under its lock.
 *
 * A thread of the program writes no text: a library may be unloaded meanwhile. The sites lead to nothing until
 * the control thread, for which what is loaded is kept, has put back the program's bytes. The control thread
 * alone brings back what was left out.
 *
 * One comes back after a second, those that took more than four times the whole
 * budget after ten; each time it is left out again the pause is doubled. So what was ever left out has a record.
 */
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/budget/internal.h"

#define OUT_MAX		32768u	/* a record is written to only when it is used: so only then it takes memory */
#define AT_ONCE		256u
#define FEWEST_CALLS	16u	/* in a window: of what was called less often nothing is known */
#define FIRST_NS	(1000 * SPI_BUDGET_MS)
#define HOPELESS	4u
#define HOPELESS_TIMES	10u
#define DOUBLED_MOST	8u

struct spi_out spi_outs[OUT_MAX];
uint32_t spi_out_count, spi_out_now;

/* ---- what was ever left out ---- */

struct candidate {
	struct spi_tree_object *to;
	uint64_t func, cost;
	struct spi_site *site;
};

/* Where the number of its record is: 1 + that; 0: it has none. NULL: no memory. */
static uint32_t *out_number(const struct candidate *c)
{
	struct spi_tree_object *to = c->to;

	if (c->site)
		return &c->site->out;
	if (!to->outs)
		to->outs = spi_map_pages(to->map.head->funcs.count * sizeof(*to->outs) + 1);
	return to->outs ? &to->outs[c->func] : NULL;
}

/* A new record, or that of an object which was unloaded; NULL: all are in use. */
static struct spi_out *out_new(void)
{
	struct spi_out *out = spi_outs;

	if (spi_out_count < OUT_MAX)
		return &spi_outs[spi_out_count++];
	while (out < spi_outs + OUT_MAX && !out->to->gone)
		out++;
	return out < spi_outs + OUT_MAX ? out : NULL;
}

static struct spi_out *out_get(const struct candidate *c)
{
	uint32_t *number = out_number(c);
	struct spi_out *out;

	if (number && *number)
		return &spi_outs[*number - 1];
	out = number ? out_new() : NULL;
	if (!out)
		return NULL;
	*number = (uint32_t) (out - spi_outs) + 1;
	*out = (struct spi_out) { .to = c->to, .func = c->func, .site = c->site };
	return out;
}

static int out_mark(const struct candidate *c, uint64_t now)
{
	const struct spi_budget *b = &spi_budget;
	struct spi_out *out = out_get(c);
	/* never less than an eighth of the cost: what a call takes may have been taken for too much (budget_look()) */
	uint64_t own = (b->window_own > b->window_cost / 8 ? b->window_own : b->window_cost / 8) / 1000 + 1, pause = FIRST_NS;

	if (!out)
		return 0;
	if (!c->site) {
		uint32_t trees = spi_tree_budgets & c->to->covered & ~c->to->funcs[c->func].excluded;

		c->to->funcs[c->func].budget |= trees;
		c->to->funcs[c->func].excluded |= trees;
	}
	spi_out_now += !out->is_out;
	out->is_out = out->is_news = 1;
	out->calls = !c->site && c->to->calls ? c->to->calls[c->func] : 0;
	out->share = spi_calls_cost_budget ? (uint32_t) (c->cost * 1000 / spi_calls_cost_budget) : 0;
	out->rate = c->cost * 1000 / own * 1000;
	if (out->rate / HOPELESS > (uint64_t) b->tenths * SPI_BUDGET_MS)
		pause *= HOPELESS_TIMES;
	pause <<= out->tries < DOUBLED_MOST ? out->tries : DOUBLED_MOST;
	out->tries++;
	out->back_at = now + pause;
	return 1;
}

/* ---- which ---- */

/* Those that took most, in this order. Not on the stack: a handler's may be small. */
static struct candidate most[AT_ONCE];
static uint32_t most_count;

static void candidate_take(struct candidate this)
{
	for (uint32_t i = 0; i < most_count; i++)
		if (this.cost > most[i].cost) {
			struct candidate was = most[i];

			most[i] = this;
			this = was;
		}
	if (most_count < AT_ONCE)
		most[most_count++] = this;
}

/* Is its entry point what records the calls of a function that is left out already? */
static int entry_records(const struct spi_tree_object *to, uint64_t func)
{
	const struct spi_entry *e = spi_entry_find(spi_tree_map_func(to, func)->vaddr + to->object->bias);

	return e && (e->point.tree_live & ~e->rests & spi_tree_budgets);
}

static void candidates_find(uint64_t least)
{
	most_count = 0;
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next)
		for (uint32_t i = 0; !to->gone && to->recent && i < to->map.head->funcs.count; i++)
			if (to->recent[i] >= least && (to->covered & spi_tree_budgets) &&
					((to->covered & spi_tree_budgets & ~to->funcs[i].excluded) || entry_records(to, i)))
				candidate_take((struct candidate) { to, i, to->recent[i], NULL });
	for (uint32_t i = 0; i < spi_calls_skipping_count; i++) {
		struct spi_site *s = spi_calls_skipping[i];
		int64_t func = spi_tree_func_around(s->owner, s->point.call_site - 1);

		if (!s->owner->gone && (s->trees & spi_tree_budgets) && func >= 0 && s->skipped >= least)
			candidate_take((struct candidate) { s->owner, (uint64_t) func, s->skipped, s });
	}
}

/* Functions that go, or come back; under the patch lock. */
struct chosen {
	uint32_t n;
	uint64_t address[AT_ONCE];	/* ascending */
};
static struct chosen chosen;

static int is_chosen(uint64_t address)
{
	uint32_t low = 0, high = chosen.n;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (chosen.address[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < chosen.n && chosen.address[low] == address;
}

static void chosen_add(const struct spi_tree_object *to, uint64_t func)
{
	uint64_t address = spi_tree_map_func(to, func)->vaddr + to->object->bias;
	uint32_t i = chosen.n++;

	for (; i && chosen.address[i - 1] > address; i--)
		chosen.address[i] = chosen.address[i - 1];
	chosen.address[i] = address;
}

/* Each site in functions whose sites are in place for these trees. */
static void sites_each(void (*fn)(struct spi_tree_object *to, uint32_t index, uint32_t trees))
{
	const uint32_t trees = spi_tree_budgets;

	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next) {
		for (uint32_t i = 0; !to->gone && (to->covered & trees) && i < to->map.head->funcs.count; i++) {
			const struct spi_map_func *f = spi_tree_map_func(to, i);

			for (uint32_t k = 0; (to->funcs[i].done & trees) && k < f->site_count; k++)
				fn(to, f->site_first + k, to->funcs[i].done & trees);
		}
		spi_sites_flush(to);
	}
}

/* ---- out ---- */

static void site_out(struct spi_tree_object *to, uint32_t k, uint32_t trees)
{
	struct spi_site *s = to->sites[k];

	if (!s || !(s->trees & trees))
		return;
	if (s->point.address && is_chosen(s->point.address)) {
		spi_site_leave(s, spi_tree_budgets);
		return;
	}
	for (struct spi_child *c = s->children; c; c = c->next)
		if (is_chosen(c->point.address))
			spi_tree_live_leave(&c->point, spi_tree_budgets);
}

/* A root that is chosen begins no tree, and what is entered from outside records no call. One that a site has replaced stays out. */
static void entries_rest(int rest)
{
	for (struct spi_entry *e = spi_entries; e; e = e->next)
		if (!e->to->gone && (rest ? e->point.installed : e->rests & spi_tree_budgets) &&
				is_chosen(e->point.address))
			spi_entry_rest(e, spi_tree_budgets, rest);
}

void spi_budget_settle_text(void)
{
	for (struct spi_entry *e = spi_entries; e; e = e->next)
		if (e->is_late && !e->to->gone)
			spi_entry_settle(e);
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next)
		if (to->is_late)
			spi_sites_settle(to);
}

uint32_t spi_budget_leave_out(uint64_t target, uint64_t now)
{
	uint64_t left = spi_calls_cost_budget;
	uint32_t n = 0;

	candidates_find(FEWEST_CALLS * spi_budget_call_ns((spi_tree_compact & spi_tree_budgets) != 0));
	chosen.n = 0;
	for (uint32_t i = 0; i < most_count && left > target; i++) {
		const struct candidate *c = &most[i];

		if (!out_mark(c, now))
			continue;
		if (c->site)
			spi_site_leave(c->site, spi_tree_budgets);
		else
			chosen_add(c->to, c->func);
		left -= c->cost < left ? c->cost : left;
		n++;
	}
	if (chosen.n)
		sites_each(site_out);
	entries_rest(1);
	return n;
}

/* ---- and back ---- */

/* Does this site lead to one of these, or may it? */
static int site_may_lead(const struct spi_tree_object *to, uint32_t k)
{
	const struct spi_map_site *map = SPI_MAP_AT(&to->map, sites, struct spi_map_site, k);
	const struct spi_site *s = to->sites[k];

	if (spi_site_is_direct(map))
		return is_chosen(map->target + to->object->bias);
	if (s && s->point.address)
		return is_chosen(s->point.address);
	/* behind a slot there was something that is not recorded, perhaps one of these: it looks again */
	return s && !(spi_site_live(s) & spi_tree_budgets) && s->worker != SPI_SITE_NONE && spi_site_is_slot(map);
}

static void site_back(struct spi_tree_object *to, uint32_t k, uint32_t trees)
{
	struct spi_site *s;

	if (site_may_lead(to, k))
		spi_site_come(to, k, trees);
	s = to->sites[k];
	for (struct spi_child *c = s && (s->trees & trees) ? s->children : NULL; c; c = c->next)
		if (is_chosen(c->point.address))
			spi_tree_todo_add(&c->point, s->trees & trees);
}

uint32_t spi_budget_bring_back(uint64_t now)
{
	struct spi_out *best = NULL;
	struct spi_tree_object *to;

	for (struct spi_out *out = spi_outs; out < spi_outs + spi_out_count; out++)
		if (out->is_out && !out->to->gone && now >= out->back_at && (!best || out->rate < best->rate))
			best = out;
	if (!best)
		return 0;
	to = best->to;
	best->is_out = 0;
	spi_out_now--;
	best->is_news = 1;
	chosen.n = 0;
	if (best->site) {
		const struct spi_map_site *first = SPI_MAP_AT(&to->map, sites, struct spi_map_site, 0);

		spi_site_come(to, (uint32_t) (best->site->map - first), spi_tree_budgets & to->funcs[best->func].done);
		spi_sites_flush(to);
		return 1;
	}
	to->funcs[best->func].excluded &= ~to->funcs[best->func].budget;
	to->funcs[best->func].budget = 0;
	chosen_add(to, best->func);
	sites_each(site_back);
	entries_rest(0);
	return 1;
}

/* The trees' sites have left, or will: so nothing is put back. */
void spi_budget_forget(void)
{
	for (struct spi_out *out = spi_outs; out < spi_outs + spi_out_count; out++)
		if (out->is_out && !(out->to->covered & spi_tree_budgets)) {
			out->is_out = 0;
			spi_out_now--;
		}
	if (spi_tree_budgets)
		return;
	for (struct spi_out *out = spi_outs; out < spi_outs + spi_out_count; out++)
		*out_number(&(struct candidate) { .to = out->to, .func = out->func, .site = out->site }) = 0;
	spi_out_count = spi_out_now = 0;
}
