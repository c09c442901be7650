/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Which receive returned the bytes of which send. Each side of a channel is a row of segments by position, and where
 * segments of the two sides overlap, bytes went over. Operations that are recorded after their counterparts wait, in
 * either direction; what both sides have is let go.
 *
 * Operations whose positions are not sure wait until all that overlapped them in time are known. Then each gets the
 * range that its bytes must lie in: behind all that had ended when it began, and before all that began when it had
 * ended. Those whose ranges overlap are one segment, a group.
 *
 * Datagrams of one content on one channel are a stream of their own, in which each has the length 1, so that the k-th
 * one that was sent is the k-th one that is received, and those that overlapped in time are a group.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "reader/views/flow-match.h"

#define WAITING_MOST	(1u << 20)	/* segments of all channels */
#define GROUP_MOST	4096u
#define WINDOW_NS	INT64_C(1000000000)	/* operations that overlap are recorded within this time */
#define DATAGRAM_WINDOW_NS	INT64_C(100000000)	/* sending one does not wait for its receiver */

static enum flow_way other_of(enum flow_way way)
{
	return way == FLOW_SEND ? FLOW_RECEIVE : FLOW_SEND;
}

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

/* ---- segments ---- */

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

/* Was this received before it was sent? On one host that is no message. */
static int is_before(const struct flow *f, const struct flow_op *receive, const struct flow_op *send)
{
	return receive && send && receive->end < send->begin && flow_host(f, receive) == flow_host(f, send);
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

/* What is waiting on this side and is older than the send belonged to a connection before: nobody traced sent it. */
static int older_end(struct flow *f, struct flow_stream *s, const struct flow_op *send)
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
			r = older_end(f, s, a->op);
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

static int segment_add(struct flow *f, struct flow_stream *s, enum flow_way way, const struct flow_segment *segment)
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

/* ---- operations that overlapped ---- */

static int by_low(const void *a, const void *b)
{
	const struct flow_op *x = *(const struct flow_op *const *) a, *y = *(const struct flow_op *const *) b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->high < y->high ? -1 : x->high > y->high;
}

static int by_begin(const void *a, const void *b)
{
	const struct flow_op *x = *(const struct flow_op *const *) a, *y = *(const struct flow_op *const *) b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int by_end(const void *a, const void *b)
{
	const struct flow_op *x = *(const struct flow_op *const *) a, *y = *(const struct flow_op *const *) b;

	return x->end < y->end ? -1 : x->end > y->end;
}

/* The range of each: what had ended before it began lies before it, what began after it had ended lies behind it. */
static void ranges_find(struct flow_op **ops, uint32_t count, struct flow_op **by_ends)
{
	uint64_t first = UINT64_MAX, last = 0, sum = 0, units = 0;

	for (uint32_t i = 0; i < count; i++) {
		first = ops[i]->position < first ? ops[i]->position : first;
		last = ops[i]->position + ops[i]->units > last ? ops[i]->position + ops[i]->units : last;
		units += ops[i]->units;
	}
	if (last - first < units)
		last = first + units;
	memcpy(by_ends, ops, count * sizeof(struct flow_op *));
	qsort(ops, count, sizeof(struct flow_op *), by_begin);
	qsort(by_ends, count, sizeof(struct flow_op *), by_end);
	for (uint32_t i = 0, k = 0; i < count; i++) {
		for (; k < count && by_ends[k]->end < ops[i]->begin; k++)
			sum += by_ends[k]->units;
		ops[i]->low = first + sum;
	}
	sum = 0;
	for (uint32_t i = count, k = count; i-- > 0;) {
		for (; k > 0 && ops[k - 1]->begin > by_ends[i]->end; k--)
			sum += ops[k - 1]->units;
		by_ends[i]->high = last - sum;
	}
	qsort(ops, count, sizeof(struct flow_op *), by_low);
}

static int settle(struct flow *f, struct flow_stream *s, enum flow_way way)
{
	struct flow_side *side = &s->sides[way];
	struct flow_op **ops = side->open, **by_ends;
	const uint32_t count = side->open_count;
	int r = 0;

	if (!count)
		return 0;
	by_ends = malloc(count * sizeof(struct flow_op *));
	if (!by_ends)
		return -ENOMEM;
	ranges_find(ops, count, by_ends);
	free(by_ends);
	side->open_count = 0;
	side->settled_end = side->open_end;
	for (uint32_t i = 0, next; r == 0 && i < count; i = next) {
		struct flow_segment segment = { .begin = ops[i]->low, .end = ops[i]->high, .missing = ops[i]->units };

		for (next = i + 1; next < count && ops[next]->low < segment.end; next++) {
			segment.end = ops[next]->high > segment.end ? ops[next]->high : segment.end;
			segment.missing += ops[next]->units;
		}
		if (next - i == 1 && segment.end - segment.begin == ops[i]->units) {
			segment.op = ops[i];
		} else {
			segment.group = malloc((next - i) * sizeof(struct flow_op *));
			if (!segment.group)
				return -ENOMEM;
			memcpy(segment.group, ops + i, (next - i) * sizeof(struct flow_op *));
			segment.group_count = next - i;
		}
		r = segment_add(f, s, way, &segment);
	}
	return r;
}

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
	int r = settle(f, s, FLOW_SEND);

	if (r == 0)
		r = settle(f, s, FLOW_RECEIVE);
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

/* The oldest ones of a stream end without a counterpart until no more than `keep` of each side wait. */
static int stream_cut(struct flow *f, struct flow_stream *s, uint32_t keep)
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

static int all_cut(struct flow *f)
{
	struct flow_matching *m = f->matching;
	const uint64_t before = m->waiting, keep = WAITING_MOST / 4 / (m->stream_count + 1);
	int r = 0;

	for (struct flow_stream *s = m->streams, *next; r == 0 && s; s = next) {
		next = s->next;
		r = stream_cut(f, s, (uint32_t) keep);
		if (r == 0 && s->is_datagrams && is_idle(s))
			stream_free(m, s);
	}
	f->counts[COUNT_DROPPED] += before - m->waiting;
	return r;
}

static int stream_end(struct flow *f, struct flow_stream *s)
{
	int r = settle(f, s, FLOW_SEND);

	if (r == 0)
		r = settle(f, s, FLOW_RECEIVE);
	return r == 0 ? stream_cut(f, s, 0) : r;
}

int flow_channel_again(struct flow *f, struct flow_channel *channel)
{
	struct flow_stream *s = channel->stream;
	int r = s ? stream_end(f, s) : 0;

	for (int way = 0; s && way < 2; way++) {
		s->sides[way].top = 0;
		s->sides[way].top_end = s->sides[way].settled_end = INT64_MIN;
	}
	f->counts[COUNT_REUSED] += s != NULL;
	return r;
}

/* The place of a datagram, as it comes; what was received before this one was sent is none of its like. */
static int datagram_place(struct flow *f, struct flow_stream *s, enum flow_way way, struct flow_op *op)
{
	struct flow_side *receives = &s->sides[FLOW_RECEIVE], *side = &s->sides[way];
	int r = 0;

	if (way == FLOW_SEND && (!side->open_count || side->open_end < op->begin) &&
			(!receives->open_count || receives->open_end < op->begin)) {
		r = settle(f, s, FLOW_SEND);
		if (r == 0)
			r = settle(f, s, FLOW_RECEIVE);
		if (r == 0 && receives->waiting)
			r = older_end(f, s, op);
		if (!receives->waiting && side->next < receives->next)
			side->next = receives->next;
	}
	op->position = side->next++;
	return r;
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
	else if (op->position < side->top && op->begin >= side->top_end)
		r = flow_channel_again(f, c);
	if (r == 0 && side->open_count && ((!is_unsure && op->begin > side->open_end) || side->open_count == GROUP_MOST))
		r = settle(f, s, way);
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
		r = segment_add(f, s, way, &(struct flow_segment) { .begin = op->low, .end = op->high, .missing = op->units,
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
