/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the name of an LTTng event rule asks for.
 *
 * An event rule of provider `spi` is the request to instrument. Two kinds:
 *
 *   spi:PATTERN         names the events themselves. Functions whose events
 *                       (<function>_entry, <function>_exit; <function> alone for
 *                       one event a call) PATTERN matches are instrumented,
 *                       in every process the rule applies to. PATTERN must begin
 *                       with a literal character: `*`, `s*`, `spi:*`, `spi:*_entry`
 *                       only record what others' rules instrument.
 *   spi:call(FUNC;...)  the reserved form, for what a name can't say: an object, a
 *                       scope, glob characters that LTTng doesn't know. It matches
 *                       no event; rules that record the events stand beside it,
 *                       with a filter on the application context `$app.spi:rules`,
 *                       in which the tags of all rules stand that asked for the
 *                       function in that process: "|TAG|TAG|".
 *   spi:tree(ROOT;...)  another reserved form: the tree of calls below a function. Its
 *                       calls are lttng_ust_cyg_profile:func_entry and func_exit,
 *                       or packed spi_tree:calls.
 *
 * In a reserved form `%` and two hex digits stand for a byte: the stock lttng
 * command keeps comma and star to itself, and `;`, `(`, `)`, `%` have a meaning
 * here. A name has at most 255 bytes.
 */
#ifndef SPI_RULES_EVENT_NAME_H
#define SPI_RULES_EVENT_NAME_H

#include <stddef.h>
#include <stdint.h>

#include "rules/rule.h"

#define SPI_EVENT_PROVIDER	"spi:"
#define SPI_EVENT_NAME_MAX	255	/* bytes without NUL: LTTNG_SYMBOL_NAME_LEN - 1 */

/* One agent rule (doc/rules.md) and its RULE_ADD flags (SPI_RULE_*). */
struct spi_event_request {
	char text[512];
	uint32_t flags;
};

/* Not to be copied: the strings of `asked` are in `room`. */
struct spi_event_rule {
	unsigned int nr_requests;	/* 0: instruments nothing, records what others ask for */
	struct spi_event_request *requests;
	struct spi_rule asked;		/* of a reserved form, with its tag; all zero for a plain name */
	char room[SPI_EVENT_NAME_MAX + 1];
};

/* spi_event_name_kind() - the kind of the reserved form that the name ("spi:...") is; NULL: the name is none. */
const struct spi_rule_kind *spi_event_name_kind(const char *name);

/*
 * spi_event_name_read() - the reserved form `name` taken apart. The rule's strings are in room[SPI_EVENT_NAME_MAX + 1]
 * then. 0; -ENOENT: no reserved form; -EINVAL with `why` (SPI_RULE_WHY bytes).
 */
int spi_event_name_read(const char *name, struct spi_rule *rule, char *room, char *why);

/*
 * spi_event_name_parse() - what the rule `name` ("spi:...") asks for. 0; -ENOENT:
 * not of provider spi, or nothing of it instruments (rule->nr_requests is 0 then);
 * -EINVAL: a reserved form that is malformed or unknown, `why` (256 bytes) says
 * what and how to write it; -ENOMEM. spi_event_rule_clear() frees what it made,
 * and may be called after any result.
 */
int spi_event_name_parse(const char *name, struct spi_event_rule *rule, char *why);
void spi_event_rule_clear(struct spi_event_rule *rule);

/* One LTTng event rule to be made: its name and its filter (NULL: none). Both from malloc(). */
struct spi_event_recipe {
	char *name;
	char *filter;
};

/*
 * spi_event_name_format() - the event rules that carry what a user asks for: plain names where they say it all,
 * otherwise the reserved form and the rules that record beside it. `filter` is the user's own, or NULL; it is joined to
 * the recording rules' (entries' only: exits are recorded where their entries were). Fills at most `max` recipes. The
 * number, or -E2BIG (does not fit a name), -EINVAL (`why`, SPI_RULE_WHY bytes). The strings are the caller's to free.
 */
int spi_event_name_format(const struct spi_rule *rule, const char *filter, struct spi_event_recipe *recipes,
			  unsigned int max, char *why);

/*
 * spi_event_name_describe() - the reserved form as a user reads it ("parse_* of
 * libfoo.so in processes named server"), into text[size]. 0 or -EINVAL.
 */
int spi_event_name_describe(const char *name, char *text, size_t size);

#endif /* SPI_RULES_EVENT_NAME_H */
