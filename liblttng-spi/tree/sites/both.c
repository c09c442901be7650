/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Sites in trees of both kinds of records, plain and compact.
 *
 * A site's point is of one kind, that of the tree which came first, for ever: slots
 * of calls under way know it. For the other kind there is a point more: the site's
 * twin, or, where callees change, children of that kind. While trees of the other
 * kind have the site its stub always enters, whatever the gate says, and a call is recorded in each
 * kind by itself (tree/both.c). When the other kind's trees are gone, the site is again what it was.
 */
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/tree/sites/internal.h"

/* Do clients' trees alone have it, which calls come to by the shortest way? Where callees change, each has a point. */
static int is_clients(const struct spi_site *s)
{
	return s->trees && !(s->trees & ~spi_client_trees) && !s->is_both && !(s->point.flags & SPI_POINT_COMPACT) &&
		(spi_site_is_direct(s->map) || (s->map->target && spi_site_is_slot(s->map)));
}

/*
 * Its entry: by its own kind of records; or, while trees of the other kind have it, with all registers saved. Where
 * clients do with general registers the others are not saved. A thread may be on its way in the thunk that saves these
 * alone: so that entry stays which knows of it.
 */
static void enter(struct spi_site *s)
{
	const struct spi_map_header *head = s->owner->map.head;
	const int is_direct = spi_site_is_direct(s->map), clients = is_clients(s);
	const int general = clients && spi_clients_are_general(spi_clients_of_trees(s->trees));
	spi_entry_fn entry = is_direct ? spi_tree_calls->site : spi_tree_calls->site_any;
	struct spi_point usual = { 0 };

	spi_thread_thunks(&usual, head->flags & SPI_MAP_USES_YMM, head->flags & SPI_MAP_USES_ZMM);
	if (s->is_both || (s->point.flags & SPI_POINT_COMPACT))
		spi_thread_thunks_words(&usual, s->is_both ? SPI_WORDS_NO :
			is_direct || spi_site_is_slot(s->map) ? SPI_WORDS_ONE : SPI_WORDS_ANY);
	if (!s->point.exit_thunk) {
		s->point.vectors = usual.vectors;
		s->point.exit_thunk = usual.exit_thunk;
	}
	if (s->is_both || !s->point.full_exit_thunk) {
		s->point.full_exit_thunk = clients ? usual.exit_thunk : usual.full_exit_thunk;
		__atomic_store_n(&s->point.full_thunk, clients ? usual.thunk : usual.full_thunk, __ATOMIC_RELEASE);
	}
	if (s->is_both)
		entry = spi_tree_calls->site_both;
	else if (clients || s->point.entry == spi_tree_calls->site_clients)
		entry = spi_tree_calls->site_clients;
	__atomic_store_n(&s->point.entry, entry, __ATOMIC_RELEASE);
	__atomic_store_n(&s->point.thunk, s->is_both ? usual.full_thunk : general ? (uint64_t) spi_thunk_entry_general :
		usual.thunk, __ATOMIC_RELEASE);
}

struct spi_point *spi_site_point(const struct spi_site *s, uint32_t size, uint64_t address, uint64_t body,
	uint32_t compact)
{
	const struct spi_map_header *head = s->owner->map.head;
	struct spi_point *point = spi_alloc(size + 48);

	if (!point)
		return NULL;
	point = (struct spi_point *) (((uint64_t) point + 63) & ~UINT64_C(63));
	point->flags = SPI_POINT_TREE | compact;
	point->body = body;
	point->address = address;
	point->object = s->point.object;
	point->map = s->point.map;
	point->gate[0] = s->point.gate[0];
	point->call_site = s->point.call_site;
	spi_thread_thunks(point, head->flags & SPI_MAP_USES_YMM, head->flags & SPI_MAP_USES_ZMM);
	if (compact)
		spi_thread_thunks_words(point, SPI_WORDS_NO);
	return point;
}

int spi_site_both_look(struct spi_site *s, uint32_t fresh)
{
	uint32_t other = spi_trees_of(s->trees, ~s->point.flags);

	if (!other) {
		const int is_new = s->is_both || !s->point.entry || s->point.entry == spi_tree_calls->site_clients;

		s->is_both = 0;
		if (is_new || is_clients(s))
			enter(s);
		if (s->trees & spi_client_trees)	/* they want calls also while nobody records */
			__atomic_fetch_or(&s->point.tree_todo, SPI_TREE_OPEN, __ATOMIC_RELEASE);
		else if (s->point.tree_todo & SPI_TREE_OPEN)
			spi_tree_todo_done(&s->point, SPI_TREE_OPEN);
		return 0;
	}
	if (!s->twin)
		s->twin = spi_site_point(s, sizeof(*s->twin), s->point.address, s->point.body, ~s->point.flags & SPI_POINT_COMPACT);
	if (!s->twin)
		return -1;
	s->twin->body = s->point.body;
	s->is_both = 1;
	spi_tree_todo_add(s->twin, fresh);
	__atomic_fetch_or(&s->point.tree_todo, SPI_TREE_OPEN, __ATOMIC_RELEASE);
	spi_tree_quick_look(&s->point);
	enter(s);
	return 0;
}
