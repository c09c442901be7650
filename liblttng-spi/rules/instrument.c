/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The rules that there are, and what is done when one comes, is switched off or on, or goes. What a kind of rules does
 * then is in its struct spi_rule_ops.
 *
 * Control side only, under the control lock.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include "rules/rule.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/hooks/hooks.h"
#include "liblttng-spi/rules/internal.h"

struct rule *spi_rules;

const struct spi_rule_ops *spi_rule_kind_ops[SPI_KINDS] = { [SPI_KIND_CALL] = &spi_function_ops };

static struct rule *rule_find(uint32_t id)
{
	struct rule *r = spi_rules;

	while (r && r->id != id)
		r = r->next;
	return r;
}

/* A library that it names, and no others, and that is loaded, will not have such a function later either. */
static int is_object_loaded(const struct rule *rule)
{
	const struct spi_object *o = strpbrk(rule->text.object, "*?[") ? NULL : spi_objects_list();

	while (rule->text.object[0] && o && !(o->seen && spi_rule_covers(&rule->text, o)))
		o = o->next;
	return rule->text.object[0] && o;
}

int spi_rule_waits(const struct rule *rule)
{
	return (rule->ops->reach(rule) & SPI_REACH_LATER) && !is_object_loaded(rule);
}

int spi_rules_may_gain(void)
{
	const struct rule *rule = spi_rules;

	while (rule && !(rule->enabled && spi_rule_waits(rule)))
		rule = rule->next;
	return rule != NULL;
}

static void rules_open(int is_open)
{
	for (const struct rule *rule = spi_rules; rule; rule = rule->next)
		for (uint32_t i = 0; rule->enabled && i < rule->count; i++) {
			if (is_open)
				__atomic_fetch_or(&rule->points[i]->tree_todo, SPI_TREE_OPEN, __ATOMIC_RELEASE);
			else
				__atomic_fetch_and(&rule->points[i]->tree_todo, ~SPI_TREE_OPEN, __ATOMIC_RELEASE);
		}
}

void spi_rules_open(void)
{
	rules_open(1);
}

void spi_rules_close(void)
{
	rules_open(0);
}

/* ---- taking out ---------------------------------------------------------------------------- */

static int rules_enabled(void)
{
	const struct rule *rule = spi_rules;

	while (rule && !rule->enabled)
		rule = rule->next;
	return rule != NULL;
}

/* Where no rule is left nothing of libc's stays watched for int3: the program's signals are its own again. */
static void signals_leave(void)
{
	if (rules_enabled() || !spi_hooks_stand(SPI_HOOKS_SIGNALS))
		return;
	if (spi_watched & (SPI_WATCH_SIGNALS | SPI_WATCH_FAULTS))
		return;
	spi_trap_unwatched();
	spi_hooks_leave(SPI_HOOKS_SIGNALS);
}

static void rule_is_out(void)
{
	spi_rules_watch_loads();
	signals_leave();
}

static void rule_take_out(struct rule *rule)
{
	struct spi_rule_result ignored;

	if (!rule->enabled)
		return;
	rule->ops->change(rule, 0, &ignored);
	rule->enabled = 0;
	if (rule->is_told)
		spi_rule_tell(rule, 0);
	rule_is_out();
}

static void rule_forget(struct rule *rule)
{
	rule->ops->remove(rule);
	for (struct rule **at = &spi_rules; *at; at = &(*at)->next)
		if (*at == rule) {
			*at = rule->next;
			break;
		}
	spi_sys(SYS_munmap, rule, (sizeof(*rule) + 4095) & ~4095ul);
}

static void rule_end(struct rule *rule)
{
	rule_take_out(rule);
	rule_forget(rule);
}

/* ---- commands ------------------------------------------------------------------------------- */

/* Its text taken apart, and what is told of it by others than its kind. 0, or a negative errno and why. */
static int rule_read(struct rule *rule, uint32_t id, uint32_t flags, const char *text, struct spi_rule_result *result)
{
	const char *given_up = spi_given_up();
	char why[SPI_RULE_WHY];
	int r;

	if (given_up) {
		spi_format(result->text, sizeof(result->text), "%s", given_up);
		return -ENOTSUP;
	}
	if (rule_find(id)) {
		spi_format(result->text, sizeof(result->text), "a rule has this number already");
		return -EEXIST;
	}
	r = spi_rule_read(&rule->text, text, SPI_FORM_AGENT, rule->room_of_text, sizeof(rule->room_of_text), why);
	if (r < 0) {
		spi_format(result->text, sizeof(result->text), "%s", why);
		return r;
	}
	rule->ops = spi_rule_kind_ops[rule->text.kind->number];
	rule->id = id;
	rule->sum = spi_rule_sum(flags, text);
	rule->text.one_event |= !!(flags & SPI_RULE_ONE_EVENT);
	rule->text.compact |= !!(flags & SPI_RULE_COMPACT);
	return 0;
}

/* It is in the list, whatever comes of it. */
static int rule_apply(struct work *w)
{
	int r;

	spi_debug(SPI_DEBUG_RULES, "rule %u begins: %s", w->rule->id, w->rule->text.function);
	w->rule->next = spi_rules;
	spi_rules = w->rule;
	r = spi_threads_init();
	if (r == 0)
		r = spi_patch_init();
	if (r == 0)
		r = w->rule->ops->apply(w);
	w->rule->enabled = 1;
	return w->rule->ops->describe(w->rule, w->result, r);
}

/* Of some the trace could not be told before, as the event module is loaded for the first that instruments. */
static void rules_tell(void)
{
	for (struct rule *rule = spi_rules; rule; rule = rule->next)
		if (rule->enabled && !rule->is_told && rule->has_result)
			spi_rule_tell(rule, 1);
}

void spi_rule_add(struct spi_link *link, uint32_t id, uint32_t flags, const char *text, struct spi_rule_result *result)
{
	struct rule *rule = rule_find(id);
	static struct work w;
	int r;

	/* A forked child has it from its parent, whose controller has come to the child by itself. */
	if (rule && rule->sum == spi_rule_sum(flags, text)) {
		spi_rule_set(id, 1, result);
		return;
	}
	rule = spi_map_pages(sizeof(*rule));
	result->status = -ENOMEM;
	if (!rule)
		return;
	spi_unloads_follow();
	w = (struct work) { .link = link, .rule = rule, .result = result };
	rule->is_agents = !link && (flags & SPI_RULE_OF_AGENT);
	rule->stays = !link || (link->welcome_flags & SPI_WELCOME_KEEP);
	r = rule_read(rule, id, flags, text, result);
	if (r == 0)
		r = rule_apply(&w);
	result->status = r;
	rule->instrumented = result->instrumented;
	rule->declined = result->declined;
	rule->has_result = r == 0 || result->matched || result->declined;
	rules_tell();
	if (!rule->enabled)
		spi_sys(SYS_munmap, rule, (sizeof(*rule) + 4095) & ~4095ul);
	else if (r < 0 && !(result->flags & SPI_DONE_WAITS))
		rule_forget(rule);
	spi_rules_watch_loads();
	signals_leave();	/* it was for this rule, which came to nothing */
}

void spi_rule_set(uint32_t id, int enabled, struct spi_rule_result *result)
{
	struct rule *rule = rule_find(id);

	result->status = -ENOENT;
	if (!rule)
		return;
	spi_unloads_follow();
	result->status = 0;
	result->matched = rule->count;
	if (!enabled) {
		rule_take_out(rule);
		return;
	}
	result->status = rule->ops->change(rule, 1, result);
	rule->enabled |= result->status != -ENOMEM;
	rule->instrumented = result->instrumented;
	rule->has_result |= result->status == 0;
	if (rule->enabled && rule->has_result)
		spi_rule_tell(rule, 1);
}

void spi_rule_remove(uint32_t id, struct spi_rule_result *result)
{
	struct rule *rule = rule_find(id);

	result->status = -ENOENT;
	if (!rule)
		return;
	spi_unloads_follow();
	result->status = 0;
	result->matched = rule->count;
	rule_end(rule);
}

/* A forked child has its parent's, of which the controller may have forgotten some since. */
void spi_rules_keep(const struct spi_msg_rule_kept *kept, uint32_t n, int is_last)
{
	struct rule *rule, *next;

	for (uint32_t i = 0; i < n; i++) {
		rule = rule_find(kept[i].rule);
		if (rule && rule->sum == kept[i].sum)
			rule->kept = 1;
	}
	if (!is_last)
		return;
	spi_unloads_follow();
	for (rule = spi_rules; rule; rule = next) {
		next = rule->next;
		if (!rule->kept && !rule->stays) {
			rule_end(rule);
			continue;
		}
		rule->kept = 0;
	}
}

void spi_rules_remove_all(void)
{
	struct rule *next;

	spi_unloads_follow();
	for (struct rule *rule = spi_rules; rule; rule = next) {
		next = rule->next;
		if (!rule->is_agents || spi_given_up())
			rule_end(rule);
	}
}
