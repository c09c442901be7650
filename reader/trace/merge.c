/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Messages in; messages and the records of all threads out, in order of time, once nothing older can come.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reader/trace/trace.h"

/* Without compact records only names are waited for, which the state dump tells. */
#define PLAIN_HELD	100000u

struct held {
	struct held *next;
	const bt_message *message;
	struct event_class *class;
	struct function *function;	/* of a plain call; NULL: not known yet */
	uint64_t dumps;			/* of its process, by then: names.c */
	int64_t ns;
};

void merge_init(struct merge *m, int64_t hold_ns, const char *teller)
{
	memset(m, 0, sizeof(*m));
	m->hold = hold_ns;
	m->teller = teller;
	m->threads = (struct spi_hash) SPI_HASH_OVER(m->thread_buckets);
	m->classes = (struct spi_hash) SPI_HASH_OVER(m->class_buckets);
}

void merge_free(struct merge *m)
{
	threads_free(m);
	for (struct held *h = m->first, *next; h; h = next) {
		next = h->next;
		bt_message_put_ref(h->message);
		free(h);
	}
	for (struct image *i = m->images, *next; i; i = next) {
		next = i->next;
		free(i->sites);
		free(i);
	}
	for (struct process *p = m->processes, *next; p; p = next) {
		next = p->next;
		free(p);
	}
	for (struct event_class *c = spi_hash_next(&m->classes, NULL), *next; c; c = next) {
		next = spi_hash_next(&m->classes, &c->link);
		free(c);
	}
	names_free(m);
}

/* ---- messages and events ---- */

static const bt_clock_snapshot *message_clock(const bt_message *message)
{
	const bt_clock_snapshot *clock = NULL;

	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_EVENT:
		if (bt_message_event_borrow_stream_class_default_clock_class_const(message))
			clock = bt_message_event_borrow_default_clock_snapshot_const(message);
		break;
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		if (bt_stream_class_packets_have_beginning_default_clock_snapshot(bt_stream_borrow_class_const(
			    bt_packet_borrow_stream_const(bt_message_packet_beginning_borrow_packet_const(message)))))
			clock = bt_message_packet_beginning_borrow_default_clock_snapshot_const(message);
		break;
	case BT_MESSAGE_TYPE_PACKET_END:
		if (bt_stream_class_packets_have_end_default_clock_snapshot(bt_stream_borrow_class_const(
			    bt_packet_borrow_stream_const(bt_message_packet_end_borrow_packet_const(message)))))
			clock = bt_message_packet_end_borrow_default_clock_snapshot_const(message);
		break;
	case BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY:
		clock = bt_message_message_iterator_inactivity_borrow_clock_snapshot_const(message);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		if (bt_stream_class_discarded_events_have_default_clock_snapshots(
			    bt_stream_borrow_class_const(bt_message_discarded_events_borrow_stream_const(message))))
			clock = bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(message);
		break;
	default:
		break;
	}
	return clock;
}

int message_time(const bt_message *message, int64_t *ns)
{
	const bt_clock_snapshot *clock = message_clock(message);

	if (!clock)
		return 0;
	if ((int) bt_clock_snapshot_get_ns_from_origin(clock, ns)) {
		bt_current_thread_clear_error();	/* the time of a damaged trace; with the error nothing could be made any more */
		return 0;
	}
	return 1;
}

static void time_see(struct merge *m, const bt_message *message)
{
	int64_t ns;

	if (!message_time(message, &ns))
		return;
	if (!m->any) {
		m->any = 1;
		m->first_ns = m->now_ns = m->out_ns = ns;
	}
	if (ns > m->now_ns)
		m->now_ns = ns;
}

static enum event_kind kind_of(const char *name)
{
	static const struct {
		const char *name;
		enum event_kind kind;
	} known[] = {
		{ "lttng_ust_cyg_profile:func_entry", EVENT_FUNC_ENTRY },
		{ "lttng_ust_cyg_profile:func_exit", EVENT_FUNC_EXIT },
		{ TP_PROVIDER_TREE ":calls", EVENT_CALLS },
		{ TP_PROVIDER_TREE ":site", EVENT_SITE },
		{ TP_PROVIDER_TREE ":function", EVENT_NAMES },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i].name))
			return known[i].kind;
	return !strncmp(name, "lttng_ust_statedump:", 20) || !strncmp(name, "lttng_ust_lib:", 14) ? EVENT_NAMES : EVENT_OTHER;
}

struct event_class *merge_class(struct merge *m, const bt_event_class *in)
{
	const uint64_t hash = spi_hash_number((uintptr_t) in);
	struct event_class *c = spi_hash_find(&m->classes, hash);
	const char *name;

	while (c && c->in != in)
		c = spi_hash_again(&c->link);
	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	name = bt_event_class_get_name(in);
	c->in = in;
	c->kind = name ? kind_of(name) : EVENT_OTHER;
	spi_hash_add(&m->classes, &c->link, hash);
	return c;
}

/* ---- in ---- */

/* ns from origin = clock value + this */
static int64_t clock_offset(const bt_event *event)
{
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(
		bt_stream_borrow_class_const(bt_event_borrow_stream_const(event)));
	int64_t seconds = 0;
	uint64_t cycles = 0;

	if (clock)
		bt_clock_class_get_offset(clock, &seconds, &cycles);
	return seconds * 1000000000 + (int64_t) cycles;
}

static struct batch *batch_read(const bt_event *event)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	const bt_field *data = payload ? bt_field_structure_borrow_member_field_by_name_const(payload, "data") : NULL;
	uint64_t words = data ? bt_field_array_get_length(data) : 0;
	struct batch *b = malloc(sizeof(*b) + words * 8);

	if (!b)
		return NULL;
	for (uint64_t i = 0; i < words; i++) {
		uint64_t word = bt_field_integer_unsigned_get_value(bt_field_array_borrow_element_field_by_index_const(data, i));

		memcpy(b->data + i * 8, &word, 8);
	}
	b->size = words * 8;
	b->begin_tick = payload_unsigned(event, "begin_tick");
	b->end_tick = payload_unsigned(event, "end_tick");
	b->begin_ns = (int64_t) payload_unsigned(event, "begin_ns");
	b->end_ns = (int64_t) payload_unsigned(event, "end_ns");
	b->seq = (uint32_t) payload_unsigned(event, "seq");
	b->depth = (uint32_t) payload_unsigned(event, "depth");
	b->low = (uint32_t) payload_unsigned(event, "low");
	b->flags = (uint32_t) payload_unsigned(event, "flags");
	return b;
}

static int batch_take(struct merge *m, const bt_event *event)
{
	const int64_t offset = clock_offset(event);
	struct process *process = process_get(m, event);
	struct batch *b = process ? batch_read(event) : NULL;

	if (!b)
		return -1;
	b->own = NULL;
	b->image = process->image;
	process->batches++;
	b->begin_ns += offset;
	b->end_ns += offset;
	if (b->end_tick < b->begin_tick)
		b->end_tick = b->begin_tick;
	if (m->batch_keep && m->batch_keep(m, event, b) < 0) {
		free(b);
		return -1;
	}
	m->compact = 1;
	return thread_batch(m, process, (uint32_t) payload_unsigned(event, "tid"), b);
}

static int site_take(struct merge *m, const bt_event *event)
{
	struct process *process = process_get(m, event);
	struct site site = { .address = payload_unsigned(event, "addr"), .call_site = payload_unsigned(event, "call_site") };
	uint64_t dumps = 0;

	m->compact = 1;
	if (!process)
		return -1;
	site.function = names_find(process->space, site.address, &dumps);
	return site_set(m, process, payload_unsigned(event, "id"), &site);
}

static int is_call(const struct event_class *class)
{
	return class && (class->kind == EVENT_FUNC_ENTRY || class->kind == EVENT_FUNC_EXIT);
}

/* Its function may not be named yet: then it is asked again when it goes out. */
static void held_name(struct merge *m, struct held *h)
{
	const bt_event *event = bt_message_event_borrow_event_const(h->message);

	h->function = names_find(names_space(m, event), payload_unsigned(event, "addr"), &h->dumps);
}

/* 1: the message is one to hold. */
static int event_take(struct merge *m, const bt_message *message, struct event_class **class)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const bt_event_class *in = bt_event_borrow_class_const(event);

	*class = merge_class(m, in);
	if (!*class)
		return -1;
	switch ((*class)->kind) {
	case EVENT_CALLS:
		return batch_take(m, event);
	case EVENT_SITE:
		return site_take(m, event);
	case EVENT_NAMES:
		return names_take(m, event, bt_event_class_get_name(in)) < 0 ? -1 : 1;
	default:
		return 1;
	}
}

/* A trace in files names all its events before the first one comes. */
static void classes_see(struct merge *m, const bt_message *message)
{
	const bt_trace_class *trace = bt_stream_class_borrow_trace_class_const(bt_stream_borrow_class_const(
		bt_message_stream_beginning_borrow_stream_const(message)));

	for (uint64_t i = 0; i < bt_trace_class_get_stream_class_count(trace); i++) {
		const bt_stream_class *channel = bt_trace_class_borrow_stream_class_by_index_const(trace, i);

		for (uint64_t k = 0; k < bt_stream_class_get_event_class_count(channel); k++) {
			const char *name = bt_event_class_get_name(bt_stream_class_borrow_event_class_by_index_const(channel, k));

			m->compact |= name && kind_of(name) == EVENT_CALLS;
		}
	}
}

int merge_take(struct merge *m, const bt_message *message)
{
	struct event_class *class = NULL;
	struct held *h = NULL;
	int r = 1;

	time_see(m, message);
	if (m->is_files && bt_message_get_type(message) == BT_MESSAGE_TYPE_STREAM_BEGINNING)
		classes_see(m, message);
	if (bt_message_get_type(message) == BT_MESSAGE_TYPE_EVENT)
		r = event_take(m, message, &class);
	if (r > 0) {
		h = calloc(1, sizeof(*h));
		r = h ? 1 : -1;
	}
	if (r <= 0) {
		bt_message_put_ref(message);
		return r;
	}
	m->is_plain |= m->is_files && !m->compact && ++m->taken == PLAIN_HELD;
	h->message = message;
	h->class = class;
	h->ns = m->now_ns;
	if (is_call(class))
		held_name(m, h);
	if (m->last)
		m->last->next = h;
	else
		m->first = h;
	m->last = h;
	return 0;
}

void merge_end(struct merge *m)
{
	m->ended = 1;
}

/* ---- out ---- */

/* What is older than this can go out. */
static int64_t safe_until(const struct merge *m)
{
	if (m->ended)
		return INT64_MAX;
	if (m->compact || (m->now_ns - m->first_ns < m->hold && !m->is_plain))
		return m->now_ns - m->hold;
	return m->now_ns;
}

int merge_next(struct merge *m, struct merged *out)
{
	struct thread *t = thread_top(m);
	struct held *h = m->first;
	const int64_t safe = safe_until(m);

	if (h && (!t || h->ns <= t->record.ns)) {
		if (h->ns > safe)
			return 0;
		if (is_call(h->class) && !h->function)
			held_name(m, h);
		*out = (struct merged) { .message = h->message, .class = h->class, .function = h->function };
		if (h->ns > m->out_ns)
			m->out_ns = h->ns;
		m->first = h->next;
		if (!m->first)
			m->last = NULL;
		free(h);
		return 1;
	}
	if (!t || t->record.ns > safe)
		return 0;
	if (m->any && t->record.ns < m->out_ns) {
		m->late++;
		t->record.ns = m->out_ns;
	}
	t->last_ns = m->out_ns = t->record.ns;
	*out = (struct merged) { .thread = t };
	return 1;
}

int merge_done(struct merge *m, struct thread *thread)
{
	return thread_advance(m, thread);
}

void merge_tell(const struct merge *m)
{
	if (m->late)
		fprintf(stderr, "%s: %" PRIu64 " records came later than hold-ms: they have a later time\n", m->teller, m->late);
	if (m->unknown)
		fprintf(stderr, "%s: %" PRIu64 " calls are left out: they are another rule's, or their spi_tree:site did not "
			"come, as with --begin\n", m->teller, m->unknown);
	if (m->gaps)
		fprintf(stderr, "%s: batches of calls are missing in %" PRIu64 " places: they were lost, or the rule was off "
			"then\n", m->teller, m->gaps);
}
