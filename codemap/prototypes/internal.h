/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Inside the room: the reader of a file, and the unit of debug info that it writes. */
#ifndef CODEMAP_PROTOTYPES_INTERNAL_H
#define CODEMAP_PROTOTYPES_INTERNAL_H

#include "codemap/prototypes/prototypes.h"

#define DEPTH_MAX	32	/* of brackets in a declaration, and of declarations in each other */
#define VALUE_MAX	4096	/* bytes of a struct, union or array by value */
#define PARAMETERS_MAX	64
#define LABELS_MAX	512	/* of an enumeration */

/* ---- files.c ---- */

struct prototype_file {
	const char *name;
	const char *text;	/* not NUL-terminated */
	size_t size;
	const char *error;	/* what is wrong with it: a whole line; NULL: nothing is known of */
};
struct prototype_file *prototypes_file(unsigned int file);

/* ---- entries.c: the unit ---- */

struct unit_writer {
	struct text info, abbrevs;
	struct vec_of(struct text) shapes;	/* of the abbreviations so far */
	struct text shape;	/* of the entry that is being added */
};

/* An attribute that is not there has no text, no target, or is_absent. */
struct entry_attr {
	uint16_t name, form;
	const char *text;	/* DW_FORM_string */
	uint64_t number;	/* udata, sdata, flag_present; ref4: an entry, 0: none */
	int is_absent;
};
#define ATTR_TEXT(at, value)	{ .name = at, .form = DW_FORM_string, .text = value }
#define ATTR_NUMBER(at, value)	{ .name = at, .form = DW_FORM_udata, .number = value }
#define ATTR_SIGNED(at, value)	{ .name = at, .form = DW_FORM_sdata, .number = (uint64_t) (value) }
#define ATTR_ENTRY(at, entry)	{ .name = at, .form = DW_FORM_ref4, .number = entry }
#define ATTR_FLAG(at, is_set)	{ .name = at, .form = DW_FORM_flag_present, .is_absent = !(is_set) }

void unit_begin(struct unit_writer *w);
/* Add an entry; returns where it is. Where it has children, they follow, and unit_children_end(). */
uint32_t unit_entry(struct unit_writer *w, uint16_t tag, int has_children, const struct entry_attr *attrs, unsigned int count);
#define UNIT_ENTRY(w, tag, has_children, ...) \
	unit_entry(w, tag, has_children, (const struct entry_attr[]) { __VA_ARGS__ }, \
		sizeof((const struct entry_attr[]) { __VA_ARGS__ }) / sizeof(struct entry_attr))
void unit_children_end(struct unit_writer *w);
/* The unit, to be read. */
struct dw_unit *unit_finish(struct unit_writer *w);

/* ---- the reader ---- */

enum token_kind {
	TOKEN_END,		/* of the file, or behind an error */
	TOKEN_NAME,
	TOKEN_NUMBER,		/* character constants, too */
	TOKEN_STRING,
	TOKEN_MARK,		/* `mark` */
};

struct place {
	uint32_t line, column;
};

struct token {
	enum token_kind kind;
	const char *text;	/* in the file */
	uint32_t size;
	char mark;		/* "..." is '.', "<<" is '<' */
	int64_t number;
	struct place at;
};

enum type_shape { SHAPE_VOID, SHAPE_VALUE, SHAPE_INCOMPLETE, SHAPE_ARRAY, SHAPE_FUNCTION };

/* A type, as far as declarations depend on it. */
struct ctype {
	uint32_t entry;		/* 0: void */
	enum type_shape shape;
	uint64_t size;		/* SHAPE_VALUE, SHAPE_ARRAY */
	uint32_t align;
	uint32_t element;	/* SHAPE_ARRAY: the element's entry */
};

enum name_kind { NAME_TYPEDEF, NAME_TAG, NAME_ENUMERATOR, NAME_FUNCTION };

struct name {
	struct spi_hash_link link;
	enum name_kind kind;
	const char *text;
	unsigned int file;
	struct place at;
	union {
		struct {
			struct ctype type;
			uint16_t tag;		/* of NAME_TAG */
		};
		int64_t value;			/* NAME_ENUMERATOR */
		struct {
			uint32_t entry;		/* NAME_FUNCTION */
			uint32_t section;	/* index in sections */
		};
	};
};

struct reader {
	unsigned int file;
	const char *error;	/* the first; from then on there are no more tokens */
	const char *next, *end, *line_start;
	uint32_t line;
	struct token token;	/* the current one */
	unsigned int depth;
	uint32_t section;
	struct unit_writer unit;
	struct spi_hash names;	/* of struct name, the latest first */
	struct vec_of(const char *) sections;	/* patterns of object names with a space between; "": every object */
	struct vec_of(struct name *) functions;
	uint32_t base_entries[32];	/* types.c */
};

/* ---- tokens.c ---- */

void reader_fail(struct reader *r, struct place at, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* "expected WHAT before 'TOKEN'" */
void reader_expected(struct reader *r, const char *what);
void token_next(struct reader *r);
/* The rest of the current line, behind the current token, without a comment; the token behind it becomes the current one. */
char *token_rest_of_line(struct reader *r);
int token_is(const struct reader *r, char mark);
/* Take the mark, and tell whether it was there. */
int token_take(struct reader *r, char mark);
void token_want(struct reader *r, char mark, const char *what);
char *token_text(const struct reader *r);
/* Some thirty words are asked for at each name: most differ in their first letter. */
static inline int token_is_word(const struct reader *r, const char *word)
{
	return r->token.kind == TOKEN_NAME && *r->token.text == *word && r->token.size == strlen(word) &&
	       !memcmp(r->token.text, word, r->token.size);
}

static inline int token_take_word(struct reader *r, const char *word)
{
	if (!token_is_word(r, word))
		return 0;
	token_next(r);
	return 1;
}

/* One level deeper; 0: too deep. */
int reader_enter(struct reader *r);

/* ---- names.c ---- */

struct name *name_find(const struct reader *r, enum name_kind kind, const char *text);
struct name *name_again(const struct reader *r, const struct name *name);
struct name *name_add(struct reader *r, enum name_kind kind, const char *text, struct place at);

/* ---- types.c ---- */

struct specifiers {
	struct ctype type;
	int is_typedef, is_noreturn, is_const, is_volatile;
	int is_alone;		/* a struct, union or enum with a tag: the declaration may end here */
};
void specifiers_read(struct reader *r, struct specifiers *s);
/* Does a type begin here? Is it a word of C's that nothing can be called by? */
int type_begins(const struct reader *r);
int word_is_known(const struct reader *r);
struct ctype type_qualified(struct reader *r, struct ctype type, uint16_t tag);
struct ctype type_pointer(struct reader *r, struct ctype to);
struct ctype type_int(struct reader *r, int is_unsigned);
/* __attribute__((...)), any number of them; 1: one says noreturn. */
int attributes_skip(struct reader *r);
int64_t constant_read(struct reader *r);

/* ---- tagged.c ---- */

/* Behind `struct`, `union` or `enum`. *has_tag: the declaration may end behind the type. */
struct ctype tagged_read(struct reader *r, uint16_t tag, int *has_tag);

/* ---- declarator.c ---- */

struct declared {
	const char *name;	/* NULL: it has none */
	struct place at;
	struct ctype type;
	/* a function's own parameters */
	struct parameter_pool *parameters;
	struct ctype result;
	int is_function;	/* it is declared with parameters here */
};
struct declared_parameter {
	const char *name;	/* NULL */
	uint32_t type;
};
struct parameter_pool {
	struct declared_parameter list[PARAMETERS_MAX];
	unsigned int count;
	int is_variadic;
};
void declarator_read(struct reader *r, struct ctype base, struct declared *declared);
/* The children of a function's entry, or a function type's. */
void parameters_write(struct reader *r, const struct parameter_pool *parameters);

/* ---- declaration.c ---- */

/* Read a whole file. What is wrong with it is in r->error. */
void declarations_read(struct reader *r);

#endif /* CODEMAP_PROTOTYPES_INTERNAL_H */
