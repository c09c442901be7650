/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Calls of sites that are in trees of both kinds of records (tree/sites/both.c): each kind records the call by
 * itself.
 *
 * A call in both has two slots, as a function and the one that it ends with by a
 * tail call have: the compact one is pushed, its code's address put where the
 * return address is, and the plain one on top returns there. So exits, exceptions,
 * jumps and the process's end find what they know. Where a slot of the second kind
 * is not to be had, the return address is put back.
 */
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/budget/budget.h"
#include "liblttng-spi/tree/internal.h"

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

uint64_t spi_site_call_both(struct spi_point *site, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_site *s = (struct spi_site *) site;
	struct spi_thread *t = &spi_thread;
	uint32_t trees = spi_tree_within(t) & s->trees;
	struct spi_point *point;
	uint64_t code, second;

	if (!trees)
		return 0;
	if (!vec)
		return SPI_ANSWER_FULL;
	point = point_for(s, trees, SPI_POINT_COMPACT, frame);
	code = point ? spi_budget_record(t, s, point, frame, vec, stride) : 0;
	point = point_for(s, trees, 0, frame);
	if (!point)
		return code;
	spi_slot_chain_begin(frame, code);
	second = spi_budget_record(t, s, point, frame, vec, stride);
	return spi_slot_chain_end(frame, code, second);
}
