/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * From the name of an event rule to what the agent is asked for.
 *
 * A plain name is a pattern of event names. It is divided by "_entry" and by
 * "_exit" (name-glob.c), which gives the functions that have an event it matches;
 * when neither divides it, it can only mean functions with one event a call. So
 * `parse_*` asks for parse_* and, since parse_entry matches too, for parse; the
 * literal `parse` asks for one event a call of parse.
 *
 * Events of further functions of the same name are numbered (`f@2_entry`). A
 * number is no part of the function's name: `f@2_entry` and `f@*_entry` ask for f,
 * `f@2` and `f@*` for one event a call of it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "liblttng-spi/base/agent-proto.h"
#include "rules/event-name.h"
#include "rules/name-glob.h"

/* ---- plain names -------------------------------------------------------- */

/* How much of the first n tokens names functions: without "@" and what can only be a number behind it. */
static unsigned int without_number(const struct spi_name_glob *glob, unsigned int n)
{
	unsigned int at = n;

	while (at && (glob->token[at - 1] == SPI_TOKEN_STAR ||
		      (glob->token[at - 1] >= '0' && glob->token[at - 1] <= '9')))
		at--;
	return at > 1 && at < n && glob->token[at - 1] == '@' ? at - 1 : n;
}

/* The prefixes that ask for functions, without those that a shorter one with a star at its end takes in. */
static unsigned int choose_prefixes(const struct spi_name_glob *glob, bool *ends)
{
	unsigned int count = 0;
	bool star = false;

	for (unsigned int i = 1; i <= glob->n; i++) {
		unsigned int n = without_number(glob, i);

		if (ends[i] && n != i) {
			ends[i] = false;
			ends[n] = true;
		}
	}
	ends[0] = false;
	for (unsigned int i = 1; i <= glob->n; i++) {
		ends[i] = ends[i] && !star;
		count += ends[i];
		star |= ends[i] && glob->token[i - 1] == SPI_TOKEN_STAR;
	}
	return count;
}

static int request_plain(struct spi_event_rule *rule, const struct spi_name_glob *glob, unsigned int n, uint32_t flags)
{
	struct spi_event_request *request = &rule->requests[rule->nr_requests];

	spi_name_glob_write(glob, n, request->text, sizeof(request->text));
	/* A single ':' would end an object's name for the agent; no event has one. */
	if (spi_target_function(request->text) != request->text || !*request->text)
		return 0;
	request->flags = flags;
	rule->nr_requests++;
	return 1;
}

static int parse_plain(const char *pattern, struct spi_event_rule *rule)
{
	bool ends[SPI_EVENT_NAME_MAX + 1], exits[SPI_EVENT_NAME_MAX + 1];
	struct spi_name_glob glob;
	unsigned int count;
	uint32_t flags = 0;

	if (spi_name_glob_read(&glob, pattern) || !glob.n || glob.token[0] == SPI_TOKEN_STAR)
		return -ENOENT;
	for (unsigned int i = 0; i < glob.n; i++)
		if (glob.token[i] < ' ' || (glob.token[i] > '~' && glob.token[i] < 256) || glob.token[i] == ';')
			return -ENOENT;		/* no event has such a name */
	spi_name_glob_quotient(&glob, "_entry", ends);
	spi_name_glob_quotient(&glob, "_exit", exits);
	for (unsigned int i = 0; i <= glob.n; i++)
		ends[i] |= exits[i];
	/* `f@*` is how one event a call of all functions f is recorded; it is no request for pairs. */
	count = without_number(&glob, glob.n) < glob.n && glob.token[glob.n - 1] == SPI_TOKEN_STAR ? 0 :
		choose_prefixes(&glob, ends);
	if (!count) {
		memset(ends, 0, sizeof(ends));
		ends[glob.n] = true;
		count = choose_prefixes(&glob, ends);
		flags = SPI_RULE_ONE_EVENT;
	}
	if (!count)
		return -ENOENT;
	rule->requests = calloc(count, sizeof(*rule->requests));
	if (!rule->requests)
		return -ENOMEM;
	for (unsigned int i = 1; i <= glob.n; i++)
		if (ends[i])
			request_plain(rule, &glob, i, flags);
	return rule->nr_requests ? 0 : -ENOENT;
}

/* ---- the reserved form --------------------------------------------------- */

/* The forms there are; of other words only what looks like a whole form: `operator()_entry` is an event. */
static bool is_form(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz-");

	return spi_rule_kind_of(text) || (n && text[n] == '(' && text[strlen(text) - 1] == ')');
}

/* What is behind the provider; NULL: the name is another provider's. */
static const char *own_part(const char *name)
{
	size_t n = strlen(SPI_EVENT_PROVIDER);

	return strncmp(name, SPI_EVENT_PROVIDER, n) ? NULL : name + n;
}

const struct spi_rule_kind *spi_event_name_kind(const char *name)
{
	const char *text = own_part(name);

	return text ? spi_rule_kind_of(text) : NULL;
}

int spi_event_name_read(const char *name, struct spi_rule *rule, char *room, char *why)
{
	const char *text = own_part(name);
	int ret;

	if (!text || !is_form(text))
		return -ENOENT;
	ret = spi_rule_read(rule, text, SPI_FORM_EVENT, room, SPI_EVENT_NAME_MAX + 1, why);
	if (!ret)
		spi_rule_set_tag(rule);
	return ret;
}

static int parse_reserved(const char *name, struct spi_event_rule *rule, char *why)
{
	int ret = spi_event_name_read(name, &rule->asked, rule->room, why);

	if (ret) {
		memset(&rule->asked, 0, sizeof(rule->asked));
		return ret;
	}
	rule->requests = calloc(1, sizeof(*rule->requests));
	if (!rule->requests)
		return -ENOMEM;
	if (spi_rule_write(&rule->asked, SPI_FORM_AGENT, rule->requests->text, sizeof(rule->requests->text))) {
		snprintf(why, SPI_RULE_WHY, "the agent's text of this rule is too long");
		spi_event_rule_clear(rule);
		return -EINVAL;
	}
	rule->requests->flags = rule->asked.one_event ? SPI_RULE_ONE_EVENT : 0;
	rule->nr_requests = 1;
	return 0;
}

int spi_event_name_parse(const char *name, struct spi_event_rule *rule, char *why)
{
	const char *text = own_part(name);

	memset(rule, 0, sizeof(*rule));
	*why = 0;
	if (!text)
		return -ENOENT;
	return is_form(text) ? parse_reserved(name, rule, why) : parse_plain(text, rule);
}

void spi_event_rule_clear(struct spi_event_rule *rule)
{
	free(rule->requests);
	memset(rule, 0, sizeof(*rule));
}

int spi_event_name_describe(const char *name, char *text, size_t size)
{
	char room[SPI_EVENT_NAME_MAX + 1], why[SPI_RULE_WHY];
	struct spi_rule rule;

	if (!size || spi_event_name_read(name, &rule, room, why))
		return -EINVAL;
	spi_rule_describe(&rule, text, size);
	return 0;
}
