/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Sites in trees of both kinds of records, plain and compact.
 *
 * A site's point is of one kind, that of the tree which came first, for ever: slots
 * of calls under way know it. For the other kind there is a point more: the site's
 * twin, or, where callees change, children of that kind. While trees of the other
 * kind have the site its stub always enters, whatever the gate says, and here each
 * kind that a call is to be recorded in records it by itself.
 *
 * A call in both has two slots, as a function and the one that it ends with by a
 * tail call have: the compact one is pushed, its code's address put where the
 * return address is, and the plain one on top returns there. So exits, exceptions,
 * jumps and the process's end find what they know. Where a slot of the second kind
 * is not to be had, the return address is put back.
 *
 * When the other kind's trees are gone, the site is again what it was.
 */
#include "liblttng-spi/tree/budget/budget.h"
#include "liblttng-spi/tree/sites/site.h"
#include "liblttng-spi/calls/internal.h"

/* ---- two slots for one call ---- */

static struct spi_slot *slot_of(uint64_t code)
{
	return (struct spi_slot *) ((uint64_t) spi_slot_data_base + (code - (uint64_t) spi_slot_code_base));
}

void spi_both_begin(struct spi_frame *frame, uint64_t code)
{
	if (code)
		*(volatile uint64_t *) &frame->ra = code + SPI_SLOT_RETURN;
}

uint64_t spi_both_end(struct spi_frame *frame, uint64_t code, uint64_t second)
{
	if (second || !code)
		return second;
	if (*(volatile uint64_t *) &frame->ra != code + SPI_SLOT_RETURN)
		return 0;		/* folded away: calls/slots.c */
	*(volatile uint64_t *) &frame->ra = slot_of(code)->ra;
	return code;
}

/* ---- which way a site is entered ---- */

/* Its usual entry, by its own kind of records. */
static void enter_alone(struct spi_site *s)
{
	const struct spi_map_site *map = s->map;
	const struct spi_map_header *head = s->owner->map.head;
	struct spi_point usual = { 0 };

	spi_thread_thunks(&usual, head->flags & SPI_MAP_USES_YMM, head->flags & SPI_MAP_USES_ZMM);
	if (s->point.flags & SPI_POINT_COMPACT)
		spi_thread_thunks_words(&usual, spi_site_is_direct(map) || spi_site_is_slot(map) ? SPI_WORDS_ONE : SPI_WORDS_ANY);
	if (!s->point.exit_thunk) {
		s->point.vectors = usual.vectors;
		s->point.exit_thunk = usual.exit_thunk;
		s->point.full_exit_thunk = usual.full_exit_thunk;
		s->point.full_thunk = usual.full_thunk;
	}
	__atomic_store_n(&s->point.entry, spi_site_is_direct(map) ? spi_site_call : spi_site_call_any, __ATOMIC_RELEASE);
	__atomic_store_n(&s->point.thunk, usual.thunk, __ATOMIC_RELEASE);
}

/* Trees of the other kind have it: compact ones alone need no vector registers saved. */
static void enter_both(struct spi_site *s)
{
	const struct spi_map_header *head = s->owner->map.head;
	struct spi_point any = { 0 };

	spi_thread_thunks(&any, head->flags & SPI_MAP_USES_YMM, head->flags & SPI_MAP_USES_ZMM);
	spi_thread_thunks_words(&any, SPI_WORDS_NO);
	s->point.full_exit_thunk = any.full_exit_thunk;
	__atomic_store_n(&s->point.full_thunk, any.full_thunk, __ATOMIC_RELEASE);
	__atomic_store_n(&s->point.entry, spi_site_call_both, __ATOMIC_RELEASE);
	__atomic_store_n(&s->point.thunk, s->trees & ~spi_tree_compact ? any.full_thunk : any.thunk, __ATOMIC_RELEASE);
}

static struct spi_point *twin_make(const struct spi_site *s)
{
	const struct spi_point *point = &s->point;
	struct spi_point *twin = spi_alloc(sizeof(*twin) + 48);
	const struct spi_map_header *head = s->owner->map.head;

	if (!twin)
		return NULL;
	twin = (struct spi_point *) (((uint64_t) twin + 63) & ~UINT64_C(63));
	twin->flags = SPI_POINT_TREE | (~point->flags & SPI_POINT_COMPACT);
	twin->body = point->body;
	twin->address = point->address;
	twin->object = point->object;
	twin->map = point->map;
	twin->gate[0] = point->gate[0];
	twin->call_site = point->call_site;
	spi_thread_thunks(twin, head->flags & SPI_MAP_USES_YMM, head->flags & SPI_MAP_USES_ZMM);
	if (twin->flags & SPI_POINT_COMPACT)
		spi_thread_thunks_words(twin, SPI_WORDS_NO);
	return twin;
}

int spi_site_both_look(struct spi_site *s, uint32_t fresh)
{
	uint32_t other = spi_trees_of(s->trees, ~s->point.flags);

	if (!other) {
		if (!s->is_both && s->point.entry)
			return 0;
		s->is_both = 0;
		enter_alone(s);
		spi_tree_todo_done(&s->point, SPI_TREE_OPEN);
		return 0;
	}
	if (!s->twin && !(s->twin = twin_make(s)))
		return -1;
	s->twin->body = s->point.body;
	s->is_both = 1;
	spi_tree_todo_add(s->twin, fresh);
	__atomic_fetch_or(&s->point.tree_todo, SPI_TREE_OPEN, __ATOMIC_RELEASE);
	spi_tree_quick_look(&s->point);
	enter_both(s);
	return 0;
}

/* ---- calls ---- */

/* The point of that kind for this call; NULL: it is not recorded in that. */
static struct spi_point *point_for(struct spi_site *s, uint32_t trees, uint32_t compact, struct spi_frame *frame)
{
	struct spi_point *point;

	if (!(trees = spi_trees_of(trees, compact)))
		return NULL;
	if (spi_site_is_direct(s->map) || (s->map->target && spi_site_is_slot(s->map))) {
		point = (s->point.flags & SPI_POINT_COMPACT) == compact ? &s->point : s->twin;
	} else {
		point = spi_site_child(s, spi_frame_callee(frame), compact);
		if (spi_unlikely(!point && spi_site_call_is_beyond(s, trees, frame)))
			return NULL;
	}
	if (spi_unlikely(!point || (trees & point->tree_todo))) {
		if (point && spi_site_is_direct(s->map))
			spi_site_first_call(point, trees, (uint64_t) &frame->ra);
		else
			point = spi_site_first_call_any(s, point, trees, frame, compact);
	}
	return point && (trees & point->tree_live) ? point : NULL;
}

static uint64_t record_one(
	struct spi_site *s, struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_thread *t = &spi_thread;

	if (!point || spi_budget_is_early(t, s))
		return 0;
	if (spi_budget_is_due(t))
		return spi_budget_call(point, frame, vec, stride);
	return spi_tree_record(point, frame, vec, stride);
}

/* Which of its points may have to do something that wants all registers saved? */
static int needs_all(const struct spi_site *s, uint32_t trees)
{
	return (trees & ~spi_tree_compact) || !s->twin || !(spi_site_is_direct(s->map) || spi_site_is_slot(s->map)) || spi_tree_budgets ||
		(trees & (s->twin->tree_todo | s->point.tree_todo));
}

uint64_t spi_site_call_both(struct spi_point *site, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_site *s = (struct spi_site *) site;
	struct spi_thread *t = &spi_thread;
	uint32_t trees = spi_tree_of(t);
	struct spi_point *point;
	uint64_t code, second;

	if (spi_unlikely(trees & spi_tree_limited))
		trees = spi_tree_limit(t, trees);
	trees &= s->trees;
	if (!trees)
		return 0;
	if (!vec && needs_all(s, trees))
		return SPI_ANSWER_FULL;
	code = record_one(s, point_for(s, trees, SPI_POINT_COMPACT, frame), frame, vec, stride);
	point = point_for(s, trees, 0, frame);
	if (!point)
		return code;
	spi_both_begin(frame, code);
	second = record_one(s, point, frame, vec, stride);
	return spi_both_end(frame, code, second);
}

/* ---- depth ---- */

/* Slots of calls that trees of this kind have recorded, where there are trees of both. */
uint32_t spi_slots_used_by(struct spi_thread *t, uint32_t compact)
{
	uint32_t n = 0;

	for (struct spi_slot *s = t->cur ? spi_thread_top(t) : NULL; s; s = spi_slot_below(s))
		n += s->state == SPI_SLOT_LIVE && s->p != SPI_SLOT_DEAD && s->target && (s->point->flags & SPI_POINT_COMPACT) == compact;
	return n;
}
