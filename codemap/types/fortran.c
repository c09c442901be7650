/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Fortran's procedures, as gfortran makes and describes them. An argument without the attribute
 * `value` travels by address; debug info gives its type as if the value itself were passed, and a
 * location behind a pointer (location.c). The length of a character argument `s` travels behind all
 * arguments, as an argument called `_s`. An array with colons travels as the address of a
 * descriptor: the array's address and its bounds.
 */
#include <stdlib.h>
#include "codemap/types/fortran.h"

#define DIMENSIONS_MAX	15

enum {
	DW_OP_deref = 0x06, DW_OP_const1u = 0x08, DW_OP_const1s = 0x09, DW_OP_minus = 0x1c, DW_OP_plus = 0x22,
	DW_OP_plus_uconst = 0x23, DW_OP_lit0 = 0x30, DW_OP_push_object_address = 0x97, DW_OP_call4 = 0x99,
};

/* ---- hidden arguments ---- */

static int is_hidden(const struct parameter *p)
{
	struct dw_value value;

	return die_attr_origin(&p->die, DW_AT_artificial, &value) && value.number &&
	       (p->name[0] == '_' || p->name[0] == '.');
}

/* The character type of a value, or of what it points to; NULL: it is none. */
static const struct type *type_text(const struct type *type, struct type *target)
{
	if (type->class == TYPE_TEXT)
		return type;
	if (type->class != TYPE_POINTER || !type->has_die || type->die.abbrev->tag != DW_TAG_pointer_type)
		return NULL;
	type_of(&type->die, target);
	return target->class == TYPE_TEXT ? target : NULL;
}

/* Is it this hidden argument that the type has its length from? A declared length, len=n, is the procedure's own. */
static int length_is_told(const struct type *text, const struct parameter *hidden, uint64_t pc)
{
	struct type number = { .class = TYPE_INT, .size = 8 };
	struct passing passing;
	struct dw_value value;
	struct dw_die target;
	struct cursor c;

	if (!die_attr(&text->die, DW_AT_string_length, &value))
		return 0;
	if (value_die(&value, &target))
		return target.entry == hidden->die.entry;
	if (value.block && value.size == 5 && value.block[0] == DW_OP_call4) {
		c = (struct cursor) { value.block + 1, value.block + 5, 0 };
		return die_at(value.unit, cursor_uint(&c, 4), &target) && target.entry == hidden->die.entry;
	}
	return location_place(&value, pc, &number, &passing) && passing.count == 1 && hidden->passing.count == 1 &&
	       passing.piece[0].place == hidden->passing.piece[0].place &&
	       passing.piece[0].reg == hidden->passing.piece[0].reg &&
	       passing.piece[0].offset == hidden->passing.piece[0].offset;
}

static void length_find(struct parameter *p, struct parameter *hidden, uint64_t pc)
{
	struct type target;
	const struct type *text = type_text(&p->type, &target);

	if (!text)
		return;
	if (text->size) {
		hidden->is_dropped = 1;
	} else if (hidden->type.class == TYPE_POINTER) {	/* len=:, which the procedure may change */
		passing_behind(&hidden->passing, 8, &p->length);
		hidden->is_dropped = p->length.count != 0;
	} else if (length_is_told(text, hidden, pc)) {
		p->length = hidden->passing;
		hidden->is_dropped = p->length.count != 0;
	}
}

void fortran_hidden_find(struct parameter *list, size_t count, uint64_t pc)
{
	size_t i, k;

	for (i = 0; i < count; i++) {
		list[i].is_hidden = is_hidden(&list[i]);
		if (list[i].name[0] == '.')	/* of a result of characters: `.__result` */
			list[i].name = mem_format("%s_length", list[i].name + 1);
		if (!list[i].is_hidden)
			continue;
		for (k = 0; k < count; k++)
			if (!list[k].is_hidden && !strcmp(list[k].name, list[i].name + 1))
				break;
		if (k == count)
			continue;
		length_find(&list[k], &list[i], pc);
		/* No name of a field begins so in the source: `_s` would be taken for `s` by readers. */
		list[i].name = mem_format("%s_%s", list[k].name, list[i].type.size == 1 ? "present" : "length");
	}
}

/* ---- fields ---- */

static int other_set(struct spi_map_other *other, const struct passing *passing)
{
	const struct piece *p = passing->piece;

	if (passing->count != 1 || p->offset < 0 || p->offset > UINT16_MAX || p->place == SPI_PLACE_XMM ||
	    p->place == SPI_PLACE_X87)
		return 0;
	*other = (struct spi_map_other) { p->place, p->reg, (uint16_t) p->offset };
	return 1;
}

/* The text that the pointer at the maker's place leads to. */
static int text_add_pointed(struct field_maker *maker, const char *name, const char *type_name, uint64_t size)
{
	struct spi_map_other other = { SPI_PLACE_NONE, 0, (uint16_t) (size < UINT16_MAX ? size : UINT16_MAX) };
	struct spi_map_field *field;

	if (!size && (!maker->length || !other_set(&other, maker->length)))
		return 0;
	field = field_add(maker, name, type_name, SPI_KIND_COUNTED, 8, 0);
	if (field)
		field->other = other;
	return 1;
}

static void address_add(struct field_maker *maker, const char *name, const char *type_name, uint64_t offset)
{
	struct spi_map_field *field = field_add(maker, name, type_name, SPI_KIND_POINTER, 8, offset);

	if (field)
		field->base = 16;
}

int fortran_argument_add(struct field_maker *maker, const char *name, const struct type *type,
			 const struct dw_die *typed)
{
	struct field_maker pointer = *maker;
	struct text spelled = { 0 };
	struct type target;
	const struct type *text = type_text(type, &target);
	int done = 0;

	spell_declaration(&spelled, typed, "");
	pointer.passing = maker->pointer;
	if (text == &target && maker->length) {
		done = text_add_pointed(maker, name, text_end(&spelled), text->size);
	} else if (maker->pointer && text == type) {
		done = text_add_pointed(&pointer, name, text_end(&spelled), text->size);
		if (!done)
			address_add(&pointer, name, text_end(&spelled), 0);
		done = 1;
	} else if (maker->pointer && (type->class == TYPE_ARRAY || (type->class == TYPE_UNKNOWN && !type->size))) {
		if (!fortran_descriptor_add(maker, name, text_end(&spelled), type, 0))
			address_add(&pointer, name, text_end(&spelled), 0);
		done = 1;
	}
	free(spelled.at);
	return done;
}

/* ---- array descriptors ---- */

/* "push_object_address; plus_uconst N; deref": the word at byte N of the descriptor. */
static int word_read(struct cursor *c, uint64_t *offset)
{
	*offset = 0;
	if (cursor_uint(c, 1) != DW_OP_push_object_address)
		return 0;
	if (c->p < c->end && *c->p == DW_OP_plus_uconst) {
		cursor_skip(c, 1);
		*offset = cursor_uleb(c);
	}
	return cursor_uint(c, 1) == DW_OP_deref && !c->bad && *offset < 4096;
}

static int number_read(struct cursor *c, int8_t *number)
{
	uint8_t op = (uint8_t) cursor_uint(c, 1);

	if (op >= DW_OP_lit0 && op < DW_OP_lit0 + 32)
		*number = (int8_t) (op - DW_OP_lit0);
	else if (op == DW_OP_const1s || op == DW_OP_const1u)
		*number = (int8_t) cursor_sint(c, 1);
	else
		return 0;
	return !c->bad && (op != DW_OP_const1u || *number >= 0);
}

/* A bound that is a word of the descriptor, or "lower + word - word": the caller's bounds, moved to the procedure's own. */
static void bound_add(struct field_maker *maker, const char *name, const struct dw_die *dimension, uint16_t attribute,
		      uint64_t at)
{
	uint64_t first, second = 0;
	struct spi_map_field *field, base = { .kind = SPI_KIND_INT };
	struct dw_value value;
	struct cursor c;
	int8_t added = 0;
	int is_moved;

	if (!die_attr(dimension, attribute, &value) || !value.block || !value.size)
		return;
	c = (struct cursor) { value.block, value.block + value.size, 0 };
	is_moved = *c.p != DW_OP_push_object_address;
	if ((is_moved && !number_read(&c, &added)) || !word_read(&c, &first))
		return;
	if (is_moved && (!word_read(&c, &second) || cursor_uint(&c, 1) != DW_OP_minus || cursor_uint(&c, 1) != DW_OP_plus))
		return;
	if (c.bad || c.p != c.end)
		return;
	field_place(maker, &base, at + second, 8);
	if (is_moved && ((base.place != SPI_PLACE_MEMORY && base.place != SPI_PLACE_STACK_MEMORY) || base.offset < 0 ||
			 base.offset > UINT16_MAX))
		return;
	field = field_add(maker, name, "integer(kind=8)", is_moved ? SPI_KIND_DIFFERENCE : SPI_KIND_INT, 8, at + first);
	if (!field)
		return;
	field->is_signed = 1;
	if (is_moved) {
		field->other = (struct spi_map_other) { base.place, base.reg, (uint16_t) base.offset };
		field->bit_offset = (uint8_t) added;
	}
}

int fortran_descriptor_add(struct field_maker *maker, const char *name, const char *type_name, const struct type *type,
			   uint64_t offset)
{
	unsigned int count = 0, i = 0;
	struct dw_value value;
	struct dw_die child;
	struct cursor c;
	uint64_t at;
	int more;

	if (!type->has_die || !die_attr(&type->die, DW_AT_data_location, &value) || !value.block)
		return 0;
	c = (struct cursor) { value.block, value.block + value.size, 0 };
	if (!word_read(&c, &at) || c.p != c.end)
		return 0;
	address_add(maker, name, type_name, offset + at);
	for (more = die_child(&type->die, &child, &c); more; more = die_sibling(&child, &c))
		count += child.abbrev->tag == DW_TAG_subrange_type;
	for (more = die_child(&type->die, &child, &c); more && i < DIMENSIONS_MAX; more = die_sibling(&child, &c)) {
		const char *number = count > 1 ? mem_format("_%u", ++i) : "";

		if (child.abbrev->tag != DW_TAG_subrange_type)
			continue;
		bound_add(maker, mem_format("%s_lbound%s", name, number), &child, DW_AT_lower_bound, offset);
		bound_add(maker, mem_format("%s_ubound%s", name, number), &child, DW_AT_upper_bound, offset);
	}
	return 1;
}
