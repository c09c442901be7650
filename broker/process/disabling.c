/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A rule that the daemon is about to switch off.
 *
 * LTTng switches entries and exits off at once, and a call that is under way then has an entry and no exit. So the
 * daemon waits while what the rule alone asked for is taken out of all processes, and the calls that are in those
 * functions return. That the rule is off is only assumed meanwhile: the query that follows the client's command
 * tells; the answer to one that was begun before it may still say that it is on, and is put right. When another
 * enabled rule has the same name (in another session), nothing is taken out, as that one wants it to stay; the name
 * does not tell which of them it is.
 *
 * More than the one rule may be about to go. Where exits go while a rule for the same functions' entries is on, that
 * is taken for off as well: entries without exits are of no use. And a command that switches off a second rule
 * switches off all of a channel (`lttng disable-event --all`): then all that this channel alone asked for is taken
 * out, and waited for, at once. Its call trees, too, where the plugin says so: the events that they are recorded as
 * may go before their rules, and must not before their calls have exits. One command is about one session: a name
 * that is left in another one only, as those of the channel are taken for off, is not meant.
 */
#include <stdio.h>
#include <string.h>

#include "broker/process/internal.h"

#define NAME_BYTES	256
#define STEP_MS		1
#define AGENTS_MS	300	/* for all agents to take it out: some ms, but on a machine that has much else to do */
#define WAIT_MS		70	/* for calls under way */
#define WAIT_TREE_MS	450	/* both, of a call tree; the daemon waits a little longer */
#define CLOSE_MS	250	/* for a tree's calls; then those that are open get their exits */

/* What is taken for off. */
enum reach { ONE, FUNCTIONS, CHANNEL, ALL };

static struct {
	struct loop_timer timer;
	uint64_t id;		/* 0: none */
	bool taken_out, is_tree;
	bool is_shared;		/* nothing is taken out, as others want it: only calls are waited for */
	uint64_t begun, most;
	uint64_t command;	/* the client's */
	struct request *request, *on_message;	/* held */
	uint32_t close_flags, closing;
} disabling;

/* What was switched off, the latest, and the ones before. */
struct gone {
	uint64_t question;	/* of the daemon, the last that was begun before; 0: none */
	enum reach reach;
	char name[NAME_BYTES];
	bool is_young;		/* made a moment ago: what the daemon told last has none of that name that is on */
	bool is_known;		/* whose rules the command is about: */
	char session[NAME_BYTES], channel[NAME_BYTES];	/* "": a trigger's */
};
/* A question is answered within some ms: as many as clients switch off meanwhile. */
static struct gone gone, before[64];

static void disabling_end(void)
{
	loop_timer_cancel(&disabling.timer);
	if (disabling.id)
		plugin_disabled(disabling.id);
	disabling.id = 0;
}

/* Will the events that record it stay on for another one? Then they record its calls to their end. */
static bool is_shared(const struct rule *only)
{
	for (const struct rule *rule = rules_now()->rules; rule; rule = rule->next)
		if (rule != only && rule->enabled && spi_rule_is_tree(&rule->wants.asked) && rule->session == only->session &&
		    !strcmp(rule->channel, only->channel))
			return true;
	return false;
}

/*
 * Is it one whose calls are to be waited for? Of functions any that is off, as the agent then waits for those of all
 * of them. Where it stays on for others, any.
 */
static bool is_closing(const struct process *p, const struct applied *a)
{
	if (disabling.is_shared)
		return a->state == APPLIED_ACTIVE && !p->talk.closing && !request_is_tree(a->request);
	if (a->state != APPLIED_OFF)
		return false;
	if (disabling.is_tree && !(disabling.close_flags & SPI_CLOSE_EVERY))
		return a->request == disabling.request || a->request == disabling.on_message;
	return !p->talk.closing && (disabling.is_tree || !request_is_tree(a->request));
}

static void process_close(struct process *p)
{
	p->talk.closing = 0;
	for (const struct applied *a = p->agent && !p->talk.is_silent ? p->talk.applied : NULL; a; a = a->next)
		if (is_closing(p, a) &&
		    !spi_agent_rule_close(p->agent, a->request->id, disabling.close_flags, disabling.closing))
			p->talk.closing = disabling.closing;
}

/* Of that rule; NULL: of none. */
static void request_is(const struct rule *rule)
{
	struct request *request = rule ? request_hold(rule->requests[0]) : NULL;
	struct request *on_message = rule ? request_hold(rule->on_message) : NULL;

	request_put(disabling.request);
	request_put(disabling.on_message);
	disabling.request = request;
	disabling.on_message = on_message;
}

/*
 * Where it alone asked for it, its calls are to be waited for, and a tree's then to be closed; those of all that go
 * at once.
 */
static void calls_close(const struct rule *only)
{
	disabling.closing = disabling.closing == UINT32_MAX ? 1 : disabling.closing + 1;
	request_is(only);
	disabling.close_flags = disabling.is_tree ? CLOSE_MS | (is_shared(only) ? 0 : SPI_CLOSE_ALL) :
				WAIT_MS | SPI_CLOSE_FUNCTIONS;
	if (gone.reach == ALL && !disabling.is_shared)
		disabling.close_flags |= SPI_CLOSE_EVERY;
	for (struct process *p = processes; p; p = p->next)
		process_close(p);
}

/* A child that was forked before, and says so now: before it records anything. */
void disabling_joined(struct process *p)
{
	if (disabling.id && (disabling.request || disabling.is_shared))
		process_close(p);
}

static bool is_awaited(const struct process *p)
{
	return p->agent && p->talk.awaited && !p->talk.is_silent;
}

/*
 * All that they were told by now, and not what others are told that come meanwhile: where programs fork all the time
 * there is no end of that.
 */
static void answers_await(void)
{
	for (struct process *p = processes; p; p = p->next)
		p->talk.awaited = p->talk.nr_commands;
}

/* Has every agent answered that? But for those that were waited for in vain and have not said anything since. */
static bool all_answered(void)
{
	for (const struct process *p = processes; p; p = p->next)
		if (is_awaited(p))
			return false;
	return true;
}

/* No call is under way in any process, as its agent has said. */
static bool all_returned(void)
{
	for (const struct process *p = processes; p; p = p->next)
		if (p->agent && p->talk.closing)
			return false;
	return true;
}

static void waited_in_vain(void)
{
	for (struct process *p = processes; p; p = p->next)
		p->talk.is_silent |= is_awaited(p) || (p->agent && p->talk.closing);
}

static void step(struct loop_timer *timer)
{
	uint64_t now = loop_now();

	disabling.taken_out |= all_answered();
	if (disabling.taken_out && all_returned()) {
		disabling_end();
	} else if (now - disabling.begun >= disabling.most) {
		waited_in_vain();
		disabling_end();
	} else {
		loop_timer_set(timer, STEP_MS, step);
	}
}

/*
 * The one enabled rule that has the name and instruments; NULL: none, or several, those that are taken for off among
 * them.
 */
static struct rule *only_rule(const struct ruleset *rules, const char *name)
{
	struct rule *only = NULL;

	for (struct rule *rule = rules->rules; rule; rule = rule->next) {
		if ((!rule->enabled && !rule->taken_off) || strcmp(rule->name, name) || !rule_instruments(rule))
			continue;
		if (only)
			return NULL;
		only = rule;
	}
	return only && only->enabled ? only : NULL;
}

static bool is_on(const char *name)
{
	const struct rule *rule = rules_now()->rules;

	while (rule && (!rule->enabled || strcmp(rule->name, name)))
		rule = rule->next;
	return rule != NULL;
}

/* It may be another session's, where it is all that is left of that name. */
static struct rule *rule_of_command(const struct gone *g, struct rule *only)
{
	return only && g->is_known && strcmp(only->session ? only->session->name : "", g->session) ? NULL : only;
}

static bool names_exits(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && !strcmp(name + n - 5, "_exit");
}

static bool same_functions(const struct rule *a, const struct rule *b)
{
	for (unsigned int i = 0; i < a->wants.nr_requests; i++)
		for (unsigned int k = 0; k < b->wants.nr_requests; k++)
			if (a->requests[i] == b->requests[k])
				return true;
	return false;
}

/* Is it taken for off, beside the one that the daemon has named? */
static bool goes_too(const struct gone *g, const struct rule *rule, const struct rule *only)
{
	if (!rule->enabled || !rule_instruments(rule) || !rule->session ||
	    (spi_rule_is_tree(&rule->wants.asked) && g->reach != ALL) ||
	    strcmp(rule->session->name, g->session) || strcmp(rule->channel, g->channel))
		return false;
	return g->reach >= CHANNEL || (g->reach == FUNCTIONS && only && same_functions(rule, only));
}

static void rules_off(const struct gone *g, struct ruleset *rules, struct rule *only)
{
	for (struct rule *rule = rules->rules; rule; rule = rule->next)
		if (rule == only || goes_too(g, rule, only)) {
			rule->taken_off |= rule->enabled;
			rule->enabled = false;
		}
}

/*
 * What the daemon told when it was asked before: these rules were still on then, all that have gone since, whichever
 * command it was. What is asked from now on waits for the command.
 */
void disabling_recall(struct ruleset *rules, uint64_t question)
{
	for (unsigned int i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		const struct gone *g = &before[i];
		struct rule *only = question <= g->question ? only_rule(rules, g->name) : NULL;

		if (question <= g->question && g->is_known)
			rules_off(g, rules, rule_of_command(g, only));
		if (only && g->is_young) {
			only->taken_off = true;
			only->enabled = false;
		}
	}
}

/* How much goes, by what the same command has switched off before. */
static enum reach reach_of(const struct rule *only, uint64_t command, const char *name, uint64_t flags)
{
	if (flags & SPI_DISABLING_CHANNEL)
		return ALL;
	if (command != disabling.command)
		return only && names_exits(name) ? FUNCTIONS : ONE;
	return !only || !only->session || !strcmp(name, gone.name) ? gone.reach : CHANNEL;
}

static void note(uint64_t command, const char *name, const struct rule *only, uint64_t flags)
{
	static unsigned int next;

	gone.reach = reach_of(only, command, name, flags);
	disabling.command = command;
	gone.question = query_next() - 1;
	snprintf(gone.name, NAME_BYTES, "%s", name);
	if (only) {
		gone.is_known = true;
		snprintf(gone.session, NAME_BYTES, "%s", only->session ? only->session->name : "");
		snprintf(gone.channel, NAME_BYTES, "%s", only->channel);
	}
	before[next++ % (sizeof(before) / sizeof(before[0]))] = gone;
}

/*
 * The functions stay in. What is left of their rules in one session are the exits: of the calls that had an entry
 * there. Where one name stands for entries and exits LTTng takes out both at once, and nothing is to be waited for.
 */
static void exits_close(const char *name)
{
	if (!names_exits(name) || strncmp(name, "spi:", 4) || daemon_is_gone()) {
		disabling_end();
		return;
	}
	disabling.is_shared = disabling.taken_out = true;
	disabling.is_tree = false;
	disabling.most = AGENTS_MS + WAIT_MS;
	calls_close(NULL);
	step(&disabling.timer);
}

void disabling_begin(const struct spi_broker_disabling *message, const char *name)
{
	bool is_late;
	struct rule *only;

	agents_hear();	/* children that have just begun */
	disabling.begun = loop_now();
	gone.is_known &= message->command == disabling.command;
	/* one that comes too late is off already: the rules of that name that are on are others */
	is_late = disabling.begun >= message->until;
	only = is_late || (message->flags & SPI_DISABLING_SHARED) ? NULL :
	       rule_of_command(&gone, only_rule(rules_now(), name));
	gone.is_young = !only && !is_late && !(message->flags & SPI_DISABLING_SHARED) && !is_on(name);
	disabling_end();
	disabling.id = message->id;
	note(message->command, name, only, message->flags);
	if (!only || daemon_is_gone()) {
		exits_close(is_late ? "" : name);
		return;
	}
	rules_off(&gone, rules_now(), only);
	disabling.is_tree = spi_rule_is_tree(&only->wants.asked);
	disabling.is_shared = false;
	disabling.most = spi_rule_is_tree(&only->wants.asked) ? WAIT_TREE_MS : AGENTS_MS + WAIT_MS;
	disabling.taken_out = false;
	request_is(NULL);
	processes_mark();
	processes_look();
	answers_await();
	/* where no agent has anything to do its functions stay in, for others */
	if (!disabling.is_tree && all_answered()) {
		exits_close(name);
		return;
	}
	calls_close(only);
	step(&disabling.timer);
}
