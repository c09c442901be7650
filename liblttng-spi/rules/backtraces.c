/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Rules that ask for backtraces: what the points of their functions say of that.
 *
 * A point that such a rule has is the same as other rules' points, so a function may have rules with and without
 * backtraces at the same time. The event module gives each session what its rule asks for, which the tags say; of a
 * rule without a tag, that of one run, all that it knows to be the run's. The largest number of frames counts for all
 * rules that ask, until none does any more.
 *
 * Control side only, under the control lock.
 */
#include "rules/rule.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/rules/internal.h"

void spi_backtraces_clear(struct spi_point *point)
{
	struct spi_backtraces *b = point->backtraces;

	if (!b)
		return;
	__atomic_store_n(&b->frames, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&b->tags, NULL, __ATOMIC_RELAXED);
	b->users = b->untagged = 0;
}

static void point_tag(struct spi_point *point, const char *tag, int add)
{
	struct spi_backtraces *b = point->backtraces;
	const char *now = spi_tags_text(b->tags ? b->tags : "", tag, add);

	if (now)
		__atomic_store_n(&b->tags, now, __ATOMIC_RELEASE);
	else
		spi_note("%s: too many rules ask for its backtraces: the last rule gets none", point->event_name);
}

/* Those of a point whose events cannot have any are there, too: nobody reads them. */
static void point_add(struct spi_point *point, const struct spi_rule *asked)
{
	struct spi_backtraces *b = point->backtraces ? point->backtraces : spi_alloc(sizeof(*b));

	if (!b) {
		spi_note("%s: the agent has no memory left: its entries have no backtraces", point->event_name);
		return;
	}
	__atomic_store_n(&point->backtraces, b, __ATOMIC_RELEASE);
	b->users++;
	if (asked->tag[0])
		point_tag(point, asked->tag, 1);
	else
		__atomic_store_n(&b->untagged, b->untagged + 1, __ATOMIC_RELAXED);
	if (asked->backtrace > b->frames)
		__atomic_store_n(&b->frames, asked->backtrace, __ATOMIC_RELEASE);
}

static void point_remove(struct spi_point *point, const struct spi_rule *asked)
{
	struct spi_backtraces *b = point->backtraces;

	if (!b || !b->users)
		return;
	if (!--b->users) {
		spi_backtraces_clear(point);
		return;
	}
	if (asked->tag[0])
		point_tag(point, asked->tag, 0);
	else
		__atomic_store_n(&b->untagged, b->untagged - 1, __ATOMIC_RELAXED);
}

void spi_backtraces_change(const struct rule *rule, int add)
{
	uint32_t addresses = 0;

	if (!rule->text.backtrace)
		return;
	if (add && (!spi_payload->backtraces || spi_payload->backtraces(rule->points, rule->count) < 0)) {
		spi_note("'%s': LTTng-UST refused the events with backtraces: its entries have none", rule->text.function);
		return;
	}
	for (uint32_t i = 0; i < rule->count; i++) {
		addresses += (rule->points[i]->flags & SPI_POINT_GENERIC) != 0;
		if (add)
			point_add(rule->points[i], &rule->text);
		else
			point_remove(rule->points[i], &rule->text);
	}
	if (add && addresses)
		spi_note("'%s': the calls of %u functions are recorded by address, and so without backtraces", rule->text.function,
			addresses);
}
