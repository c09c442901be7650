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
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "liblttng-spi/agent-proto.h"
#include "rules/name-glob.h"
#include "rules/reserved-form.h"

#define PROVIDER "spi:"

/* ---- plain names -------------------------------------------------------- */

/* How much of the first n tokens names functions: without "@" and what can only be a number behind it. */
static unsigned int without_number(const struct spi_name_glob *glob, unsigned int n)
{
	unsigned int at = n;

	while (at && (glob->token[at - 1] == SPI_TOKEN_STAR || (glob->token[at - 1] < 256 && isdigit(glob->token[at - 1]))))
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

static int parse_reserved(const char *text, struct spi_event_rule *rule, char *why)
{
	struct spi_reserved_form form;
	int ret = spi_reserved_read(text, &form, why);

	if (ret)
		return ret;
	rule->requests = calloc(1, sizeof(*rule->requests));
	if (!rule->requests)
		return -ENOMEM;
	spi_reserved_tag(&form, rule->tag);
	if (form.is_tree)
		ret = spi_tree_rule(form.target, &form.tree, rule->tag, rule->requests->text,
				    sizeof(rule->requests->text), why);
	else
		snprintf(rule->requests->text, sizeof(rule->requests->text), "call(%s%s;tag=%s)", form.target,
			 form.one_event ? ";one-event" : "", rule->tag);
	if (ret) {
		spi_event_rule_clear(rule);
		return ret == -E2BIG ? -EINVAL : ret;
	}
	rule->requests->flags = form.one_event ? SPI_RULE_ONE_EVENT : 0;
	rule->nr_requests = 1;
	rule->is_tree = form.is_tree;
	rule->is_compact = form.tree.compact;
	memcpy(rule->target, form.target, sizeof(rule->target));
	rule->nr_pids = form.nr_pids;
	rule->nr_execs = form.nr_execs;
	memcpy(rule->pids, form.pids, sizeof(rule->pids));
	memcpy(rule->execs, form.execs, sizeof(rule->execs));
	return 0;
}

int spi_event_name_parse(const char *name, struct spi_event_rule *rule, char *why)
{
	memset(rule, 0, sizeof(*rule));
	*why = 0;
	if (strncmp(name, PROVIDER, strlen(PROVIDER)))
		return -ENOENT;
	name += strlen(PROVIDER);
	return spi_reserved_is(name) ? parse_reserved(name, rule, why) : parse_plain(name, rule);
}

void spi_event_rule_clear(struct spi_event_rule *rule)
{
	free(rule->requests);
	memset(rule, 0, sizeof(*rule));
}
