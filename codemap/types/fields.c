/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * From a typed value to event fields. A scalar is one field. A struct is flattened: `sb` with the
 * member st_size is sb_st_size. A value for which a trace has no type is recorded as its words, in
 * hexadecimal: unions (any member may be the valid one), __int128 (_lo, _hi), vectors by element.
 *
 * A field's name is the name in the source. The event module turns it into a name that readers of
 * traces take (tp/describe/descriptor.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include "codemap/types/fortran.h"

#define FIELDS_MAX	96	/* of a function, entry or exit */
#define DEPTH_MAX	8
#define ARRAY_BYTES	256	/* kept of an array of integers at most */
#define TEXT_BYTES	4000	/* of a char array: more than the longest string that is recorded, so that a cut shows */
#define ELEMENTS_MAX	16	/* of an array whose elements are fields of their own */
#define WORDS_MAX	8
#define LABELS_MAX	512	/* of an enumeration; one that has more is recorded by number */

struct value_part {
	struct field_maker *maker;
	const char *name;
	uint64_t offset;	/* of the struct in the value, bytes */
	int depth;
};

static void part_add(struct field_maker *maker, const char *name, const struct type *type, uint64_t offset, int depth,
		     const struct dw_die *typed);

/* No scalar of up to 8 bytes, as a constant has to be. */
static int kind_is_wide(uint8_t kind)
{
	return kind == SPI_KIND_TEXT || kind == SPI_KIND_INT_ARRAY || kind == SPI_KIND_LONG_DOUBLE ||
	       kind == SPI_KIND_COUNTED || kind == SPI_KIND_DIFFERENCE;
}

void field_place(const struct field_maker *maker, struct spi_map_field *field, uint64_t offset, uint64_t size)
{
	unsigned int i;

	field->place = maker->passing->otherwise;
	for (i = 0; i < maker->passing->count; i++) {
		const struct piece *p = &maker->passing->piece[i];

		if (offset < p->from || offset + size > p->from + p->size || p->place == SPI_PLACE_NONE)
			continue;
		if (p->place == SPI_PLACE_X87 && (offset != p->from || field->kind != SPI_KIND_LONG_DOUBLE))
			continue;
		field->place = p->place;
		if (p->place == SPI_PLACE_CONSTANT) {
			uint64_t value = p->value >> (offset - p->from) * 8;

			field->offset = (int32_t) (uint32_t) value;
			field->length = (uint32_t) (value >> 32);
			if (kind_is_wide(field->kind))
				field->place = SPI_PLACE_OPTIMISED_OUT;
			return;
		}
		field->reg = p->reg;
		field->offset = p->place == SPI_PLACE_X87 ? 0 : p->offset + (int32_t) (offset - p->from);
		return;
	}
}

struct spi_map_field *field_add(struct field_maker *maker, const char *name, const char *type_name, uint8_t kind,
				uint8_t size, uint64_t offset)
{
	struct spi_map_field *field;

	if (maker->tables->fields.count - maker->first >= FIELDS_MAX)
		return NULL;
	field = vec_push(&maker->tables->fields);
	memset(field, 0, sizeof(*field));
	field->name = strings_add(&maker->tables->strings, name);
	field->type_name = strings_add(&maker->tables->strings, type_name);
	field->kind = kind;
	field->size = size;
	field->base = 10;
	field->enum_index = SPI_MAP_NONE;
	field->param = maker->param;
	field_place(maker, field, offset, size);
	return field;
}

char *name_joined(const char *name, const char *more)
{
	if (!more[0])
		return mem_string(name, strlen(name));
	return name[0] ? mem_format("%s_%s", name, more) : mem_string(more, strlen(more));
}

/* size bytes from offset on, as words in hexadecimal. */
static void words_add(
	struct field_maker *maker, const char *name, const char *type_name, uint64_t offset, uint64_t size)
{
	unsigned int n = 0, one = size == 1 || size == 2 || size == 4 || size == 8;
	uint64_t at = 0;

	while (at < size && n < WORDS_MAX) {
		uint8_t step = 8;
		struct spi_map_field *field;

		while (step > size - at)
			step /= 2;
		field = field_add(
			maker, one ? name : mem_format("%s_%u", name, n), type_name, SPI_KIND_INT, step, offset + at);
		if (!field)
			return;
		field->base = 16;
		at += step;
		n++;
	}
}

uint32_t enum_keep(struct tables *t, const char *text, uint32_t first)
{
	uint32_t count = (uint32_t) t->labels.count - first, name = strings_add(&t->strings, text ? text : ""), i;
	struct spi_map_enum *e;

	for (i = (uint32_t) t->enums.count; i-- > 0;) {
		e = &t->enums.at[i];
		if (e->name == name && e->label_count == count &&
			(!count || !memcmp(&t->labels.at[e->label_first], &t->labels.at[first],
					   count * sizeof(struct spi_map_label)))) {
			t->labels.count = first;
			return i;
		}
	}
	e = vec_push(&t->enums);
	e->name = name;
	e->label_first = first;
	e->label_count = count;
	e->reserved = 0;
	return (uint32_t) t->enums.count - 1;
}

/* Labels of an enumeration: added once for each name and contents. */
static uint32_t enum_add(struct tables *t, const struct type *type)
{
	uint32_t first = (uint32_t) t->labels.count;
	struct dw_die child;
	struct cursor c;
	int more;

	for (more = die_child(&type->die, &child, &c); more; more = die_sibling(&child, &c)) {
		struct spi_map_label *label;
		struct dw_value value;
		uint64_t number;
		const char *own;
		char *clean;

		if (child.abbrev->tag != DW_TAG_enumerator || !die_attr(&child, DW_AT_const_value, &value) ||
		    !value_constant(&value, &number))
			continue;
		own = die_name(&child);
		if (!own)
			continue;
		if (t->labels.count - first == LABELS_MAX) {
			t->labels.count = first;
			break;
		}
		if (value.form == DW_FORM_data1 && type->is_signed)
			number = (uint64_t) (int64_t) (int8_t) number;
		else if (value.form == DW_FORM_data2 && type->is_signed)
			number = (uint64_t) (int64_t) (int16_t) number;
		else if (value.form == DW_FORM_data4 && type->is_signed)
			number = (uint64_t) (int64_t) (int32_t) number;
		clean = name_event(own);
		label = vec_push(&t->labels);
		label->value = (int64_t) number;
		label->name = strings_add(&t->strings, clean);
		label->is_rest = 0;
	}
	return enum_keep(t, die_name(&type->die), first);
}

/* Kind and presentation of a scalar; 0 when it is none. */
static int scalar_kind(const struct type *type, uint8_t *kind)
{
	switch (type->class) {
	case TYPE_INT: *kind = SPI_KIND_INT; return type->size <= 8;
	case TYPE_BOOL: *kind = SPI_KIND_BOOL; return 1;
	case TYPE_CHAR: *kind = SPI_KIND_CHAR; return 1;
	case TYPE_FLOAT: *kind = SPI_KIND_FLOAT; return 1;
	case TYPE_LONG_DOUBLE: *kind = SPI_KIND_LONG_DOUBLE; return 1;
	case TYPE_POINTER: *kind = SPI_KIND_POINTER; return 1;
	case TYPE_STRING: *kind = SPI_KIND_STRING; return 1;
	case TYPE_TEXT: *kind = SPI_KIND_CHAR; return type->size == 1;
	case TYPE_ENUM: *kind = SPI_KIND_ENUM; return type->size <= 8;
	default: return 0;
	}
}

static void scalar_finish(struct field_maker *maker, struct spi_map_field *field, const struct type *type)
{
	field->is_signed = type->is_signed;
	if (field->kind == SPI_KIND_POINTER || field->kind == SPI_KIND_STRING) {
		field->base = 16;
		field->is_signed = 0;
	} else if (field->kind == SPI_KIND_ENUM) {
		field->enum_index = enum_add(maker->tables, type);
	} else if (field->kind == SPI_KIND_BOOL) {
		field->is_signed = 0;
	}
}

/* `width` bits from bit `position` of the value on. */
static void bits_add(struct field_maker *maker, const char *name, const char *type_name, const struct type *type,
		     uint64_t position, uint64_t width)
{
	uint64_t size = type->size <= 8 && type->size ? type->size : 8, at;
	struct spi_map_field *field;
	uint8_t kind;

	if (!scalar_kind(type, &kind) || kind == SPI_KIND_CHAR)
		kind = SPI_KIND_INT;
	at = position / 8 / size * size;
	if (position + width > (at + size) * 8) {	/* packed: it crosses its own type's borders */
		if (kind == SPI_KIND_BOOL)
			kind = SPI_KIND_INT;
		for (size = 1; size <= 8; size *= 2) {
			at = position / 8;
			if (position + width <= (at + size) * 8)
				break;
		}
		if (size > 8)
			return;
	}
	field = field_add(maker, name, type_name, kind, (uint8_t) size, at);
	if (!field)
		return;
	scalar_finish(maker, field, type);
	field->bit_offset = (uint8_t) (position - at * 8);
	field->bit_size = (uint8_t) width;
}

static int member_add(void *context, const struct member *member)
{
	struct value_part *part = context;
	struct text spelled = { 0 };
	char *name;

	if (member->is_virtual_base)
		return 0;
	name = name_joined(part->name, member->name);
	if (member->bit_size) {
		if (!member->name[0])
			return 0;	/* padding */
		if (member->type.has_die)
			spell_type(&spelled, &member->type.die);
		bits_add(part->maker, name, text_end(&spelled), &member->type, part->offset * 8 + member->offset,
			member->bit_size);
		free(spelled.at);
	} else {
		part_add(part->maker, name, &member->type, part->offset + member->offset, part->depth + 1, NULL);
	}
	return part->maker->tables->fields.count - part->maker->first >= FIELDS_MAX;
}

/* Are all bytes in one place of memory? */
static int is_contiguous_memory(const struct field_maker *maker, uint64_t offset, uint64_t size)
{
	struct spi_map_field probe = { .kind = SPI_KIND_INT };

	field_place(maker, &probe, offset, size);
	return probe.place == SPI_PLACE_STACK || probe.place == SPI_PLACE_MEMORY || probe.place == SPI_PLACE_STACK_MEMORY;
}

/* Text in registers: one field for what each register holds of it. */
static void text_add_pieces(
	struct field_maker *maker, const char *name, const char *type_name, uint64_t offset, uint64_t size)
{
	uint64_t at = 0;
	unsigned int n = 0;
	struct spi_map_field *field;

	while (at < size) {
		uint64_t step = 8 - (offset + at) % 8;

		if (step > size - at)
			step = size - at;
		field = field_add(maker, step == size ? name : mem_format("%s_%u", name, n), type_name, SPI_KIND_TEXT,
			1, offset + at);
		if (!field)
			return;
		field_place(maker, field, offset + at, step);
		field->length = (uint32_t) step;
		at += step;
		n++;
	}
}

/* `count` bytes of text inside a value. */
static void chars_add(struct field_maker *maker, const char *name, const char *type_name, uint64_t offset,
		      uint64_t count)
{
	struct spi_map_field *field;

	if (count > TEXT_BYTES)
		count = TEXT_BYTES;
	if (!count)
		return;
	if (!is_contiguous_memory(maker, offset, count)) {
		text_add_pieces(maker, name, type_name, offset, count);
		return;
	}
	field = field_add(maker, name, type_name, SPI_KIND_TEXT, 1, offset);
	if (!field)
		return;
	field_place(maker, field, offset, count);
	field->length = (uint32_t) count;
}

static void array_add(struct field_maker *maker, const char *name, const char *type_name, const struct type *type,
		      uint64_t offset, int depth)
{
	struct type element;
	uint64_t count = type_elements(type, &element), i;
	struct spi_map_field *field;

	if (fortran_descriptor_add(maker, name, type_name, type, offset) || !count || !element.size)
		return;
	if (element.class == TYPE_CHAR) {
		chars_add(maker, name, type_name, offset, count);
		return;
	}
	if (element.class == TYPE_INT) {
		if (count > ARRAY_BYTES / element.size)
			count = ARRAY_BYTES / element.size;
		if (element.size <= 8 && is_contiguous_memory(maker, offset, count * element.size)) {
			field = field_add(
				maker, name, type_name, SPI_KIND_INT_ARRAY, (uint8_t) element.size, offset);
			if (!field)
				return;
			field_place(maker, field, offset, count * element.size);
			field->length = (uint32_t) count;
			field->is_signed = element.is_signed;
			return;
		}
	}
	for (i = 0; i < count && i < ELEMENTS_MAX; i++)
		part_add(maker, mem_format("%s_%llu", name, (unsigned long long) i), &element,
			offset + i * element.size, depth + 1, NULL);
}

static void part_add(struct field_maker *maker, const char *name, const struct type *type, uint64_t offset, int depth,
		     const struct dw_die *typed)
{
	struct value_part part = { maker, name, offset, depth };
	struct text spelled = { 0 };
	struct type half = *type;
	struct spi_map_field *field;
	const char *type_name;
	uint8_t kind;

	if (depth > DEPTH_MAX || maker->tables->fields.count - maker->first >= FIELDS_MAX)
		return;
	if (typed)
		spell_declaration(&spelled, typed, "");
	else if (type->has_die)
		spell_type(&spelled, &type->die);
	type_name = text_end(&spelled);
	if (scalar_kind(type, &kind)) {
		field = field_add(maker, name, type_name, kind, (uint8_t) type->size, offset);
		if (field)
			scalar_finish(maker, field, type);
	} else if (type->class == TYPE_TEXT) {
		chars_add(maker, name, type_name, offset, type->size);
	} else if (type->class == TYPE_STRUCT) {
		type_members(type, member_add, &part);
	} else if (type->class == TYPE_VARIANTS) {
		variants_add(maker, name, type_name, type, offset, depth);
	} else if (type->class == TYPE_ARRAY || type->class == TYPE_VECTOR) {
		array_add(maker, name, type_name, type, offset, depth);
	} else if (type->class == TYPE_COMPLEX && (type->size == 8 || type->size == 16 || type->size == 32)) {
		half.size = type->size / 2;
		half.class = half.size == 16 ? TYPE_LONG_DOUBLE : TYPE_FLOAT;
		half.has_die = 0;
		part_add(maker, mem_format("%s_re", name), &half, offset, depth + 1, NULL);
		part_add(maker, mem_format("%s_im", name), &half, offset + half.size, depth + 1, NULL);
	} else if (type->size == 16 && type->class != TYPE_UNION) {
		words_add(maker, mem_format("%s_%s", name, type->class == TYPE_METHOD_POINTER ? "ptr" : "lo"),
			type_name, offset, 8);
		words_add(maker, mem_format("%s_%s", name, type->class == TYPE_METHOD_POINTER ? "adj" : "hi"),
			type_name, offset + 8, 8);
	} else if (type->size) {
		words_add(maker, name, type_name, offset, type->size);
	}
	free(spelled.at);
}

void fields_add_part(struct field_maker *maker, const char *name, const struct type *type, uint64_t offset, int depth)
{
	part_add(maker, name, type, offset, depth, NULL);
}

void fields_add(struct field_maker *maker, const char *name, const struct type *type, const struct dw_die *typed)
{
	/* Of what is not known at all, the name is enough. */
	static const struct type whole = { .class = TYPE_INT, .size = 8 };

	if (maker->passing->count && (maker->pointer || maker->length) && fortran_argument_add(maker, name, type, typed))
		return;
	if (!maker->pointer && (maker->passing->is_empty || (!type->size && type->class != TYPE_UNKNOWN)))
		return;
	part_add(maker, name, maker->passing->count ? type : &whole, 0, 0, typed);
}
