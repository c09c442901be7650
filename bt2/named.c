/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Plain events of calls (lttng_ust_cyg_profile:func_entry and :func_exit) with the function's name: the same event, in the same
 * stream and packet, of a class beside its own that has the field `name`, too. An event whose function nobody has named
 * goes on as it is, and so does one with fields or contexts of kinds that lttng-ust does not make of calls.
 */
#include <stdlib.h>
#include <string.h>
#include "bt2/expand.h"

#define CLASS_ID_FIRST	1000000u	/* far from those that a source gives */

struct named_class {
	struct named_class *next;
	const bt_event_class *in;
	bt_event_class *out;		/* NULL: they go on as they are */
};

static bt_event_class *class_make(const bt_event_class *in)
{
	bt_stream_class *stream_class = (bt_stream_class *) bt_event_class_borrow_stream_class_const(in);
	bt_trace_class *trace_class = bt_stream_class_borrow_trace_class(stream_class);
	const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(in);
	bt_event_class *out = NULL;
	bt_field_class *fields;
	int r = -1;

	if (!payload || bt_event_class_borrow_specific_context_field_class_const(in) ||
			!bt_stream_class_supports_packets(stream_class) ||
			!bt_stream_class_borrow_default_clock_class_const(stream_class))
		return NULL;
	fields = bt_field_class_structure_create(trace_class);
	for (uint64_t i = 0; fields && i < bt_field_class_structure_get_member_count(payload); i++) {
		const bt_field_class_structure_member *member = bt_field_class_structure_borrow_member_by_index_const(payload, i);
		const bt_field_class *c = bt_field_class_structure_member_borrow_field_class_const(member);

		r = -1;
		if (bt_field_class_get_type(c) == BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)
			r = out_append_unsigned(trace_class, fields, bt_field_class_structure_member_get_name(member),
				(unsigned int) bt_field_class_integer_get_field_value_range(c),
				bt_field_class_integer_get_preferred_display_base(c) == BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
		if (r)
			break;
	}
	if (!r)
		r = out_append_name(trace_class, fields);
	if (!r)
		out = bt_event_class_create_with_id(stream_class, CLASS_ID_FIRST + bt_event_class_get_id(in));
	if (out && ((int) bt_event_class_set_name(out, bt_event_class_get_name(in)) ||
			(int) bt_event_class_set_payload_field_class(out, fields))) {
		bt_event_class_put_ref(out);
		out = NULL;
	}
	bt_field_class_put_ref(fields);
	return out;
}

static struct named_class *class_get(struct expand *e, const bt_event_class *in)
{
	struct named_class *c = e->named;

	while (c && c->in != in)
		c = c->next;
	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->in = in;
	c->next = e->named;
	e->named = c;
	c->out = class_make(in);
	return c;
}

int field_copy(bt_field *to, const bt_field *from)
{
	bt_field_class_type type = bt_field_get_class_type(from);

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
		bt_field_integer_unsigned_set_value(to, bt_field_integer_unsigned_get_value(from));
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)) {
		bt_field_integer_signed_set_value(to, bt_field_integer_signed_get_value(from));
	} else if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL) {
		bt_field_real_single_precision_set_value(to, bt_field_real_single_precision_get_value(from));
	} else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL) {
		bt_field_real_double_precision_set_value(to, bt_field_real_double_precision_get_value(from));
	} else if (type == BT_FIELD_CLASS_TYPE_STRING) {
		return (int) bt_field_string_set_value(to, bt_field_string_get_value(from));
	} else if (type == BT_FIELD_CLASS_TYPE_STRUCTURE) {
		uint64_t n = bt_field_class_structure_get_member_count(bt_field_borrow_class_const(from));

		for (uint64_t i = 0; i < n; i++)
			if (field_copy(bt_field_structure_borrow_member_field_by_index(to, i),
					bt_field_structure_borrow_member_field_by_index_const(from, i)))
				return -1;
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY)) {
		if (type != BT_FIELD_CLASS_TYPE_STATIC_ARRAY &&
				(int) bt_field_array_dynamic_set_length(to, bt_field_array_get_length(from)))
			return -1;
		for (uint64_t i = 0; i < bt_field_array_get_length(from); i++)
			if (field_copy(bt_field_array_borrow_element_field_by_index(to, i),
					bt_field_array_borrow_element_field_by_index_const(from, i)))
				return -1;
	} else {
		return -1;
	}
	return 0;
}

const bt_message *named_message(struct expand *e, const bt_message *message, const char *name)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const struct named_class *c = class_get(e, bt_event_borrow_class_const(event));
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	const bt_field *context = bt_event_borrow_common_context_field_const(event);
	bt_message *named;
	bt_event *out;
	bt_field *fields;
	uint64_t n;
	int r;

	if (!c || !c->out)
		return message;
	named = bt_message_event_create_with_packet_and_default_clock_snapshot(e->self, c->out, bt_event_borrow_packet_const(event),
		bt_clock_snapshot_get_value(bt_message_event_borrow_default_clock_snapshot_const(message)));
	if (!named)
		return NULL;
	out = bt_message_event_borrow_event(named);
	fields = bt_event_borrow_payload_field(out);
	n = bt_field_class_structure_get_member_count(bt_field_borrow_class_const(payload));
	r = context ? field_copy(bt_event_borrow_common_context_field(out), context) : 0;
	for (uint64_t i = 0; !r && i < n; i++)
		r = field_copy(bt_field_structure_borrow_member_field_by_index(fields, i),
			bt_field_structure_borrow_member_field_by_index_const(payload, i));
	if (!r)
		r = (int) bt_field_string_set_value(bt_field_structure_borrow_member_field_by_index(fields, n), name);
	bt_message_put_ref(r ? named : message);
	return r ? message : named;
}

void named_free(struct expand *e)
{
	for (struct named_class *c = e->named, *next; c; c = next) {
		next = c->next;
		bt_event_class_put_ref(c->out);
		free(c);
	}
}
