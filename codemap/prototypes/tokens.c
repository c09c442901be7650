/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Tokens of a file of prototypes. An error ends the file: from then on each token is TOKEN_END, at which all that reads
 * gives up. So who reads tests nothing else, and the first error is the one that is told.
 */
#include <stdarg.h>
#include <stdio.h>
#include "codemap/prototypes/internal.h"
#include "rules/harmless.h"

#define NAME_BYTES_MAX	200u

void reader_fail(struct reader *r, struct place at, const char *format, ...)
{
	char text[400];
	va_list args;

	if (!r->error) {
		va_start(args, format);
		vsnprintf(text, sizeof(text), format, args);
		va_end(args);
		spi_make_harmless(text, strlen(text), "");
		r->error = mem_format("%s:%u:%u: %s", prototypes_file(r->file)->name, at.line, at.column, text);
	}
	r->next = r->end;
	r->token.kind = TOKEN_END;
	r->token.size = 0;
}

void reader_expected(struct reader *r, const char *what)
{
	if (r->token.kind == TOKEN_END)
		reader_fail(r, r->token.at, "expected %s before the end of the file", what);
	else
		reader_fail(r, r->token.at, "expected %s before '%.*s'", what, (int) (r->token.size > 60 ? 60 : r->token.size),
			r->token.text);
}

static int is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct place place_of(const struct reader *r, const char *at)
{
	return (struct place) { r->line, (uint32_t) (at - r->line_start) + 1 };
}

static void comment_skip(struct reader *r)
{
	struct place at = place_of(r, r->next);
	const char *c = r->next + 2;

	for (; c + 1 < r->end && (c[0] != '*' || c[1] != '/'); c++)
		if (*c == '\n') {
			r->line++;
			r->line_start = c + 1;
		}
	if (c + 1 >= r->end)
		reader_fail(r, at, "a comment that does not end: */ is missing");
	else
		r->next = c + 2;
}

/* Blanks and comments. */
static void space_skip(struct reader *r)
{
	while (r->next < r->end) {
		const char *c = r->next, *line_end;

		if (*c == '\n') {
			r->line++;
			r->line_start = ++r->next;
		} else if (*c == ' ' || *c == '\t' || *c == '\r' || *c == '\f' || *c == '\v') {
			r->next++;
		} else if (*c == '#' || (*c == '/' && c + 1 < r->end && c[1] == '/')) {
			line_end = memchr(c, '\n', (size_t) (r->end - c));
			r->next = line_end ? line_end : r->end;
		} else if (*c == '/' && c + 1 < r->end && c[1] == '*') {
			comment_skip(r);
		} else {
			return;
		}
	}
}

/* Decimal, octal or hexadecimal, with C's suffixes. */
static void number_read(struct reader *r, struct token *t)
{
	unsigned int base = *t->text == '0' ? 8 : 10;
	const char *c = t->text;
	uint64_t value = 0;
	int digits = 0;

	if (base == 8 && c + 1 < r->end && (c[1] | 0x20) == 'x') {
		base = 16;
		c += 2;
	}
	for (; c < r->end; c++, digits++) {
		unsigned int digit = is_digit(*c) ? (unsigned int) (*c - '0') :
			(*c | 0x20) >= 'a' && (*c | 0x20) <= 'f' ? (unsigned int) ((*c | 0x20) - 'a' + 10) : 99;

		if (digit >= base)
			break;
		if (value > (UINT64_MAX - digit) / base) {
			reader_fail(r, t->at, "a number of more than 64 bits");
			return;
		}
		value = value * base + digit;
	}
	while (c < r->end && ((*c | 0x20) == 'u' || (*c | 0x20) == 'l'))
		c++;
	if (!digits || (c < r->end && (is_name_start(*c) || is_digit(*c) || *c == '.'))) {
		reader_fail(r, t->at, "not a whole number");
		return;
	}
	t->kind = TOKEN_NUMBER;
	t->number = (int64_t) value;
	t->size = (uint32_t) (c - t->text);
}

/* 'c', '\n' and the like; "text" is for attributes alone. */
static void quoted_read(struct reader *r, struct token *t)
{
	static const char escapes[] = "n\nt\tr\r0\0\\\\''\"\"";
	const char *c = t->text + 1, quote = *t->text;

	for (; c < r->end && *c != quote && *c != '\n'; c++) {
		t->number = *c;
		if (*c == '\\' && c + 1 < r->end) {
			const char *known = memchr(escapes, *++c, sizeof(escapes) - 1);

			t->number = known ? known[1] : *c;
		}
	}
	if (c >= r->end || *c != quote) {
		reader_fail(r, t->at, "a %c that has no end in its line", quote);
		return;
	}
	t->kind = quote == '"' ? TOKEN_STRING : TOKEN_NUMBER;
	t->size = (uint32_t) (c + 1 - t->text);
}

static void mark_read(struct reader *r, struct token *t)
{
	static const char marks[] = "(){}[];,*=-+~|:&";

	t->kind = TOKEN_MARK;
	t->mark = *t->text;
	t->size = 1;
	if (*t->text == '.' && r->end - t->text >= 3 && !memcmp(t->text, "...", 3))
		t->size = 3;
	else if (*t->text == '<' && r->end - t->text >= 2 && t->text[1] == '<')
		t->size = 2;
	else if (!*t->text || !strchr(marks, *t->text))
		reader_fail(r, t->at, "a character that no declaration has: %s",
			*t->text > ' ' && *t->text < 0x7f ? (char[]) { *t->text, 0 } : mem_format("byte 0x%02x", (uint8_t) *t->text));
}

void token_next(struct reader *r)
{
	struct token *t = &r->token;
	const char *c;

	space_skip(r);
	if (r->error)
		return;
	t->text = r->next;
	t->size = 0;
	t->mark = 0;
	t->number = 0;
	t->at = place_of(r, r->next);
	if (r->next == r->end) {
		t->kind = TOKEN_END;
		return;
	}
	if (is_name_start(*t->text)) {
		for (c = t->text; c < r->end && (is_name_start(*c) || is_digit(*c)); c++)
			;
		t->kind = TOKEN_NAME;
		t->size = (uint32_t) (c - t->text);
		if (t->size > NAME_BYTES_MAX)
			reader_fail(r, t->at, "a name of more than %u bytes", NAME_BYTES_MAX);
	} else if (is_digit(*t->text)) {
		number_read(r, t);
	} else if (*t->text == '"' || *t->text == '\'') {
		quoted_read(r, t);
	} else {
		mark_read(r, t);
	}
	if (!r->error)
		r->next = t->text + t->size;
}

char *token_rest_of_line(struct reader *r)
{
	const char *from = r->next, *end = memchr(from, '\n', (size_t) (r->end - from)), *comment;
	char *rest;

	end = end ? end : r->end;
	comment = memchr(from, '#', (size_t) (end - from));
	comment = comment ? comment : memmem(from, (size_t) (end - from), "//", 2);
	rest = mem_string(from, (size_t) ((comment ? comment : end) - from));
	r->next = end;
	token_next(r);
	return rest;
}

int token_is(const struct reader *r, char mark)
{
	return r->token.kind == TOKEN_MARK && r->token.mark == mark;
}

int token_take(struct reader *r, char mark)
{
	if (!token_is(r, mark))
		return 0;
	token_next(r);
	return 1;
}

void token_want(struct reader *r, char mark, const char *what)
{
	if (!token_take(r, mark))
		reader_expected(r, what);
}

char *token_text(const struct reader *r)
{
	return mem_string(r->token.text, r->token.size);
}

int reader_enter(struct reader *r)
{
	if (r->depth == DEPTH_MAX) {
		reader_fail(r, r->token.at, "more than %d levels in each other", DEPTH_MAX);
		return 0;
	}
	r->depth++;
	return 1;
}
