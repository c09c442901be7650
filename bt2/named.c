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
	bt_field_class *fields;
	int r = -1;

	if (!payload || !event_class_fits(in))
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
	if (r) {
		bt_field_class_put_ref(fields);
		fields = NULL;
	}
	return event_class_beside(in, fields);
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

const bt_message *named_message(struct expand *e, const bt_message *message, const char *name)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const struct named_class *c = class_get(e, bt_event_borrow_class_const(event));
	bt_message *named;
	bt_field *field;
	int r;

	if (!c || !c->out)
		return message;
	r = event_copy(e, message, c->out, &named, &field);
	if (r < 0)
		return NULL;
	return event_copied(message, named, r || (int) bt_field_string_set_value(field, name));
}

void named_free(struct expand *e)
{
	for (struct named_class *c = e->named, *next; c; c = next) {
		next = c->next;
		bt_event_class_put_ref(c->out);
		free(c);
	}
}
