/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Entries with a backtrace, with names: the same event, in the same stream and packet, of a class beside its own that
 * has the field `callers`, too, a text for each address: FUNCTION+OFFSET [OBJECT]. Names come from the objects' files
 * (symbols.c), objects' places from the state dump (names.c). An event with fields or contexts of kinds that lttng-ust
 * does not make of calls goes on as it is.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bt2/expand.h"

struct callers_class {
	struct callers_class *next;
	const bt_event_class *in;
	bt_event_class *out;		/* NULL: its events have no backtrace, or go on as they are */
	uint64_t backtrace;		/* which field */
};

/* ---- classes ---- */

static bt_field_class *class_copy(bt_trace_class *trace_class, const bt_field_class *in);

static void integer_copy(bt_field_class *to, const bt_field_class *from)
{
	bt_field_class_integer_set_field_value_range(to, bt_field_class_integer_get_field_value_range(from));
	bt_field_class_integer_set_preferred_display_base(to, bt_field_class_integer_get_preferred_display_base(from));
}

static int signed_copy(bt_field_class *out, const bt_field_class *in, uint64_t i)
{
	const bt_field_class_enumeration_signed_mapping *m =
		bt_field_class_enumeration_signed_borrow_mapping_by_index_const(in, i);
	const bt_field_class_enumeration_mapping *any = bt_field_class_enumeration_signed_mapping_as_mapping_const(m);

	return (int) bt_field_class_enumeration_signed_add_mapping(out,
		bt_field_class_enumeration_mapping_get_label(any),
		bt_field_class_enumeration_signed_mapping_borrow_ranges_const(m));
}

static int unsigned_copy(bt_field_class *out, const bt_field_class *in, uint64_t i)
{
	const bt_field_class_enumeration_unsigned_mapping *m =
		bt_field_class_enumeration_unsigned_borrow_mapping_by_index_const(in, i);
	const bt_field_class_enumeration_mapping *any = bt_field_class_enumeration_unsigned_mapping_as_mapping_const(m);

	return (int) bt_field_class_enumeration_unsigned_add_mapping(out,
		bt_field_class_enumeration_mapping_get_label(any),
		bt_field_class_enumeration_unsigned_mapping_borrow_ranges_const(m));
}

static bt_field_class *enumeration_copy(bt_trace_class *trace_class, const bt_field_class *in, int is_signed)
{
	bt_field_class *out = is_signed ? bt_field_class_enumeration_signed_create(trace_class) :
		bt_field_class_enumeration_unsigned_create(trace_class);
	int r = 0;

	for (uint64_t i = 0; out && !r && i < bt_field_class_enumeration_get_mapping_count(in); i++)
		r = is_signed ? signed_copy(out, in, i) : unsigned_copy(out, in, i);
	if (r) {
		bt_field_class_put_ref(out);
		return NULL;
	}
	return out;
}

static bt_field_class *array_copy(bt_trace_class *trace_class, const bt_field_class *in, int is_static)
{
	const bt_field_class *of = bt_field_class_array_borrow_element_field_class_const(in);
	const uint64_t length = is_static ? bt_field_class_array_static_get_length(in) : 0;
	bt_field_class *element = class_copy(trace_class, of), *out = NULL;

	if (element && is_static)
		out = bt_field_class_array_static_create(trace_class, element, length);
	else if (element)
		out = bt_field_class_array_dynamic_create(trace_class, element, NULL);
	bt_field_class_put_ref(element);
	return out;
}

/* NULL: a kind that no field of a call has, or no memory. */
static bt_field_class *class_copy(bt_trace_class *trace_class, const bt_field_class *in)
{
	bt_field_class *out = NULL;

	switch (bt_field_class_get_type(in)) {
	case BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER:
		out = bt_field_class_integer_unsigned_create(trace_class);
		break;
	case BT_FIELD_CLASS_TYPE_SIGNED_INTEGER:
		out = bt_field_class_integer_signed_create(trace_class);
		break;
	case BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION:
		out = enumeration_copy(trace_class, in, 0);
		break;
	case BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION:
		out = enumeration_copy(trace_class, in, 1);
		break;
	case BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL:
		return bt_field_class_real_single_precision_create(trace_class);
	case BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL:
		return bt_field_class_real_double_precision_create(trace_class);
	case BT_FIELD_CLASS_TYPE_STRING:
		return bt_field_class_string_create(trace_class);
	case BT_FIELD_CLASS_TYPE_STATIC_ARRAY:
		return array_copy(trace_class, in, 1);
	case BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITHOUT_LENGTH_FIELD:
	case BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITH_LENGTH_FIELD:
		return array_copy(trace_class, in, 0);
	default:
		return NULL;
	}
	if (out)
		integer_copy(out, in);
	return out;
}

static int append(bt_field_class *structure, const char *name, bt_field_class *member)
{
	int r = member ? (int) bt_field_class_structure_append_member(structure, name, member) : -1;

	bt_field_class_put_ref(member);
	return r ? -1 : 0;
}

static int callers_append(bt_trace_class *trace_class, bt_field_class *fields)
{
	bt_field_class *text = bt_field_class_string_create(trace_class);
	bt_field_class *list = text ? bt_field_class_array_dynamic_create(trace_class, text, NULL) : NULL;

	bt_field_class_put_ref(text);
	return append(fields, "callers", list);
}

static int is_backtrace(const bt_field_class_structure_member *member)
{
	const bt_field_class *c = bt_field_class_structure_member_borrow_field_class_const(member);

	return !strcmp(bt_field_class_structure_member_get_name(member), "backtrace") &&
		bt_field_class_type_is(bt_field_class_get_type(c), BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY) &&
		bt_field_class_get_type(bt_field_class_array_borrow_element_field_class_const(c)) ==
			BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER;
}

static void class_make(struct callers_class *c, const bt_field_class *payload)
{
	bt_stream_class *stream_class = (bt_stream_class *) bt_event_class_borrow_stream_class_const(c->in);
	bt_trace_class *trace_class = bt_stream_class_borrow_trace_class(stream_class);
	bt_field_class *fields;
	int r = 0;

	if (!event_class_fits(c->in))
		return;
	fields = bt_field_class_structure_create(trace_class);
	for (uint64_t i = 0; fields && !r && i < bt_field_class_structure_get_member_count(payload); i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(payload, i);

		r = append(fields, bt_field_class_structure_member_get_name(member),
			class_copy(trace_class, bt_field_class_structure_member_borrow_field_class_const(member)));
	}
	if (r || (fields && callers_append(trace_class, fields))) {
		bt_field_class_put_ref(fields);
		fields = NULL;
	}
	c->out = event_class_beside(c->in, fields);
}

static struct callers_class *class_get(struct expand *e, const bt_event_class *in)
{
	const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(in);
	const char *name = bt_event_class_get_name(in);
	struct callers_class *c = e->callers;

	while (c && c->in != in)
		c = c->next;
	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->in = in;
	c->next = e->callers;
	e->callers = c;
	for (uint64_t i = 0; payload && name && !strncmp(name, "spi:", 4) &&
			i < bt_field_class_structure_get_member_count(payload); i++)
		if (is_backtrace(bt_field_class_structure_borrow_member_by_index_const(payload, i))) {
			c->backtrace = i;
			class_make(c, payload);
			break;
		}
	return c;
}

/* ---- events ---- */

static int callers_fill(struct expand *e, const bt_event *event, bt_field *to, const bt_field *addresses)
{
	static const char restorer[] = "__restore_rt+0x0 ";
	const uint64_t n = bt_field_array_get_length(addresses);
	struct space *space = names_space(&e->merge, event);
	char text[1400] = "";

	if (!space || (int) bt_field_array_dynamic_set_length(to, n))
		return -1;
	for (uint64_t i = 0; i < n; i++) {
		/* behind a restorer comes what the signal has interrupted */
		const int is_call = strncmp(text, restorer, sizeof(restorer) - 1) != 0;

		names_caller(space, bt_field_integer_unsigned_get_value(
			bt_field_array_borrow_element_field_by_index_const(addresses, i)), is_call, text, sizeof(text));
		if ((int) bt_field_string_set_value(bt_field_array_borrow_element_field_by_index(to, i), text))
			return -1;
	}
	return 0;
}

const bt_message *callers_message(struct expand *e, const bt_message *message)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const struct callers_class *c = class_get(e, bt_event_borrow_class_const(event));
	bt_message *copy;
	bt_field *callers;
	int r;

	if (!c || !c->out)
		return message;
	r = event_copy(e, message, c->out, &copy, &callers);
	if (r < 0)
		return NULL;
	if (!r)
		r = callers_fill(e, event, callers, bt_field_structure_borrow_member_field_by_index_const(
			bt_event_borrow_payload_field_const(event), c->backtrace));
	return event_copied(message, copy, r);
}

void callers_free(struct expand *e)
{
	for (struct callers_class *c = e->callers, *next; c; c = next) {
		next = c->next;
		bt_event_class_put_ref(c->out);
		free(c);
	}
}
