/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Which receive returned the bytes of which send. Operations that are recorded after their counterparts wait, in either
 * direction; what both sides have is let go. Those whose positions are not sure wait until all that overlapped them in
 * time are known, and are put in order then (order.c).
 *
 * Datagrams of one content on one channel are a stream of their own, in which each has the length 1, so that the k-th
 * one that was sent is the k-th one that is received, and those that overlapped in time are a group.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "reader/flow/match.h"

#define WAITING_MOST	(1u << 20)	/* segments of all channels */
#define GROUP_MOST	4096u
#define WINDOW_NS	INT64_C(1000000000)	/* operations that overlap are recorded within this time */
#define DATAGRAM_WINDOW_NS	INT64_C(100000000)	/* sending one does not wait for its receiver */

/* ---- streams ---- */

struct flow_matching *flow_matching_make(void)
{
	struct flow_matching *m = calloc(1, sizeof(*m));

	if (m) {
		m->open_end = &m->open_first;
		m->datagrams = (struct spi_hash) SPI_HASH_OVER(m->buckets);
	}
	return m;
}

static struct flow_stream *stream_make(struct flow_matching *m, struct flow_channel *channel)
{
	struct flow_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->channel = channel;
	for (int way = 0; way < 2; way++)
		s->sides[way].top_end = s->sides[way].settled_end = INT64_MIN;
	s->next = m->streams;
	if (s->next)
		s->next->before = s;
	m->streams = s;
	m->stream_count++;
	return s;
}

static void stream_free(struct flow_matching *m, struct flow_stream *s)
{
	*(s->before ? &s->before->next : &m->streams) = s->next;
	if (s->next)
		s->next->before = s->before;
	if (s->is_datagrams)
		spi_hash_remove(&m->datagrams, &s->link);
	for (int way = 0; way < 2; way++) {
		free(s->sides[way].segments);
		free(s->sides[way].open);
	}
	m->stream_count--;
	free(s);
}

static struct flow_stream *datagrams_of(struct flow_matching *m, const struct flow_op *op)
{
	const uint64_t hash = spi_hash_number((uintptr_t) op->channel ^ spi_hash_number(op->position) ^ op->bytes);
	struct flow_stream *s = spi_hash_find(&m->datagrams, hash);

	while (s && (s->channel != op->channel || s->hash != op->position || s->length != op->bytes))
		s = spi_hash_again(&s->link);
	if (s)
		return s;
	s = stream_make(m, op->channel);
	if (!s)
		return NULL;
	s->is_datagrams = 1;
	s->hash = op->position;
	s->length = op->bytes;
	spi_hash_add(&m->datagrams, &s->link, hash);
	return s;
}

/* ---- operations that overlapped wait until they are put in order ---- */

static void open_wait(struct flow_matching *m, struct flow_stream *s)
{
	if (s->is_open)
		return;
	s->is_open = 1;
	s->open_next = NULL;
	*m->open_end = s;
	m->open_end = &s->open_next;
}

static int open_add(struct flow *f, struct flow_stream *s, struct flow_side *side, struct flow_op *op)
{
	struct flow_matching *m = f->matching;

	if (side->open_count == side->open_room) {
		const uint32_t room = side->open_room ? side->open_room * 2 : 2;
		struct flow_op **more = realloc(side->open, room * sizeof(struct flow_op *));

		if (!more)
			return -ENOMEM;
		side->open = more;
		side->open_room = room;
	}
	if (op->begin <= side->settled_end)
		f->counts[COUNT_OVERTAKEN]++;
	if (!side->open_count || op->end > side->open_end)
		side->open_end = op->end;
	side->open[side->open_count++] = flow_hold(op);
	open_wait(m, s);
	return 0;
}

static int is_idle(const struct flow_stream *s)
{
	return !s->is_open && !s->sides[0].waiting && !s->sides[1].waiting;
}

static int is_due(const struct flow *f, const struct flow_stream *s)
{
	const int64_t until = f->now - (s->is_datagrams ? DATAGRAM_WINDOW_NS : WINDOW_NS);
	int is_early = 0;

	for (int way = 0; way < 2; way++)
		is_early |= s->sides[way].open_count && s->sides[way].open_end >= until;
	return !is_early;
}

static int open_settle(struct flow *f, struct flow_stream *s)
{
	int r = stream_settle(f, s, FLOW_SEND);

	if (r == 0)
		r = stream_settle(f, s, FLOW_RECEIVE);
	if (r == 0 && s->is_datagrams && is_idle(s))
		stream_free(f->matching, s);
	return r;
}

/* An event opens one stream at most, so that to look at some for each event keeps up. */
int flow_match_advance(struct flow *f)
{
	struct flow_matching *m = f->matching;
	int r = 0;

	for (int i = 0; i < 2 && m->open_first && r == 0; i++) {
		struct flow_stream *s = m->open_first;

		m->open_first = s->open_next;
		if (!m->open_first)
			m->open_end = &m->open_first;
		s->open_next = NULL;
		s->is_open = 0;
		if (is_due(f, s))
			r = open_settle(f, s);
		else
			open_wait(m, s);
	}
	return r;
}

/* ---- what comes, and what does not ---- */

static int all_cut(struct flow *f)
{
	struct flow_matching *m = f->matching;
	const uint64_t before = m->waiting, keep = WAITING_MOST / 4 / (m->stream_count + 1);
	uint64_t newer = m->stream_count / 2;	/* these come first */
	int r = 0;

	for (struct flow_stream *s = m->streams, *next; r == 0 && s; s = next) {
		next = s->next;
		if (!newer || !s->is_datagrams)
			r = stream_cut(f, s, (uint32_t) keep);
		newer -= newer != 0;
		if (r == 0 && s->is_datagrams && is_idle(s))
			stream_free(m, s);
	}
	f->counts[COUNT_DROPPED] += before - m->waiting;
	return r;
}

static int stream_end(struct flow *f, struct flow_stream *s)
{
	int r = stream_settle(f, s, FLOW_SEND);

	if (r == 0)
		r = stream_settle(f, s, FLOW_RECEIVE);
	return r == 0 ? stream_cut(f, s, 0) : r;
}

int flow_channel_again(struct flow *f, struct flow_channel *channel)
{
	struct flow_stream *s = channel->stream;
	int r = s ? stream_end(f, s) : 0;

	for (int way = 0; s && way < 2; way++) {
		s->sides[way].top = 0;
		memset(s->sides[way].gaps, 0, sizeof(s->sides[way].gaps));
		s->sides[way].top_end = s->sides[way].settled_end = INT64_MIN;
	}
	f->counts[COUNT_REUSED] += s != NULL;
	return r;
}

/* The place of a datagram, as it comes; what was received before this one was sent is none of its like. */
static int datagram_place(struct flow *f, struct flow_stream *s, enum flow_way way, struct flow_op *op)
{
	struct flow_side *receives = &s->sides[FLOW_RECEIVE], *side = &s->sides[way];
	const int64_t before = op->begin - FLOW_SLACK_NS;
	int r = 0;

	if (way == FLOW_SEND && (!side->open_count || side->open_end < before) &&
			(!receives->open_count || receives->open_end < before)) {
		r = stream_settle(f, s, FLOW_SEND);
		if (r == 0)
			r = stream_settle(f, s, FLOW_RECEIVE);
		if (r == 0 && receives->waiting)
			r = stream_older_end(f, s, op);
		if (!receives->waiting && side->next < receives->next)
			side->next = receives->next;
	}
	op->position = side->next++;
	return r;
}

/* Does the operation fill a gap that has come up lately? */
static int gap_fill(struct flow_side *side, const struct flow_op *op)
{
	for (uint32_t i = 0; i < FLOW_GAPS; i++) {
		struct flow_gap *gap = &side->gaps[i];

		if (op->position < gap->begin || op->position + op->units > gap->end || op->end > gap->since + FLOW_GAP_NS)
			continue;
		if (op->position == gap->begin)
			gap->begin += op->units;
		else
			gap->end = op->position;
		return 1;
	}
	return 0;
}

int flow_match(struct flow *f, struct flow_op *op)
{
	const enum flow_way way = op->is_send ? FLOW_SEND : FLOW_RECEIVE;
	struct flow_channel *c = op->channel;
	struct flow_stream *s;
	struct flow_side *side;
	int is_unsure = (op->flags & (FLOW_UNSURE | FLOW_DATAGRAM)) != 0, r = 0;

	if (op->flags & FLOW_CUT) {
		f->counts[COUNT_CUT]++;
		return 0;
	}
	if (op->flags & FLOW_UNKNOWN) {
		f->counts[op->is_send ? COUNT_UNKNOWN_SENDS : COUNT_UNKNOWN_RECEIVES]++;
		return 0;
	}
	if (op->flags & FLOW_DATAGRAM)
		s = datagrams_of(f->matching, op);
	else
		s = c->stream ? c->stream : (c->stream = stream_make(f->matching, c));
	if (!s)
		return -ENOMEM;
	side = &s->sides[way];
	if (s->is_datagrams)
		r = datagram_place(f, s, way, op);
	else if (op->position < side->top && op->begin >= side->top_end && !gap_fill(side, op))
		r = flow_channel_again(f, c);
	else if (op->position > side->top && side->top_end != INT64_MIN)
		side->gaps[side->gap_next++ % FLOW_GAPS] = (struct flow_gap) { side->top, op->position, op->end };
	if (r == 0 && side->open_count && ((!is_unsure && op->begin > side->open_end) || side->open_count == GROUP_MOST))
		r = stream_settle(f, s, way);
	if (r < 0)
		return r;
	if (op->position + op->units > side->top)
		side->top = op->position + op->units;
	if (op->end > side->top_end)
		side->top_end = op->end;
	if (is_unsure || (side->open_count && op->begin <= side->open_end)) {
		r = open_add(f, s, side, op);
	} else {
		op->low = op->position;
		op->high = op->position + op->units;
		r = stream_add(f, s, way, &(struct flow_segment) { .begin = op->low, .end = op->high, .missing = op->units,
			.op = flow_hold(op) });
	}
	return r == 0 && f->matching->waiting > WAITING_MOST ? all_cut(f) : r;
}

int flow_match_end(struct flow *f)
{
	int r = 0;

	for (struct flow_stream *s = f->matching->streams; r == 0 && s; s = s->next)
		r = stream_end(f, s);
	return r;
}

void flow_matching_free(struct flow *f)
{
	struct flow_matching *m = f->matching;

	while (m && m->streams) {
		for (int way = 0; way < 2; way++) {
			struct flow_side *side = &m->streams->sides[way];

			for (uint32_t i = 0; i < side->open_count; i++)
				flow_release(f, side->open[i]);
			for (uint32_t i = side->first; i < side->count; i++)
				if (side->segments[i].missing)
					segment_drop(f, &side->segments[i]);
		}
		stream_free(m, m->streams);
	}
	free(m);
}
