/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A file of prototypes: declarations, and lines that say which library's functions the next ones are,
 *
 *	library libc.so.6 libpthread.so.0
 */
#include "codemap/prototypes/internal.h"

static void typedef_add(struct reader *r, const struct declared *d)
{
	struct name *name;

	if (!d->name) {
		reader_expected(r, "a name");
		return;
	}
	name = name_add(r, NAME_TYPEDEF, d->name, d->at);
	name->type = d->type;
	name->type.entry = UNIT_ENTRY(&r->unit, DW_TAG_typedef, 0, ATTR_TEXT(DW_AT_name, d->name), ATTR_ENTRY(DW_AT_type, d->type.entry));
}

static void function_add(struct reader *r, const struct declared *d, int is_noreturn)
{
	struct name *name;

	if (r->error)
		return;
	if (!d->name) {
		reader_expected(r, "a function's name");
		return;
	}
	if (!d->is_function) {
		reader_fail(r, d->at, "%s is no function: variables are not traced", d->name);
		return;
	}
	name = name_find(r, NAME_FUNCTION, d->name);
	for (; name && name->file == r->file; name = name_again(r, name))
		if (name->section == r->section) {
			reader_fail(r, d->at, "%s is declared in line %u already", d->name, name->at.line);
			return;
		}
	name = name_add(r, NAME_FUNCTION, d->name, d->at);
	name->section = r->section;
	name->entry = UNIT_ENTRY(&r->unit, DW_TAG_subprogram, 1, ATTR_TEXT(DW_AT_name, d->name), ATTR_FLAG(DW_AT_external, 1),
		ATTR_FLAG(DW_AT_noreturn, is_noreturn), ATTR_ENTRY(DW_AT_type, d->result.entry));
	parameters_write(r, d->parameters);
	*vec_push(&r->functions) = name;
}

static void declaration_read(struct reader *r)
{
	struct specifiers s;
	struct declared d;

	specifiers_read(r, &s);
	if (token_is(r, ';') && s.is_alone && !s.is_typedef) {
		token_next(r);
		return;
	}
	do {
		int is_noreturn = s.is_noreturn;

		declarator_read(r, s.type, &d);
		is_noreturn |= attributes_skip(r);
		if (s.is_typedef)
			typedef_add(r, &d);
		else
			function_add(r, &d, is_noreturn);
	} while (token_take(r, ','));
	token_want(r, ';', "';'");
}

/* "library libc.so.6 libm.so.*": for the functions up to the next such line. */
static void section_read(struct reader *r)
{
	struct place at = r->token.at;
	char *line = token_rest_of_line(r), *word, *save;
	struct text names = { 0 };

	for (word = strtok_r(line, " \t\r\f\v", &save); word; word = strtok_r(NULL, " \t\r\f\v", &save)) {
		if (names.count)
			text_add_char(&names, ' ');
		text_add(&names, word);
		if (strchr(word, ';') || strchr(word, '('))
			reader_fail(r, at, "a line such as: library libz.so.1");
	}
	if (!names.count)
		reader_fail(r, at, "which library? Its file's name is missing, as in: library libz.so.1");
	*vec_push(&r->sections) = mem_string(text_end(&names), names.count);
	r->section = (uint32_t) r->sections.count - 1;
}

void declarations_read(struct reader *r)
{
	if (!r->sections.count)
		*vec_push(&r->sections) = "";
	r->section = 0;
	r->depth = 0;
	r->line = 1;
	r->line_start = r->next;
	token_next(r);
	while (r->token.kind != TOKEN_END) {
		if (token_is_word(r, "library") && !name_find(r, NAME_TYPEDEF, "library"))
			section_read(r);
		else if (!token_take(r, ';'))
			declaration_read(r);
	}
}
