/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * `lttng disable-event --spi`. LTTng disables by name: every rule of the channel
 * that has the name goes, whatever its filter. The recording rules of a FUNC with
 * a scope have the same names as those of the FUNC without one, told apart only
 * by the tag in their filters; so the rules there are must be known first
 * (saved.h). Those that go are marked; then each name is disabled at which all
 * rules go. Where one stays that has a scope of its own, it is enabled again at
 * once; where one stays that has none, the marked one stays as well: without
 * instrumentation of its own tag it matches no event.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lttng/lttng.h>

#include "cli/options.h"
#include "cli/rule-options.h"
#include "cli/rules.h"
#include "cli/saved.h"
#include "cli/say.h"

struct disabling {
	const struct rule_options *options;
	struct rules_session session;
	struct saved saved;
	unsigned char *goes;	/* one for each saved rule */
};

static int rule_is_scoped(const struct saved_rule *rule)
{
	return rule->filter && strstr(rule->filter, RULES_TAG_CONTEXT) != NULL;
}

static int rule_in_channel(const struct disabling *d, const struct saved_rule *rule)
{
	return !d->options->channel || !strcmp(rule->channel, d->options->channel);
}

/* The tag that the recording rules of a reserved name carry, with the bars around it; "" for another name. */
static void name_tag(const char *name, char tag[SPI_EVENT_TAG_SIZE + 2])
{
	struct spi_event_rule rule;
	char why[256];

	*tag = '\0';
	if (!rules_is_call(name))
		return;
	memset(&rule, 0, sizeof(rule));
	if (spi_event_name_parse(name, &rule, why) == 0 && *rule.tag)
		snprintf(tag, SPI_EVENT_TAG_SIZE + 2, "|%s|", rule.tag);
	spi_event_rule_clear(&rule);
}

static void recipes_tag(const struct spi_event_recipe *recipes, int count, char tag[SPI_EVENT_TAG_SIZE + 2])
{
	int i;

	*tag = '\0';
	for (i = 0; i < count && !*tag; i++)
		name_tag(recipes[i].name, tag);
}

/* Is this saved rule one that the recipe made, with whatever filter of the user's? */
static int rule_is_recipe(const struct saved_rule *rule, const struct spi_event_recipe *recipe, const char *tag)
{
	if (strcmp(rule->name, recipe->name))
		return 0;
	if (rules_is_call(rule->name))
		return 1;
	return *tag ? rule->filter && strstr(rule->filter, tag) : !rule_is_scoped(rule);
}

/* Mark the rules of one FUNC in one form. Returns how many, or a negative errno. */
static int form_mark(struct disabling *d, const char *func, int one_event)
{
	struct spi_event_recipe recipes[RULES_RECIPES_MAX];
	int n = rules_recipes(d->options, func, one_event, recipes), marked = 0, k;
	char tag[SPI_EVENT_TAG_SIZE + 2];
	unsigned int i;

	if (n < 0)
		return n;
	recipes_tag(recipes, n, tag);
	for (i = 0; i < d->saved.count; i++)
		for (k = 0; k < n; k++)
			if (rule_in_channel(d, &d->saved.rules[i]) &&
			    rule_is_recipe(&d->saved.rules[i], &recipes[k], tag)) {
				d->goes[i] = 1;
				marked++;
				break;
			}
	rules_recipes_free(recipes, n);
	return marked;
}

/* `enable-event -u spi:FUNC` of any client, where FUNC is a glob: one rule for all its events. */
static int stock_mark(struct disabling *d, const char *func)
{
	unsigned int i;
	int marked = 0;

	for (i = 0; i < d->saved.count; i++) {
		const struct saved_rule *rule = &d->saved.rules[i];

		if (!strncmp(rule->name, "spi:", 4) && !strcmp(rule->name + 4, func) && rule_in_channel(d, rule) &&
		    !rule_is_scoped(rule))
			marked += d->goes[i] = 1;
	}
	return marked;
}

static int func_mark(struct disabling *d, const char *func)
{
	const char *channel = d->options->channel;
	int n = form_mark(d, func, 1), m = 0;

	if (n >= 0 && !d->options->one_event)
		m = form_mark(d, func, 0);
	if (m >= 0 && !d->options->one_event && !d->options->nr_pids && !d->options->nr_execs)
		m += stock_mark(d, func);
	if (n < 0 || m < 0)
		return -EINVAL;
	if (n + m)
		return 0;
	say_error("%s: session %s has no such rule%s%s%s: lttng list %s shows its rules", func, d->session.name,
		channel ? " in channel " : "", channel ? channel : "",
		d->options->nr_pids + d->options->nr_execs ? " with this scope" : "", d->session.name);
	return -ENOENT;
}

static void all_mark(struct disabling *d)
{
	unsigned int i;

	for (i = 0; i < d->saved.count; i++)
		d->goes[i] = rule_in_channel(d, &d->saved.rules[i]) && !strncmp(d->saved.rules[i].name, "spi:", 4);
}

static int same_name(const struct saved_rule *a, const struct saved_rule *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->channel, b->channel);
}

/* Does a rule that stays still record anything? One with a tag does while what carries the tag is enabled. */
static int rule_lives(const struct disabling *d, unsigned int at)
{
	const struct saved_rule *rule = &d->saved.rules[at];
	char tag[SPI_EVENT_TAG_SIZE + 2];
	unsigned int i;

	if (d->goes[at] || !rule->enabled)
		return 0;
	if (!rule_is_scoped(rule))
		return 1;
	for (i = 0; i < d->saved.count; i++) {
		if (d->goes[i] || !d->saved.rules[i].enabled)
			continue;
		name_tag(d->saved.rules[i].name, tag);
		if (*tag && strstr(rule->filter, tag))
			return 1;
	}
	return 0;
}

/* Does a rule of the same name stay whose enabling again could not be done, or need not be? */
static int name_must_stay(const struct disabling *d, const struct saved_rule *rule)
{
	unsigned int i;

	for (i = 0; i < d->saved.count; i++) {
		const struct saved_rule *other = &d->saved.rules[i];

		if (same_name(rule, other) && rule_lives(d, i) && (rule_is_scoped(rule) || !other->simple))
			return 1;
	}
	return 0;
}

/* Those of the same name that were not meant come back. */
static int name_restore(struct disabling *d, const struct saved_rule *rule)
{
	unsigned int i;
	int ret = 0, code;

	for (i = 0; i < d->saved.count; i++) {
		const struct saved_rule *other = &d->saved.rules[i];

		if (!same_name(rule, other) || !rule_lives(d, i))
			continue;
		code = rules_write(d->session.handle, other->name, other->filter, other->channel);
		if (code < 0 && code != -LTTNG_ERR_UST_EVENT_ENABLED) {
			say_error("event %s with filter '%s' was disabled along with the rule of that name, and cannot "
				"be enabled again: %s", other->name, other->filter ? other->filter : "",
				lttng_strerror(code));
			ret = -EIO;
		}
	}
	return ret;
}

/* Was this name dealt with already, at an earlier rule? */
static int name_done(const struct disabling *d, unsigned int at)
{
	unsigned int i;

	for (i = 0; i < at; i++)
		if (d->goes[i] && same_name(&d->saved.rules[i], &d->saved.rules[at]))
			return 1;
	return 0;
}

static int rule_disable(struct disabling *d, unsigned int at)
{
	const struct saved_rule *rule = &d->saved.rules[at];
	int ret;

	if (!d->goes[at] || name_done(d, at) || name_must_stay(d, rule))
		return 0;
	ret = lttng_disable_event(d->session.handle, rule->name, rule->channel);
	if (ret < 0) {
		say_error("event %s: %s (channel %s, session %s)", rule->name, lttng_strerror(ret), rule->channel,
			d->session.name);
		return -EIO;
	}
	rules_print("ust event %s disabled in channel %s for session %s\n", rule->name, rule->channel, d->session.name);
	return name_restore(d, rule);
}

/* What instruments goes first. */
static int marked_disable(struct disabling *d)
{
	unsigned int i;
	int pass, ret = 0;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < d->saved.count; i++) {
			if (rules_is_call(d->saved.rules[i].name) == !pass && rule_disable(d, i) < 0)
				ret = -EIO;
		}
	return ret;
}

static int rules_mark(struct disabling *d)
{
	unsigned int i;
	int ret = 0;

	d->goes = calloc(d->saved.count + 1, 1);
	if (!d->goes) {
		say_error("%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	if (d->options->all)
		all_mark(d);
	/* All FUNCs are looked at, and all that are wrong are named, before anything goes. */
	for (i = 0; i < d->options->func_count; i++)
		if (func_mark(d, d->options->funcs[i]) < 0)
			ret = -ENOENT;
	return ret;
}

int rules_disable(const struct rule_options *options)
{
	struct disabling d = { .options = options };
	int ret = rules_session_open(&d.session, options);

	if (ret == 0)
		ret = saved_read(&d.saved, d.session.name);
	if (ret == 0)
		ret = rules_mark(&d);
	if (ret == 0)
		ret = marked_disable(&d);
	saved_free(&d.saved);
	free(d.goes);
	rules_session_close(&d.session);
	return rules_printed(ret < 0 ? TRACE_STATUS_ERROR : 0);
}
