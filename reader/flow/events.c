/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The events of the provider spi_ipc.
 *
 * A channel's id is a hash of inodes or addresses. Inodes and loopback addresses are one host's, so that the ids of such
 * channels count for each host alone.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/flow/flow.h"

#define PEERS_MOST	10000u		/* listed; more are counted */
#define VALUES_MOST	7u

enum flow_event { EVENT_SEND, EVENT_RECEIVE, EVENT_CHANNEL, EVENT_PEER, EVENT_PROCNAME, FLOW_EVENTS };

struct flow_class {
	struct flow_class *next;
	const bt_event_class *in;
	enum flow_event what;		/* FLOW_EVENTS: none of ours */
	uint64_t fields[VALUES_MOST];	/* members; UINT64_MAX: none */
};

static const struct {
	const char *name, *fields[VALUES_MOST];
} event_names[FLOW_EVENTS] = {
	[EVENT_SEND] = { "spi_ipc:send", { "channel", "position", "length", "result", "took", "fd", "flags" } },
	[EVENT_RECEIVE] = { "spi_ipc:recv", { "channel", "position", "length", "result", "took", "fd", "flags" } },
	[EVENT_CHANNEL] = { "spi_ipc:channel", { "channel", "fd", "kind", "direction", "from", "to", "inode" } },
	[EVENT_PEER] = { "spi_ipc:peer", { "channel", "pid", "name", "status", "reason", "took" } },
	[EVENT_PROCNAME] = { "lttng_ust_statedump:procname", { "procname" } },
};
enum { OP_CHANNEL, OP_POSITION, OP_LENGTH, OP_RESULT, OP_TOOK, OP_FD, OP_FLAGS };
enum { CHANNEL_ID, CHANNEL_FD, CHANNEL_KIND, CHANNEL_DIRECTION, CHANNEL_FROM, CHANNEL_TO, CHANNEL_INODE };
enum { PEER_CHANNEL, PEER_PID, PEER_NAME, PEER_STATUS, PEER_REASON, PEER_TOOK };

/* ---- fields ---- */

static struct flow_class *class_get(struct flow *f, const bt_event_class *in)
{
	const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(in);
	struct flow_class **at = &f->classes[spi_hash_number((uintptr_t) in) % 1024], *c;
	const char *name = bt_event_class_get_name(in);
	unsigned int what = 0;

	for (c = *at; c && c->in != in; c = c->next)
		;
	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	while (what < FLOW_EVENTS && (!name || strcmp(event_names[what].name, name)))
		what++;
	c->in = in;
	c->what = (enum flow_event) what;
	for (unsigned int i = 0; i < VALUES_MOST && what < FLOW_EVENTS; i++)
		c->fields[i] = event_names[what].fields[i] ? member_find(payload, event_names[what].fields[i]) : UINT64_MAX;
	c->next = *at;
	*at = c;
	return c;
}

static void values_get(const struct flow_class *c, const bt_event *event, uint64_t *values, const char **texts)
{
	for (unsigned int i = 0; i < VALUES_MOST; i++) {
		const bt_field *field = payload_field(event, c->fields[i]);

		values[i] = field_integer(field);
		texts[i] = field_string(field);
	}
}

static char *text_copy(const char *text)
{
	char *copy = strdup(text);

	if (copy)
		text_clean(copy);
	return copy;
}

/* ---- processes and hosts ---- */

static uint64_t host_of_trace(const bt_trace *trace)
{
	const bt_value *host = bt_trace_borrow_environment_entry_value_by_name_const(trace, "hostname");

	return (host && bt_value_is_string(host) ? spi_hash_text(SPI_HASH_SEED, bt_value_string_get(host)) : 0) | 1;
}

static int process_reach(struct flow *f, const struct call_process *p)
{
	uint32_t room = f->process_room ? f->process_room : 64;
	struct flow_process *more;

	if (p->number >= f->process_room) {
		while (room <= p->number)
			room *= 2;
		more = realloc(f->processes, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		memset(more + f->process_room, 0, (room - f->process_room) * sizeof(*more));
		f->processes = more;
		f->process_room = room;
	}
	if (!f->processes[p->number].host)
		f->processes[p->number].host = host_of_trace(p->trace);
	return 0;
}

/* A state dump says it; the context procname is a thread's, and its first thread's where nothing better is known. */
static void name_set(struct flow *f, struct call_process *p, const char *name)
{
	snprintf(p->name, sizeof(p->name), "%s", name);
	text_clean(p->name);
	filter_process(&f->calls->filter, p);
}

static struct call_thread *thread_get(struct flow *f, const bt_event *event)
{
	struct call_thread *t = call_thread_of_event(f->calls, event);
	const bt_field *context, *field = NULL;

	if (!t || process_reach(f, t->process) < 0)
		return NULL;
	if (!*t->process->name) {
		context = bt_event_borrow_common_context_field_const(event);
		if (context)
			field = bt_field_structure_borrow_member_field_by_name_const(context, "procname");
		if (field && bt_field_class_type_is(bt_field_get_class_type(field), BT_FIELD_CLASS_TYPE_STRING))
			name_set(f, t->process, field_string(field));
	}
	return t;
}

/* ---- channels ---- */

static struct flow_channel *channel_find(struct flow *f, uint64_t id, uint64_t host)
{
	struct flow_channel *c = spi_hash_find(&f->channels, spi_hash_number(id ^ host));

	while (c && (c->id != id || c->host != host))
		c = spi_hash_again(&c->link);
	return c;
}

static struct flow_channel *channel_make(struct flow *f, uint64_t id, uint64_t host)
{
	struct flow_channel *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->id = id;
	c->host = host;
	c->kind = strdup("");
	c->from = strdup("");
	c->to = strdup("");
	c->next = f->channel_list;
	f->channel_list = c;
	f->channel_count++;
	spi_hash_add(&f->channels, &c->link, spi_hash_number(id ^ host));
	return c->kind && c->from && c->to ? c : NULL;
}

/* Of an operation: as it was described, or one of this host's. */
static struct flow_channel *channel_of(struct flow *f, uint64_t id, const struct call_thread *t)
{
	const uint64_t host = f->processes[t->process->number].host;
	struct flow_channel *c = channel_find(f, id, host);

	if (!c)
		c = channel_find(f, id, 0);
	return c ? c : channel_make(f, id, host);
}

static int is_of_host(const char *kind, const char *from, const char *to)
{
	if (strncmp(kind, "tcp", 3) && strncmp(kind, "udp", 3))
		return 1;
	return !strncmp(from, "127.", 4) || !strncmp(from, "[::1]", 5) || !strncmp(to, "127.", 4) || !strncmp(to, "[::1]", 5);
}

static int text_set(char **text, const char *value)
{
	char *copy = **text || !*value ? NULL : text_copy(value);

	if (copy) {
		free(*text);
		*text = copy;
	}
	return copy || **text || !*value ? 0 : -ENOMEM;
}

static int take_channel(struct flow *f, const struct call_thread *t, const uint64_t *values, const char *const *texts)
{
	const uint64_t host = is_of_host(texts[CHANNEL_KIND], texts[CHANNEL_FROM], texts[CHANNEL_TO]) ?
		f->processes[t->process->number].host : 0;
	const enum flow_way way = strcmp(texts[CHANNEL_DIRECTION], "send") ? FLOW_RECEIVE : FLOW_SEND;
	struct flow_channel *c = channel_find(f, values[CHANNEL_ID], host);
	int r = 0;

	/* who takes datagrams at all addresses does not say that they come from this host */
	if (!c && host && !strcmp(texts[CHANNEL_KIND], "udp") && (c = channel_find(f, values[CHANNEL_ID], 0)) && c->met_on != host)
		c = NULL;
	if (!c)
		c = channel_make(f, values[CHANNEL_ID], host);
	if (!c)
		return -ENOMEM;
	if (!c->met_on)
		c->met_on = f->processes[t->process->number].host;
	/* Many sockets send to one that takes datagrams; else another end is another connection. */
	if (c->inodes[way] && values[CHANNEL_INODE] && c->inodes[way] != values[CHANNEL_INODE] && !strcmp(c->kind, "tcp"))
		r = flow_channel_again(f, c);
	if (values[CHANNEL_INODE])
		c->inodes[way] = values[CHANNEL_INODE];
	if (r == 0 && (text_set(&c->kind, texts[CHANNEL_KIND]) < 0 || text_set(&c->from, texts[CHANNEL_FROM]) < 0 ||
			text_set(&c->to, texts[CHANNEL_TO]) < 0))
		r = -ENOMEM;
	return r;
}

/* ---- operations ---- */

static int take_op(struct flow *f, struct call_thread *t, enum flow_event what, const uint64_t *values)
{
	const int64_t result = (int64_t) values[OP_RESULT];
	const int is_datagram = (values[OP_FLAGS] & FLOW_DATAGRAM) != 0;
	struct flow_op *op;
	int r;

	if (result < 0 || (!result && !is_datagram))
		return 0;			/* nothing moved */
	f->counts[what == EVENT_SEND ? COUNT_SENDS : COUNT_RECEIVES]++;
	op = flow_op_make(f);
	if (!op)
		return -ENOMEM;
	*op = (struct flow_op) { .thread = t, .channel = channel_of(f, values[OP_CHANNEL], t), .end = f->now, .refs = 1,
		.position = values[OP_POSITION], .bytes = (uint64_t) result, .flags = (uint8_t) values[OP_FLAGS],
		.is_send = what == EVENT_SEND };
	op->begin = values[OP_TOOK] < (uint64_t) INT64_MAX / 2 ? f->now - (int64_t) values[OP_TOOK] : f->now;
	op->units = is_datagram ? 1 : op->bytes;
	if (!is_datagram && op->position > UINT64_MAX - op->bytes)	/* no stream has so many */
		op->flags |= FLOW_UNKNOWN;
	r = op->channel ? flow_chains_add(f, op) : -ENOMEM;
	if (r == 0)
		r = flow_match(f, op);
	flow_release(f, op);
	return r;
}

static int take_peer(struct flow *f, const struct call_thread *t, const uint64_t *values, const char *const *texts)
{
	struct flow_peer *p;

	if (f->peer_count == PEERS_MOST) {
		f->counts[COUNT_PEERS_MORE]++;
		return 0;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	*f->peer_end = p;
	f->peer_end = &p->next;
	f->peer_count++;
	p->by = t;
	p->id = values[PEER_CHANNEL];
	p->ns = f->now;
	p->pid = (int64_t) values[PEER_PID];
	p->status = (int) (int64_t) values[PEER_STATUS];
	p->took = values[PEER_TOOK];
	p->name = text_copy(texts[PEER_NAME]);
	p->reason = text_copy(texts[PEER_REASON]);
	return p->name && p->reason ? 0 : -ENOMEM;
}

/* ---- all of it ---- */

static void lost_take(struct flow *f, const bt_message *message)
{
	uint64_t *lost = &f->counts[COUNT_LOST], count;

	if (bt_message_get_type(message) == BT_MESSAGE_TYPE_DISCARDED_PACKETS ||
			bt_message_discarded_events_get_count(message, &count) != BT_PROPERTY_AVAILABILITY_AVAILABLE)
		*lost = UINT64_MAX;
	else if (*lost != UINT64_MAX)
		*lost += count;
}

int flow_see(void *flow, const bt_message *message)
{
	const bt_message_type type = bt_message_get_type(message);
	const char *texts[VALUES_MOST];
	uint64_t values[VALUES_MOST];
	struct flow *f = flow;
	const bt_event *event;
	struct flow_class *c;
	struct call_thread *t;
	int r = 0;

	if (type == BT_MESSAGE_TYPE_DISCARDED_EVENTS || type == BT_MESSAGE_TYPE_DISCARDED_PACKETS)
		lost_take(f, message);
	if (type != BT_MESSAGE_TYPE_EVENT)
		return 0;
	event = bt_message_event_borrow_event_const(message);
	c = class_get(f, bt_event_borrow_class_const(event));
	if (!c || c->what == FLOW_EVENTS)
		return c ? 0 : -ENOMEM;
	if (!message_time(message, &f->now))
		return 0;
	t = thread_get(f, event);
	if (!t)
		return -ENOMEM;
	values_get(c, event, values, texts);
	switch (c->what) {
	case EVENT_SEND:
	case EVENT_RECEIVE:
		r = take_op(f, t, c->what, values);
		break;
	case EVENT_CHANNEL:
		r = take_channel(f, t, values, texts);
		break;
	case EVENT_PEER:
		r = take_peer(f, t, values, texts);
		break;
	case EVENT_PROCNAME:
		name_set(f, t->process, texts[0]);
		break;
	case FLOW_EVENTS:
		break;
	}
	return r < 0 ? r : flow_match_advance(f);
}

struct flow *flow_make(struct calls *calls)
{
	struct flow *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->calls = calls;
	f->peer_end = &f->peers;
	f->channels = (struct spi_hash) SPI_HASH_OVER(f->channel_buckets);
	f->edges = (struct spi_hash) SPI_HASH_OVER(f->edge_buckets);
	f->matching = flow_matching_make();
	f->chains = flow_chains_make();
	if (f->matching && f->chains)
		return f;
	flow_free(f);
	return NULL;
}

int flow_end(struct flow *f)
{
	const int r = flow_match_end(f);

	for (struct flow_peer *p = f->peers; p; p = p->next) {
		p->channel = channel_of(f, p->id, p->by);
		if (!p->channel)
			return -ENOMEM;
	}
	return r < 0 ? r : flow_chains_advance(f, INT64_MAX);
}

void flow_free(struct flow *f)
{
	if (!f)
		return;
	flow_chains_free(f);
	flow_matching_free(f);
	flow_edges_free(f);
	for (struct flow_channel *c = f->channel_list, *next; c; c = next) {
		next = c->next;
		free(c->kind);
		free(c->from);
		free(c->to);
		free(c);
	}
	for (struct flow_peer *p = f->peers, *next; p; p = next) {
		next = p->next;
		free(p->name);
		free(p->reason);
		free(p);
	}
	for (struct flow_op *op = f->free_ops, *next; op; op = next) {
		next = op->next;
		free(op);
	}
	for (unsigned int i = 0; i < 1024; i++)
		for (struct flow_class *c = f->classes[i], *next; c; c = next) {
			next = c->next;
			free(c);
		}
	free(f->processes);
	free(f);
}
