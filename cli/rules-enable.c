/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * `lttng enable-event --spi`. All FUNCs are put into words first, so that one
 * that cannot be said stops the command before anything is changed. Then the
 * rules are made one by one. What records goes before what instruments, so that
 * no call of an instrumented function falls between the two.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lttng/lttng.h>

#include "cli/daemon-directory.h"
#include "cli/options.h"
#include "cli/rule-options.h"
#include "cli/rules.h"
#include "cli/say.h"

#define DEFAULT_CHANNEL	"channel0"	/* the one that LTTng makes and means when none is named */

struct enabling {
	const struct rule_options *options;
	struct rules_session session;
	struct spi_event_recipe (*recipes)[RULES_RECIPES_MAX];	/* one row for each FUNC */
	int *counts;
};

static const char *channel_title(const struct rule_options *o)
{
	return o->channel ? o->channel : DEFAULT_CHANNEL;
}

static int enabling_prepare(struct enabling *e)
{
	const struct rule_options *o = e->options;
	unsigned int i;

	e->recipes = calloc(o->func_count, sizeof(*e->recipes));
	e->counts = calloc(o->func_count, sizeof(*e->counts));
	if (!e->recipes || !e->counts) {
		say_error("%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	for (i = 0; i < o->func_count; i++) {
		int n = rules_check_world(o, o->funcs[i]);

		if (n == 0)
			n = rules_recipes(o, o->funcs[i], o->one_event, e->recipes[i]);
		if (n < 0)
			return n;
		e->counts[i] = n;
	}
	return 0;
}

static void rule_say_failed(const struct enabling *e, const char *func, const struct spi_event_recipe *recipe, int code)
{
	const struct rule_options *o = e->options;

	if (o->filter && (code == -LTTNG_ERR_FILTER_INVAL || code == -LTTNG_ERR_FILTER_NOMEM))
		say_error("--filter %s: %s: lttng-enable-event(1) has the syntax", o->filter, lttng_strerror(code));
	else if (code == -LTTNG_ERR_NEED_CHANNEL_NAME)
		say_error("session %s has channels of its own: name one with -c CHANNEL", e->session.name);
	else
		say_error("%s: event %s: %s (channel %s, session %s)", func, recipe->name, lttng_strerror(code),
			channel_title(o), e->session.name);
}

/* One rule. 1; 0 when it was enabled already; or -1 after one line was said. */
static int rule_enable(struct enabling *e, const char *func, const struct spi_event_recipe *recipe)
{
	int ret = rules_write(e->session.handle, recipe->name, recipe->filter, e->options->channel);

	if (ret == -LTTNG_ERR_UST_EVENT_ENABLED)
		return 0;
	if (ret < 0) {
		rule_say_failed(e, func, recipe, ret);
		return -1;
	}
	if (recipe->filter)
		rules_print("ust event %s with filter '%s' created in channel %s\n", recipe->name, recipe->filter,
			channel_title(e->options));
	else
		rules_print("ust event %s created in channel %s\n", recipe->name, channel_title(e->options));
	return 1;
}

static int func_enable(struct enabling *e, unsigned int i)
{
	const char *func = e->options->funcs[i];
	int pass, k, ret, made = 0;

	for (pass = 0; pass < 2; pass++)
		for (k = 0; k < e->counts[i]; k++) {
			if (rules_is_call(e->recipes[i][k].name) != pass)
				continue;
			ret = rule_enable(e, func, &e->recipes[i][k]);
			if (ret < 0)
				return -1;
			made += ret;
		}
	if (!made)
		say_warning("%s: enabled already (channel %s, session %s)", func, channel_title(e->options),
			e->session.name);
	return 0;
}

static void plugin_note(void)
{
	int fd = plugin_connect(0);

	if (fd < 0)
		say_warning("%s", PLUGIN_MISSING);
	else
		close(fd);
}

int rules_enable(const struct rule_options *options)
{
	struct enabling e = { .options = options };
	int ret = enabling_prepare(&e), failed = 0;
	unsigned int i;

	if (ret == 0)
		ret = rules_session_open(&e.session, options);
	for (i = 0; ret == 0 && i < options->func_count; i++)
		failed |= func_enable(&e, i) < 0;
	if (ret == 0 && !failed)
		plugin_note();
	for (i = 0; e.recipes && e.counts && i < options->func_count; i++)
		rules_recipes_free(e.recipes[i], e.counts[i]);
	free(e.recipes);
	free(e.counts);
	rules_session_close(&e.session);
	return rules_printed(ret < 0 || failed ? TRACE_STATUS_ERROR : 0);
}
