/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * C spelling of types. A declarator grows on both sides of the name while the
 * type's entries are followed from the outside in: `*` and `(` go to its left,
 * `)`, `[4]` and parameter lists to its right, and the base type comes in front.
 */
#include <stdio.h>
#include <stdlib.h>
#include "codemap/types/types.h"

#define SIDE_MAX	1024
#define DEPTH_MAX	32

struct declarator {
	char left[SIDE_MAX], right[SIDE_MAX];
	int depth;
};

static void left_add(struct declarator *d, const char *more)
{
	size_t size = strlen(more), have = strlen(d->left);

	if (size + have >= SIDE_MAX)
		return;
	memmove(d->left + size, d->left, have + 1);
	memcpy(d->left, more, size);
}

static void right_add(struct declarator *d, const char *more)
{
	size_t size = strlen(more), have = strlen(d->right);

	if (size + have < SIDE_MAX)
		memcpy(d->right + have, more, size + 1);
}

static void spell(struct text *text, const struct dw_die *die, struct declarator *d);

/* "std::map<int>::iterator": the names of what the entry lies in, where the language has such names. */
void spell_qualified(struct text *text, const struct dw_die *die)
{
	struct dw_unit *unit = die->unit;
	uint32_t chain[DEPTH_MAX], node;
	unsigned int n = 0;
	const char *name;
	struct dw_die at;

	if (type_is_cxx(unit) && (node = unit_node(unit, die_offset(die))) != UINT32_MAX)
		for (node = unit->nodes.at[node].parent; node != UINT32_MAX && n < DEPTH_MAX;
		     node = unit->nodes.at[node].parent) {
			if (unit->nodes.at[node].tag == DW_TAG_subprogram)
				break;
			chain[n++] = node;
		}
	while (n-- > 0) {
		if (!die_at(unit, unit->nodes.at[chain[n]].offset, &at))
			continue;
		name = die_name(&at);
		text_add(text, name				    ? name
			       : at.abbrev->tag == DW_TAG_namespace ? "(anonymous namespace)"
								    : "(anonymous)");
		text_add(text, "::");
	}
	name = die_name(die);
	text_add(text, name ? name : "(anonymous)");
}

static const char *tag_keyword(const struct dw_die *die)
{
	if (type_is_cxx(die->unit))
		return "";
	switch (die->abbrev->tag) {
	case DW_TAG_structure_type: return "struct ";
	case DW_TAG_union_type: return "union ";
	case DW_TAG_enumeration_type: return "enum ";
	}
	return "";
}

static const char *tag_anonymous(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_structure_type: case DW_TAG_class_type: return "struct {...}";
	case DW_TAG_union_type: return "union {...}";
	case DW_TAG_enumeration_type: return "enum {...}";
	}
	return "?";
}

/* Compilers write "long unsigned int" where people write "unsigned long". */
static const char *base_spelling(const char *name)
{
	static const char *const pairs[][2] = {
		{ "long int", "long" }, { "long unsigned int", "unsigned long" }, { "long long int", "long long" },
		{ "long long unsigned int", "unsigned long long" }, { "short int", "short" },
		{ "short unsigned int", "unsigned short" }, { "__int128 unsigned", "unsigned __int128" },
	};
	size_t i;

	for (i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (!strcmp(name, pairs[i][0]))
			return pairs[i][1];
	return name;
}

/* The base type is reached: put it, both sides and all together. */
static void spell_base(struct text *text, const char *keyword, const struct dw_die *die, const char *name,
		       const struct declarator *d)
{
	text_add(text, keyword);
	if (die && die->abbrev->tag == DW_TAG_base_type && die_name(die))
		text_add(text, base_spelling(die_name(die)));
	else if (die && die_name(die))
		spell_qualified(text, die);
	else
		text_add(text, name);
	if (d->left[0]) {
		text_add_char(text, ' ');
		text_add(text, d->left);
	}
	text_add(text, d->right);
}

static void spell_parameters(struct declarator *d, const struct dw_die *function)
{
	struct text inner = { 0 };
	struct dw_die child;
	struct cursor c;
	int more, count = 0;

	text_add_char(&inner, '(');
	for (more = die_child(function, &child, &c); more; more = die_sibling(&child, &c)) {
		struct declarator none = { .depth = d->depth + 1 };
		struct dw_value value;
		struct dw_die type;

		if (child.abbrev->tag == DW_TAG_unspecified_parameters) {
			text_add(&inner, count++ ? ", ..." : "...");
			continue;
		}
		if (child.abbrev->tag != DW_TAG_formal_parameter || die_flag(&child, DW_AT_artificial))
			continue;
		if (count++)
			text_add(&inner, ", ");
		if (die_attr(&child, DW_AT_type, &value) && value_die(&value, &type))
			spell(&inner, &type, &none);
		else
			text_add_char(&inner, '?');
		if (inner.count > SIDE_MAX / 2)
			break;
	}
	if (!count && die_flag(function, 0x27))		/* DW_AT_prototyped */
		text_add(&inner, "void");
	text_add_char(&inner, ')');
	right_add(d, text_end(&inner));
	free(inner.at);
}

/* "(3)", "(0:7)", and "(:)" where only running code knows; all dimensions in one pair of parentheses. */
static void spell_dimensions_fortran(struct declarator *d, const struct dw_die *array)
{
	struct dw_die child;
	struct cursor c;
	int more, any = 0;

	right_add(d, "(");
	for (more = die_child(array, &child, &c); more; more = die_sibling(&child, &c)) {
		uint64_t upper;
		int64_t lower;
		struct dw_value value;
		char bounds[64] = ":";

		if (child.abbrev->tag != DW_TAG_subrange_type)
			continue;
		if (dimension_lower(&child, &lower) && die_constant(&child, DW_AT_upper_bound, &upper)) {
			if (lower == 1)
				snprintf(bounds, sizeof(bounds), "%lld", (long long) upper);
			else
				snprintf(bounds, sizeof(bounds), "%lld:%lld", (long long) lower, (long long) upper);
		} else if (!die_attr(&child, DW_AT_upper_bound, &value)) {
			bounds[0] = '*';
		}
		if (any++)
			right_add(d, ",");
		right_add(d, bounds);
	}
	right_add(d, any ? ")" : "..)");
}

static void spell_dimensions(struct declarator *d, const struct dw_die *array)
{
	struct dw_die child;
	struct cursor c;
	int more, any = 0;

	for (more = die_child(array, &child, &c); more; more = die_sibling(&child, &c)) {
		uint64_t count;
		char number[32] = "[]";

		if (child.abbrev->tag != DW_TAG_subrange_type)
			continue;
		any = 1;
		if (die_constant(&child, DW_AT_upper_bound, &count))
			snprintf(number, sizeof(number), "[%llu]", (unsigned long long) count + 1);
		else if (die_constant(&child, DW_AT_count, &count))
			snprintf(number, sizeof(number), "[%llu]", (unsigned long long) count);
		right_add(d, number);
	}
	if (!any)
		right_add(d, "[]");
}

/* Does a pointer to it need parentheses? */
static int needs_parentheses(const struct dw_die *target)
{
	return target->abbrev->tag == DW_TAG_array_type || target->abbrev->tag == DW_TAG_subroutine_type;
}

static void spell_pointer(struct text *text, const struct dw_die *die, const char *mark, struct declarator *d)
{
	struct dw_value value;
	struct dw_die target;

	left_add(d, mark);
	if (!die_attr(die, DW_AT_type, &value)) {
		spell_base(text, "", NULL, "void", d);
	} else if (!value_die(&value, &target)) {
		spell_base(text, "", NULL, "?", d);
	} else {
		if (needs_parentheses(&target)) {
			left_add(d, "(");
			right_add(d, ")");
		}
		spell(text, &target, d);
	}
}

static void spell_member_pointer(struct text *text, const struct dw_die *die, struct declarator *d)
{
	struct text mark = { 0 };
	struct dw_die class_die;

	if (die_ref(die, DW_AT_containing_type, &class_die))
		spell_qualified(&mark, &class_die);
	text_add(&mark, "::*");
	spell_pointer(text, die, text_end(&mark), d);
	free(mark.at);
}

static void spell_qualifier(struct text *text, const struct dw_die *die, const char *word, struct declarator *d)
{
	struct dw_value value;
	struct dw_die target, inner;
	uint16_t tag = 0;

	if (!die_attr(die, DW_AT_type, &value)) {
		text_add(text, word);
		spell_base(text, "", NULL, "void", d);
		return;
	}
	if (!value_die(&value, &target)) {
		spell_base(text, word, NULL, "?", d);
		return;
	}
	inner = target;
	while (inner.abbrev->tag == DW_TAG_const_type || inner.abbrev->tag == DW_TAG_volatile_type) {
		if (!die_attr(&inner, DW_AT_type, &value) || !value_die(&value, &inner))
			break;
		if (++d->depth > DEPTH_MAX)
			break;
	}
	tag = inner.abbrev->tag;
	if (tag == DW_TAG_pointer_type || tag == DW_TAG_ptr_to_member_type || tag == DW_TAG_reference_type) {
		char spaced[16];

		/* "*const p", "*const" */
		snprintf(spaced, sizeof(spaced), "%s", word);
		if (!d->left[0])
			spaced[strlen(spaced) - 1] = 0;
		left_add(d, spaced);
	} else if (tag != DW_TAG_subroutine_type) {
		text_add(text, word);
	}
	spell(text, &target, d);
}

static void spell(struct text *text, const struct dw_die *die, struct declarator *d)
{
	struct dw_value value;
	struct dw_die target;
	uint64_t size;

	if (++d->depth > DEPTH_MAX) {
		spell_base(text, "", NULL, "?", d);
		return;
	}
	if (die_ref(die, DW_AT_signature, &target)) {	/* the full type is in a type unit */
		spell(text, &target, d);
		return;
	}
	switch (die->abbrev->tag) {
	case DW_TAG_pointer_type:
		spell_pointer(text, die, "*", d);
		return;
	case DW_TAG_reference_type:
		spell_pointer(text, die, "&", d);
		return;
	case DW_TAG_rvalue_reference_type:
		spell_pointer(text, die, "&&", d);
		return;
	case DW_TAG_ptr_to_member_type:
		spell_member_pointer(text, die, d);
		return;
	case DW_TAG_const_type:
		spell_qualifier(text, die, "const ", d);
		return;
	case DW_TAG_volatile_type:
		spell_qualifier(text, die, "volatile ", d);
		return;
	case DW_TAG_atomic_type:
		spell_qualifier(text, die, "_Atomic ", d);
		return;
	case DW_TAG_restrict_type:
		if (die_attr(die, DW_AT_type, &value) && value_die(&value, &target))
			spell(text, &target, d);
		return;
	case DW_TAG_array_type:
		if (unit_is_fortran(die->unit))
			spell_dimensions_fortran(d, die);
		else
			spell_dimensions(d, die);
		break;
	case DW_TAG_string_type:
		if (die_constant(die, DW_AT_byte_size, &size))
			spell_base(text, "", NULL, mem_format("character(len=%llu)", (unsigned long long) size), d);
		else
			spell_base(text, "", NULL, "character(len=*)", d);
		return;
	case DW_TAG_subroutine_type:
		spell_parameters(d, die);
		break;
	default:
		spell_base(text, die_name(die) ? tag_keyword(die) : "", die, tag_anonymous(die->abbrev->tag), d);
		return;
	}
	/* array and function: their element or return type */
	if (!die_attr(die, DW_AT_type, &value))
		spell_base(text, "", NULL, "void", d);
	else if (value_die(&value, &target))
		spell(text, &target, d);
	else
		spell_base(text, "", NULL, "?", d);
}

void spell_declaration(struct text *text, const struct dw_die *die, const char *name)
{
	struct declarator d = { .depth = 0 };
	struct dw_value value;
	struct dw_die type;

	left_add(&d, name);
	if (!die_attr_origin(die, DW_AT_type, &value))
		spell_base(text, "", NULL, "void", &d);
	else if (!value_die(&value, &type))
		spell_base(text, "", NULL, "?", &d);
	else
		spell(text, &type, &d);
}

void spell_type(struct text *text, const struct dw_die *type)
{
	struct declarator d = { .depth = 0 };

	spell(text, type, &d);
}

void spell_function(struct text *text, const struct dw_die *die)
{
	const char *name = die_name(die);
	struct text call = { 0 };
	struct dw_die child;
	struct cursor c;
	int more, count = 0;

	text_add(&call, name ? name : "");
	text_add_char(&call, '(');
	for (more = die_child(die, &child, &c); more; more = die_sibling(&child, &c)) {
		if (child.abbrev->tag != DW_TAG_formal_parameter && child.abbrev->tag != DW_TAG_unspecified_parameters)
			continue;
		if (count++)
			text_add(&call, ", ");
		name = die_name(&child);
		if (child.abbrev->tag == DW_TAG_unspecified_parameters)
			text_add(&call, "...");
		else
			spell_declaration(&call, &child, name ? name : "");
	}
	text_add(&call, count ? ")" : "void)");
	spell_declaration(text, die, text_end(&call));
	free(call.at);
}
