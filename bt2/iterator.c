/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The message iterator: takes messages in, and puts them and the records of all
 * threads out, in order of time, once nothing older can come.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bt2/expand.h"

#define RECORD_MESSAGES	4u	/* at most, for one record or the end of a stream */

bt_message_iterator_class_initialize_method_status expand_iterator_init(bt_self_message_iterator *self,
	bt_self_message_iterator_configuration *configuration, bt_self_component_port_output *port)
{
	bt_self_component *component = bt_self_message_iterator_borrow_component(self);
	bt_self_component_filter *filter = (bt_self_component_filter *) component;
	bt_self_component_port_input *in = bt_self_component_filter_borrow_input_port_by_index(filter, 0);
	struct expand *e = calloc(1, sizeof(*e));

	if (!e)
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	e->self = self;
	e->component = component;
	e->hold = *(const int64_t *) bt_self_component_get_data(component);
	if (bt_message_iterator_create_from_message_iterator(self, in, &e->upstream) !=
			BT_MESSAGE_ITERATOR_CREATE_FROM_MESSAGE_ITERATOR_STATUS_OK) {
		free(e);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_message_iterator_set_data(self, e);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void expand_iterator_finalize(bt_self_message_iterator *self)
{
	struct expand *e = bt_self_message_iterator_get_data(self);

	if (!e)
		return;
	threads_free(e);
	for (struct held *h = e->first, *next; h; h = next) {
		next = h->next;
		bt_message_put_ref(h->message);
		free(h);
	}
	for (struct image *i = e->images, *next; i; i = next) {
		next = i->next;
		free(i->sites);
		free(i);
	}
	for (struct process *p = e->processes, *next; p; p = next) {
		next = p->next;
		free(p);
	}
	out_free(e);
	named_free(e);
	callers_free(e);
	names_free(e);
	bt_message_iterator_put_ref(e->upstream);
	free(e);
}

/* ---- in ---- */

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

static void time_see(struct expand *e, const bt_message *message)
{
	const bt_clock_snapshot *clock = message_clock(message);
	int64_t ns;

	if (!clock)
		return;
	if ((int) bt_clock_snapshot_get_ns_from_origin(clock, &ns)) {
		bt_current_thread_clear_error();	/* the time of a damaged trace; with the error nothing could be made any more */
		return;
	}
	if (!e->any) {
		e->any = 1;
		e->first_ns = e->now_ns = e->out_ns = ns;
	}
	if (ns > e->now_ns)
		e->now_ns = ns;
}

uint64_t payload_unsigned(const bt_event *event, const char *name)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	const bt_field *field = payload ? bt_field_structure_borrow_member_field_by_name_const(payload, name) : NULL;

	if (!field || !bt_field_class_type_is(bt_field_get_class_type(field), BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return 0;
	return bt_field_integer_unsigned_get_value(field);
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

static int batch_take(struct expand *e, const bt_event *event)
{
	struct out_stream *stream = out_stream_get(e, event);
	struct process *process = process_get(e, event);
	struct batch *b = stream && process ? batch_read(event) : NULL;

	if (!b)
		return -1;
	b->stream = stream;
	b->image = process->image;
	process->batches++;
	b->begin_ns += stream->class->offset;
	b->end_ns += stream->class->offset;
	if (b->end_tick < b->begin_tick)
		b->end_tick = b->begin_tick;
	b->context = out_context_keep(stream->class, event);
	if (!b->context) {
		free(b);
		return -1;
	}
	e->compact = 1;
	return thread_batch(e, process, (uint32_t) payload_unsigned(event, "tid"), b);
}

static int site_take(struct expand *e, const bt_event *event)
{
	struct process *process = process_get(e, event);
	struct site site = { .address = payload_unsigned(event, "addr"), .call_site = payload_unsigned(event, "call_site") };
	uint64_t dumps = 0;

	e->compact = 1;
	site.name = names_find(e, event, site.address, &dumps);
	return process ? site_set(e, process, payload_unsigned(event, "id"), &site) : -1;
}

/* Its function may not be named yet: then it is asked again when it goes out. */
static void held_name(struct expand *e, struct held *h)
{
	const bt_event *event = bt_message_event_borrow_event_const(h->message);

	h->name = names_find(e, event, payload_unsigned(event, "addr"), &h->dumps);
}

/* One message of the input, whose reference is ours. */
static int message_take(struct expand *e, const bt_message *message)
{
	struct held *h;
	int r, is_call = 0, has_backtrace = 0;

	time_see(e, message);
	if (bt_message_get_type(message) == BT_MESSAGE_TYPE_EVENT) {
		const bt_event *event = bt_message_event_borrow_event_const(message);
		const char *name = bt_event_class_get_name(bt_event_borrow_class_const(event));

		is_call = named_is_call(e, event);
		has_backtrace = is_call ? 0 : callers_has(e, event);
		if (is_call < 0 || has_backtrace < 0 || (name && !is_call && names_take(e, event, name) < 0)) {
			bt_message_put_ref(message);
			return -1;
		}
		if (name && !strncmp(name, TP_PROVIDER_TREE ":", sizeof(TP_PROVIDER_TREE))) {
			if (!strcmp(name, TP_PROVIDER_TREE ":calls"))
				r = batch_take(e, event);
			else if (!strcmp(name, TP_PROVIDER_TREE ":site"))
				r = site_take(e, event);
			else
				r = 1;
			if (r <= 0) {
				bt_message_put_ref(message);
				return r;
			}
		}
	}
	h = calloc(1, sizeof(*h));
	if (!h) {
		bt_message_put_ref(message);
		return -1;
	}
	h->message = message;
	h->ns = e->now_ns;
	h->is_call = is_call;
	h->has_backtrace = has_backtrace;
	if (is_call)
		held_name(e, h);
	if (e->last)
		e->last->next = h;
	else
		e->first = h;
	e->last = h;
	return 0;
}

/* ---- out ---- */

/* What is older than this can go out. */
static int64_t safe_until(const struct expand *e)
{
	if (e->ended)
		return INT64_MAX;
	if (e->compact || e->now_ns - e->first_ns < e->hold)
		return e->now_ns - e->hold;
	return e->now_ns;
}

/* The earliest message or record: how many messages, 0 when there is none that may go, -1. */
static int put_one(struct expand *e, bt_message_array_const messages)
{
	struct thread *t = thread_top(e);
	struct held *h = e->first;
	int64_t safe = safe_until(e);
	int n;

	if (h && (!t || h->ns <= t->record.ns)) {
		if (h->ns > safe)
			return 0;
		messages[0] = h->message;
		if (h->is_call && !h->name)
			held_name(e, h);
		if (h->is_call)
			messages[0] = named_message(e, h->message, h->name);
		if (h->has_backtrace)
			messages[0] = callers_message(e, h->message);
		if (!messages[0])
			return -1;
		if (h->ns > e->out_ns)
			e->out_ns = h->ns;
		e->first = h->next;
		if (!e->first)
			e->last = NULL;
		free(h);
		return 1;
	}
	if (!t || t->record.ns > safe)
		return 0;
	n = out_record(e, t, messages);
	return n < 0 || thread_advance(e, t) < 0 ? -1 : n;
}

static void tell(const struct expand *e)
{
	if (e->late)
		fprintf(stderr, "filter.lttng-spi.expand: %" PRIu64 " records came later than hold-ms: they have a later time\n",
			e->late);
	if (e->unknown)
		fprintf(stderr, "filter.lttng-spi.expand: %" PRIu64 " calls are left out: they are another rule's, or their spi_tree:site did not come, as with --begin\n",
			e->unknown);
	if (e->gaps)
		fprintf(stderr, "filter.lttng-spi.expand: batches of calls are missing in %" PRIu64 " places: they were lost, or the rule was off then\n",
			e->gaps);
}

static bt_message_iterator_class_next_method_status next_input(struct expand *e)
{
	bt_message_array_const messages;
	bt_message_iterator_next_status status;
	uint64_t count = 0;
	int bad = 0;

	status = bt_message_iterator_next(e->upstream, &messages, &count);
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
		e->ended = 1;
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	}
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return (bt_message_iterator_class_next_method_status) status;
	/*
	 * The muxer gives what it has before it meets a damaged packet, and leaves the error set, with which no object
	 * may be made. It meets the packet again when it is asked for more.
	 */
	bt_current_thread_clear_error();
	for (uint64_t i = 0; i < count; i++) {
		if (bad)
			bt_message_put_ref(messages[i]);
		else
			bad = message_take(e, messages[i]) < 0;
	}
	if (!bad)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(e->self, "no memory, or a trace whose clock is not one of nanoseconds");
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
}

bt_message_iterator_class_next_method_status expand_iterator_next(bt_self_message_iterator *self,
	bt_message_array_const messages, uint64_t capacity, uint64_t *count)
{
	struct expand *e = bt_self_message_iterator_get_data(self);
	bt_message_iterator_class_next_method_status status;

	*count = 0;
	while (*count + RECORD_MESSAGES <= capacity) {
		int n = put_one(e, messages + *count);

		if (n == 0 && e->ended)
			n = out_end(e, messages + *count);
		if (n < 0) {
			BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(self, "no memory");
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR;
		}
		*count += (uint64_t) n;
		if (n)
			continue;
		if (*count)
			break;
		if (e->ended) {
			tell(e);
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
		}
		status = next_input(e);
		if (status != BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK)
			return status;
	}
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
}
