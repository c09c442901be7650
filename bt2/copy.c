/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Copies of events: the same event, in the same stream and packet, of a class beside its own that has one field more.
 * An event with fields or contexts of kinds that lttng-ust does not make of calls is left alone.
 */
#include "bt2/expand.h"

#define CLASS_ID_FIRST	1000000u	/* far from those that a source gives */

int event_class_fits(const bt_event_class *in)
{
	const bt_stream_class *stream_class = bt_event_class_borrow_stream_class_const(in);

	return !bt_event_class_borrow_specific_context_field_class_const(in) &&
		bt_stream_class_supports_packets(stream_class) &&
		bt_stream_class_borrow_default_clock_class_const(stream_class);
}

bt_event_class *event_class_beside(const bt_event_class *in, bt_field_class *fields)
{
	bt_stream_class *stream_class = (bt_stream_class *) bt_event_class_borrow_stream_class_const(in);
	bt_event_class *out = NULL;

	if (fields)
		out = bt_event_class_create_with_id(stream_class, CLASS_ID_FIRST + bt_event_class_get_id(in));
	if (out && ((int) bt_event_class_set_name(out, bt_event_class_get_name(in)) ||
			(int) bt_event_class_set_payload_field_class(out, fields))) {
		bt_event_class_put_ref(out);
		out = NULL;
	}
	bt_field_class_put_ref(fields);
	return out;
}

/* Of equal classes: 0, or -1: it is of a kind that is left alone. */
static int field_copy(bt_field *to, const bt_field *from)
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
		return (int) bt_field_string_set_value(to, field_string(from));
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

int event_copy(struct expand *e, const bt_message *message, const bt_event_class *out, bt_message **copy,
	bt_field **added)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	const bt_field *context = bt_event_borrow_common_context_field_const(event);
	const uint64_t n = bt_field_class_structure_get_member_count(bt_field_borrow_class_const(payload));
	bt_event *to;
	bt_field *fields;
	int r;

	*copy = bt_message_event_create_with_packet_and_default_clock_snapshot(e->self, out,
		bt_event_borrow_packet_const(event),
		bt_clock_snapshot_get_value(bt_message_event_borrow_default_clock_snapshot_const(message)));
	if (!*copy)
		return -1;
	to = bt_message_event_borrow_event(*copy);
	fields = bt_event_borrow_payload_field(to);
	r = context ? field_copy(bt_event_borrow_common_context_field(to), context) : 0;
	for (uint64_t i = 0; !r && i < n; i++)
		r = field_copy(bt_field_structure_borrow_member_field_by_index(fields, i),
			bt_field_structure_borrow_member_field_by_index_const(payload, i));
	*added = bt_field_structure_borrow_member_field_by_index(fields, n);
	return r ? 1 : 0;
}

const bt_message *event_copied(const bt_message *message, const bt_message *copy, int has_failed)
{
	bt_message_put_ref(has_failed ? copy : message);
	return has_failed ? message : copy;
}
