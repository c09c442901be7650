/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Rules that ask for backtraces: what the points of their functions say of that.
 *
 * A point that such a rule has is the same as other rules' points, so a function may have rules with and without
 * backtraces at the same time. The event module gives each session as many frames as its rule asks for: the tags say
 * which rule that is. A rule without a tag is that of one run, which the event module knows.
 *
 * Control side only, under the control lock.
 */
#include "rules/rule.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/rules/internal.h"

static void frames_count(struct spi_backtraces *b)
{
	uint32_t most = 0;

	for (unsigned int i = 0; i < SPI_BACKTRACE_WANTS; i++)
		most = b->wants[i].frames > most ? b->wants[i].frames : most;
	__atomic_store_n(&b->frames, most, __ATOMIC_RELEASE);
}

static void want_clear(struct spi_backtraces *b, unsigned int i)
{
	__atomic_store_n(&b->wants[i].frames, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&b->wants[i].tags, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&b->wants[i].untagged, 0, __ATOMIC_RELAXED);
	b->wants[i].users = 0;
}

void spi_backtraces_clear(struct spi_point *point)
{
	struct spi_backtraces *b = point->backtraces;

	for (unsigned int i = 0; b && i < SPI_BACKTRACE_WANTS; i++)
		want_clear(b, i);
	if (b)
		frames_count(b);
}

/* The place of so many frames; add: or a free one. SPI_BACKTRACE_WANTS: there is none. */
static unsigned int want_find(const struct spi_backtraces *b, uint32_t frames, int add)
{
	unsigned int i = 0, unused = 0;

	while (i < SPI_BACKTRACE_WANTS && b->wants[i].frames != frames)
		i++;
	while (unused < SPI_BACKTRACE_WANTS && b->wants[unused].frames)
		unused++;
	return i < SPI_BACKTRACE_WANTS || !add ? i : unused;
}

/* 0; -1: the rule's tag does not fit. */
static int want_change(struct spi_backtraces *b, unsigned int i, const struct spi_rule *asked, int add)
{
	const char *was = b->wants[i].tags ? b->wants[i].tags : "";
	const char *now = asked->tag[0] ? spi_tags_text(was, asked->tag, add) : was;
	const uint32_t one = add ? 1 : UINT32_MAX;

	if (!now)
		return -1;
	b->wants[i].users += one;
	if (asked->tag[0])
		__atomic_store_n(&b->wants[i].tags, now, __ATOMIC_RELEASE);
	else
		__atomic_store_n(&b->wants[i].untagged, b->wants[i].untagged + one, __ATOMIC_RELAXED);
	if (b->wants[i].users)
		__atomic_store_n(&b->wants[i].frames, asked->backtrace, __ATOMIC_RELEASE);
	else
		want_clear(b, i);
	frames_count(b);
	return 0;
}

/* Those of a point whose events cannot have any are there, too: nobody reads them. */
static void point_add(struct spi_point *point, const struct spi_rule *asked)
{
	struct spi_backtraces *b = point->backtraces ? point->backtraces : spi_alloc(sizeof(*b));
	unsigned int i = b ? want_find(b, asked->backtrace, 1) : SPI_BACKTRACE_WANTS;

	if (b)
		__atomic_store_n(&point->backtraces, b, __ATOMIC_RELEASE);
	if (i == SPI_BACKTRACE_WANTS || want_change(b, i, asked, 1) < 0)
		spi_note("%s: %s: the last rule's entries have no backtraces", point->event_name,
			b ? "too many rules ask for its backtraces" : "the agent has no memory left");
}

static void point_remove(struct spi_point *point, const struct spi_rule *asked)
{
	struct spi_backtraces *b = point->backtraces;
	unsigned int i = b ? want_find(b, asked->backtrace, 0) : SPI_BACKTRACE_WANTS;

	if (i < SPI_BACKTRACE_WANTS)
		want_change(b, i, asked, 0);
}

void spi_backtraces_change(const struct rule *rule, int add)
{
	uint32_t addresses = 0;

	if (!rule->text.backtrace)
		return;
	if (add && (!spi_payload->backtraces || spi_payload->backtraces(rule->points, rule->count) < 0)) {
		spi_note("'%s': LTTng-UST refused the events with backtraces: its entries have none",
			rule->text.function);
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
		spi_note("'%s': the calls of %u functions are recorded by address, and so without backtraces",
			rule->text.function, addresses);
}
