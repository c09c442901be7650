/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Structs, unions and enumerations in declarations. */
#include "codemap/prototypes/internal.h"

struct member_declared {
	const char *name;	/* NULL: a struct or union without one */
	uint32_t type;
	uint64_t offset;
};

struct body {
	struct vec_of(struct member_declared) members;
	uint64_t size, align;
};

static void member_add(struct reader *r, struct body *body, const struct declared *d, int is_union)
{
	struct member_declared *member;
	uint64_t at;

	if ((d->type.shape != SHAPE_VALUE && d->type.shape != SHAPE_ARRAY) || !d->type.size) {
		reader_fail(r, d->at, "a member has to have a size: declare a pointer to it");
		return;
	}
	at = is_union ? 0 : (body->size + d->type.align - 1) / d->type.align * d->type.align;
	if (at + d->type.size > VALUE_MAX) {
		reader_fail(r, d->at, "more than %d bytes: declare a pointer to what is not declared here", VALUE_MAX);
		return;
	}
	member = vec_push(&body->members);
	member->name = d->name;
	member->type = d->type.entry;
	member->offset = at;
	if (at + d->type.size > body->size)
		body->size = at + d->type.size;
	if (d->type.align > body->align)
		body->align = d->type.align;
}

static void body_read(struct reader *r, struct body *body, int is_union)
{
	while (!token_is(r, '}') && r->token.kind != TOKEN_END) {
		struct specifiers s;
		struct declared d;

		specifiers_read(r, &s);
		if (token_is(r, ';') && s.type.shape == SHAPE_VALUE) {
			d = (struct declared) { .at = r->token.at, .type = s.type };
			member_add(r, body, &d, is_union);
			token_next(r);
			continue;
		}
		do {
			declarator_read(r, s.type, &d);
			if (!d.name)
				reader_expected(r, "a member's name");
			if (token_is(r, ':'))
				reader_fail(r, r->token.at, "bit-fields are not known here: declare a pointer to the struct");
			member_add(r, body, &d, is_union);
		} while (token_take(r, ','));
		token_want(r, ';', "';'");
	}
	if (!body->size)
		reader_fail(r, r->token.at, "it has no member: leave the brackets out, and declare pointers to it");
	token_want(r, '}', "'}'");
}

static struct ctype body_write(struct reader *r, const struct body *body, uint16_t tag, const char *text)
{
	struct ctype type = { .shape = SHAPE_VALUE, .align = (uint32_t) body->align };
	size_t i;

	if (r->error)
		return type;
	type.size = (body->size + body->align - 1) / body->align * body->align;
	type.entry = UNIT_ENTRY(&r->unit, tag, 1, ATTR_TEXT(DW_AT_name, text), ATTR_NUMBER(DW_AT_byte_size, type.size));
	for (i = 0; i < body->members.count; i++)
		UNIT_ENTRY(&r->unit, DW_TAG_member, 0, ATTR_TEXT(DW_AT_name, body->members.at[i].name),
			ATTR_ENTRY(DW_AT_type, body->members.at[i].type),
			ATTR_NUMBER(DW_AT_data_member_location, body->members.at[i].offset));
	unit_children_end(&r->unit);
	return type;
}

struct label_declared {
	const char *name;
	int64_t value;
};

/*
 * The values of an enumeration are ints, as its parameters often are in the function's own prototype. Only values that
 * no int has make it unsigned.
 */
static struct ctype labels_read(struct reader *r, const char *text)
{
	struct vec_of(struct label_declared) labels = { 0 };
	int64_t value = 0, least = 0, most = 0;
	struct place at = r->token.at;
	struct ctype type;
	size_t i;

	while (r->token.kind == TOKEN_NAME) {
		struct label_declared *label;
		struct place place = r->token.at;
		char *name = token_text(r);

		if (labels.count == LABELS_MAX)
			reader_fail(r, place, "an enumeration of more than %d values", LABELS_MAX);
		for (i = 0; i < labels.count; i++)
			if (!strcmp(labels.at[i].name, name))
				reader_fail(r, place, "%s is there twice", name);
		token_next(r);
		attributes_skip(r);
		if (token_take(r, '='))
			value = constant_read(r);
		name_add(r, NAME_ENUMERATOR, name, place)->value = value;
		least = value < least ? value : least;
		most = value > most ? value : most;
		label = vec_push(&labels);
		label->name = name;
		label->value = value++;
		if (!token_take(r, ','))
			break;
	}
	if (!labels.count)
		reader_expected(r, "a name of a value");
	token_want(r, '}', "',' or '}'");
	if (least < INT32_MIN || most > UINT32_MAX || (least < 0 && most > INT32_MAX))
		reader_fail(r, at, "its values do not fit into 32 bits");
	type = type_int(r, most > INT32_MAX);
	type.entry = UNIT_ENTRY(&r->unit, DW_TAG_enumeration_type, 1, ATTR_TEXT(DW_AT_name, text),
		ATTR_NUMBER(DW_AT_byte_size, 4), ATTR_ENTRY(DW_AT_type, type.entry));
	for (i = 0; i < labels.count; i++)
		UNIT_ENTRY(&r->unit, DW_TAG_enumerator, 0, ATTR_TEXT(DW_AT_name, labels.at[i].name),
			ATTR_SIGNED(DW_AT_const_value, labels.at[i].value));
	unit_children_end(&r->unit);
	return type;
}

static const char *tag_word(uint16_t tag)
{
	return tag == DW_TAG_structure_type ? "struct" : tag == DW_TAG_union_type ? "union" : "enum";
}

/* What the tag names; the first mention declares it. */
static struct name *tag_find(struct reader *r, uint16_t tag, const char *text, struct place at)
{
	struct name *name = name_find(r, NAME_TAG, text);

	if (name && name->tag != tag && name->file == r->file)
		reader_fail(r, at, "%s is declared as %s %s in line %u", text, tag_word(name->tag), text, name->at.line);
	if (name && name->tag == tag)
		return name;
	name = name_add(r, NAME_TAG, text, at);
	name->tag = tag;
	name->type = (struct ctype) { .shape = SHAPE_INCOMPLETE };
	name->type.entry = UNIT_ENTRY(&r->unit, tag, 0, ATTR_TEXT(DW_AT_name, text), ATTR_FLAG(DW_AT_declaration, 1));
	return name;
}

struct ctype tagged_read(struct reader *r, uint16_t tag, int *has_tag)
{
	struct place at;
	struct ctype type = { .shape = SHAPE_INCOMPLETE };
	struct body body = { .align = 1 };
	struct name *name = NULL;
	char *text = NULL;

	attributes_skip(r);
	at = r->token.at;
	if (r->token.kind == TOKEN_NAME) {
		text = token_text(r);
		token_next(r);
		name = tag_find(r, tag, text, at);
		type = name->type;
	}
	*has_tag = text != NULL;
	if (!token_is(r, '{')) {
		if (!text)
			reader_expected(r, mem_format("a name or '{' behind %s", tag_word(tag)));
		else if (tag == DW_TAG_enumeration_type && type.shape == SHAPE_INCOMPLETE)
			reader_fail(r, at, "enum %s is not declared before", text);
		return type;
	}
	if (name && name->type.shape == SHAPE_VALUE && name->file == r->file)
		reader_fail(r, at, "%s %s is declared in line %u already", tag_word(tag), text, name->at.line);
	if (!reader_enter(r))
		return type;
	token_next(r);
	*has_tag |= tag == DW_TAG_enumeration_type;
	if (tag == DW_TAG_enumeration_type) {
		type = labels_read(r, text);
	} else {
		body_read(r, &body, tag == DW_TAG_union_type);
		type = body_write(r, &body, tag, text);
	}
	r->depth--;
	if (name) {
		name = name->file == r->file ? name : name_add(r, NAME_TAG, text, at);
		name->tag = tag;
		name->at = at;
		name->type = type;
	}
	return type;
}
