/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The end of a segment: what was sent becomes messages, and what has no counterpart is counted. */
#include <errno.h>
#include <stdlib.h>
#include "reader/flow/match.h"

static struct flow_op *const *ops_of(const struct flow_segment *s, uint32_t *count)
{
	*count = s->op ? 1 : s->group_count;
	return s->op ? &s->op : s->group;
}

static int others_add(struct flow_segment *segment, const struct flow_segment *other)
{
	uint32_t count;
	struct flow_op *const *ops = ops_of(other, &count);

	if (segment->other_count + count > segment->other_room) {
		const uint32_t room = (segment->other_count + count) * 2;
		struct flow_op **more = realloc(segment->others, room * sizeof(struct flow_op *));

		if (!more)
			return -ENOMEM;
		segment->others = more;
		segment->other_room = room;
	}
	for (uint32_t i = 0; i < count; i++)
		segment->others[segment->other_count++] = flow_hold(ops[i]);
	return 0;
}

/* Receives need not know: it is sends that become messages. */
int segment_other(struct flow *f, struct flow_segment *send, const struct flow_segment *receive)
{
	(void) f;
	return others_add(send, receive);
}

void segment_drop(struct flow *f, struct flow_segment *s)
{
	uint32_t count;
	struct flow_op *const *ops = ops_of(s, &count);

	for (uint32_t i = 0; i < count; i++) {
		if (ops[i]->last)
			flow_release(f, ops[i]->last);
		ops[i]->last = NULL;
		flow_release(f, ops[i]);
	}
	for (uint32_t i = 0; i < s->other_count; i++)
		flow_release(f, s->others[i]);
	free(s->group);
	free(s->others);
	s->group = s->others = NULL;
	s->op = NULL;
	s->group_count = s->other_count = s->other_room = 0;
	s->missing = 0;
}

/* ---- messages ---- */

static int is_chosen(const struct call_thread *t)
{
	return t->chosen && t->process->chosen;
}

static int passes(const struct flow *f, const struct flow_message *m)
{
	int chosen = is_chosen(m->send->thread) || (m->receive && is_chosen(m->receive->thread));

	for (uint32_t i = 0; i < m->candidate_count; i++)
		chosen |= is_chosen(m->candidates[i]->thread);
	return chosen && m->send->begin >= f->calls->filter.from && m->send->begin <= f->calls->filter.to && (!f->longer || m->latency >= f->longer);
}

static int message_end(struct flow *f, struct flow_op *send, struct flow_op *receive, struct flow_op *const *candidates,
	uint32_t count, int are_all)
{
	struct flow_message m = { .send = send, .receive = receive, .candidates = candidates, .candidate_count = count };
	int r;

	m.to = receive ? receive->thread->process : are_all ? candidates[0]->thread->process : NULL;
	for (uint32_t i = 0; i < count; i++) {
		if (candidates[i]->thread->process != m.to)
			m.to = NULL;
		candidates[i]->is_unclear = 1;
	}
	if (receive) {
		m.latency = receive->end - send->begin;
		m.queue = receive->begin > send->end ? receive->begin - send->end : 0;
	}
	r = receive ? flow_chains_link(f, send, receive) : 0;
	if (r < 0 || !passes(f, &m))
		return r;
	f->counts[m.to ? COUNT_MESSAGES : COUNT_AMBIGUOUS]++;
	f->counts[COUNT_UNSURE] += m.to && !receive;
	f->counts[COUNT_NEGATIVE] += receive && m.latency < 0;
	f->counts[COUNT_LATE] += (send->flags & FLOW_LATE) != 0;
	r = flow_edges_take(f, &m);
	return r == 0 && f->take ? f->take(f->data, &m) : r;
}

/*
 * The receive that must have the send's last byte; or all that may have it. Where something of the segment was not
 * received, what is known of may not be all.
 */
static int send_end(struct flow *f, const struct flow_segment *s, struct flow_op *send, struct flow_op **room)
{
	struct flow_op *receive = send->last;
	uint32_t count = 0;

	for (uint32_t i = 0; !receive && i < s->other_count; i++) {
		struct flow_op *other = s->others[i];

		if (other->low >= send->high || other->high < send->low + send->units)
			continue;
		if (other->high - other->low == other->units && other->low <= send->low && other->high >= send->high) {
			receive = other;
			send->parts = 1;
		} else if (!count || room[count - 1] != other) {
			room[count++] = other;
		}
	}
	if (receive)
		return message_end(f, send, receive, NULL, 0, 1);
	if (count == 1 && !s->missing)
		return message_end(f, send, room[0], NULL, 0, 1);
	if (count)
		return message_end(f, send, NULL, room, count, !s->missing);
	f->counts[COUNT_UNRECEIVED]++;
	return 0;
}

static int sends_end(struct flow *f, struct flow_segment *s)
{
	struct flow_op **room = s->other_count ? malloc(s->other_count * sizeof(struct flow_op *)) : NULL;
	uint32_t count;
	struct flow_op *const *ops = ops_of(s, &count);
	int r = s->other_count && !room ? -ENOMEM : 0;

	for (uint32_t i = 0; r == 0 && i < count; i++)
		r = send_end(f, s, ops[i], room);
	free(room);
	return r;
}

int segment_end(struct flow *f, struct flow_stream *stream, enum flow_way way, struct flow_segment *s)
{
	const uint64_t bytes = stream->is_datagrams ? s->missing * stream->length : s->missing;
	int r = 0;

	if (way == FLOW_SEND) {
		f->counts[COUNT_UNRECEIVED_BYTES] += bytes;
		r = sends_end(f, s);
	} else if (s->missing) {
		f->counts[COUNT_UNSENT] += s->op ? 1 : s->group_count;
		f->counts[COUNT_UNSENT_BYTES] += bytes;
	}
	segment_drop(f, s);
	return r;
}
