/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The rules that an agent was sent and has not answered. The agent will ask about the functions of
 * these rules next, in one object after the other. So the first question about an object becomes
 * one question for all of them (serve/map-batch.c).
 *
 * The text of a rule is read as liblttng-spi/rule.c reads it. Where the agent reads it otherwise, a
 * question was asked in vain, and nothing worse.
 */
#include <stdlib.h>
#include <string.h>

#include "injector/control/internal.h"
#include "rules/glob.h"

struct spi_awaited {
	struct spi_awaited *next;
	uint32_t rule;
	char *pattern;		/* in text */
	char text[];		/* the object, NUL, the pattern */
};

/* The first ':' that is no half of a "::" ends the object; none does behind '<' or '('. */
static char *object_end(char *target)
{
	for (char *c = target; *c && *c != '<' && *c != '('; c++) {
		if (*c != ':')
			continue;
		if (c[1] != ':')
			return c;
		c++;
	}
	return NULL;
}

void spi_awaited_add(struct spi_agent *agent, uint32_t rule, const char *text)
{
	struct spi_awaited *a, **end = &agent->awaited;
	size_t n = strlen(text);
	char *colon;

	if (!strncmp(text, "tree(", 5))
		return;
	if (!strncmp(text, "call(", 5)) {
		text += 5;
		n = strcspn(text, ";");
		if (!text[n] && n)
			n--;		/* the closing bracket */
	}
	a = calloc(1, sizeof(*a) + n + 2);
	if (!a)
		return;
	a->rule = rule;
	memcpy(a->text + 1, text, n);
	colon = object_end(a->text + 1);
	if (colon) {
		memmove(a->text, a->text + 1, colon - a->text - 1);
		colon[-1] = 0;
		a->pattern = colon + 1;
	} else {
		a->pattern = a->text + 1;
	}
	while (*end)
		end = &(*end)->next;
	*end = a;
}

void spi_awaited_done(struct spi_agent *agent, uint32_t rule)
{
	for (struct spi_awaited **at = &agent->awaited, *a; (a = *at); at = &a->next)
		if (a->rule == rule) {
			*at = a->next;
			free(a);
			return;
		}
}

void spi_awaited_free(struct spi_agent *agent)
{
	while (agent->awaited)
		spi_awaited_done(agent, agent->awaited->rule);
}

const char *spi_awaited_next(struct spi_agent *agent, struct spi_awaited **at, const char *object, bool is_exe)
{
	while ((*at = *at ? (*at)->next : agent->awaited)) {
		struct spi_awaited *a = *at;

		/* a program may be known by another name than its file's: it is asked about with all the rest */
		if (*a->pattern && (!*a->text || is_exe || spi_glob_match(a->text, object)) &&
		    (*a->text || is_exe || !strchr("*?[", *a->pattern)))
			return a->pattern;
	}
	return NULL;
}
