/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Bounded lists of lines that agents have told, each line once. What is kept of one user's processes is bounded, and
 * so is what is kept of all users who have no sessions.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/process/process.h"

#define LINES_MOST	(2u << 20)	/* bytes of the lines of one user's processes; root's may have more */
#define LINES_OTHERS	(6u << 20)	/* of those of all users who have no sessions */

/* What a user's processes have told. */
struct told {
	struct told *next;
	uid_t uid;
	size_t bytes;
};
static struct told *told;

/* NULL: there is none, or with `makes` no memory for one. */
static struct told *told_of(uid_t uid, bool makes)
{
	struct told *t = told;

	while (t && t->uid != uid)
		t = t->next;
	if (!t && makes && (t = calloc(1, sizeof(*t)))) {
		t->uid = uid;
		t->next = told;
		told = t;
	}
	return t;
}

static size_t told_by_others(void)
{
	size_t bytes = 0;

	for (const struct told *t = told; t; t = t->next)
		if (!ruleset_has_sessions(rules_now(), t->uid))
			bytes += t->bytes;
	return bytes;
}

static bool may_be_told(struct lines *lines, size_t size)
{
	struct told *t = told_of(lines->uid, false);
	bool is_ours = !lines->uid || lines->uid == geteuid();

	if (!is_ours && (t ? t->bytes : 0) + size > LINES_MOST)
		return false;
	if (!is_ours && !ruleset_has_sessions(rules_now(), lines->uid) && told_by_others() + size > LINES_OTHERS)
		return false;
	if (!t && !(t = told_of(lines->uid, true)))
		return false;
	t->bytes += size;
	lines->bytes += size;
	return true;
}

static void told_less(struct lines *lines)
{
	struct told **at = &told, *t;

	if (!lines->bytes)
		return;
	while ((t = *at)->uid != lines->uid)
		at = &t->next;
	t->bytes -= lines->bytes;
	lines->bytes = 0;
	if (t->bytes)
		return;
	*at = t->next;
	free(t);
}

/* What is there already is not said again: a rule that cannot be is tried whenever the rules have changed. */
void lines_add(struct lines *lines, const char *format, ...)
{
	char text[1024];
	struct line *line;
	va_list args;

	if (lines->more)
		return;		/* nothing finds room any more: agents may say as much as they like */
	if (!lines->last)
		lines->last = &lines->first;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (line = lines->first; line; line = line->next)
		if (!strcmp(line->text, text))
			return;
	line = NULL;
	if (lines->n < lines->max && may_be_told(lines, strlen(text) + sizeof(*line)))
		line = malloc(sizeof(*line) + strlen(text) + 1);
	if (!line) {
		lines->more = true;
		return;
	}
	strcpy(line->text, text);
	line->next = NULL;
	*lines->last = line;
	lines->last = &line->next;
	lines->n++;
}

void lines_clear(struct lines *lines)
{
	while (lines->first) {
		struct line *line = lines->first;

		lines->first = line->next;
		free(line);
	}
	told_less(lines);
	lines->last = &lines->first;
	lines->n = 0;
	lines->more = false;
}
