/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Types in declarations: C's own, structs, unions and enumerations, and those that typedefs have named. */
#include "codemap/prototypes/internal.h"

enum { DW_ATE_boolean = 2, DW_ATE_complex_float = 3, DW_ATE_float = 4, DW_ATE_signed = 5, DW_ATE_signed_char = 6,
       DW_ATE_unsigned = 7, DW_ATE_unsigned_char = 8 };

/* C's own types, by their words in the order in which `words` below counts them. Sizes: psABI, figure 3.1. */
enum word { WORD_VOID, WORD_CHAR, WORD_INT, WORD_FLOAT, WORD_DOUBLE, WORD_BOOL, WORD_INT128, WORD_FLOAT128, WORD_SIGNED,
	    WORD_UNSIGNED, WORD_SHORT, WORD_LONG, WORD_COMPLEX, WORD_COUNT };

static const char *const word_texts[WORD_COUNT][4] = {
	{ "void" }, { "char" }, { "int" }, { "float" }, { "double" }, { "_Bool" }, { "__int128" },
	{ "_Float128", "__float128" }, { "signed", "__signed__" }, { "unsigned" }, { "short" }, { "long" },
	{ "_Complex", "__complex__" },
};

static const struct base_type {
	const char *words;	/* how often each word stands there, without `int` and `signed` where they say nothing */
	const char *name;
	uint8_t encoding, size;
} base_types[] = {
	/* void char int float double bool int128 float128 signed unsigned short long complex */
	{ "0100000000000", "char", DW_ATE_signed_char, 1 },
	{ "0100000010000", "signed char", DW_ATE_signed_char, 1 },
	{ "0100000001000", "unsigned char", DW_ATE_unsigned_char, 1 },
	{ "0000000000100", "short int", DW_ATE_signed, 2 },
	{ "0000000001100", "short unsigned int", DW_ATE_unsigned, 2 },
	{ "0010000000000", "int", DW_ATE_signed, 4 },
	{ "0000000001000", "unsigned int", DW_ATE_unsigned, 4 },
	{ "0000000000010", "long int", DW_ATE_signed, 8 },
	{ "0000000001010", "long unsigned int", DW_ATE_unsigned, 8 },
	{ "0000000000020", "long long int", DW_ATE_signed, 8 },
	{ "0000000001020", "long long unsigned int", DW_ATE_unsigned, 8 },
	{ "0000001000000", "__int128", DW_ATE_signed, 16 },
	{ "0000001001000", "__int128 unsigned", DW_ATE_unsigned, 16 },
	{ "0000010000000", "_Bool", DW_ATE_boolean, 1 },
	{ "0001000000000", "float", DW_ATE_float, 4 },
	{ "0000100000000", "double", DW_ATE_float, 8 },
	{ "0000100000010", "long double", DW_ATE_float, 16 },
	{ "0000000100000", "_Float128", DW_ATE_float, 16 },
	{ "0001000000001", "complex float", DW_ATE_complex_float, 8 },
	{ "0000100000001", "complex double", DW_ATE_complex_float, 16 },
	{ "0000100000011", "complex long double", DW_ATE_complex_float, 32 },
};
#define BASE_INT	5
#define BASE_UNSIGNED	6

static struct ctype base_type(struct reader *r, size_t index)
{
	const struct base_type *b = &base_types[index];
	uint32_t *entry = &r->base_entries[index], half = b->encoding == DW_ATE_complex_float ? 2 : 1;

	if (!*entry)
		*entry = UNIT_ENTRY(&r->unit, DW_TAG_base_type, 0, ATTR_TEXT(DW_AT_name, b->name),
			ATTR_NUMBER(DW_AT_byte_size, b->size), ATTR_NUMBER(DW_AT_encoding, b->encoding));
	return (struct ctype) { .entry = *entry, .shape = SHAPE_VALUE, .size = b->size, .align = b->size / half };
}

struct ctype type_qualified(struct reader *r, struct ctype type, uint16_t tag)
{
	type.entry = UNIT_ENTRY(&r->unit, tag, 0, ATTR_ENTRY(DW_AT_type, type.entry));
	return type;
}

struct ctype type_pointer(struct reader *r, struct ctype to)
{
	return (struct ctype) { .entry = UNIT_ENTRY(&r->unit, DW_TAG_pointer_type, 0, ATTR_ENTRY(DW_AT_type, to.entry)),
				.shape = SHAPE_VALUE, .size = 8, .align = 8 };
}

int attributes_skip(struct reader *r)
{
	int is_noreturn = 0;

	while (token_take_word(r, "__attribute__") || token_take_word(r, "__attribute")) {
		unsigned int open = 0;

		do {
			is_noreturn |= token_is_word(r, "noreturn") || token_is_word(r, "__noreturn__");
			open += token_is(r, '(');
			if (token_is(r, ')') && !--open)
				break;
			token_next(r);
		} while (open && r->token.kind != TOKEN_END);
		token_want(r, ')', "the brackets of __attribute__");
	}
	return is_noreturn;
}

/* ---- constants: C's operators that enumerations of flags are written with ---- */

static int64_t unary_read(struct reader *r)
{
	int64_t value = r->token.number;

	if (!reader_enter(r))
		return 0;
	if (token_take(r, '-')) {
		value = (int64_t) (0 - (uint64_t) unary_read(r));
	} else if (token_take(r, '~')) {
		value = ~unary_read(r);
	} else if (token_take(r, '+')) {
		value = unary_read(r);
	} else if (token_take(r, '(')) {
		value = constant_read(r);
		token_want(r, ')', "')'");
	} else if (r->token.kind == TOKEN_NUMBER) {
		token_next(r);
	} else if (r->token.kind == TOKEN_NAME) {
		const struct name *name = name_find(r, NAME_ENUMERATOR, token_text(r));

		value = name ? name->value : 0;
		if (!name)
			reader_fail(r, r->token.at, "%s is no value of an enumeration before", token_text(r));
		token_next(r);
	} else {
		reader_expected(r, "a whole number");
	}
	r->depth--;
	return value;
}

static int64_t sum_read(struct reader *r)
{
	uint64_t value = (uint64_t) unary_read(r);

	for (;;)
		if (token_take(r, '+'))
			value += (uint64_t) unary_read(r);
		else if (token_take(r, '-'))
			value -= (uint64_t) unary_read(r);
		else if (token_take(r, '*'))
			value *= (uint64_t) unary_read(r);
		else
			return (int64_t) value;
}

static int64_t shift_read(struct reader *r)
{
	uint64_t value = (uint64_t) sum_read(r);

	while (token_take(r, '<'))
		value <<= sum_read(r) & 63;
	return (int64_t) value;
}

int64_t constant_read(struct reader *r)
{
	int64_t value = shift_read(r);

	while (token_take(r, '|'))
		value |= shift_read(r);
	return value;
}

/* ---- structs, unions, enumerations ---- */

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
	type = base_type(r, most > INT32_MAX ? BASE_UNSIGNED : BASE_INT);
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

static struct ctype tagged_read(struct reader *r, uint16_t tag, int *has_tag)
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

/* ---- specifiers ---- */

static int word_find(const struct reader *r)
{
	for (int i = 0; i < WORD_COUNT; i++)
		for (int k = 0; k < 4 && word_texts[i][k]; k++)
			if (token_is_word(r, word_texts[i][k]))
				return i;
	return -1;
}

static uint16_t tag_find_word(const struct reader *r)
{
	return token_is_word(r, "struct") ? DW_TAG_structure_type : token_is_word(r, "union") ? DW_TAG_union_type :
		token_is_word(r, "enum") ? DW_TAG_enumeration_type : 0;
}

/* What says nothing of the type, or const and the like. 0: it is no such word. */
static int plain_word_take(struct reader *r, struct specifiers *s)
{
	static const char *const refused[] = { "static", "register", "auto", "_Thread_local", "__thread", "_Atomic", "_Alignas",
					       "typeof", "__typeof__" };

	if (token_take_word(r, "const") || token_take_word(r, "__const"))
		return s->is_const = 1;
	if (token_take_word(r, "volatile") || token_take_word(r, "__volatile__"))
		return s->is_volatile = 1;
	if (token_take_word(r, "_Noreturn"))
		return s->is_noreturn = 1;
	if (token_take_word(r, "typedef"))
		return s->is_typedef = 1;
	if (token_is_word(r, "__attribute__")) {
		s->is_noreturn |= attributes_skip(r);
		return 1;
	}
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (token_is_word(r, refused[i]))
			reader_fail(r, r->token.at, "%s is not known here: leave it out", refused[i]);
	return token_take_word(r, "extern") || token_take_word(r, "inline") || token_take_word(r, "__inline") ||
	       token_take_word(r, "__extension__") || token_take_word(r, "restrict") || token_take_word(r, "__restrict");
}

int word_is_known(const struct reader *r)
{
	return word_find(r) >= 0 || tag_find_word(r) || token_is_word(r, "const") || token_is_word(r, "volatile") ||
	       token_is_word(r, "register") || token_is_word(r, "typedef");
}

int type_begins(const struct reader *r)
{
	return r->token.kind == TOKEN_NAME && (word_is_known(r) || name_find(r, NAME_TYPEDEF, token_text(r)));
}

/* The type that so many of these words mean together. */
static struct ctype words_type(struct reader *r, const unsigned int *words, struct place at)
{
	char said[WORD_COUNT + 1];
	unsigned int i, all = 0;

	for (i = 0; i < WORD_COUNT; i++) {
		unsigned int n = words[i];

		all += n;
		if (i == WORD_INT && n == 1 && !words[WORD_CHAR] && !words[WORD_DOUBLE] &&
		    (words[WORD_SHORT] || words[WORD_LONG] || words[WORD_SIGNED] || words[WORD_UNSIGNED]))
			n = 0;
		if (i == WORD_SIGNED && n == 1 && !words[WORD_CHAR] && !words[WORD_UNSIGNED])
			n = 0;
		said[i] = (char) ('0' + (n > 9 ? 9 : n));
	}
	said[WORD_COUNT] = 0;
	if (words[WORD_SIGNED] == 1 && all == 1 + words[WORD_INT])
		return base_type(r, BASE_INT);
	for (i = 0; i < sizeof(base_types) / sizeof(base_types[0]); i++)
		if (!strcmp(said, base_types[i].words))
			return base_type(r, i);
	if (!words[WORD_VOID] || all != 1)
		reader_fail(r, at, "these words are no type of C's together");
	return (struct ctype) { .shape = SHAPE_VOID };
}

void specifiers_read(struct reader *r, struct specifiers *s)
{
	unsigned int words[WORD_COUNT] = { 0 }, any = 0;
	int has_type = 0;
	struct place at = r->token.at;

	memset(s, 0, sizeof(*s));
	while (r->token.kind == TOKEN_NAME) {
		uint16_t tag = tag_find_word(r);
		int word = word_find(r);
		const struct name *name;

		if (plain_word_take(r, s))
			continue;
		if (word >= 0 && !has_type) {
			words[word]++;
			any = 1;
			token_next(r);
		} else if (tag && !has_type && !any) {
			token_next(r);
			s->type = tagged_read(r, tag, &s->is_alone);
			has_type = 1;
		} else if (!has_type && !any && (name = name_find(r, NAME_TYPEDEF, token_text(r)))) {
			s->type = name->type;
			has_type = 1;
			token_next(r);
		} else {
			break;
		}
	}
	if (any)
		s->type = words_type(r, words, at);
	else if (!has_type && r->token.kind == TOKEN_NAME)
		reader_fail(r, r->token.at, "unknown type %s: declare it before, as in: typedef unsigned int %s;", token_text(r), token_text(r));
	else if (!has_type)
		reader_expected(r, "a type");
	if (r->error)
		return;
	if (s->is_const)
		s->type = type_qualified(r, s->type, DW_TAG_const_type);
	if (s->is_volatile)
		s->type = type_qualified(r, s->type, DW_TAG_volatile_type);
}
