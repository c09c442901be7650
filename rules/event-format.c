/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * From what a user asks for to the event rules that carry it.
 *
 * A function, or a glob of LTTng's kind, needs no more than its events' names:
 * FUNC_entry and FUNC_exit, and the same with "@*" for further functions of that
 * name (overloads, static functions of several files): those would be traced and
 * silently not recorded otherwise. A glob that ends in a star needs no second
 * pair.
 *
 * Everything else goes into the reserved form, and what records it stands beside
 * it. A recording rule begins with a star, so that it instruments nothing, and is
 * wider than it need be: its filter picks the events whose tags name the form.
 * A user's filter stands at the entries alone: an exit is recorded where its entry
 * was, and nowhere else, so that a filter on parameters picks whole calls.
 * The reserved form comes last: its functions' events have somewhere to go when
 * it takes effect.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/event-name.h"
#include "rules/glob.h"
#include "rules/name-glob.h"

struct output {
	struct spi_event_recipe *recipes;
	unsigned int n, max;
	int error;
};

/* The session daemon keeps one star of several in a row: a rule is found again by the name that it has there. */
static void stars_join(char *name)
{
	bool star = false;
	char *to = name;

	for (const char *c = name; *c; c++) {
		if (*c == '*' && star)
			continue;
		star = *c == '*';
		if (*c == '\\' && c[1])
			*to++ = *c++;
		*to++ = *c;
	}
	*to = 0;
}

static void add_of(struct output *out, const char *provider, const char *filter, const char *before,
		   const char *function, const char *after)
{
	struct spi_event_recipe *recipe = &out->recipes[out->n];

	if (out->error)
		return;
	if (out->n == out->max || strlen(provider) + strlen(before) + strlen(function) + strlen(after) > SPI_EVENT_NAME_MAX) {
		out->error = -E2BIG;
		return;
	}
	recipe->filter = filter ? strdup(filter) : NULL;
	if (asprintf(&recipe->name, "%s%s%s%s", provider, before, function, after) < 0)
		recipe->name = NULL;
	else
		stars_join(recipe->name);
	out->n++;
	if (!recipe->name || (filter && !recipe->filter))
		out->error = -ENOMEM;
}

static void add(struct output *out, const char *filter, const char *before, const char *function, const char *after)
{
	add_of(out, "spi:", filter, before, function, after);
}

/* ---- plain names ---------------------------------------------------------- */

/* Does `function` followed by one of the pair's endings divide? Then its own name would be read as a pair's. */
static bool reads_as_pair(const char *function)
{
	bool ends[SPI_EVENT_NAME_MAX + 1], exits[SPI_EVENT_NAME_MAX + 1];
	struct spi_name_glob glob;

	if (spi_name_glob_read(&glob, function))
		return false;
	spi_name_glob_quotient(&glob, "_entry", ends);
	spi_name_glob_quotient(&glob, "_exit", exits);
	for (unsigned int i = 1; i <= glob.n; i++)
		if (ends[i] || exits[i])
			return true;
	return false;
}

/* Is the function's name, or glob, also the name of its events, as LTTng reads it? */
static bool is_plain(const struct spi_rule *rule)
{
	const char *function = rule->function;

	if (rule->kind != spi_kind_call || rule->nr_pids || rule->exec.count || *rule->object || rule->backtrace || rule->libcalls)
		return false;
	for (const unsigned char *c = (const unsigned char *) function; *c; c++)
		if (*c < ' ' || *c > '~' || *c == '"')
			return false;		/* no event has it */
	if (strpbrk(function, "?[]\\(@") || *function == '*' || isdigit((unsigned char) *function))
		return false;
	/* Linkage names: the event goes by the name that people read. */
	if (!strncmp(function, "_Z", 2) || !strncmp(function, "_R", 2))
		return false;
	return !rule->one_event || !reads_as_pair(function);
}

static void format_plain(struct output *out, const struct spi_rule *rule, const char *filter)
{
	const char *function = rule->function;
	bool numbered = function[strlen(function) - 1] != '*';

	if (rule->one_event) {
		add(out, filter, "", function, "");
		if (numbered)
			add(out, filter, "", function, "@*");
		return;
	}
	add(out, filter, "", function, "_entry");
	add(out, NULL, "", function, "_exit");
	if (numbered) {
		add(out, filter, "", function, "@*_entry");
		add(out, NULL, "", function, "@*_exit");
	}
}

/* ---- the reserved form ------------------------------------------------------ */

/* The event names' part that LTTng's glob can tell; what it cannot becomes a star. */
static void recording_glob(const char *function, char *glob, size_t size)
{
	size_t at = 0;
	int ignored;

	glob[0] = 0;
	if (isdigit((unsigned char) *function) || !strncmp(function, "_Z", 2) || !strncmp(function, "_R", 2))
		return;
	for (const char *c = function; *c && *c != '(' && at + 3 < size; c++) {
		const char *behind = *c == '[' ? spi_glob_brackets(c, 0, &ignored) : NULL;
		unsigned char byte;

		if (behind) {
			glob[at++] = '*';
		} else {
			int wild = *c == '*' || *c == '?';

			behind = spi_glob_byte(c, &byte);
			/* An event's name has '_' or \' for what LTTng does not take (codemap/names/names.c). */
			if (wild || byte < ' ' || byte > '~' || strchr("\"\\", byte)) {
				glob[at++] = '*';
			} else {
				if (byte == '*')
					glob[at++] = '\\';
				glob[at++] = (char) byte;
			}
		}
		c = behind - 1;
		/* One star says as much as two. */
		if (at > 1 && glob[at - 1] == '*' && glob[at - 2] == '*' && !(at > 2 && glob[at - 3] == '\\'))
			at--;
	}
	while (at && glob[at - 1] == '*' && !(at > 1 && glob[at - 2] == '\\'))
		at--;
	glob[at] = 0;
}

/* Where objects are, for readers that turn addresses into names. */
static void add_places(struct output *out)
{
	add_of(out, "lttng_ust_statedump:", NULL, "*", "", "");
	add_of(out, "lttng_ust_lib:", NULL, "*", "", "");
}

/* A tree's calls are events of other providers, which instrument nothing. */
static void add_tree(struct output *out, const struct spi_rule *tree, const char *entries, const char *exits)
{
	if (tree->compact) {
		add_of(out, "spi_tree:", exits, "*", "", "");
	} else {
		add_of(out, "spi_tree:", exits, "function", "", "");	/* what the addresses mean: before the first of them */
		add_of(out, "lttng_ust_cyg_profile:", entries, "func_entry", "", "");
		add_of(out, "lttng_ust_cyg_profile:", exits, "func_exit", "", "");
		if (tree->budget)
			add_of(out, "spi_tree:", exits, "budget", "", "");
	}
	if (tree->ipc)
		add_of(out, "spi_ipc:", exits, "*", "", "");
	add_places(out);
}

static int format_reserved(struct output *out, const struct spi_rule *wished, const char *filter)
{
	char text[SPI_EVENT_NAME_MAX + 1], glob[2 * SPI_EVENT_NAME_MAX + 4], tagged[64], *joined;
	struct spi_rule rule = *wished;
	const char *star;
	int ret = spi_rule_write(&rule, SPI_FORM_EVENT, text, sizeof(text));

	if (ret)
		return ret;
	spi_rule_set_tag(&rule);
	snprintf(tagged, sizeof(tagged), "$app.spi:rules == \"*|%s|*\"", rule.tag);
	if (asprintf(&joined, filter ? "%s && (%s)" : "%s", tagged, filter) < 0)
		return -ENOMEM;
	recording_glob(spi_rule_is_tree(&rule) ? "" : rule.function, glob, sizeof(glob));
	star = *glob ? "*" : "";
	if (spi_rule_is_tree(&rule)) {
		add_tree(out, &rule, joined, tagged);
	} else if (rule.one_event) {
		add(out, joined, "*", glob, star);
	} else {
		char after[8];

		snprintf(after, sizeof(after), "%s_entry", star);
		add(out, joined, "*", glob, after);
		snprintf(after, sizeof(after), "%s_exit", star);
		add(out, tagged, "*", glob, after);
		if (rule.backtrace)
			add_places(out);
	}
	add(out, NULL, "", text, "");
	free(joined);
	return 0;
}

/* Does the filter look at what only the end of a call knows? Text in quotes is no field. */
static bool wants_result(const char *filter)
{
	static const char *const fields[] = { "ret", "duration" };
	bool quoted = false;

	for (const char *c = filter; c && *c; c++) {
		size_t n = strspn(c, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

		if (*c == '"')
			quoted = !quoted;
		else if (quoted && *c == '\\' && c[1])
			c++;
		if (quoted || !n)
			continue;
		for (unsigned int i = 0; i < 2; i++)
			if (n == strlen(fields[i]) && !strncmp(c, fields[i], n) &&
			    (c == filter || (c[-1] != '.' && c[-1] != ':' && c[-1] != '$')))
				return true;
		c += n - 1;
	}
	return false;
}

/* Can it be asked for at all? */
static int rule_check(const struct spi_rule *rule, const char *filter, char *why)
{
	bool is_tree = spi_rule_is_tree(rule);
	int ret = rule->kind->check(rule, why);

	if (!ret && is_tree && filter && rule->compact) {
		snprintf(why, SPI_RULE_WHY, "a filter picks single calls: it does not go with compact records");
		ret = -EINVAL;
	}
	if (!ret && (is_tree || !rule->one_event) && wants_result(filter)) {
		snprintf(why, SPI_RULE_WHY, is_tree ? "a call tree has no results or durations to filter by" :
			 "a filter on a call's result or duration needs --one-event: an entry has neither");
		ret = -EINVAL;
	}
	return ret;
}

int spi_event_name_format(const struct spi_rule *rule, const char *filter, struct spi_event_recipe *recipes,
			  unsigned int max, char *why)
{
	struct output out = { recipes, 0, max, 0 };
	int ret;

	*why = 0;
	ret = rule_check(rule, filter, why);
	if (!ret && is_plain(rule))
		format_plain(&out, rule, filter);
	else if (!ret)
		ret = format_reserved(&out, rule, filter);
	if (!ret)
		ret = out.error;
	if (ret == -E2BIG)
		snprintf(why, SPI_RULE_WHY, "too long for the name of an event rule (%d bytes): %.100s",
			 SPI_EVENT_NAME_MAX, rule->function);
	if (!ret)
		return (int) out.n;
	while (out.n) {
		out.n--;
		free(recipes[out.n].name);
		free(recipes[out.n].filter);
	}
	return ret;
}
