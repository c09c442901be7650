/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What was sent because of what. A message to a thread is a call of the thread's process, and what the thread sends
 * afterwards is a consequence of it, until it receives another one. What goes back to the process that called is the
 * answer, and the thread that gets it goes on with what it was doing when it called. Messages on one channel that a
 * thread sends before something comes back are one call.
 *
 * Where a message is missing, its answer would be a call, the next call its answer, and so on. So a channel that had
 * more answers than calls has answers, be their calls not known, and the other way round.
 *
 * A receive is recorded before the send that it belongs to may be, so operations wait until they are old enough, and are
 * looked at in order of time: a send when it began, a receive when it ended.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "reader/flow/flow.h"

#define HOLD_NS		INT64_C(2000000000)	/* longer than match.c takes to find out what overlapped */
#define HOLD_MOST	500000u		/* operations */
#define DEPTH_MOST	64u		/* calls in one another; a ring of processes has no end */

/* By number of struct call_thread. */
struct chain_thread {
	struct flow_span *now;		/* what it does; NULL: nobody's bidding that is known */
	struct flow_span *called;	/* its latest call */
};

struct flow_chains {
	struct flow_op *first, *last;	/* by time */
	uint32_t waiting;
	struct chain_thread *threads;
	uint32_t thread_room;
	struct flow_node top;
	struct spi_hash nodes, names;
	struct spi_hash_link *node_buckets[4096], *name_buckets[1024];
};

struct name {
	struct spi_hash_link link;
	char text[];
};

struct flow_chains *flow_chains_make(void)
{
	struct flow_chains *c = calloc(1, sizeof(*c));

	if (c) {
		c->nodes = (struct spi_hash) SPI_HASH_OVER(c->node_buckets);
		c->names = (struct spi_hash) SPI_HASH_OVER(c->name_buckets);
	}
	return c;
}

/* ---- spans ---- */

static struct flow_span *span_hold(struct flow_span *s)
{
	if (s)
		s->refs++;
	return s;
}

static void span_set(struct flow_span **at, struct flow_span *s)
{
	span_hold(s);
	flow_span_release(*at);
	*at = s;
}

static struct chain_thread *thread_of(struct flow_chains *c, const struct call_thread *t)
{
	uint32_t room = c->thread_room ? c->thread_room : 64;
	struct chain_thread *more;

	if (t->number < c->thread_room)
		return &c->threads[t->number];
	while (room <= t->number)
		room *= 2;
	more = realloc(c->threads, room * sizeof(*more));
	if (!more)
		return NULL;
	memset(more + c->thread_room, 0, (room - c->thread_room) * sizeof(*more));
	c->threads = more;
	c->thread_room = room;
	return &more[t->number];
}

/* ---- the tree ---- */

static const char *name_keep(struct flow_chains *c, const char *text)
{
	const uint64_t hash = spi_hash_number(spi_hash_text(SPI_HASH_SEED, text));
	struct name *n = spi_hash_find(&c->names, hash);

	while (n && strcmp(n->text, text))
		n = spi_hash_again(&n->link);
	if (n)
		return n->text;
	n = malloc(sizeof(*n) + strlen(text) + 1);
	if (!n)
		return NULL;
	strcpy(n->text, text);
	spi_hash_add(&c->names, &n->link, hash);
	return n->text;
}

static const char *name_of(struct flow_chains *c, const struct call_process *p)
{
	char text[48];

	if (*p->name)
		return name_keep(c, p->name);
	flow_process_text(p, text, sizeof(text));
	return name_keep(c, text);
}

static struct flow_node *node_get(struct flow_chains *c, struct flow_node *parent, const struct call_process *from,
	const struct call_process *to, const char *kind_text)
{
	const char *names[] = { name_of(c, from), name_of(c, to), name_keep(c, kind_text) };
	struct flow_node *n;
	uint64_t hash;

	if (!names[0] || !names[1] || !names[2])
		return NULL;
	hash = spi_hash_number(spi_hash_number(spi_hash_number((uintptr_t) parent ^ (uintptr_t) names[0]) ^
		(uintptr_t) names[1]) ^ (uintptr_t) names[2]);
	n = spi_hash_find(&c->nodes, hash);
	while (n && (n->parent != parent || n->from != names[0] || n->to != names[1] || n->kind != names[2]))
		n = spi_hash_again(&n->link);
	if (!n) {
		n = calloc(1, sizeof(*n));
		if (!n)
			return NULL;
		n->parent = parent;
		n->from = names[0];
		n->to = names[1];
		n->kind = names[2];
		n->from_pid = from->pid;
		n->to_pid = to->pid;
		n->times.min = INT64_MAX;
		n->depth = parent == &c->top ? 0 : parent->depth + 1;
		n->next = parent->child;
		parent->child = n;
		spi_hash_add(&c->nodes, &n->link, hash);
	}
	if (n->from_pid != from->pid)
		n->from_pid = -1;
	if (n->to_pid != to->pid)
		n->to_pid = -1;
	return n;
}

/* ---- messages ---- */

static int is_way_back(const struct flow_channel *c, const struct flow_channel *of)
{
	return *c->from && *c->to && !strcmp(c->from, of->to) && !strcmp(c->to, of->from);
}

/* The call that the message answers; NULL: it is a call itself. latest: that the thread has made which gets the message. */
static struct flow_span *answered_by(const struct flow_op *send, const struct call_process *to, struct flow_span *latest)
{
	struct flow_span *s = send->span;

	if (s && s->client == to && s->server == send->thread->process)
		return s;
	if (latest && !latest->is_answered && latest->at == send->thread)
		return latest;		/* of several calls that the thread got at once, or in between */
	for (s = s ? s->parent : NULL; s; s = s->parent)	/* somebody else took the answer over */
		if (s->client == to && is_way_back(send->channel, s->channel))
			break;
	return s;
}

static struct flow_span *span_begin(struct flow *f, const struct flow_op *send, const struct call_process *to)
{
	struct flow_chains *c = f->chains;
	struct flow_span *s = calloc(1, sizeof(*s)), *parent = send->span;

	if (!s)
		return NULL;
	if (parent && parent->depth + 1 == DEPTH_MOST) {
		f->counts[COUNT_CHAIN_DEEP]++;
		parent = NULL;
	}
	s->parent = span_hold(parent);
	s->depth = parent ? parent->depth + 1 : 0;
	s->client = send->thread->process;
	s->server = to;
	s->channel = send->channel;
	s->begin = send->begin;
	s->refs = 1;
	s->node = node_get(c, parent ? parent->node : &c->top, s->client, to, send->channel->kind);
	if (s->node) {
		s->node->calls++;
		return s;
	}
	flow_span_release(s);
	return NULL;
}

static int is_within(const struct flow *f, const struct flow_op *send)
{
	return send->begin >= f->calls->filter.from && send->begin <= f->calls->filter.to;
}

static int link_message(struct flow *f, struct flow_op *send, struct flow_op *receive)
{
	struct chain_thread *by, *at;
	const struct call_process *to = receive->thread->process;
	struct flow_channel *c;
	struct flow_span *s;
	int r = 0;

	/* the second one may move the array */
	if (!is_within(f, send) || !thread_of(f->chains, send->thread) || !thread_of(f->chains, receive->thread))
		return is_within(f, send) ? -ENOMEM : 0;
	by = thread_of(f->chains, send->thread);
	at = thread_of(f->chains, receive->thread);
	if (send->thread->process == to) {	/* from thread to thread */
		span_set(&at->now, send->span);
		return 0;
	}
	c = send->channel;
	s = answered_by(send, to, at->called);
	if (s && c->calls > c->answers) {
		span_set(&send->span, s->parent);	/* the channel is one for calls: that one was none */
		s = NULL;
	}
	c->calls += !s && c->answers <= c->calls;
	c->answers += s || c->answers > c->calls;
	if (s) {
		s->node->answer_bytes += send->bytes;
		if (!s->is_answered) {
			s->is_answered = 1;
			s->node->answers++;
			r = times_add(&s->node->times, receive->end - s->begin);
		}
		span_set(&at->now, s->parent);
		return r;
	}
	if (c->answers > c->calls) {
		f->counts[COUNT_CHAIN_UNKNOWN]++;
		span_set(&at->now, at->called ? at->called->parent : NULL);
		return 0;
	}
	s = by->called;
	if (!s || s->is_answered || s->channel != send->channel || s->server != to ||
			s->parent != send->span) {
		s = span_begin(f, send, to);
		if (!s)
			return -ENOMEM;
		span_set(&by->called, s);
		flow_span_release(s);
	}
	s->at = receive->thread;
	s->node->messages++;
	s->node->bytes += send->bytes;
	span_set(&at->now, s);
	return 0;
}

int flow_chains_link(struct flow *f, struct flow_op *send, struct flow_op *receive)
{
	struct flow_op **end = &receive->completes;

	if (receive->is_past)
		return link_message(f, send, receive);
	while (*end)
		end = &(*end)->complete_next;
	*end = flow_hold(send);
	send->complete_next = NULL;
	return 0;
}

/* ---- in order of time ---- */

static int64_t time_of(const struct flow_op *op)
{
	return op->is_send ? op->begin : op->end;
}

static int pass(struct flow *f, struct flow_op *op)
{
	struct chain_thread *t = thread_of(f->chains, op->thread);
	int r = t ? 0 : -ENOMEM;

	op->is_past = 1;
	if (t && op->is_send && !op->span)
		span_set(&op->span, t->now);
	if (t && !op->is_send && op->is_unclear && !op->completes) {
		f->counts[COUNT_CHAIN_UNCLEAR]++;
		span_set(&t->now, NULL);
	}
	for (struct flow_op *send = op->completes, *next; send; send = next) {
		next = send->complete_next;
		t = send->is_past ? NULL : thread_of(f->chains, send->thread);
		if (t)			/* its beginning seems to be later */
			span_set(&send->span, t->now);
		if (r == 0)
			r = link_message(f, send, op);
		flow_release(f, send);
	}
	op->completes = NULL;
	return r;
}

int flow_chains_advance(struct flow *f, int64_t until)
{
	struct flow_chains *c = f->chains;
	int r = 0;

	while (r == 0 && c->first && (time_of(c->first) < until || c->waiting > HOLD_MOST)) {
		struct flow_op *op = c->first;

		c->first = op->next;
		*(c->first ? &c->first->before : &c->last) = NULL;
		c->waiting--;
		r = pass(f, op);
		flow_release(f, op);
	}
	return r;
}

int flow_chains_add(struct flow *f, struct flow_op *op)
{
	struct flow_chains *c = f->chains;
	struct flow_op *after = c->last;

	while (after && time_of(after) > time_of(op))
		after = after->before;
	op->before = after;
	op->next = after ? after->next : c->first;
	*(after ? &after->next : &c->first) = op;
	*(op->next ? &op->next->before : &c->last) = op;
	flow_hold(op);
	c->waiting++;
	return flow_chains_advance(f, f->now - HOLD_NS);
}

/* ---- the end ---- */

static int is_chosen(const struct flow *f, const char *name, int64_t pid)
{
	struct call_process p = { .pid = pid };

	snprintf(p.name, sizeof(p.name), "%s", name);
	filter_process(&f->calls->filter, &p);
	return p.chosen;
}

static int by_calls(const void *a, const void *b)
{
	const struct flow_node *x = *(const struct flow_node *const *) a, *y = *(const struct flow_node *const *) b;
	const int order = strcmp(x->from, y->from);

	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return order ? order : strcmp(x->to, y->to);
}

static int children_sort(struct flow_node *n)
{
	struct flow_node **list;
	uint32_t count = 0, i = 0;

	for (struct flow_node *child = n->child; child; child = child->next)
		count++;
	list = count ? malloc(count * sizeof(struct flow_node *)) : NULL;
	if (!list)
		return count ? -ENOMEM : 0;
	for (struct flow_node *child = n->child; child; child = child->next)
		list[i++] = child;
	qsort(list, count, sizeof(struct flow_node *), by_calls);
	for (n->child = NULL; i--; n->child = list[i])
		list[i]->next = n->child;
	free(list);
	return 0;
}

const struct flow_node *flow_node_next(const struct flow_node *n)
{
	if (n->child)
		return n->child;
	while (n->parent && !n->next)
		n = n->parent;
	return n->next;
}

struct flow_node *flow_chains_tree(struct flow *f, uint32_t depth)
{
	struct flow_chains *c = f->chains;

	if (children_sort(&c->top) < 0)
		return NULL;
	for (struct flow_node *n = c->top.child; n; n = (struct flow_node *) flow_node_next(n)) {
		if (children_sort(n) < 0)
			return NULL;
		n->shown = (n->parent->shown & 1) || is_chosen(f, n->from, n->from_pid) || is_chosen(f, n->to, n->to_pid);
		for (struct flow_node *up = n->shown ? n->parent : NULL; up && up != &c->top && !up->shown; up = up->parent)
			up->shown = 2;
	}
	for (struct flow_node *n = c->top.child; n; n = (struct flow_node *) flow_node_next(n))
		n->shown = n->shown && (!depth || n->depth < depth);
	return &c->top;
}

void flow_chains_free(struct flow *f)
{
	struct flow_chains *c = f->chains;

	if (!c)
		return;
	while (c->first) {		/* after an error */
		struct flow_op *op = c->first;

		c->first = op->next;
		flow_release(f, op);
	}
	for (uint32_t i = 0; i < c->thread_room; i++) {
		flow_span_release(c->threads[i].now);
		flow_span_release(c->threads[i].called);
	}
	for (struct flow_node *n = spi_hash_next(&c->nodes, NULL), *next; n; n = next) {
		next = spi_hash_next(&c->nodes, &n->link);
		spi_hash_remove(&c->nodes, &n->link);
		times_free(&n->times);
		free(n);
	}
	for (struct name *n = spi_hash_next(&c->names, NULL), *next; n; n = next) {
		next = spi_hash_next(&c->names, &n->link);
		spi_hash_remove(&c->names, &n->link);
		free(n);
	}
	free(c->threads);
	free(c);
}
