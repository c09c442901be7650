/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The events that come out. They belong to the trace that they were recorded in,
 * with its environment and clock, as readers look there for what they need (which
 * tracer it is, the state dump); but not to the streams of the batches, whose
 * packets are younger than they are. So each stream class with batches gets another
 * one beside it, with the same contexts as far as they are known of a call, and each
 * stream one of that, with packets of its own.
 *
 * libbabeltrace2 gives a filter the trace class of its input as const, to keep it
 * from changing what is there. Adding to it is what a live source does all the time;
 * a copy of the whole trace would be the only other way.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "bt2/expand.h"

#define CLASS_ID_FIRST	1000000u	/* far from those that a source gives */
#define PACKET_EVENTS	65536u

/* ---- classes ---- */

static bt_field_class *unsigned_class(bt_trace_class *trace_class, unsigned int bits, int hex)
{
	bt_field_class *c = bt_field_class_integer_unsigned_create(trace_class);

	if (!c)
		return NULL;
	bt_field_class_integer_set_field_value_range(c, bits);
	if (hex)
		bt_field_class_integer_set_preferred_display_base(c, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
	return c;
}

static int append(bt_field_class *structure, const char *name, bt_field_class *member)
{
	int r = -1;

	if (member)
		r = (int) bt_field_class_structure_append_member(structure, name, member);
	bt_field_class_put_ref(member);
	return r ? -1 : 0;
}

int out_append_unsigned(bt_trace_class *trace_class, bt_field_class *structure, const char *name, unsigned int bits, int hex)
{
	return append(structure, name, unsigned_class(trace_class, bits, hex));
}

int out_append_name(bt_trace_class *trace_class, bt_field_class *structure)
{
	return append(structure, "name", bt_field_class_string_create(trace_class));
}

/*
 * Contexts that are the same in all threads of a process, or are given anew here. Of others (procname, pthread_id, perf:thread:*,
 * $app.*) a batch has those of who wrote it, which may be the agent's thread in place of one that rests: they are left out.
 */
static bool is_every_threads(const char *name)
{
	static const char *const names[] = {
		"vtid", "ip", "vpid", "vuid", "veuid", "vsuid", "vgid", "vegid", "vsgid",
		"cgroup_ns", "ipc_ns", "mnt_ns", "net_ns", "pid_ns", "time_ns", "user_ns", "uts_ns",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* A context's class made again; NULL for kinds that are left out. */
static bt_field_class *member_class(bt_trace_class *trace_class, const bt_field_class *in, enum out_member_kind *kind)
{
	bt_field_class_type type = bt_field_class_get_type(in);
	bt_field_class *c = NULL;

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
		*kind = MEMBER_UNSIGNED;
		c = bt_field_class_integer_unsigned_create(trace_class);
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)) {
		*kind = MEMBER_SIGNED;
		c = bt_field_class_integer_signed_create(trace_class);
	} else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL) {
		*kind = MEMBER_REAL;
		return bt_field_class_real_double_precision_create(trace_class);
	} else if (type == BT_FIELD_CLASS_TYPE_STRING) {
		*kind = MEMBER_STRING;
		return bt_field_class_string_create(trace_class);
	}
	if (c) {
		bt_field_class_integer_set_field_value_range(c, bt_field_class_integer_get_field_value_range(in));
		bt_field_class_integer_set_preferred_display_base(c, bt_field_class_integer_get_preferred_display_base(in));
	}
	return c;
}

static int context_class(struct out_class *oc, bt_trace_class *trace_class)
{
	const bt_field_class *in = bt_stream_class_borrow_event_common_context_field_class_const(oc->in);
	bt_field_class *out;
	int r = 0;

	if (!in)
		return 0;
	out = bt_field_class_structure_create(trace_class);
	for (uint64_t i = 0; out && r == 0 && i < bt_field_class_structure_get_member_count(in) &&
			oc->context_count < EXPAND_CONTEXT_MAX; i++) {
		const bt_field_class_structure_member *member = bt_field_class_structure_borrow_member_by_index_const(in, i);
		const char *name = bt_field_class_structure_member_get_name(member);
		struct out_member *m = &oc->members[oc->context_count];
		bt_field_class *c = !is_every_threads(name) ? NULL : member_class(trace_class,
			bt_field_class_structure_member_borrow_field_class_const(member), &m->kind);

		if (!c)
			continue;
		m->index = i;
		if (m->kind == MEMBER_SIGNED && !strcmp(name, "vtid"))
			m->kind = MEMBER_VTID;
		else if (m->kind == MEMBER_UNSIGNED && !strcmp(name, "ip"))
			m->kind = MEMBER_IP;
		r = append(out, name, c);
		oc->context_count++;
	}
	if (!out || r)
		r = -1;
	else if (oc->context_count)
		r = (int) bt_stream_class_set_event_common_context_field_class(oc->out, out);
	bt_field_class_put_ref(out);
	return r ? -1 : 0;
}

static bt_event_class *event_class(struct out_class *oc, bt_trace_class *trace_class, uint64_t id, const char *name,
	int is_named)
{
	bt_event_class *ec = bt_event_class_create_with_id(oc->out, id);
	bt_field_class *payload = bt_field_class_structure_create(trace_class);

	if (!ec || !payload || append(payload, "addr", unsigned_class(trace_class, 64, 1)) ||
			append(payload, "call_site", unsigned_class(trace_class, 64, 1)) ||
			(is_named && out_append_name(trace_class, payload)) ||
			(int) bt_event_class_set_name(ec, name) || (int) bt_event_class_set_payload_field_class(ec, payload)) {
		bt_event_class_put_ref(ec);
		ec = NULL;
	}
	bt_field_class_put_ref(payload);
	return ec;
}

static int packet_class(struct out_class *oc, bt_trace_class *trace_class)
{
	bt_field_class *packet = bt_field_class_structure_create(trace_class);
	int r;

	bt_stream_class_set_supports_packets(oc->out, BT_TRUE, BT_TRUE, BT_TRUE);
	r = !packet || append(packet, "cpu_id", unsigned_class(trace_class, 32, 0)) ||
		(int) bt_stream_class_set_packet_context_field_class(oc->out, packet);
	bt_field_class_put_ref(packet);
	return r ? -1 : 0;
}

static struct out_class *out_class_get(struct expand *e, const bt_stream_class *in)
{
	bt_trace_class *trace_class = (bt_trace_class *) bt_stream_class_borrow_trace_class_const(in);
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(in);
	struct out_class *oc;
	int64_t at_zero;

	for (oc = e->classes; oc; oc = oc->next)
		if (oc->in == in)
			return oc;
	if (!clock || bt_clock_class_get_frequency(clock) != 1000000000u ||
			(int) bt_clock_class_cycles_to_ns_from_origin(clock, 0, &at_zero))
		return NULL;
	oc = calloc(1, sizeof(*oc));
	if (!oc)
		return NULL;
	oc->next = e->classes;
	e->classes = oc;
	oc->in = in;
	oc->offset = at_zero;
	oc->out = bt_stream_class_create_with_id(trace_class, CLASS_ID_FIRST + bt_stream_class_get_id(in));
	if (!oc->out)
		return NULL;
	bt_stream_class_set_assigns_automatic_event_class_id(oc->out, BT_FALSE);
	bt_stream_class_set_assigns_automatic_stream_id(oc->out, BT_FALSE);
	if ((int) bt_stream_class_set_default_clock_class(oc->out, (bt_clock_class *) clock) || packet_class(oc, trace_class) ||
			context_class(oc, trace_class))
		return NULL;
	oc->entry = event_class(oc, trace_class, 0, "lttng_ust_cyg_profile:func_entry", 0);
	oc->exit = event_class(oc, trace_class, 1, "lttng_ust_cyg_profile:func_exit", 0);
	oc->named_entry = event_class(oc, trace_class, 2, "lttng_ust_cyg_profile:func_entry", 1);
	oc->named_exit = event_class(oc, trace_class, 3, "lttng_ust_cyg_profile:func_exit", 1);
	return oc;
}

static struct out_stream *out_stream_get(struct expand *e, const bt_event *event)
{
	const bt_stream *in = bt_event_borrow_stream_const(event);
	const bt_packet *packet = bt_event_borrow_packet_const(event);
	const bt_field *context = packet ? bt_packet_borrow_context_field_const(packet) : NULL, *cpu;
	struct out_class *oc;
	struct out_stream *os;

	for (os = e->streams; os; os = os->next)
		if (os->in == in)
			return os;
	oc = out_class_get(e, bt_stream_borrow_class_const(in));
	os = oc && oc->entry && oc->exit && oc->named_entry && oc->named_exit ? calloc(1, sizeof(*os)) : NULL;
	if (!os)
		return NULL;
	os->class = oc;
	os->in = in;
	cpu = context ? bt_field_structure_borrow_member_field_by_name_const(context, "cpu_id") : NULL;
	if (cpu && bt_field_class_type_is(bt_field_get_class_type(cpu), BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		os->cpu = bt_field_integer_unsigned_get_value(cpu);
	os->out = bt_stream_create_with_id(oc->out, (bt_trace *) bt_stream_borrow_trace_const(in), bt_stream_get_id(in));
	if (!os->out) {
		free(os);
		return NULL;
	}
	os->next = e->streams;
	e->streams = os;
	return os;
}

/* ---- contexts ---- */

static void context_keep(const struct out_class *oc, const bt_event *event, union value *values)
{
	const bt_field *context = bt_event_borrow_common_context_field_const(event);

	for (unsigned int i = 0; context && i < oc->context_count; i++) {
		const struct out_member *m = &oc->members[i];
		const bt_field *field = bt_field_structure_borrow_member_field_by_index_const(context, m->index);

		if (m->kind == MEMBER_UNSIGNED)
			values[i].u = bt_field_integer_unsigned_get_value(field);
		else if (m->kind == MEMBER_SIGNED)
			values[i].i = bt_field_integer_signed_get_value(field);
		else if (m->kind == MEMBER_REAL)
			values[i].d = bt_field_real_double_precision_get_value(field);
		else if (m->kind == MEMBER_STRING)
			values[i].s = strdup(field_string(field));
	}
}

int out_batch_keep(struct merge *m, const bt_event *event, struct batch *batch)
{
	struct out_stream *stream = out_stream_get((struct expand *) m, event);
	struct kept *kept = stream ? calloc(1, sizeof(*kept) + stream->class->context_count * sizeof(kept->context[0])) : NULL;

	if (!kept)
		return -1;
	kept->stream = stream;
	context_keep(stream->class, event, kept->context);
	batch->own = kept;
	return 0;
}

void out_batch_drop(struct batch *batch)
{
	struct kept *kept = batch->own;
	const struct out_class *oc = kept->stream->class;

	for (unsigned int i = 0; i < oc->context_count; i++)
		if (oc->members[i].kind == MEMBER_STRING)
			free(kept->context[i].s);
	free(kept);
}

static int context_fill(const struct out_class *oc, bt_event *event, const union value *values, const struct thread *t)
{
	bt_field *context = bt_event_borrow_common_context_field(event);

	for (unsigned int i = 0; context && i < oc->context_count; i++) {
		bt_field *field = bt_field_structure_borrow_member_field_by_index(context, i);

		switch (oc->members[i].kind) {
		case MEMBER_UNSIGNED:
			bt_field_integer_unsigned_set_value(field, values[i].u);
			break;
		case MEMBER_SIGNED:
			bt_field_integer_signed_set_value(field, values[i].i);
			break;
		case MEMBER_REAL:
			bt_field_real_double_precision_set_value(field, values[i].d);
			break;
		case MEMBER_STRING:
			if ((int) bt_field_string_set_value(field, values[i].s ? values[i].s : ""))
				return -1;
			break;
		case MEMBER_VTID:
			bt_field_integer_signed_set_value(field, t->tid);
			break;
		case MEMBER_IP:
			bt_field_integer_unsigned_set_value(field, t->record.address);
			break;
		}
	}
	return 0;
}

/* ---- messages ---- */

static int packet_begin(struct expand *e, struct out_stream *os, uint64_t clock, const bt_message **message)
{
	bt_field *context;

	os->packet = bt_packet_create(os->out);
	if (!os->packet)
		return -1;
	os->in_packet = 0;
	context = bt_packet_borrow_context_field(os->packet);
	bt_field_integer_unsigned_set_value(bt_field_structure_borrow_member_field_by_index(context, 0), os->cpu);
	*message = bt_message_packet_beginning_create_with_default_clock_snapshot(e->self, os->packet, clock);
	return *message ? 0 : -1;
}

static const bt_message *packet_end(struct expand *e, struct out_stream *os, uint64_t clock)
{
	const bt_message *message = bt_message_packet_end_create_with_default_clock_snapshot(e->self, os->packet, clock);

	bt_packet_put_ref(os->packet);
	os->packet = NULL;
	return message;
}

static const bt_message *event_message(
	struct expand *e, struct out_stream *os, const struct thread *t, const union value *context, uint64_t clock)
{
	const struct out_class *oc = os->class;
	const bt_event_class *ec = t->record.function ? t->record.is_entry ? oc->named_entry : oc->named_exit :
		t->record.is_entry ? oc->entry : oc->exit;
	bt_message *message = bt_message_event_create_with_packet_and_default_clock_snapshot(e->self, ec, os->packet, clock);
	bt_event *event;
	bt_field *payload;

	if (!message)
		return NULL;
	event = bt_message_event_borrow_event(message);
	payload = bt_event_borrow_payload_field(event);
	bt_field_integer_unsigned_set_value(bt_field_structure_borrow_member_field_by_index(payload, 0), t->record.address);
	bt_field_integer_unsigned_set_value(bt_field_structure_borrow_member_field_by_index(payload, 1), t->record.call_site);
	if ((t->record.function && (int) bt_field_string_set_value(bt_field_structure_borrow_member_field_by_index(payload, 2), t->record.function->name)) ||
			context_fill(oc, event, context, t) < 0) {
		bt_message_put_ref(message);
		return NULL;
	}
	os->in_packet++;
	return message;
}

int out_record(struct expand *e, struct thread *t, bt_message_array_const messages)
{
	const struct kept *kept = t->first->own;
	struct out_stream *os = kept->stream;
	const uint64_t clock = (uint64_t) (t->record.ns - os->class->offset);
	int n = 0;

	if (!os->begun) {
		messages[n] = bt_message_stream_beginning_create(e->self, os->out);
		if (!messages[n++])
			return -1;
		os->begun = 1;
	}
	if (os->packet && os->in_packet >= PACKET_EVENTS) {
		messages[n] = packet_end(e, os, clock);
		if (!messages[n++])
			return -1;
	}
	if (!os->packet && packet_begin(e, os, clock, &messages[n++]) < 0)
		return -1;
	messages[n] = event_message(e, os, t, kept->context, clock);
	return messages[n++] ? n : -1;
}

int out_end(struct expand *e, bt_message_array_const messages)
{
	for (struct out_stream *os = e->streams; os; os = os->next) {
		int n = 0;

		if (os->packet) {
			messages[n] = packet_end(e, os, (uint64_t) (e->merge.out_ns - os->class->offset));
			if (!messages[n++])
				return -1;
		}
		if (os->begun) {
			os->begun = 0;
			messages[n] = bt_message_stream_end_create(e->self, os->out);
			if (!messages[n++])
				return -1;
		}
		if (n)
			return n;
	}
	return 0;
}

void out_free(struct expand *e)
{
	for (struct out_stream *os = e->streams, *next; os; os = next) {
		next = os->next;
		bt_packet_put_ref(os->packet);
		bt_stream_put_ref(os->out);
		free(os);
	}
	for (struct out_class *oc = e->classes, *next; oc; oc = next) {
		next = oc->next;
		bt_event_class_put_ref(oc->entry);
		bt_event_class_put_ref(oc->exit);
		bt_event_class_put_ref(oc->named_entry);
		bt_event_class_put_ref(oc->named_exit);
		bt_stream_class_put_ref(oc->out);
		free(oc);
	}
}
