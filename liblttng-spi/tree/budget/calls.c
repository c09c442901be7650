/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * How often which function was called. A point counts its own calls, without
 * atomics; here they are brought to the functions: what was called since the
 * controller was told last, and, for budgets, what the calls of the latest
 * window took.
 *
 * Only sites in functions whose sites are in place can have been passed, which
 * are few of a large object's.
 */
#include <sys/syscall.h>
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/budget/internal.h"

#define HOT_MOST	24u

uint64_t spi_calls_cost, spi_calls_cost_budget;
struct spi_site *spi_calls_skipping[SPI_SKIPPING_MAX];
uint32_t spi_calls_skipping_count;

/* ---- to the functions ---- */

static int tables_ready(struct spi_tree_object *to)
{
	uint32_t n = to->map.head->funcs.count;

	if (!to->calls)
		to->calls = spi_map_pages(n * sizeof(*to->calls) + 1);
	if (!to->recent)
		to->recent = spi_map_pages(n * sizeof(*to->recent) + 1);
	return to->calls && to->recent;
}

static void point_gather(struct spi_point *point)
{
	uint64_t hits = point->hits, cost;
	struct spi_tree_object *to;
	int64_t func;

	if (!hits)
		return;
	point->hits -= hits;
	to = spi_tree_object_at(point->address);
	func = to && tables_ready(to) ? spi_tree_func_at(to, point->address) : -1;
	if (func < 0)
		return;
	cost = hits * spi_budget_cost(point);
	to->calls[func] += hits;
	to->recent[func] += cost;
	spi_calls_cost += cost;
	if (point->tree_live & spi_tree_budgets)
		spi_calls_cost_budget += cost;
}

/* A site whose callee changes counts for itself what was not recorded: the way to its stub and back. */
static void site_gather(struct spi_site *s)
{
	uint64_t hits = s->point.hits, cost;

	for (struct spi_child *c = s->children; c; c = c->next)
		point_gather(&c->point);
	if (s->twin)
		point_gather(s->twin);
	if (!hits || s->point.address) {
		point_gather(&s->point);
		return;
	}
	s->point.hits -= hits;
	cost = hits * spi_budget_cost(&s->point);
	if (!s->skipped && spi_calls_skipping_count == SPI_SKIPPING_MAX)
		return;
	if (!s->skipped)
		spi_calls_skipping[spi_calls_skipping_count++] = s;
	s->skipped += cost;
	spi_calls_cost += cost;
	if (s->trees & spi_tree_budgets)
		spi_calls_cost_budget += cost;
}

void spi_calls_gather(void)
{
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next)
		for (uint32_t i = 0; !to->gone && i < to->map.head->funcs.count; i++) {
			const struct spi_map_func *f = spi_tree_map_func(to, i);

			for (uint32_t k = f->site_first; to->funcs[i].done && k < f->site_first + f->site_count; k++)
				if (to->sites[k])
					site_gather(to->sites[k]);
		}
	for (struct spi_entry *e = spi_entries; e; e = e->next)
		for (int i = 0; i < 2 && !e->to->gone; i++)
			if (e->pairs[i]) {
				point_gather(&e->pairs[i]->outer);
				point_gather(&e->pairs[i]->inner);
			}
}

void spi_calls_reset(void)
{
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next)
		for (uint32_t i = 0; to->recent && i < to->map.head->funcs.count; i++)
			if (to->recent[i])	/* a page that was never written to need not be */
				to->recent[i] = 0;
	while (spi_calls_skipping_count)
		spi_calls_skipping[--spi_calls_skipping_count]->skipped = 0;
	spi_calls_cost = spi_calls_cost_budget = 0;
}

/* What was called until now is the parent's to tell. */
void spi_calls_child_begins(void)
{
	uint64_t before;

	if (!spi_tree_existing)
		return;
	before = spi_patch_lock();
	spi_calls_gather();
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next)
		for (uint32_t i = 0; to->calls && i < to->map.head->funcs.count; i++)
			if (to->calls[i])
				to->calls[i] = 0;
	spi_calls_reset();
	spi_patch_unlock(before);
}

/* ---- to the controller ---- */

struct hot {
	uint64_t count;
	const struct spi_tree_object *to;
	uint32_t func;
};

static void hot_take(struct hot *most, struct hot this)
{
	for (uint32_t k = 0; k < HOT_MOST && this.count; k++)
		if (this.count > most[k].count) {
			struct hot was = most[k];

			most[k] = this;
			this = was;
		}
}

/* Under the patch lock. What is told is told once. */
static void hot_find(struct hot *most)
{
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next)
		for (uint32_t i = 0; to->calls && i < to->map.head->funcs.count; i++)
			if (to->calls[i]) {
				if (!to->gone)
					hot_take(most, (struct hot) { to->calls[i], to, i });
				to->calls[i] = 0;
			}
}

/* Deltas: the controller adds them up. */
void spi_tree_hot(struct spi_link *link)
{
	struct hot most[HOT_MOST] = { 0 };
	static char text[HOT_MOST * 640];	/* under the control lock */
	uint64_t before;
	size_t n = 0;

	if (!link)
		return;
	before = spi_patch_lock();
	spi_calls_gather();
	hot_find(most);
	spi_patch_unlock(before);
	for (uint32_t i = 0; i < HOT_MOST && most[i].count; i++) {
		int size = spi_format(text + n, sizeof(text) - n, "%lu\t%s\t%s\n", most[i].count, most[i].to->object->name,
			spi_tree_func_shown(most[i].to, most[i].func));

		if (n + (size_t) size >= sizeof(text))
			break;
		n += (size_t) size;
	}
	text[n] = 0;
	if (n)
		spi_link_send(link, SPI_MSG_HOT, 0, text, n + 1, NULL, 0, -1);
}
