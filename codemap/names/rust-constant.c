/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Rust's v0 names: the constants that types are made with, Buffer<3, 'x'>. */
#include <string.h>
#include "codemap/names/rust.h"

/* Hexadecimal digits up to "_": where they begin and how many, without leading zeros. */
static const char *hex_read(struct demangler *d, size_t *size)
{
	const char *begin = d->text + d->at;
	char c;

	while ((c = rust_take(d)) != '_')
		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
			d->is_bad = 1;
			*size = 0;
			return begin;
		}
	*size = (size_t) (d->text + d->at - 1 - begin);
	return begin;
}

static uint64_t hex_value(const char *digits, size_t size)
{
	uint64_t value = 0;

	while (size--) {
		value = value << 4 | (uint64_t) (*digits <= '9' ? *digits - '0' : *digits - 'a' + 10);
		digits++;
	}
	return value;
}

static void string_constant_print(struct demangler *d)
{
	size_t size, i;
	const char *digits = hex_read(d, &size);

	if (size % 2)
		d->is_bad = 1;
	rust_print(d, "\"");
	for (i = 0; i + 1 < size && !d->is_bad; i += 2) {
		char c = (char) hex_value(digits + i, 2);

		if (c == '"' || c == '\\')
			rust_print(d, "\\");
		rust_print_bytes(d, c >= 0 && c < ' ' ? "?" : &c, 1);
	}
	rust_print(d, "\"");
}

static void number_constant_print(struct demangler *d, char type)
{
	size_t size;
	const char *digits;
	uint64_t value;

	rust_print(d, rust_take_if(d, 'n') ? "-" : "");
	digits = hex_read(d, &size);
	if (d->is_bad)
		return;
	value = size <= 16 ? hex_value(digits, size) : 0;
	if (type == 'b' && value <= 1) {
		rust_print(d, value ? "true" : "false");
	} else if (type == 'c' && value <= 0x10ffff) {
		rust_print(d, "'");
		rust_print_character(d, value < ' ' || value == 0x7f ? '?' : (uint32_t) value);
		rust_print(d, "'");
	} else if (type == 'b' || type == 'c') {
		d->is_bad = 1;
	} else if (size <= 16) {
		rust_print_number(d, value);
	} else {
		rust_print(d, "0x");
		rust_print_bytes(d, digits, size);
	}
}

static void field_constant_print(struct demangler *d)
{
	struct identifier id = rust_identifier_read(d);

	rust_identifier_print(d, &id);
	rust_print(d, ": ");
	rust_constant_print(d);
}

void rust_constant_print(struct demangler *d)
{
	char tag;

	if (!rust_step_in(d))
		return;
	tag = rust_take(d);
	if (tag == 'p') {
		rust_print(d, "_");
	} else if (tag == 'B') {
		rust_back_print(d, rust_constant_print);
	} else if (tag && strchr("ahstlmxyijnobc", tag)) {
		number_constant_print(d, tag);
	} else if (tag == 'e') {
		string_constant_print(d);
	} else if (tag == 'R' || tag == 'Q') {
		rust_print(d, tag == 'R' ? "&" : "&mut ");
		rust_constant_print(d);
	} else if (tag == 'A') {
		rust_print(d, "[");
		rust_list_print(d, rust_constant_print);
		rust_print(d, "]");
	} else if (tag == 'T') {
		rust_print(d, "(");
		if (rust_list_print(d, rust_constant_print) == 1)
			rust_print(d, ",");
		rust_print(d, ")");
	} else if (tag == 'V') {
		rust_path_print(d, 1);
		tag = rust_take(d);
		if (tag == 'T') {
			rust_print(d, "(");
			rust_list_print(d, rust_constant_print);
			rust_print(d, ")");
		} else if (tag == 'S') {
			rust_print(d, " { ");
			rust_list_print(d, field_constant_print);
			rust_print(d, " }");
		} else if (tag != 'U') {
			d->is_bad = 1;
		}
	} else {
		d->is_bad = 1;
	}
	d->depth--;
}
