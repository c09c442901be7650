/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Rust's v0 names (RFC 2603): _RNvNtCs1234_6shapes5round4area is shapes::round::area.
 * Hashes of crates and types of constants are left out, as in Rust's own short form.
 *
 * A name is whatever a file says. Back references lead backwards only, depth, steps
 * and output are bounded, and what does not fit the grammar is no Rust name.
 */
#include <string.h>
#include "codemap/names/rust.h"

#define DEPTH_MAX	96
#define STEPS_MAX	20000
#define BINDERS_MAX	64

static void type_print(struct demangler *d);

int rust_step_in(struct demangler *d)
{
	if (++d->depth > DEPTH_MAX || ++d->steps > STEPS_MAX)
		d->is_bad = 1;
	return !d->is_bad;
}

void rust_back_print(struct demangler *d, void (*what)(struct demangler *d))
{
	size_t before = d->at - 1, behind;
	uint64_t target = rust_base62(d);

	if (d->is_bad || target >= before) {
		d->is_bad = 1;
		return;
	}
	behind = d->at;
	d->at = (size_t) target;
	if (!d->is_silent)
		what(d);
	d->at = behind;
}

static void path_in_type(struct demangler *d)
{
	rust_path_print(d, 0);
}

static void path_in_value(struct demangler *d)
{
	rust_path_print(d, 1);
}

/* Lifetime number `index` from the innermost `for` on; 0 is the erased one. */
static void lifetime_print(struct demangler *d, uint64_t index)
{
	char letter[3] = { '\'', '_', 0 };

	if (index > d->lifetimes) {
		d->is_bad = 1;
		return;
	}
	if (index)
		letter[1] = d->lifetimes - index < 26 ? (char) ('a' + (d->lifetimes - index)) : 'z';
	rust_print(d, letter);
}

/* `for<'a, 'b> `; returns how many the caller takes back. */
static uint64_t binder_print(struct demangler *d)
{
	uint64_t count = rust_base62_tagged(d, 'G'), i;

	if (count > BINDERS_MAX || d->is_bad) {
		d->is_bad = 1;
		return 0;
	}
	for (i = 0; i < count; i++) {
		rust_print(d, i ? ", " : "for<");
		d->lifetimes++;
		lifetime_print(d, 1);
	}
	if (count)
		rust_print(d, "> ");
	return count;
}

static void generic_argument_print(struct demangler *d)
{
	if (rust_take_if(d, 'L'))
		lifetime_print(d, rust_base62(d));
	else if (rust_take_if(d, 'K'))
		rust_constant_print(d);
	else
		type_print(d);
}

unsigned int rust_list_print(struct demangler *d, void (*what)(struct demangler *d))
{
	unsigned int count = 0;

	while (!d->is_bad && !rust_take_if(d, 'E')) {
		if (count++)
			rust_print(d, ", ");
		what(d);
	}
	return count;
}

/* Is what stands here (or what a back reference here means) a path? */
static int is_path_at(const struct demangler *d)
{
	struct demangler at = *d;
	int hops;

	for (hops = 0; rust_peek(&at) == 'B' && hops < 16; hops++) {
		size_t here = at.at++;
		uint64_t target = rust_base62(&at);

		if (at.is_bad || target >= here)
			return 0;
		at.at = (size_t) target;
	}
	return rust_peek(&at) && strchr("CNIMXY", rust_peek(&at)) != NULL;
}

static void nested_print(struct demangler *d, int in_value)
{
	char space = rust_take(d);
	struct identifier id;

	rust_path_print(d, in_value);
	id = rust_identifier_read(d);
	if (space >= 'A' && space <= 'Z') {
		rust_print(d, "::{");
		if (space == 'C')
			rust_print(d, "closure");
		else if (space == 'S')
			rust_print(d, "shim");
		else
			rust_print_bytes(d, &space, 1);
		if (id.size) {
			rust_print(d, ":");
			rust_identifier_print(d, &id);
		}
		rust_print(d, "#");
		rust_print_number(d, id.disambiguator);
		rust_print(d, "}");
	} else if (space < 'a' || space > 'z') {
		d->is_bad = 1;
	} else if (id.size) {
		rust_print(d, "::");
		rust_identifier_print(d, &id);
	}
}

/* impl blocks say where they stand: that is read, and not shown. */
static void impl_path_skip(struct demangler *d)
{
	int was_silent = d->is_silent;

	rust_base62_tagged(d, 's');
	d->is_silent = 1;
	rust_path_print(d, 0);
	d->is_silent = was_silent;
}

void rust_path_print(struct demangler *d, int in_value)
{
	struct identifier id;
	int is_bare;
	char tag;

	if (!rust_step_in(d))
		return;
	switch (tag = rust_take(d)) {
	case 'C':
		id = rust_identifier_read(d);
		rust_identifier_print(d, &id);
		break;
	case 'N':
		nested_print(d, in_value);
		break;
	case 'M': case 'X': case 'Y':
		if (tag != 'Y')
			impl_path_skip(d);
		is_bare = tag == 'M' && is_path_at(d);	/* shapes::Disc::grow, not <shapes::Disc>::grow */
		rust_print(d, is_bare ? "" : "<");
		type_print(d);
		if (tag != 'M') {
			rust_print(d, " as ");
			rust_path_print(d, 0);
		}
		rust_print(d, is_bare ? "" : ">");
		break;
	case 'I':
		rust_path_print(d, in_value);
		rust_print(d, in_value ? "::<" : "<");
		rust_list_print(d, generic_argument_print);
		rust_print(d, ">");
		break;
	case 'B':
		rust_back_print(d, in_value ? path_in_value : path_in_type);
		break;
	default:
		d->is_bad = 1;
	}
	d->depth--;
}

static const char *basic_type(char tag)
{
	static const char *const names[26] = {
		"i8", "bool", "char", "f64", "str", "f32", NULL, "u8", "isize", "usize", NULL, "i32", "u32", "i128",
		"u128", "_", NULL, NULL, "i16", "u16", "()", "...", NULL, "i64", "u64", "!",
	};

	return tag >= 'a' && tag <= 'z' ? names[tag - 'a'] : NULL;
}

static void function_print(struct demangler *d)
{
	uint64_t bound = binder_print(d);
	struct identifier abi;
	size_t i;

	if (rust_take_if(d, 'U'))
		rust_print(d, "unsafe ");
	if (rust_take_if(d, 'K')) {
		rust_print(d, "extern \"");
		if (rust_take_if(d, 'C')) {
			rust_print(d, "C");
		} else {
			abi = rust_identifier_read(d);
			for (i = 0; i < abi.size && !d->is_bad; i++)
				rust_print_bytes(d, abi.bytes[i] == '_' ? "-" : abi.bytes + i, 1);
		}
		rust_print(d, "\" ");
	}
	rust_print(d, "fn(");
	rust_list_print(d, type_print);
	rust_print(d, ")");
	if (!rust_take_if(d, 'u')) {
		rust_print(d, " -> ");
		type_print(d);
	}
	d->lifetimes -= bound;
}

/* dyn Trait<A, Item = B>: the bindings go into the trait's own brackets. */
static void dyn_trait_print(struct demangler *d)
{
	size_t mark = d->out->count;
	int is_open;

	rust_path_print(d, 0);
	is_open = !d->is_silent && d->out->count > mark && d->out->at[d->out->count - 1] == '>' &&
		  d->out->at[mark] != '<';
	if (is_open && rust_peek(d) == 'p')
		d->out->count--;
	while (rust_take_if(d, 'p')) {
		struct identifier id;

		rust_print(d, is_open ? ", " : "<");
		is_open = 2;
		id = rust_identifier_read(d);
		rust_identifier_print(d, &id);
		rust_print(d, " = ");
		type_print(d);
		if (d->is_bad)
			return;
	}
	if (is_open == 2)
		rust_print(d, ">");
}

static void dyn_print(struct demangler *d)
{
	uint64_t bound, index;
	unsigned int count = 0;

	rust_print(d, "dyn ");
	bound = binder_print(d);
	while (!d->is_bad && !rust_take_if(d, 'E')) {
		if (count++)
			rust_print(d, " + ");
		dyn_trait_print(d);
	}
	d->lifetimes -= bound;
	if (!rust_take_if(d, 'L')) {
		d->is_bad = 1;
		return;
	}
	index = rust_base62(d);
	if (index) {
		rust_print(d, " + ");
		lifetime_print(d, index);
	}
}

static void type_print(struct demangler *d)
{
	const char *basic = basic_type(rust_peek(d));
	uint64_t index;
	char tag;

	if (!rust_step_in(d))
		return;
	tag = rust_take(d);
	if (basic) {
		rust_print(d, basic);
	} else if (tag == 'R' || tag == 'Q') {
		rust_print(d, "&");
		if (rust_take_if(d, 'L')) {
			index = rust_base62(d);
			if (index) {
				lifetime_print(d, index);
				rust_print(d, " ");
			}
		}
		rust_print(d, tag == 'Q' ? "mut " : "");
		type_print(d);
	} else if (tag == 'P' || tag == 'O') {
		rust_print(d, tag == 'P' ? "*const " : "*mut ");
		type_print(d);
	} else if (tag == 'A' || tag == 'S') {
		rust_print(d, "[");
		type_print(d);
		if (tag == 'A') {
			rust_print(d, "; ");
			rust_constant_print(d);
		}
		rust_print(d, "]");
	} else if (tag == 'T') {
		rust_print(d, "(");
		if (rust_list_print(d, type_print) == 1)
			rust_print(d, ",");
		rust_print(d, ")");
	} else if (tag == 'F') {
		function_print(d);
	} else if (tag == 'D') {
		dyn_print(d);
	} else if (tag == 'B') {
		rust_back_print(d, type_print);
	} else if (!d->is_bad) {
		d->at--;
		rust_path_print(d, 0);
	}
	d->depth--;
}

int rust_demangle(const char *linkage, struct text *out)
{
	struct demangler d = { .out = out };

	if (linkage[0] != '_' || linkage[1] != 'R' || !linkage[2])
		return 0;
	d.text = linkage + 2;
	/* Then there may be what tools put behind the name: .llvm.123, .cold */
	d.size = strspn(d.text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	if (d.text[d.size] && d.text[d.size] != '.')
		return 0;
	if (d.text[0] >= '0' && d.text[0] <= '9')	/* a version of the encoding that is not yet defined */
		return 0;
	rust_path_print(&d, 1);
	if (!d.is_bad && d.at < d.size) {		/* the crate that made the instance */
		d.is_silent = 1;
		rust_path_print(&d, 0);
	}
	if (d.is_bad || d.at != d.size || !out->count)
		return 0;
	if (strncmp(d.text + d.size, ".llvm.", 6))
		text_add(out, d.text + d.size);
	return 1;
}
