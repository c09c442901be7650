/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Fields and contexts of events, by name or number: what an event does not have, or has as another type, is 0 or "". */
#include <string.h>
#include "reader/trace/trace.h"

static int is_of(const bt_field *field, bt_field_class_type type)
{
	return field && bt_field_class_type_is(bt_field_get_class_type(field), type);
}

static const bt_field *member(const bt_field *structure, const char *name)
{
	return structure ? bt_field_structure_borrow_member_field_by_name_const(structure, name) : NULL;
}

/* babeltrace2 2.0 leaves an event's former text in a string that is empty now. */
const char *field_string(const bt_field *field)
{
	return is_of(field, BT_FIELD_CLASS_TYPE_STRING) && bt_field_string_get_length(field) ? bt_field_string_get_value(field) : "";
}

uint64_t field_integer(const bt_field *field)
{
	if (is_of(field, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return bt_field_integer_unsigned_get_value(field);
	if (is_of(field, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		return (uint64_t) bt_field_integer_signed_get_value(field);
	return 0;
}

uint64_t member_find(const bt_field_class *structure, const char *name)
{
	const uint64_t n = structure ? bt_field_class_structure_get_member_count(structure) : 0;

	for (uint64_t i = 0; i < n; i++)
		if (!strcmp(name, bt_field_class_structure_member_get_name(
			    bt_field_class_structure_borrow_member_by_index_const(structure, i))))
			return i;
	return UINT64_MAX;
}

const bt_field *payload_field(const bt_event *event, uint64_t number)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);

	return payload && number != UINT64_MAX ?
		bt_field_structure_borrow_member_field_by_index_const(payload, number) : NULL;
}

uint64_t payload_unsigned(const bt_event *event, const char *name)
{
	const bt_field *field = member(bt_event_borrow_payload_field_const(event), name);

	return is_of(field, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER) ? bt_field_integer_unsigned_get_value(field) : 0;
}

const char *payload_string(const bt_event *event, const char *name)
{
	return field_string(member(bt_event_borrow_payload_field_const(event), name));
}

uint64_t payload_bytes(const bt_event *event, const char *name, uint8_t *bytes, uint64_t most)
{
	const bt_field *field = member(bt_event_borrow_payload_field_const(event), name);
	const uint64_t n = is_of(field, BT_FIELD_CLASS_TYPE_ARRAY) ? bt_field_array_get_length(field) : 0;

	for (uint64_t i = 0; i < most && i < n; i++) {
		const bt_field *byte = bt_field_array_borrow_element_field_by_index_const(field, i);

		if (!is_of(byte, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
			return 0;
		bytes[i] = (uint8_t) bt_field_integer_unsigned_get_value(byte);
	}
	return n;
}

const char *context_string(const bt_event *event, const char *name)
{
	return field_string(member(bt_event_borrow_common_context_field_const(event), name));
}

int context_unsigned(const bt_event *event, const char *name, uint64_t *value)
{
	const bt_field *field = member(bt_event_borrow_common_context_field_const(event), name);

	if (!is_of(field, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER) && !is_of(field, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		return -1;
	*value = field_integer(field);
	return 0;
}
