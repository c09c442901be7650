/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Arguments and results, as people read them; and which events are calls of functions.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/calls/calls.h"

/* ---- event classes ---- */

static int ends_with(const char *text, size_t length, const char *end)
{
	return length > strlen(end) && !strcmp(text + length - strlen(end), end);
}

static int kind_find(struct calls *c, struct value_class *v)
{
	const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(v->in);
	const char *event = bt_event_class_get_name(v->in);
	const size_t length = event ? strlen(event) : 0;
	const struct object *object;
	uint64_t offset = 0;
	char name[4096];
	size_t cut = 0;

	v->result = member_find(payload, "ret");
	v->duration = member_find(payload, "duration");
	v->left = member_find(payload, "left");
	v->backtrace = member_find(payload, "backtrace");
	v->calls = c;
	v->kind = VALUE_OTHER;
	if (!event)
		return 0;
	if (!strcmp(event, "spi_call:left")) {
		v->left = member_find(payload, "how");
		v->kind = VALUE_LEFT;
	} else if (!strcmp(event, "lttng_ust_statedump:procname")) {
		v->kind = VALUE_PROCNAME;
	} else if (!strncmp(event, "spi:", 4)) {
		if (v->duration != UINT64_MAX && v->left != UINT64_MAX)
			v->kind = VALUE_WHOLE;
		else if (ends_with(event, length, "_entry"))
			v->kind = VALUE_ENTRY, cut = 6;
		else if (ends_with(event, length, "_exit"))
			v->kind = VALUE_EXIT, cut = 5;
		if (v->kind == VALUE_OTHER)
			return 0;
		snprintf(name, sizeof(name), "%.*s", (int) (length - 4 - cut), event + 4);
		object = names_place_said(&c->merge, bt_event_class_get_emf_uri(v->in), &offset);
		v->function = call_function_get(c, object ? object->path : "", offset, name, 1);
		if (!v->function)
			return -1;
		if (object)
			call_function_line(c, v->function, object);
		return 0;
	}
	return v->kind == VALUE_OTHER ? event_kind_find(c, v, event) : 0;
}

struct value_class *value_class_get(struct calls *c, struct event_class *class)
{
	struct value_class *v = class->own;

	if (v)
		return v;
	v = calloc(1, sizeof(*v));
	if (!v)
		return NULL;
	v->in = class->in;
	v->next = c->value_classes;
	c->value_classes = v;
	if (kind_find(c, v) < 0)
		return NULL;
	class->own = v;
	return v;
}

/* ---- text ---- */

struct text {
	char *at;
	size_t size, used;	/* used < size */
};

static void put(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text *t, const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(t->at + t->used, t->size - t->used, format, arguments);
	va_end(arguments);
	if (n > 0)
		t->used += (size_t) n < t->size - t->used ? (size_t) n : t->size - t->used - 1;
}

static void put_plain(struct text *t, const char *s)
{
	const size_t used = t->used;

	put(t, "%s", s);
	text_clean(t->at + used);
}

/* As C writes a string. Bytes of UTF-8 stay; what a terminal would obey does not. */
static void put_string(struct text *t, const char *s)
{
	put(t, "\"");
	for (; *s; s++) {
		const unsigned char b = (unsigned char) *s;

		if (b == '"' || b == '\\')
			put(t, "\\%c", b);
		else if (b == '\n')
			put(t, "\\n");
		else if (b == '\t')
			put(t, "\\t");
		else if (b < 0x20 || b == 0x7f)
			put(t, "\\x%02x", b);
		else if (b == 0xc2 && (unsigned char) s[1] >= 0x80 && (unsigned char) s[1] < 0xa0)
			put(t, "\\xc2");	/* and the byte behind it is no character by itself: C1 controls */
		else
			put(t, "%c", b);
	}
	put(t, "\"");
}

static int put_label(struct text *t, const bt_field *field, int is_signed)
{
	bt_field_class_enumeration_mapping_label_array labels;
	uint64_t count = 0;

	if (is_signed ? (int) bt_field_enumeration_signed_get_mapping_labels(field, &labels, &count) :
			(int) bt_field_enumeration_unsigned_get_mapping_labels(field, &labels, &count))
		return 0;
	for (uint64_t i = 0; i < count; i++) {
		put(t, i ? "|" : "");
		put_plain(t, labels[i]);
	}
	return count != 0;
}

static void put_value(struct text *t, const bt_field *field);

static void put_array(struct text *t, const bt_field *field)
{
	const uint64_t n = bt_field_array_get_length(field);

	put(t, "[");
	for (uint64_t i = 0; i < n && t->used + 1 < t->size; i++) {
		put(t, i ? ", " : "");
		put_value(t, bt_field_array_borrow_element_field_by_index_const(field, i));
	}
	put(t, "]");
}

static void put_structure(struct text *t, const bt_field *field)
{
	const bt_field_class *class = bt_field_borrow_class_const(field);
	const uint64_t n = bt_field_class_structure_get_member_count(class);

	put(t, "{");
	for (uint64_t i = 0; i < n; i++) {
		put(t, "%s%s = ", i ? ", " : "", bt_field_class_structure_member_get_name(
			bt_field_class_structure_borrow_member_by_index_const(class, i)));
		put_value(t, bt_field_structure_borrow_member_field_by_index_const(field, i));
	}
	put(t, "}");
}

/* The shortest text that is this number again. */
static void put_double(struct text *t, double value)
{
	char text[40];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	put(t, "%s", text);
}

static int is_hex(const bt_field *field)
{
	return bt_field_class_integer_get_preferred_display_base(bt_field_borrow_class_const(field)) ==
		BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL;
}

static void put_value(struct text *t, const bt_field *field)
{
	const bt_field_class_type type = bt_field_get_class_type(field);

	if (type == BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION && put_label(t, field, 0))
		return;
	if (type == BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION && put_label(t, field, 1))
		return;
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		put(t, is_hex(field) ? "0x%" PRIx64 : "%" PRIu64, bt_field_integer_unsigned_get_value(field));
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		put(t, is_hex(field) ? "0x%" PRIx64 : "%" PRId64, bt_field_integer_signed_get_value(field));
	else if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)
		put(t, "%.9g", (double) bt_field_real_single_precision_get_value(field));
	else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL)
		put_double(t, bt_field_real_double_precision_get_value(field));
	else if (type == BT_FIELD_CLASS_TYPE_STRING)
		put_string(t, field_string(field));
	else if (type == BT_FIELD_CLASS_TYPE_BOOL)
		put(t, bt_field_bool_get_value(field) ? "true" : "false");
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		put_array(t, field);
	else if (type == BT_FIELD_CLASS_TYPE_STRUCTURE)
		put_structure(t, field);
	else
		put(t, "?");
}

size_t value_text(const bt_field *field, char *text, size_t size)
{
	struct text t = { text, size, 0 };

	*text = 0;
	put_value(&t, field);
	return t.used;
}

/* ---- a call's ---- */

/* What lttng-ust puts before a sequence, what the recorder adds, and what is no argument. */
static int is_argument(const struct call *call, uint64_t i, const char *name)
{
	const struct value_class *v = call->values;
	const size_t length = strlen(name);

	return i != v->result && i != v->duration && i != v->left && strcmp(name, "backtrace") &&
		strcmp(name, "backtrace_end") && strcmp(name, "not_known") &&
		!(*name == '_' && length > 8 && !strcmp(name + length - 7, "_length"));
}

size_t call_arguments(const struct call *call, char *text, size_t size)
{
	struct text t = { text, size, 0 };
	const bt_field *payload = call->event ? bt_event_borrow_payload_field_const(call->event) : NULL;
	const bt_field_class *class = payload ? bt_field_borrow_class_const(payload) : NULL;
	const uint64_t n = class ? bt_field_class_structure_get_member_count(class) : 0;

	*text = 0;
	for (uint64_t i = 0; i < n; i++) {
		const char *name = bt_field_class_structure_member_get_name(
			bt_field_class_structure_borrow_member_by_index_const(class, i));
		const bt_field *field = bt_field_structure_borrow_member_field_by_index_const(payload, i);

		if (!is_argument(call, i, name)) {
			if (!strcmp(name, "not_known") && bt_field_get_class_type(field) == BT_FIELD_CLASS_TYPE_STRING) {
				put(&t, t.used ? ", " : "");
				put_plain(&t, field_string(field));
			}
			continue;
		}
		put(&t, "%s%s = ", t.used ? ", " : "", name);
		put_value(&t, field);
	}
	return t.used;
}

size_t call_caller(const struct call *call, uint64_t frame, char *text, size_t size)
{
	static const char restorer[] = "__restore_rt+0x0 ";
	const bt_field *payload = call->event ? bt_event_borrow_payload_field_const(call->event) : NULL, *list;
	struct space *space;
	uint64_t address;
	size_t n;

	if (!payload || !call->values || call->values->backtrace == UINT64_MAX)
		return 0;
	list = bt_field_structure_borrow_member_field_by_index_const(payload, call->values->backtrace);
	space = names_space(&call->values->calls->merge, call->event);
	if (!space || !bt_field_class_type_is(bt_field_get_class_type(list), BT_FIELD_CLASS_TYPE_ARRAY) ||
			frame >= bt_field_array_get_length(list))
		return 0;
	list = bt_field_array_borrow_element_field_by_index_const(list, frame);
	if (bt_field_get_class_type(list) != BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)
		return 0;
	address = bt_field_integer_unsigned_get_value(list);
	names_caller(space, address, strncmp(text, restorer, sizeof(restorer) - 1) != 0, text, size);
	n = strlen(text);
	if (call->values->calls->has_lines)
		n += strlen(call_caller_place(space, address, text + n, size - n));
	return n;
}

static const bt_field *result_field(const struct call *call)
{
	const bt_field *payload = call->event ? bt_event_borrow_payload_field_const(call->event) : NULL;

	return payload && call->values && call->values->result != UINT64_MAX && call->left == SPI_LEFT_RETURN ?
		bt_field_structure_borrow_member_field_by_index_const(payload, call->values->result) : NULL;
}

size_t call_result(const struct call *call, char *text, size_t size)
{
	const bt_field *field = result_field(call);

	*text = 0;
	return field ? value_text(field, text, size) : 0;
}

int call_result_is_error(const struct call *call)
{
	const bt_field *field = result_field(call);
	const bt_field_class_type type = field ? bt_field_get_class_type(field) : BT_FIELD_CLASS_TYPE_STRING;

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		return bt_field_integer_signed_get_value(field) < 0;
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return is_hex(field) && !bt_field_integer_unsigned_get_value(field);
	return type == BT_FIELD_CLASS_TYPE_STRING && field && !strcmp(field_string(field), "(null)");
}

/* ---- JSON ---- */

static void json_value(FILE *out, const bt_field *field)
{
	const bt_field_class_type type = bt_field_get_class_type(field);
	const bt_field_class *class = bt_field_borrow_class_const(field);
	const int64_t most = INT64_C(1) << 53;
	char text[16384];

	if (type == BT_FIELD_CLASS_TYPE_STRING) {
		json_string(out, field_string(field));
	} else if (type == BT_FIELD_CLASS_TYPE_BOOL) {
		fputs(bt_field_bool_get_value(field) ? "true" : "false", out);
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY)) {
		putc('[', out);
		for (uint64_t i = 0; i < bt_field_array_get_length(field); i++) {
			fputs(i ? "," : "", out);
			json_value(out, bt_field_array_borrow_element_field_by_index_const(field, i));
		}
		putc(']', out);
	} else if (type == BT_FIELD_CLASS_TYPE_STRUCTURE) {
		putc('{', out);
		for (uint64_t i = 0; i < bt_field_class_structure_get_member_count(class); i++) {
			fputs(i ? "," : "", out);
			json_string(out, bt_field_class_structure_member_get_name(
				bt_field_class_structure_borrow_member_by_index_const(class, i)));
			putc(':', out);
			json_value(out, bt_field_structure_borrow_member_field_by_index_const(field, i));
		}
		putc('}', out);
	} else {
		const int is_number = (type == BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER && !is_hex(field) &&
				bt_field_integer_unsigned_get_value(field) <= (uint64_t) most) ||
			(type == BT_FIELD_CLASS_TYPE_SIGNED_INTEGER && !is_hex(field) &&
				bt_field_integer_signed_get_value(field) <= most &&
				bt_field_integer_signed_get_value(field) >= -most) ||
			(type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL &&
				isfinite(bt_field_real_single_precision_get_value(field))) ||
			(type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL &&
				isfinite(bt_field_real_double_precision_get_value(field)));

		value_text(field, text, sizeof(text));
		if (is_number)
			fputs(text, out);
		else
			json_string(out, text);
	}
}

void call_arguments_json(const struct call *call, FILE *out)
{
	const bt_field *payload = call->event ? bt_event_borrow_payload_field_const(call->event) : NULL;
	const bt_field_class *class = payload ? bt_field_borrow_class_const(payload) : NULL;
	const uint64_t n = class ? bt_field_class_structure_get_member_count(class) : 0;
	const char *between = "";

	putc('{', out);
	for (uint64_t i = 0; i < n; i++) {
		const char *name = bt_field_class_structure_member_get_name(
			bt_field_class_structure_borrow_member_by_index_const(class, i));

		if (!is_argument(call, i, name))
			continue;
		fputs(between, out);
		between = ",";
		json_string(out, name);
		putc(':', out);
		json_value(out, bt_field_structure_borrow_member_field_by_index_const(payload, i));
	}
	putc('}', out);
}

void call_result_json(const struct call *call, FILE *out)
{
	const bt_field *field = result_field(call);

	if (field)
		json_value(out, field);
	else
		fputs("null", out);
}

const char *call_left_text(int left)
{
	switch (left) {
	case SPI_LEFT_RETURN:
		return NULL;
	case SPI_LEFT_UNWOUND:
		return "exception";
	case SPI_LEFT_JUMPED:
		return "longjmp";
	case SPI_LEFT_THREAD_END:
		return "thread ended";
	case SPI_LEFT_PROCESS_END:
		return "process ended";
	case SPI_LEFT_TAIL:
		return "tail call";
	case SPI_LEFT_DETACHED:
		return "tracing ended";
	case CALL_OPEN:
		return "open";
	default:
		return "exit not recorded";
	}
}
