/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * `lttng enable-event --spi`. All FUNCs are put into words first, so a FUNC that cannot be said stops
 * the command before anything is changed. Then the rules are made one by one. Rules that record are
 * made before rules that instrument, so that no call of an instrumented function falls between the
 * two.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lttng/lttng.h>

#include "cli/base/say.h"
#include "cli/commands/commands.h"
#include "cli/daemon/consumer.h"
#include "cli/daemon/directory.h"
#include "cli/rules/rules.h"
#include "cli/rules/saved.h"
#include "cli/rules/xml.h"
#include "cli/ui/rule-options.h"
#include "cli/ui/trace-options.h"

#define DEFAULT_CHANNEL	"channel0"	/* the one that LTTng makes and means when none is named */

struct enabling {
	const struct rule_options *options;
	struct rules_session session;
	struct spi_event_recipe (*recipes)[RULES_RECIPES_MAX];	/* one row for each FUNC and tree */
	int *counts;
	unsigned int rows;
	int is_over;			/* nothing else can be enabled either */
};

static int enabling_wish(const struct enabling *e, unsigned int row, struct rules_wish *wish)
{
	const struct rule_options *o = e->options;

	return rules_wish(o->funcs, o->func_count, &o->tree, row, wish);
}

static const char *channel_title(const struct rule_options *o)
{
	return o->channel ? o->channel : DEFAULT_CHANNEL;
}

static void filter_say_failed(const struct rule_options *o, int code)
{
	say_error("--filter %s: %s: lttng-enable-event(1) has the syntax", o->filter, lttng_strerror(code));
}

static int filter_check(const struct enabling *e)
{
	int ret = 0;

	for (int k = 0; e->options->filter && ret == 0 && k < e->counts[0]; k++)
		if (e->recipes[0][k].filter)
			ret = rules_filter_check(e->recipes[0][k].filter);
	if (ret < 0)
		filter_say_failed(e->options, ret);
	return ret;
}

static int enabling_prepare(struct enabling *e)
{
	const struct rule_options *o = e->options;
	unsigned int room = o->func_count + o->tree.count;
	struct rules_wish wish;

	e->recipes = calloc(room, sizeof(*e->recipes));
	e->counts = calloc(room, sizeof(*e->counts));
	if (!e->recipes || !e->counts) {
		say_error("%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	for (; enabling_wish(e, e->rows, &wish); e->rows++) {
		int n = rules_check_world(o, &wish);

		if (n == 0)
			n = rules_recipes(o, &wish, o->asked.one_event, e->recipes[e->rows]);
		if (n < 0)
			return n;
		e->counts[e->rows] = n;
	}
	return 0;
}

static void rule_say_failed(const struct enabling *e, const char *func, const struct spi_event_recipe *recipe, int code)
{
	const struct rule_options *o = e->options;

	if (o->filter && (code == -LTTNG_ERR_FILTER_INVAL || code == -LTTNG_ERR_FILTER_NOMEM))
		filter_say_failed(o, code);
	else if (code == -LTTNG_ERR_NEED_CHANNEL_NAME)
		say_error("session %s has channels of its own: name one with -c CHANNEL", e->session.name);
	else
		say_error("%s: event %s: %s (channel %s, session %s)%s", func, recipe->name, lttng_strerror(code),
			channel_title(o), e->session.name, consumer_remedy(code));
}

/* Is it the session or its channel that is wrong, so that the next function's rules would meet the same? */
static int concerns_all(int code)
{
	return code == -LTTNG_ERR_NEED_CHANNEL_NAME || code == -LTTNG_ERR_SESS_NOT_FOUND || code == -LTTNG_ERR_NO_SESSIOND ||
		code == -LTTNG_ERR_EPERM || code == -LTTNG_ERR_NO_USTCONSUMERD || code == -LTTNG_ERR_BUFFER_TYPE_MISMATCH;
}

/* One rule. 1; 0 when it was enabled already; or -1 after one line was said. */
static int rule_enable(struct enabling *e, const char *func, const struct spi_event_recipe *recipe)
{
	int ret = rules_write(e->session.handle, recipe->name, recipe->filter, e->options->channel);

	rules_xml_event(recipe->name, channel_title(e->options), ret == 0 || ret == -LTTNG_ERR_UST_EVENT_ENABLED,
		ret == 0 || ret == -LTTNG_ERR_UST_EVENT_ENABLED);
	if (ret == -LTTNG_ERR_UST_EVENT_ENABLED)
		return 0;
	if (ret < 0) {
		rule_say_failed(e, func, recipe, ret);
		e->is_over = concerns_all(ret);
		return -1;
	}
	if (recipe->filter)
		rules_print("ust event %s with filter '%s' created in channel %s\n", recipe->name, recipe->filter,
			channel_title(e->options));
	else
		rules_print("ust event %s created in channel %s\n", recipe->name, channel_title(e->options));
	return 1;
}

/* A session that was started refuses what its channel has already, too. */
static int has_contexts(const struct enabling *e, int error, const char *channel)
{
	struct saved saved = { 0 };
	int has;

	if (error != -LTTNG_ERR_TRACE_ALREADY_STARTED || saved_read(&saved, e->session.name, channel) < 0)
		return 0;
	has = saved.contexts == (SAVED_VPID | SAVED_VTID | SAVED_IP);
	saved_free(&saved);
	return has;
}

/*
 * What readers of a tree, or of backtraces, need on each record: whose it is, and of which function.
 * Once a session was started, its channels take no more contexts.
 */
static void address_contexts_add(struct enabling *e)
{
	static const struct {
		enum lttng_event_context_type type;
		const char *name;
	} contexts[] = { { LTTNG_EVENT_CONTEXT_VPID, "vpid" }, { LTTNG_EVENT_CONTEXT_VTID, "vtid" },
		{ LTTNG_EVENT_CONTEXT_IP, "ip" } };
	const char *channel = channel_title(e->options);
	struct lttng_event_context context;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < sizeof(contexts) / sizeof(contexts[0]); i++) {
		memset(&context, 0, sizeof(context));
		context.ctx = contexts[i].type;
		ret = lttng_add_context(e->session.handle, &context, NULL, channel);
		if (ret == -LTTNG_ERR_UST_CONTEXT_EXIST)
			continue;
		if (ret < 0)
			break;
		rules_print("ust context %s added to channel %s\n", contexts[i].name, channel);
	}
	if (i < sizeof(contexts) / sizeof(contexts[0]) && !has_contexts(e, ret, channel))
		say_warning("channel %s: without the contexts vpid, vtid and ip threads and functions cannot be told "
			"apart: %s", channel, lttng_strerror(ret));
}

/*
 * What records comes before what instruments, and what records exits before what does entries: without entries
 * no exit is recorded for a while (tp/ledger/halves.c), while entries without exits would be calls that never end. An event's filter
 * is in force a moment after the event, so in a session that is started this holds for trees, which others' calls pass by, too.
 */
static int recipe_turn(const char *name)
{
	size_t n = strlen(name);

	if (rules_is_form(name))
		return 2;
	return n >= 6 && !strcmp(name + n - 6, "_entry");
}

/* One FUNC, or tree: what records it, then what instruments. */
static int wish_enable(struct enabling *e, unsigned int i)
{
	struct rules_wish wish = { NULL, NULL };
	int turn, k, ret, made = 0;
	const char *func;

	enabling_wish(e, i, &wish);
	func = rules_wish_title(&wish);
	for (turn = 0; turn < 3; turn++) {
		for (k = 0; k < e->counts[i]; k++) {
			if (recipe_turn(e->recipes[i][k].name) != turn)
				continue;
			ret = rule_enable(e, func, &e->recipes[i][k]);
			if (ret < 0)
				return -1;
			made += ret;
		}
		if ((wish.kind == spi_kind_tree || e->options->asked.backtrace) && !turn)
			address_contexts_add(e);
	}
	if (!made)
		say_warning("%s: enabled already (channel %s, session %s)", func, channel_title(e->options),
			e->session.name);
	return 0;
}

static void plugin_note(void)
{
	int fd = plugin_await(0);

	if (fd < 0)
		say_warning("%s", PLUGIN_MISSING);
	else
		close(fd);
}

/* A rule for a process is kept whatever that is; who waits for its events should know. */
static void pids_look(const struct rule_options *options)
{
	for (unsigned int i = 0; i < options->asked.nr_pids; i++) {
		char path[32];
		struct stat st;

		snprintf(path, sizeof(path), "/proc/%d", (int) options->asked.pids[i]);
		if (stat(path, &st) < 0)
			say_warning("--pid %d: there is no such process now", (int) options->asked.pids[i]);
		else if (geteuid() && st.st_uid != geteuid())
			say_warning("--pid %d: it belongs to uid %u, and your rules reach your own processes only: nothing will be "
				"recorded of it", (int) options->asked.pids[i], (unsigned int) st.st_uid);
	}
}

int rules_enable(const struct rule_options *options)
{
	struct enabling e = { .options = options };
	int ret, failed = 0;
	unsigned int i;

	if (options->machine_output)
		rules_xml_begin();
	ret = enabling_prepare(&e);
	if (ret == 0)
		ret = rules_session_open(&e.session, options);
	if (ret == 0 && e.rows)
		ret = filter_check(&e);
	for (i = 0; ret == 0 && i < e.rows && !e.is_over; i++)
		failed |= wish_enable(&e, i) < 0;
	if (ret == 0 && !failed) {
		pids_look(options);
		plugin_note();
	}
	for (i = 0; i < e.rows; i++)
		rules_recipes_free(e.recipes[i], e.counts[i]);
	free(e.recipes);
	free(e.counts);
	rules_session_close(&e.session);
	failed |= rules_xml_end("enable-event", 0, ret == 0 && !failed) < 0;
	return rules_printed(ret < 0 || failed ? TRACE_STATUS_ERROR : 0);
}
