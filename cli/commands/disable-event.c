/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * `lttng disable-event --spi`.
 *
 * LTTng disables by name: every rule of the channel that has the name goes, whatever its filter. The recording rules of
 * a FUNC with a scope have the same names as those of the FUNC without one; only the tag in their filters tells them
 * apart. So the existing rules must be known first (rules/saved.h). The rules that are to go are marked; then each name
 * is disabled at which all rules go. Where a rule stays that has a scope of its own, it is enabled again at once. Where
 * a rule stays that has no scope, the marked one stays as well: without instrumentation of its own tag it matches no
 * event.
 *
 * A tree is found by its root and scope, and by its other options only when some are given. Rules without a tag that
 * were made beside the tree are shared: those that tell where libraries are stay.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lttng/lttng.h>

#include "cli/base/say.h"
#include "cli/commands/commands.h"
#include "cli/rules/rules.h"
#include "cli/rules/saved.h"
#include "cli/rules/xml.h"
#include "cli/ui/rule-options.h"
#include "cli/ui/trace-options.h"

enum { STAYS, GOES, GONE };

struct disabling {
	const struct rule_options *options;
	struct rules_session session;
	struct saved saved;
	struct mark {
		unsigned char state;	/* GOES, then GONE */
		unsigned int wish;	/* the first that it was marked for */
	} *marks;		/* one for each saved rule */
	unsigned int wish;	/* they are marked for this one now */
};

static int rule_mark(struct disabling *d, unsigned int at)
{
	if (d->marks[at].state == STAYS)
		d->marks[at] = (struct mark) { .state = GOES, .wish = d->wish };
	return 1;
}

static int rule_is_scoped(const struct saved_rule *rule)
{
	return rule->filter && strstr(rule->filter, RULES_TAG_CONTEXT) != NULL;
}

static int rule_in_channel(const struct disabling *d, const struct saved_rule *rule)
{
	return !d->options->channel || !strcmp(rule->channel, d->options->channel);
}

/* The tag that the recording rules of a reserved name carry, with the bars around it; "" for another name. */
static void name_tag(const char *name, char tag[SPI_RULE_TAG_SIZE + 2])
{
	char room[SPI_EVENT_NAME_MAX + 1], why[SPI_RULE_WHY];
	struct spi_rule rule;

	*tag = '\0';
	if (spi_event_name_read(name, &rule, room, why) == 0)
		snprintf(tag, SPI_RULE_TAG_SIZE + 2, "|%s|", rule.tag);
}

static void recipes_tag(const struct spi_event_recipe *recipes, int count, char tag[SPI_RULE_TAG_SIZE + 2])
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
	if (rules_is_form(rule->name))
		return 1;
	return *tag ? rule->filter && strstr(rule->filter, tag) : !rule_is_scoped(rule);
}

/* Mark the rules of one FUNC, or tree, in one form. Returns how many, or a negative errno. */
static int form_mark(struct disabling *d, const struct rules_wish *wish, int one_event)
{
	struct spi_event_recipe recipes[RULES_RECIPES_MAX];
	int n = rules_recipes(d->options, wish, one_event, recipes), marked = 0, k;
	char tag[SPI_RULE_TAG_SIZE + 2];

	if (n < 0)
		return n;
	recipes_tag(recipes, n, tag);
	for (unsigned int i = 0; i < d->saved.count; i++)
		for (k = 0; k < n; k++)
			if (rule_in_channel(d, &d->saved.rules[i]) &&
			    rule_is_recipe(&d->saved.rules[i], &recipes[k], tag)) {
				marked += rule_mark(d, i);
				break;
			}
	rules_recipes_free(recipes, n);
	return marked;
}

static int names_have(const struct spi_rule_names *names, const char *name)
{
	unsigned int i;

	for (i = 0; i < names->count && strcmp(names->name[i], name); i++)
		;
	return i < names->count;
}

/* Has the form the scope that the options say, or a part of it? */
static int scope_is_same(const struct spi_rule *asked, const struct spi_rule *rule)
{
	unsigned int i, k, found = 0;

	for (i = 0; i < rule->nr_pids; i++) {
		for (k = 0; k < asked->nr_pids && asked->pids[k] != rule->pids[i]; k++)
			;
		found += k < asked->nr_pids;
	}
	for (i = 0; i < rule->exec.count; i++)
		found += (unsigned int) names_have(&asked->exec, rule->exec.name[i]);
	return found == rule->nr_pids + rule->exec.count && !rule->nr_pids == !asked->nr_pids &&
		!rule->exec.count == !asked->exec.count;
}

/* Does the saved rule's name say a tree with the root and the scope that are wished? The tree's tag then, with bars. */
static int rule_is_tree(const struct saved_rule *saved, const struct spi_rule *wished, char tag[SPI_RULE_TAG_SIZE + 2])
{
	char room[SPI_EVENT_NAME_MAX + 1], why[SPI_RULE_WHY];
	struct spi_rule rule;

	if (spi_event_name_read(saved->name, &rule, room, why) < 0 || !spi_rule_is_tree(&rule) ||
	    strcmp(rule.object, wished->object) || strcmp(rule.function, wished->function) ||
	    !scope_is_same(wished, &rule))
		return 0;
	snprintf(tag, SPI_RULE_TAG_SIZE + 2, "|%s|", rule.tag);
	return 1;
}

/* All trees with this root and scope, whatever their options. Returns how many rules were marked. */
static int root_mark(struct disabling *d, const char *root)
{
	char tag[SPI_RULE_TAG_SIZE + 2], room[SPI_RULE_TEXT_MAX], why[SPI_RULE_WHY];
	struct spi_rule wished = d->options->asked;
	unsigned int i, k;
	int marked = 0;

	wished.kind = spi_kind_tree;
	if (spi_rule_set_target(&wished, root, room, sizeof(room), why) < 0)
		return 0;	/* no rule has such a root */
	for (i = 0; i < d->saved.count; i++) {
		if (!rule_in_channel(d, &d->saved.rules[i]) || !rule_is_tree(&d->saved.rules[i], &wished, tag))
			continue;
		marked += rule_mark(d, i);
		for (k = 0; k < d->saved.count; k++)
			if (rule_in_channel(d, &d->saved.rules[k]) && d->saved.rules[k].filter &&
			    strstr(d->saved.rules[k].filter, tag))
				rule_mark(d, k);
	}
	return marked;
}

/* `enable-event -u spi:FUNC` of any client, where FUNC is a glob: one rule for all its events. */
static int stock_mark(struct disabling *d, const char *func)
{
	int marked = 0;

	for (unsigned int i = 0; i < d->saved.count; i++) {
		const struct saved_rule *rule = &d->saved.rules[i];

		if (!strncmp(rule->name, "spi:", 4) && !strcmp(rule->name + 4, func) && rule_in_channel(d, rule) &&
		    !rule_is_scoped(rule))
			marked += rule_mark(d, i);
	}
	return marked;
}

/* Returns how many rules were marked, or a negative errno. */
static int func_mark(struct disabling *d, const struct rules_wish *wish)
{
	const struct spi_rule *asked = &d->options->asked;
	int n = asked->backtrace ? 0 : form_mark(d, wish, 1), m = 0;

	if (n >= 0 && !asked->one_event)
		m = form_mark(d, wish, 0);
	if (m >= 0 && !asked->one_event && !asked->backtrace && !asked->nr_pids && !asked->exec.count)
		m += stock_mark(d, wish->function);
	return n < 0 || m < 0 ? -EINVAL : n + m;
}

static int wish_mark(struct disabling *d, const struct rules_wish *wish)
{
	const char *channel = d->options->channel;
	int n = wish->kind == spi_kind_call ? func_mark(d, wish) : d->options->tree.option ? form_mark(d, wish, 0) :
		root_mark(d, wish->function);

	if (n)
		return n < 0 ? n : 0;
	say_error("%s: session %s has no such rule%s%s%s: lttng list %s shows its rules", rules_wish_title(wish), d->session.name,
		channel ? " in channel " : "", channel ? channel : "",
		d->options->asked.nr_pids + d->options->asked.exec.count ? " with this scope" : "", d->session.name);
	return -ENOENT;
}

static void all_mark(struct disabling *d)
{
	for (unsigned int i = 0; i < d->saved.count; i++)
		if (rule_in_channel(d, &d->saved.rules[i]) &&
		    (!strncmp(d->saved.rules[i].name, "spi:", 4) || rule_is_scoped(&d->saved.rules[i])))
			rule_mark(d, i);
}

static int same_name(const struct saved_rule *a, const struct saved_rule *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->channel, b->channel);
}

/* Does a rule that stays still record anything? One with a tag does while what carries the tag is enabled. */
static int rule_lives(const struct disabling *d, unsigned int at)
{
	const struct saved_rule *rule = &d->saved.rules[at];
	char tag[SPI_RULE_TAG_SIZE + 2];

	if (d->marks[at].state || !rule->enabled)
		return 0;
	if (!rule_is_scoped(rule))
		return 1;
	for (unsigned int i = 0; i < d->saved.count; i++) {
		if (d->marks[i].state || !d->saved.rules[i].enabled)
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
	for (unsigned int i = 0; i < d->saved.count; i++) {
		const struct saved_rule *other = &d->saved.rules[i];

		if (same_name(rule, other) && rule_lives(d, i) && (rule_is_scoped(rule) || !other->simple))
			return 1;
	}
	return 0;
}

/* Those of the same name that were not meant come back. */
static int name_restore(struct disabling *d, const struct saved_rule *rule)
{
	int ret = 0, code;

	for (unsigned int i = 0; i < d->saved.count; i++) {
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
	for (unsigned int i = 0; i < at; i++)
		if (d->marks[i].state && same_name(&d->saved.rules[i], &d->saved.rules[at]))
			return 1;
	return 0;
}

static int rule_disable(struct disabling *d, unsigned int at)
{
	const struct saved_rule *rule = &d->saved.rules[at];
	int ret;

	if (d->marks[at].state != GOES)
		return 0;
	d->marks[at].state = GONE;
	if (name_done(d, at) || name_must_stay(d, rule))
		return 0;
	ret = lttng_disable_event(d->session.handle, rule->name, rule->channel);
	rules_xml_event(rule->name, rule->channel, ret < 0, ret >= 0);
	if (ret < 0) {
		say_error("event %s: %s (channel %s, session %s)", rule->name, lttng_strerror(ret), rule->channel,
			d->session.name);
		return -EIO;
	}
	rules_print("ust event %s disabled in channel %s for session %s\n", rule->name, rule->channel, d->session.name);
	return name_restore(d, rule);
}

#define TURNS 4

static int ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && !strcmp(text + n - k, end);
}

/*
 * What records calls' exits goes last, so no entry is recorded whose exit is not. What instruments goes before, as calls are
 * waited for with it; but a function may be another session's, too, and stay: what has recorded its entries for one program goes
 * first.
 */
static int rule_turn(const struct saved_rule *rule)
{
	if (rules_is_form(rule->name))
		return 1;
	if (!strncmp(rule->name, "spi:", 4) && ends_in(rule->name, "_entry") && rule_is_scoped(rule))
		return 0;
	return ends_in(rule->name, "_exit") ? 3 : 2;
}

/* Right after what records a function's entries, what records its exits: in between these would be recorded alone. */
static int exits_disable(struct disabling *d, const struct saved_rule *entries)
{
	size_t n = strlen(entries->name);
	int ret = 0;

	if (n < 6 || strcmp(entries->name + n - 6, "_entry"))
		return 0;
	for (unsigned int i = 0; i < d->saved.count; i++) {
		const struct saved_rule *rule = &d->saved.rules[i];

		if (!strncmp(rule->name, entries->name, n - 5) && !strcmp(rule->name + n - 5, "exit") &&
		    !strcmp(rule->channel, entries->channel))
			ret |= rule_disable(d, i);
	}
	return ret;
}

/* One FUNC or ROOT after the other: in between exits would be recorded alone. */
static int wish_disable(struct disabling *d, unsigned int wish)
{
	int turn, ret = 0;

	for (turn = 0; turn < TURNS; turn++)
		for (unsigned int i = 0; i < d->saved.count; i++) {
			if (rule_turn(&d->saved.rules[i]) != turn || d->marks[i].wish != wish)
				continue;
			ret |= rule_disable(d, i);
			if (turn)
				ret |= exits_disable(d, &d->saved.rules[i]);
		}
	return ret;
}

static int marked_disable(struct disabling *d)
{
	unsigned int wish;
	int ret = 0;

	for (wish = 0; wish <= d->wish; wish++)
		ret |= wish_disable(d, wish);
	return ret;
}

static int rules_mark(struct disabling *d)
{
	const struct rule_options *o = d->options;
	struct rules_wish wish;
	unsigned int i;
	int ret = 0;

	d->marks = calloc(d->saved.count + 1, sizeof(*d->marks));
	if (!d->marks) {
		say_error("%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	if (d->options->all)
		all_mark(d);
	/* All are looked at, and all that are wrong are named, before anything goes. */
	for (i = 0; rules_wish(o->funcs, o->func_count, &o->tree, i, &wish); d->wish = ++i)
		if (wish_mark(d, &wish) < 0)
			ret = -ENOENT;
	return ret;
}

/* Where nothing else would tell that it is not there. 0, or negative, said. */
static int channel_check(const struct disabling *d)
{
	struct lttng_channel *channels = NULL;
	int n, i, found = 0;

	if (!d->options->all || !d->options->channel)
		return 0;
	n = lttng_list_channels(d->session.handle, &channels);
	for (i = 0; i < n; i++)
		found |= !strcmp(channels[i].name, d->options->channel);
	free(channels);
	if (found)
		return 0;
	say_error("%s: session %s has no such user space channel: lttng list %s shows those there are", d->options->channel,
		d->session.name, d->session.name);
	return -ENOENT;
}

int rules_disable(const struct rule_options *options)
{
	struct disabling d = { .options = options };
	int ret;

	if (options->machine_output)
		rules_xml_begin();
	ret = rules_session_open(&d.session, options);
	if (ret == 0)
		ret = channel_check(&d);
	if (ret == 0)
		ret = saved_read(&d.saved, d.session.name, NULL);
	if (ret == 0)
		ret = rules_mark(&d);
	if (ret == 0)
		ret = marked_disable(&d);
	saved_free(&d.saved);
	free(d.marks);
	rules_session_close(&d.session);
	if (rules_xml_end("disable-event", 1, ret >= 0) < 0)
		ret = -ENOMEM;
	return rules_printed(ret < 0 ? TRACE_STATUS_ERROR : 0);
}
