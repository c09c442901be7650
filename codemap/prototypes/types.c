/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Types in declarations: C's own, and those that tags (tagged.c) and typedefs have named. */
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

struct ctype type_int(struct reader *r, int is_unsigned)
{
	return base_type(r, is_unsigned ? BASE_UNSIGNED : BASE_INT);
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
