/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What a type is, from its entry in debug info: see types.h. Debug info may go in circles, so depth
 * is bounded everywhere.
 */
#include "codemap/types/types.h"

#define STRIP_DEPTH	64
#define TYPE_DEPTH	16
#define ELEMENTS_MAX	(1u << 20)

enum { DW_ATE_boolean = 2, DW_ATE_complex_float = 3, DW_ATE_float = 4, DW_ATE_signed = 5, DW_ATE_signed_char = 6,
       DW_ATE_decimal_float = 0xf };
enum { DW_CC_pass_by_reference = 4, DW_CC_pass_by_value = 5 };

int type_is_cxx(const struct dw_unit *unit)
{
	switch (unit->language) {
	case 0x04: case 0x1a: case 0x21: case 0x2b: case 0x3a:	/* C++98 to C++20 */
		return 1;
	case DW_LANG_Rust: case 0x13:	/* Rust, D: names qualified the same way */
		return 1;
	}
	return 0;
}

int unit_is_fortran(const struct dw_unit *unit)
{
	switch (unit->language) {
	case 0x07: case 0x08: case 0x0e: case 0x22: case 0x23: case 0x2d:	/* FORTRAN 77 to Fortran 2018 */
		return 1;
	}
	return 0;
}

/* What a dimension begins with where debug info does not say it (DWARF 5, table 7.17). */
static int64_t lower_default(const struct dw_unit *unit)
{
	switch (unit->language) {
	case 0x03: case 0x05: case 0x06: case 0x09: case 0x0a: case 0x0d: case 0x0f: case 0x17: case 0x1f:
		return 1;	/* Ada, COBOL, Pascal, Modula, PL/I, Julia */
	}
	return unit_is_fortran(unit);
}

int dimension_lower(const struct dw_die *dimension, int64_t *bound)
{
	struct dw_value value;
	uint64_t number;

	*bound = lower_default(dimension->unit);
	if (!die_attr(dimension, DW_AT_lower_bound, &value))
		return 1;
	if (!value_constant(&value, &number))
		return 0;
	*bound = (int64_t) number;
	return 1;
}

static int tag_is_qualifier(uint16_t tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type || tag == DW_TAG_immutable_type;
}

/* Follow DW_AT_type through typedefs and qualifiers. 0: nothing there (void). -1: lost. */
static int type_strip(const struct dw_die *from, struct dw_die *die)
{
	struct dw_value value;
	struct dw_die at = *from;
	int depth;

	for (depth = 0; depth < STRIP_DEPTH; depth++) {
		if (!(depth ? die_attr(&at, DW_AT_type, &value) : die_attr_origin(&at, DW_AT_type, &value)))
			return 0;
		if (!value_die(&value, &at))
			return -1;
		if (die_attr(&at, DW_AT_signature, &value) && value_die(&value, die))
			at = *die;	/* the full type is in a type unit */
		if (!tag_is_qualifier(at.abbrev->tag)) {
			*die = at;
			return 1;
		}
	}
	return -1;
}

/* IEEE's 128 bits, by the names that C, C++ and Fortran compilers give it; x87's 80 bits have the same size. */
static int name_is_quad(const char *name)
{
	return strstr(name, "128") || strstr(name, "kind=16");
}

static void base_type(struct type *type)
{
	const char *name = die_name(&type->die);
	uint64_t encoding = 0;

	die_constant(&type->die, DW_AT_encoding, &encoding);
	type->is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
	if (!name)
		name = "";
	switch (encoding) {
	case DW_ATE_boolean:
		type->class = type->size == 1 ? TYPE_BOOL : TYPE_INT;
		return;
	case DW_ATE_complex_float:	/* of quad precision: two values that a trace has no type for */
		type->class = type->size == 32 && name_is_quad(name) ? TYPE_UNKNOWN : TYPE_COMPLEX;
		return;
	case DW_ATE_float:
		if (type->size == 4 || type->size == 8)
			type->class = TYPE_FLOAT;
		else
			type->class = type->size == 16 && !name_is_quad(name) ? TYPE_LONG_DOUBLE : TYPE_SSE;
		return;
	case DW_ATE_decimal_float:
		type->class = TYPE_SSE;
		return;
	}
	type->class = type->size == 1 && !strcmp(name, "char") ? TYPE_CHAR : TYPE_INT;
}

/* The variant part of the type; 0: it has none. */
int type_variant_part(const struct dw_die *type, struct dw_die *part)
{
	struct cursor c;
	int more;

	for (more = die_child(type, part, &c); more; more = die_sibling(part, &c))
		if (part->abbrev->tag == DW_TAG_variant_part)
			return 1;
	return 0;
}

static void type_describe(struct type *type)
{
	struct type target;
	struct dw_value value;
	struct dw_die part;
	uint64_t size = 0;

	die_constant(&type->die, DW_AT_byte_size, &size);
	type->size = size;
	type->class = TYPE_UNKNOWN;
	switch (type->die.abbrev->tag) {
	case DW_TAG_base_type:
		base_type(type);
		break;
	case DW_TAG_pointer_type:
		type->size = 8;
		type_of(&type->die, &target);
		type->class = target.class == TYPE_CHAR ? TYPE_STRING : TYPE_POINTER;
		break;
	case DW_TAG_reference_type: case DW_TAG_rvalue_reference_type: case DW_TAG_unspecified_type:
		type->size = 8;
		type->class = TYPE_POINTER;
		break;
	case DW_TAG_ptr_to_member_type:
		type_of(&type->die, &target);
		type->size = target.has_die && target.die.abbrev->tag == DW_TAG_subroutine_type ? 16 : 8;
		type->class = type->size == 16 ? TYPE_METHOD_POINTER : TYPE_POINTER;
		break;
	case DW_TAG_enumeration_type:
		type->class = TYPE_ENUM;
		type_of(&type->die, &target);
		type->is_signed = target.is_signed;
		if (!type->size)
			type->size = target.size;
		break;
	case DW_TAG_structure_type: case DW_TAG_class_type: case DW_TAG_interface_type:
		if (!die_flag(&type->die, DW_AT_declaration))
			type->class = type_variant_part(&type->die, &part) ? TYPE_VARIANTS : TYPE_STRUCT;
		break;
	case DW_TAG_union_type:
		if (!die_flag(&type->die, DW_AT_declaration))
			type->class = TYPE_UNION;
		break;
	case DW_TAG_array_type:
		type->class = die_attr(&type->die, DW_AT_GNU_vector, &value) ? TYPE_VECTOR : TYPE_ARRAY;
		if (!type->size)
			type->size = type_elements(type, &target) * target.size;
		break;
	case DW_TAG_string_type:
		type->class = TYPE_TEXT;
		break;
	case DW_TAG_subrange_type:
		type_of(&type->die, &target);
		type->is_signed = target.is_signed;
		if (!type->size)
			type->size = target.size;
		type->class = TYPE_INT;
		break;
	}
	if ((type->class == TYPE_INT || type->class == TYPE_ENUM) &&
	    type->size != 1 && type->size != 2 && type->size != 4 && type->size != 8 && type->size != 16)
		type->class = TYPE_UNKNOWN;
}

void type_of(const struct dw_die *die, struct type *type)
{
	static __thread int depth;
	int found;

	memset(type, 0, sizeof(*type));
	type->class = TYPE_UNKNOWN;
	if (depth >= TYPE_DEPTH)
		return;
	found = type_strip(die, &type->die);
	if (!found)
		type->class = TYPE_VOID;
	if (found <= 0)
		return;
	type->has_die = 1;
	depth++;
	type_describe(type);
	depth--;
}

uint64_t type_elements(const struct type *type, struct type *element)
{
	struct dw_die child;
	struct cursor c;
	uint64_t total = 1;
	int more;

	type_of(&type->die, element);
	for (more = die_child(&type->die, &child, &c); more; more = die_sibling(&child, &c)) {
		uint64_t count = 0, bound;
		int64_t lower;

		if (child.abbrev->tag != DW_TAG_subrange_type && child.abbrev->tag != DW_TAG_enumeration_type)
			continue;
		if (!die_constant(&child, DW_AT_count, &count) && dimension_lower(&child, &lower) &&
		    die_constant(&child, DW_AT_upper_bound, &bound) && (int64_t) bound >= lower)
			count = bound - (uint64_t) lower + 1;
		if (count > ELEMENTS_MAX || total * count > ELEMENTS_MAX)
			return 0;
		total *= count;
	}
	return total;
}

/* Where a member is, in bytes; 0 when only running code knows (virtual bases). */
static int member_location(const struct dw_die *die, uint64_t *offset)
{
	struct dw_value value;
	struct cursor c;

	*offset = 0;
	if (!die_attr(die, DW_AT_data_member_location, &value) || value_constant(&value, offset))
		return 1;
	if (!value.block || !value.size)
		return 0;
	c = (struct cursor) { value.block, value.block + value.size, 0 };
	if (cursor_uint(&c, 1) != 0x23)		/* DW_OP_plus_uconst */
		return 0;
	*offset = cursor_uleb(&c);
	return !c.bad && c.p == c.end;
}

static void member_bits(const struct dw_die *die, struct member *member)
{
	uint64_t position, old, storage = member->type.size;

	if (!die_constant(die, DW_AT_bit_size, &member->bit_size) || !member->bit_size || member->bit_size > 64) {
		member->bit_size = 0;
		return;
	}
	if (die_constant(die, DW_AT_data_bit_offset, &position)) {
		member->offset = position;
		return;
	}
	member->offset *= 8;
	if (die_constant(die, DW_AT_bit_offset, &old)) {	/* DWARF 3: counted from the top of the storage */
		die_constant(die, DW_AT_byte_size, &storage);
		member->offset += storage * 8 - old - member->bit_size;
	}
}

int type_members(const struct type *type, int (*visit)(void *context, const struct member *member), void *context)
{
	struct dw_die child;
	struct cursor c;
	int more, rc;

	if (!type->has_die)
		return 0;
	for (more = die_child(&type->die, &child, &c); more; more = die_sibling(&child, &c)) {
		struct member member = { .name = "" };
		struct dw_value value;

		if (child.abbrev->tag != DW_TAG_member && child.abbrev->tag != DW_TAG_inheritance)
			continue;
		if (die_flag(&child, DW_AT_declaration) || die_flag(&child, DW_AT_external))
			continue;	/* a static member */
		member.is_base = child.abbrev->tag == DW_TAG_inheritance;
		if (!member_location(&child, &member.offset) ||
		    (member.is_base && die_attr(&child, DW_AT_virtuality, &value) && value.number))
			member.is_virtual_base = 1;
		if (!member.is_base && die_name(&child))
			member.name = die_name(&child);
		/* Rust calls a tuple's members 0 and 1; debug info, __0 and __1. */
		if (child.unit->language == DW_LANG_Rust && !strncmp(member.name, "__", 2) &&
		    member.name[2] >= '0' && member.name[2] <= '9')
			member.name += 2;
		type_of(&child, &member.type);
		member_bits(&child, &member);
		rc = visit(context, &member);
		if (rc)
			return rc;
	}
	return 0;
}

struct align_search {
	uint64_t align;
	int depth;
};

static int align_visit(void *context, const struct member *member)
{
	struct align_search *search = context;
	uint64_t align = type_align(&member->type, search->depth + 1);

	if (align > search->align)
		search->align = align;
	return 0;
}

uint64_t type_align(const struct type *type, int depth)
{
	struct align_search search = { 1, depth };
	struct type element;
	uint64_t align;

	if (depth > TYPE_DEPTH)
		return 1;
	if (type->has_die && die_constant(&type->die, DW_AT_alignment, &align) && align && align <= 4096)
		return align;
	switch (type->class) {
	case TYPE_STRUCT: case TYPE_UNION:
		type_members(type, align_visit, &search);
		return search.align;
	case TYPE_ARRAY:
		type_elements(type, &element);
		return type_align(&element, depth + 1);
	case TYPE_COMPLEX:
		return type->size / 2 ? type->size / 2 : 1;
	case TYPE_METHOD_POINTER:
		return 8;
	case TYPE_TEXT:
		return 1;
	default:
		return type->size ? type->size : 1;
	}
}

/* ---- C++: is it passed by invisible reference? ---- */

/* A constructor taking (const) T& or T&&, or a destructor, that somebody wrote. */
static int method_is_special(const struct dw_die *method, const struct type *class_type, const char *class_name)
{
	const char *name = die_name(method);
	struct dw_die child, first = { 0 };
	struct type target, referred;
	uint64_t defaulted = 0;
	struct cursor c;
	int more, explicit_count = 0;

	if (!name || die_flag(method, DW_AT_artificial))
		return 0;
	die_constant(method, DW_AT_defaulted, &defaulted);
	if (defaulted == 1)		/* = default in the class: no code of its own */
		return 0;
	if (name[0] == '~')
		return 1;
	if (!class_name || strncmp(name, class_name, strlen(name)) ||
	    (class_name[strlen(name)] && class_name[strlen(name)] != '<'))
		return 0;
	for (more = die_child(method, &child, &c); more; more = die_sibling(&child, &c))
		if (child.abbrev->tag == DW_TAG_formal_parameter && !die_flag(&child, DW_AT_artificial) &&
		    !explicit_count++)
			first = child;
	if (explicit_count != 1)
		return 0;
	type_of(&first, &target);
	if (!target.has_die || (target.die.abbrev->tag != DW_TAG_reference_type &&
				target.die.abbrev->tag != DW_TAG_rvalue_reference_type))
		return 0;
	type_of(&target.die, &referred);
	return referred.has_die && referred.die.entry == class_type->die.entry;
}

static int nontrivial_visit(void *context, const struct member *member)
{
	const int *depth = context;
	struct type element = member->type;

	if (member->is_virtual_base || !strncmp(member->name, "_vptr", 5))
		return 1;
	if (element.class == TYPE_ARRAY)
		type_elements(&member->type, &element);
	return type_is_nontrivial(&element, *depth + 1);
}

int type_is_nontrivial(const struct type *type, int depth)
{
	struct dw_die child;
	struct cursor c;
	const char *name;
	uint64_t convention;
	int more;

	if ((type->class != TYPE_STRUCT && type->class != TYPE_UNION) || depth > TYPE_DEPTH)
		return 0;
	if (die_constant(&type->die, DW_AT_calling_convention, &convention)) {
		if (convention == DW_CC_pass_by_reference)
			return 1;
		if (convention == DW_CC_pass_by_value)
			return 0;
	}
	if (!type_is_cxx(type->die.unit) || type->die.unit->language == DW_LANG_Rust)
		return 0;
	if (die_constant(&type->die, DW_AT_containing_type, &convention))
		return 1;
	name = die_name(&type->die);
	for (more = die_child(&type->die, &child, &c); more; more = die_sibling(&child, &c))
		if (child.abbrev->tag == DW_TAG_subprogram && method_is_special(&child, type, name))
			return 1;
	return type_members(type, nontrivial_visit, &depth);
}
