/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The rules that an agent was sent and has not answered. The agent will ask about the functions of
 * these rules next, in one object after the other. So the first question about an object becomes
 * one question for all of them (serve/map-batch.c).
 *
 * The text of a rule is read by the parser that the agent has, too (rules/rule.h).
 */
#include <stdlib.h>
#include <string.h>

#include "injector/control/internal.h"
#include "rules/glob.h"
#include "rules/rule.h"

struct spi_awaited {
	struct spi_awaited *next;
	uint32_t rule;
	const char *object, *function;
	char room[];
};

void spi_awaited_add(struct spi_agent *agent, uint32_t rule, const char *text)
{
	struct spi_awaited *a, **end = &agent->awaited;
	size_t size = strlen(text) + 1;
	char why[SPI_RULE_WHY];
	struct spi_rule asked;

	a = calloc(1, sizeof(*a) + size);
	if (!a)
		return;
	/* a tree asks for whole maps; of a text that is none the agent will say so */
	if (spi_rule_read(&asked, text, SPI_FORM_AGENT, a->room, size, why) || spi_rule_is_tree(&asked)) {
		free(a);
		return;
	}
	a->rule = rule;
	a->object = asked.object;
	a->function = asked.function;
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
		const struct spi_awaited *a = *at;

		/* a program may be known by another name than its file's: it is asked about with all the rest */
		if (is_exe || (*a->object ? spi_glob_match(a->object, object) : !spi_rule_is_wild(a->function)))
			return a->function;
	}
	return NULL;
}
