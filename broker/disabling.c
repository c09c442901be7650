/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A rule that the daemon is about to switch off.
 *
 * LTTng switches entries and exits off at once, and a call that is under way then
 * has an entry and no exit. So the daemon waits while what the rule alone asked
 * for is taken out of all processes, and the calls that are in those functions
 * return. That the rule is off is only assumed meanwhile: the query that follows
 * the client's command tells; the answer to one that was begun before it may still
 * say that it is on, and is put right. When another enabled rule has the same name (in
 * another session), nothing is taken out, as that one wants it to stay; the name
 * does not tell which of them it is.
 */
#include <string.h>

#include "broker/broker.h"

#define NAME_BYTES	256
#define STEP_MS		1
#define WAIT_MS		70	/* for all agents to take it out, and for calls under way; the daemon waits a little longer */
#define WAIT_TREE_MS	450	/* the same of a call tree */
#define CLOSE_MS	250	/* for its calls; then those that are open get their exits */

static struct {
	struct loop_timer timer;
	uint64_t id;		/* 0: none */
	bool taken_out, is_tree;
	uint64_t begun, most;
	uint64_t question;	/* of the daemon, the last that was begun before */
	char name[NAME_BYTES];
} disabling;

static void disabling_end(void)
{
	loop_timer_cancel(&disabling.timer);
	if (disabling.id)
		link_disabled(disabling.id);
	disabling.id = 0;
}

/* Will the events that record it stay on for another one? Then they record its calls to their end. */
static bool is_shared(const struct rule *only)
{
	for (const struct rule *rule = broker.rules->rules; rule; rule = rule->next)
		if (rule != only && rule->enabled && rule->wants.is_tree && rule->session == only->session &&
		    !strcmp(rule->channel, only->channel))
			return true;
	return false;
}

/* Where it alone asked for the tree, its calls are to be waited for, and then to be closed. */
static void calls_close(const struct rule *only)
{
	static uint32_t latest;
	uint32_t flags = CLOSE_MS | (is_shared(only) ? 0 : SPI_CLOSE_ALL);

	latest = latest == UINT32_MAX ? 1 : latest + 1;
	for (struct process *p = processes; p; p = p->next) {
		p->closing = 0;
		for (const struct applied *a = p->agent ? p->applied : NULL; a; a = a->next)
			if (a->request == only->requests[0] && a->state == APPLIED_OFF &&
			    !spi_agent_rule_close(p->agent, a->request->id, flags, latest))
				p->closing = latest;
	}
}

/* Has every agent answered all it was told? */
static bool all_answered(void)
{
	for (const struct process *p = processes; p; p = p->next)
		if (p->agent && p->nr_commands)
			return false;
	return true;
}

/* No call is under way in any process: of a tree its agent has said so. Else there are as many exits as entries. */
static bool all_returned(void)
{
	for (const struct process *p = processes; p; p = p->next) {
		if (p->agent && p->closing)
			return false;
	}
	for (const struct process *p = processes; p && !disabling.is_tree; p = p->next) {
		const volatile struct spi_status_page *counts = p->agent ? spi_agent_status(p->agent) : NULL;

		if (counts && counts->entries > counts->exits + counts->lost_exits)
			return false;
	}
	return true;
}

static void step(struct loop_timer *timer)
{
	uint64_t now = loop_now();

	disabling.taken_out |= all_answered();
	if ((disabling.taken_out && all_returned()) || now - disabling.begun >= disabling.most)
		disabling_end();
	else
		loop_timer_set(timer, STEP_MS, step);
}

/* The one enabled rule that has the name and instruments; NULL: none, or several. */
static struct rule *only_rule(const struct ruleset *rules, const char *name)
{
	struct rule *only = NULL;

	for (struct rule *rule = rules->rules; rule; rule = rule->next) {
		if (!rule->enabled || strcmp(rule->name, name) || !rule_instruments(rule))
			continue;
		if (only)
			return NULL;
		only = rule;
	}
	return only;
}

/* What the daemon told when it was asked before: this rule was still on then. What is asked from now on waits for the command. */
void disabling_recall(struct ruleset *rules, uint64_t question)
{
	struct rule *only = question <= disabling.question ? only_rule(rules, disabling.name) : NULL;

	if (only)
		only->enabled = false;
}

void disabling_begin(uint64_t id, const char *name)
{
	struct rule *only = only_rule(broker.rules, name);

	disabling_end();
	disabling.id = id;
	disabling.question = query_next() - 1;
	strncpy(disabling.name, name, NAME_BYTES - 1);
	if (!only || broker.ending) {
		disabling_end();
		return;
	}
	only->enabled = false;
	disabling.is_tree = only->wants.is_tree;
	disabling.most = only->wants.is_tree ? WAIT_TREE_MS : WAIT_MS;
	disabling.begun = loop_now();
	disabling.taken_out = false;
	processes_apply();
	if (disabling.is_tree)
		calls_close(only);
	step(&disabling.timer);
}
