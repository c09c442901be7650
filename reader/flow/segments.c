/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Each side of a stream is a row of segments by position, and where segments of the two sides overlap, bytes went over.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "reader/flow/match.h"

static enum flow_way other_of(enum flow_way way)
{
	return way == FLOW_SEND ? FLOW_RECEIVE : FLOW_SEND;
}

static int done(struct flow *f, struct flow_stream *s, enum flow_way way, struct flow_segment *segment)
{
	s->sides[way].waiting--;
	f->matching->waiting--;
	return segment_end(f, s, way, segment);
}

static void front_drop(struct flow_side *side)
{
	while (side->first < side->count && !side->segments[side->first].missing)
		side->first++;
	if (side->first == side->count)
		side->first = side->count = 0;
}

/* The first one that ends behind a position. */
static uint32_t segment_at(const struct flow_side *side, uint64_t position)
{
	uint32_t low = side->first, high = side->count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (side->segments[middle].end <= position)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t overlap(const struct flow_segment *a, const struct flow_segment *b)
{
	const uint64_t low = a->begin > b->begin ? a->begin : b->begin, high = a->end < b->end ? a->end : b->end;

	return high > low ? high - low : 0;
}

/*
 * Was this received before it was sent? On one host that is no message. A send seems to begin later than it did when its
 * thread has to wait between the clock's reading and the event.
 */
static int is_before(const struct flow *f, const struct flow_op *receive, const struct flow_op *send)
{
	return receive && send && receive->end < send->begin - FLOW_SLACK_NS && flow_host(f, receive) == flow_host(f, send);
}

static void bytes_pass(struct flow *f, struct flow_op *send, struct flow_op *receive)
{
	send->parts++;
	if (receive->high < send->high)
		return;
	if (send->last)
		flow_release(f, send->last);
	send->last = flow_hold(receive);
}

/* Two segments that may overlap: 0 or -ENOMEM. */
static int pass(struct flow *f, struct flow_segment *a, enum flow_way way, struct flow_segment *b)
{
	struct flow_segment *send = way == FLOW_SEND ? a : b, *receive = way == FLOW_SEND ? b : a;
	uint64_t n = overlap(a, b);
	int r = 0;

	if (!n || !b->missing || !a->missing)
		return 0;
	if (send->op && receive->op)
		bytes_pass(f, send->op, receive->op);
	else
		r = segment_other(f, send, receive);
	a->missing -= n < a->missing ? n : a->missing;
	b->missing -= n < b->missing ? n : b->missing;
	return r;
}

int stream_older_end(struct flow *f, struct flow_stream *s, const struct flow_op *send)
{
	struct flow_side *side = &s->sides[FLOW_RECEIVE];
	int r = 0;

	for (uint32_t i = side->first; r == 0 && i < side->count; i++)
		if (side->segments[i].missing && is_before(f, side->segments[i].op, send))
			r = done(f, s, FLOW_RECEIVE, &side->segments[i]);
	front_drop(side);
	return r;
}

static int segment_match(struct flow *f, struct flow_stream *s, enum flow_way way, uint32_t at)
{
	struct flow_side *side = &s->sides[way], *other = &s->sides[other_of(way)];
	struct flow_segment *a = &side->segments[at];
	int r = 0;

	for (uint32_t i = segment_at(other, a->begin); r == 0 && i < other->count && other->segments[i].begin < a->end; i++) {
		struct flow_segment *b = &other->segments[i];

		if (b->missing && way == FLOW_SEND && is_before(f, b->op, a->op)) {
			r = stream_older_end(f, s, a->op);
			i = segment_at(other, a->begin) - 1;
			continue;
		}
		r = pass(f, a, way, b);
		if (r == 0 && !b->missing)
			r = done(f, s, other_of(way), b);
		if (r == 0 && !a->missing)
			break;
	}
	if (r == 0 && !a->missing)
		r = done(f, s, way, a);
	front_drop(side);
	front_drop(other);
	return r;
}

/* Room for one more; those that are done with go where they are many. */
static int segment_room(struct flow_side *side)
{
	struct flow_segment *more;
	uint32_t kept = 0;

	if (side->count < side->room)
		return 0;
	if (side->room && side->waiting < side->room / 2) {
		for (uint32_t i = side->first; i < side->count; i++)
			if (side->segments[i].missing)
				side->segments[kept++] = side->segments[i];
		side->first = 0;
		side->count = kept;
		return 0;
	}
	more = realloc(side->segments, (side->room ? side->room * 2 : 4) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	side->segments = more;
	side->room = side->room ? side->room * 2 : 4;
	return 0;
}

int stream_add(struct flow *f, struct flow_stream *s, enum flow_way way, const struct flow_segment *segment)
{
	struct flow_side *side = &s->sides[way];
	uint32_t at;

	if (segment_room(side) < 0)
		return -ENOMEM;
	for (at = side->count; at > side->first && side->segments[at - 1].begin > segment->begin; at--)
		side->segments[at] = side->segments[at - 1];
	side->segments[at] = *segment;
	side->count++;
	side->waiting++;
	f->matching->waiting++;
	return segment_match(f, s, way, at);
}

int stream_cut(struct flow *f, struct flow_stream *s, uint32_t keep)
{
	int r = 0;

	for (int way = 0; r == 0 && way < 2; way++) {
		struct flow_side *side = &s->sides[way];

		for (uint32_t i = side->first; r == 0 && i < side->count && side->waiting > keep; i++)
			if (side->segments[i].missing)
				r = done(f, s, (enum flow_way) way, &side->segments[i]);
		front_drop(side);
	}
	return r;
}
