/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A rule `tree(ROOT;OPTION;...)`: the tree's beginning and end.
 *
 * Before the first call is redirected every object that the tree goes into has its
 * map. Then the functions that are left out are marked, the root's own sites put
 * in place, and its entry. From there on the tree moves by itself (propel.c).
 * At its end all its sites get the program's bytes back; calls under way keep
 * their return slots and their exits.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include "rules/rule.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/signals/signals.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/ledger/ledger.h"
#include "liblttng-spi/process/process.h"
#include "liblttng-spi/hooks/hooks.h"
#include "liblttng-spi/module/module.h"
#include "liblttng-spi/rules/rules.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/budget/budget.h"
#include "liblttng-spi/tree/internal.h"

/* Which trees go along into programs that are executed. */
static void followed_say(void)
{
	char numbers[SPI_FOLLOW_MAX];
	int n = 0;

	numbers[0] = 0;
	for (const struct spi_tree *tree = spi_trees; tree && n < (int) sizeof(numbers) - 12; tree = tree->next)
		if (tree->enabled && tree->follow & SPI_FOLLOW_EXEC)
			n += spi_format(numbers + n, sizeof(numbers) - (size_t) n, "%s%u", n ? "+" : "", tree->rule->id);
	spi_exec_env_follow(numbers);
}

/* ---- begin and end ---- */

/* The C library first: its map serves the agent's hooks as well, which the other objects need. */
static void objects_each(struct spi_tree *tree, struct spi_link *link,
	void (*take)(struct spi_tree *tree, struct spi_link *link, struct spi_object *object))
{
	spi_symbols_scan();
	spi_objects_scan();
	for (int is_libc = 1; is_libc >= 0; is_libc--)
		for (struct spi_object *o = spi_objects_list(); o; o = o->next)
			if (spi_tree_covers(tree, o) && (strcmp(o->name, "libc.so.6") == 0) == is_libc)
				take(tree, link, o);
}

static void object_take(struct spi_tree *tree, struct spi_link *link, struct spi_object *object)
{
	spi_tree_take_object(tree, link, object);
}

static int tree_begin(struct spi_tree *tree, struct spi_link *link)
{
	const struct spi_rule *asked = tree->asked;
	int everybody = asked->calls_of.count != 0, is_main;
	uint32_t bit = tree->bit;

	objects_each(tree, link, object_take);
	if (asked->parse_only)
		return 0;
	spi_tree_root_find(tree);
	is_main = spi_tree_root_is_main(tree);
	if (is_main && spi_tree_main_begun())
		everybody = 1;
	spi_clients_rule_begins(tree->rule->clients);
	spi_observe_rule(tree->rule->clients);
	__atomic_fetch_or(&spi_tree_existing, bit, __ATOMIC_SEQ_CST);
	spi_budget_start(asked->budget ? bit : 0, spi_tree_budget_least(tree));
	if (asked->calls_of.count)
		spi_tree_flat |= bit;
	if (tree->follow & SPI_FOLLOW_THREADS)
		spi_tree_threads |= bit;
	else
		spi_tree_threads &= ~bit;
	spi_tree_tag_set(tree->index, asked->tag);
	if (asked->depth) {
		spi_tree_depths[tree->index] = asked->depth;
		spi_tree_limited |= bit;
	}
	if (everybody)
		__atomic_fetch_or(&spi_tree_everybody, bit, __ATOMIC_RELEASE);
	else if (is_main && (tree->follow & SPI_FOLLOW_THREADS))
		__atomic_fetch_or(&spi_tree_others, bit, __ATOMIC_RELEASE);
	if (spi_tree_others & bit && !asked->object[0] && !asked->function[0])
		spi_tree_whole |= bit;
	__atomic_fetch_add(&spi_tree_epoch, 1, __ATOMIC_RELEASE);
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next)
		if (to->covered & bit)
			spi_tree_calls_of(tree, to);
	if (everybody && !asked->calls_of.count)
		tree->roots += spi_tree_stacks_look(bit);
	if (everybody && !tree->roots && spi_objects_list())
		tree->is_outside = !spi_tree_covers(tree, spi_objects_list());
	if (!everybody && (!is_main || spi_tree_take_main(tree, link) < 0))
		spi_tree_take_roots(tree, link);
	if (is_main)
		spi_tree_main_missing(tree);
	if (tree->is_outside) {		/* no root to wait for */
		__atomic_fetch_or(&spi_tree_everybody, bit, __ATOMIC_RELEASE);
		__atomic_fetch_add(&spi_tree_epoch, 1, __ATOMIC_RELEASE);
	}
	if (!(spi_tree_flat & bit))
		spi_tree_follow_start(tree);
	if (tree->follow & SPI_FOLLOW_EXEC)
		__atomic_fetch_or(&spi_tree_execs, bit, __ATOMIC_RELEASE);
	spi_exec_start(link);
	spi_tree_outside_take(tree);	/* what the agent watches in libc is had by then */
	spi_tree_handed_over_take(tree);
	tree->enabled = 1;
	followed_say();
	return 0;
}

/* While no object can be unloaded. */
static void objects_leave(void *data)
{
	uint32_t bit = *(const uint32_t *) data;

	spi_tree_roots_leave(bit);
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next) {
		uint64_t before;

		if (!(to->covered & bit))
			continue;
		__atomic_fetch_and(&to->covered, ~bit, __ATOMIC_RELEASE);
		to->outside &= ~bit;
		before = spi_patch_lock();
		spi_sites_leave(to, bit);
		for (uint32_t i = 0; i < to->map.head->funcs.count; i++)
			if (to->funcs[i].excluded & bit) {
				to->funcs[i].excluded &= ~bit;
				to->funcs[i].budget &= ~bit;
			}
		spi_patch_unlock(before);
	}
}

static void tree_end(struct spi_tree *tree)
{
	uint32_t bit = tree->bit;
	uint64_t before;

	if (!tree->enabled)
		return;
	tree->enabled = 0;
	followed_say();
	__atomic_fetch_and(&spi_tree_existing, ~bit, __ATOMIC_RELEASE);
	__atomic_fetch_and(&spi_tree_everybody, ~bit, __ATOMIC_RELEASE);
	__atomic_fetch_and(&spi_tree_others, ~bit, __ATOMIC_RELEASE);
	__atomic_fetch_and(&spi_tree_execs, ~bit, __ATOMIC_RELEASE);
	__atomic_store_n(&spi_tree_ended[tree->index], (uint32_t) spi_tree_epoch + 1, __ATOMIC_RELEASE);
	__atomic_fetch_add(&spi_tree_epoch, 1, __ATOMIC_RELEASE);
	spi_budget_tell(spi_link_current, 1);
	if (tree->asked->budget) {
		spi_budget_news();
		spi_budget_stop(bit, spi_tree_budget_least(NULL));
		spi_budget_tell(spi_link_current, 1);
	}
	before = spi_patch_lock();
	spi_calls_gather();
	spi_patch_unlock(before);
	spi_objects_hold(objects_leave, &bit);
	spi_tree_limited &= ~bit;
	spi_tree_flat &= ~bit;
	spi_tree_whole &= ~bit;
	spi_clients_rule_ends(tree->rule->clients);
	if (spi_tree_existing)
		return;
	spi_tree_follow_stop();
	spi_exec_stop();
}

static void result_fill(const struct spi_tree *tree, struct spi_rule_result *result)
{
	result->matched = tree->matched;
	result->instrumented = tree->roots ? tree->roots : spi_sites_placed;
	result->declined = tree->declined;
}

/* What payloads and others have to have before the tree begins. 0, or a negative errno and why in result->text. */
static int tree_ready(struct spi_tree *tree, struct spi_link *link, struct spi_rule_result *result)
{
	const struct spi_rule *asked = tree->asked;
	const char *why;
	int r = 0;

	if (asked->payloads.count && !spi_clients_have_flag(tree->rule->clients, SPI_CLIENT_RECORDS))
		spi_module_do_without();
	else
		r = spi_module_load(link, result->text, sizeof(result->text));
	if (r == 0)
		r = spi_clients_records_ready(tree->rule->clients, result->text, sizeof(result->text));
	if (r < 0)
		return r;
	spi_fault_install();
	if (asked->compact)
		spi_fault_last_install(spi_closing_last);
	spi_steps_begin();
	if (asked->budget && spi_payload->budget_prepare && spi_payload->budget_prepare(&why) < 0)
		spi_note("the trace does not tell which functions a budget leaves out: %s", why);
	if (asked->budget && !link)
		spi_tree_start_thread();
	return 0;
}

/* Whom the tree is for. 0, or a negative errno and why in result->text. */
static int tree_clients(struct spi_tree *tree, struct spi_rule_result *result)
{
	uint32_t which = 0;

	if (spi_clients_named(&tree->asked->payloads, &tree->asked->payload_args, &which, result->text, sizeof(result->text)) < 0)
		return -ELIBACC;
	tree->rule->clients = which;
	tree->has_detail = (uint32_t) spi_clients_have_flag(which, SPI_AGENT_DETAIL);
	spi_client_tree_set(tree->bit, which);
	if (spi_clients_ask(which))
		spi_tree_asked |= tree->bit;
	else
		spi_tree_asked &= ~tree->bit;
	if (spi_clients_have_decision(which))
		__atomic_fetch_or(&spi_tree_decided, tree->bit, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&spi_tree_decided, ~tree->bit, __ATOMIC_RELAXED);
	return 0;
}

/* A tree that begins with a message begins at once then: what takes long is done before. */
static void object_analyse(struct spi_tree *tree, struct spi_link *link, struct spi_object *object)
{
	char error[400];

	spi_tree_object_get(link, object, tree->bit, error, sizeof(error));
}

/* Now, or later: tree->waits. */
static int tree_start(struct spi_tree *tree, struct spi_link *link)
{
	int r = spi_tree_start_later(tree, link);

	if (r > 0 && tree->asked->on_message)
		objects_each(tree, link, object_analyse);
	if (r)
		return r < 0 ? r : 0;
	return tree_begin(tree, link);
}

static struct spi_tree *tree_make(struct rule *rule)
{
	const struct spi_rule *asked = &rule->text;
	struct spi_tree *tree = spi_map_pages(sizeof(*tree));

	if (!tree)
		return NULL;
	tree->rule = rule;
	tree->asked = asked;
	tree->follow = SPI_FOLLOW_ALL & ~asked->unfollowed;
	return tree;
}

static const struct spi_tree_calls calls = {
	.site = spi_site_call, .site_any = spi_site_call_any, .site_both = spi_site_call_both,
	.site_clients = spi_site_call_clients,
	.entry = spi_entry_call, .pair_exit = spi_pair_exit, .pair_left = spi_pair_left,
};

static int tree_apply(struct work *w)
{
	struct spi_tree *tree = tree_make(w->rule);
	struct spi_rule_result *result = w->result;
	struct spi_link *link = w->link;
	int r;

	if (!tree)
		return -ENOMEM;
	spi_tree_calls = &calls;
	spi_site_workers_read();
	spi_patch_site_stub = spi_site_stub_at;
	spi_patch_site_byte = spi_site_byte_was;
	spi_text_can_sync();
	if (spi_tree_list_add(tree) < 0) {
		spi_format(result->text, sizeof(result->text), "too many call trees at the same time");
		spi_sys(SYS_munmap, tree, (sizeof(*tree) + 4095) & ~4095ul);
		return -ENOSPC;
	}
	w->rule->tree = tree;
	if (tree->asked->compact)
		spi_tree_compact |= tree->bit;
	else
		spi_tree_compact &= ~tree->bit;
	r = tree_clients(tree, result);
	if (r == 0)		/* while the event module is loaded */
		spi_tree_maps_announce(tree, link);
	if (r == 0)
		r = tree_ready(tree, link, result);
	if (r == 0)
		r = tree_start(tree, link);
	if (tree->waits)
		spi_format(result->text, sizeof(result->text), "it begins later");
	result_fill(tree, result);
	if (r == 0 && !tree->asked->parse_only && !tree->roots && !spi_tree_flat && !tree->waits && !tree->is_outside)
		r = tree->matched ? -ENOTSUP : -ENOENT;
	if (r < 0 && tree->why[0] && !result->text[0])
		spi_format(result->text, sizeof(result->text), "%s", tree->why);
	spi_tree_report(link);
	spi_participants_run(trees_changed);
	return r;
}

void spi_tree_starts_take(struct spi_link *link)
{
	for (struct spi_tree *tree = spi_trees; tree; tree = tree->next) {
		if (!spi_tree_start_is_due(tree))
			continue;
		spi_tree_start_cancel(tree);
		tree_begin(tree, link);
		if (!tree->roots && !tree->asked->parse_only && !spi_tree_flat && !tree->is_outside)
			spi_note("a call tree that began later has found no function to begin with");
		spi_tree_report(link);
		spi_participants_run(trees_changed);
	}
}

static int tree_change(struct rule *rule, int enabled, struct spi_rule_result *result)
{
	struct spi_tree *tree = rule->tree;
	int r = 0;

	if (!tree)
		return -ENOENT;
	spi_tree_start_cancel(tree);
	if (!enabled)
		tree_end(tree);
	else if (!tree->enabled)
		r = tree_start(tree, spi_link_current);
	spi_participants_run(trees_changed);
	result_fill(tree, result);
	if (r < 0 && tree->why[0])
		spi_format(result->text, sizeof(result->text), "%s", tree->why);
	return r;
}

static void tree_remove(struct rule *rule)
{
	struct spi_tree *tree = rule->tree;

	if (!tree)
		return;
	spi_tree_start_cancel(tree);
	tree_end(tree);
	spi_tree_report(spi_link_current);
	spi_tree_hot(spi_link_current);
	spi_tree_list_remove(tree);
	if (!spi_trees)
		spi_tree_report_forget();
	rule->tree = NULL;
	spi_participants_run(trees_changed);
	spi_sys(SYS_munmap, tree, (sizeof(*tree) + 4095) & ~4095ul);
}

/* follow.c looks through libraries that come. Each has a code map made, so a tree waits for a named one alone. */
static uint32_t tree_reach(const struct rule *rule)
{
	const struct spi_tree *tree = rule->tree;

	if (!tree || !(tree->follow & SPI_FOLLOW_DLOPEN))
		return 0;
	return (rule->text.object[0] ? SPI_REACH_LATER : 0) | (tree->enabled ? SPI_REACH_WATCHED : 0);
}

static int tree_describe(const struct rule *rule, struct spi_rule_result *result, int status)
{
	int waits = status == -ENOENT && spi_rule_waits(rule);

	if (status == -ENOENT && !result->text[0])
		spi_format(result->text, sizeof(result->text), "no loaded function is the root%s%s",
			rule->text.lib.count || rule->text.exclude_lib.count ?
			" in the objects that --lib and --exclude-lib choose" : "",
			waits ? "; the rule waits for a library that has one" : "");
	if (waits)
		result->flags |= SPI_DONE_WAITS;
	return status;
}

const struct spi_rule_ops spi_tree_ops = {
	.reach = tree_reach, .apply = tree_apply, .change = tree_change, .remove = tree_remove,
	.describe = tree_describe,
	.entry_lend = spi_entry_lend,
	.entry_name = spi_entry_name,
};
