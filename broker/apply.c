/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * From rules to one process: what should be in force there, what is, and the
 * messages that make up the difference.
 *
 * All event rules that concern the process are put together into a set of
 * requests; a request is on when any of its rules is enabled. A request whose
 * rules are all switched off is disabled in the agent (the code goes back to what
 * it was) but stays known there, so that it is quickly in again; one without
 * rules is removed. Without an agent and with a request that is on, the process
 * is injected.
 *
 * A registration that is held is let go when all this is done (holding.c).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/broker.h"

#define COMMANDS_MAX	100000u
#define RENEWED_MS	1000	/* for the ids of a process to be one user's */
#define EXECUTED_MS	200	/* for the agent of a program that was executed */

/* ---- the difference ---------------------------------------------------------------------- */

static struct applied *applied_find(const struct process *p, const struct request *request)
{
	struct applied *a = p->applied;

	while (a && a->request != request)
		a = a->next;
	return a;
}

/* Did the process that executed it have the rule, and does that go along? */
static bool process_follows(const struct process *p, const struct rule *rule)
{
	for (unsigned int k = 0; k < p->nr_follows; k++)
		for (unsigned int i = 0; i < rule->wants.nr_requests; i++)
			if (rule->requests[i]->id == p->follows[k])
				return rule_may(rule, &p->facts);
	return false;
}

/*
 * Which requests should be there: want[index] is 1 for on, 2 for known but off.
 * Returns how many are on.
 */
static unsigned int collect(const struct process *p, unsigned char *want)
{
	unsigned int on = 0;

	for (const struct rule *rule = broker.rules->rules; rule && !broker.ending && !p->own; rule = rule->next) {
		if (!rule_concerns(rule, &p->facts, p->application) && !process_follows(p, rule))
			continue;
		for (unsigned int i = 0; i < rule->wants.nr_requests; i++) {
			unsigned char *w = &want[rule->requests[i]->index];

			if (rule->enabled) {
				on += *w != 1;
				*w = 1;
			} else if (!*w) {
				*w = 2;
			}
		}
	}
	return on;
}

/* ---- commands ---------------------------------------------------------------------------- */

/* Its answer is due. */
static bool command_add(struct process *p, struct request *request, enum command_kind kind)
{
	struct command *command = p->nr_commands < COMMANDS_MAX ? calloc(1, sizeof(*command)) : NULL;

	if (!command) {
		spi_agent_close(p->agent);	/* it answers nothing any more */
		return false;
	}
	if (!p->last_command)
		p->last_command = &p->commands;
	command->kind = kind;
	command->request = request_hold(request);
	*p->last_command = command;
	p->last_command = &command->next;
	p->nr_commands++;
	return true;
}

static void command_send(struct process *p, struct request *request, enum command_kind kind)
{
	if (!command_add(p, request, kind))
		return;
	if (kind == COMMAND_ADD)
		spi_agent_rule_add(p->agent, request->id, request->flags, request->text);
	else if (kind == COMMAND_ENABLE)
		spi_agent_rule_enable(p->agent, request->id);
	else if (kind == COMMAND_DISABLE)
		spi_agent_rule_disable(p->agent, request->id);
	else
		spi_agent_rule_remove(p->agent, request->id);
}

static struct command *command_take(struct process *p)
{
	struct command *command = p->commands;

	if (!command)
		return NULL;
	p->commands = command->next;
	if (!p->commands)
		p->last_command = &p->commands;
	p->nr_commands--;
	if (p->awaited)
		p->awaited--;
	return command;
}

static void command_free(struct command *command)
{
	if (!command)
		return;
	request_put(command->request);
	free(command);
}

/*
 * It may have rules of which we know nothing: its parent's, which we have forgotten since, or another broker's. All but those
 * that it is to have are to go: this takes as long as there are rules now, however many there have been.
 */
static void keep_send(struct process *p, const unsigned char *want)
{
	struct spi_msg_rule_kept kept[512];
	unsigned int n = 0;

	_Static_assert(sizeof(kept) / sizeof(kept[0]) <= SPI_RULES_KEPT_MAX, "one message");
	for (unsigned int i = 0; i < request_count(); i++) {
		const struct request *request = want[i] ? request_at(i) : NULL;

		if (!request)
			continue;
		if (n == sizeof(kept) / sizeof(kept[0])) {
			if (!command_add(p, NULL, COMMAND_KEEP))
				return;
			spi_agent_rules_keep(p->agent, kept, n, false);
			n = 0;
		}
		kept[n++] = (struct spi_msg_rule_kept) { .rule = request->id, .sum = request->sum };
	}
	if (command_add(p, NULL, COMMAND_KEEP))
		spi_agent_rules_keep(p->agent, kept, n, true);
}

static void applied_free(struct applied *a)
{
	request_put(a->request);
	free(a);
}

static void applied_start(struct process *p, struct applied *a)
{
	a->state = APPLIED_ADDING;
	a->pending++;
	/* What its busiest functions are is told of one tree after the other. */
	if (request_is_tree(a->request))
		hot_clear(p);
	command_send(p, a->request, a->known ? COMMAND_ENABLE : COMMAND_ADD);
}

static void request_put_in(struct process *p, struct request *request, bool on)
{
	struct applied *a = calloc(1, sizeof(*a)), **at = &p->applied;

	if (!a)
		return;
	a->request = request_hold(request);
	while (*at)
		at = &(*at)->next;
	*at = a;
	if (on) {
		applied_start(p, a);
		return;
	}
	a->state = APPLIED_OFF;
	command_send(p, request, COMMAND_DISABLE);
}

/* What it has not answered yet says nothing of the same request when that comes again. */
static void commands_forget(struct process *p, const struct request *request)
{
	for (struct command *command = p->commands; command; command = command->next)
		if (command->request == request)
			command->kind = COMMAND_REMOVE;
}

/* false: it is to be freed. */
static bool applied_adjust(struct process *p, struct applied *a, unsigned char want)
{
	bool again = a->state == APPLIED_FAILED && p->refused_serial != broker.rules->serial;

	if (want == 1 && (a->state == APPLIED_OFF || again)) {
		applied_start(p, a);
	} else if (want == 2 && a->state != APPLIED_OFF) {
		if (a->state != APPLIED_FAILED || a->known)
			command_send(p, a->request, COMMAND_DISABLE);
		a->state = APPLIED_OFF;
	} else if (!want) {
		if (a->known || a->pending)
			command_send(p, a->request, COMMAND_REMOVE);
		commands_forget(p, a->request);
		return false;
	}
	return true;
}

static void renewal_want(struct process *p)
{
	if (p->again.armed)
		return;		/* it has been told */
	spi_agent_renew(p->agent);
	process_try_again(p, RENEWED_MS);
}

/*
 * Its connection may not be told what is news to it: it has the rules that it has, its parent's where it was forked, until it has made
 * another. False: nothing is to be told at all.
 */
static bool only_known(struct process *p, unsigned char *want)
{
	bool is_news = false;

	if (p->inherited) {
		renewal_want(p);
		return false;
	}
	for (unsigned int i = 0; i < request_count(); i++)
		if (want[i] && !applied_find(p, request_at(i))) {
			want[i] = 0;
			is_news = true;
		}
	if (!is_news)
		return true;
	renewal_want(p);
	lines_add(&p->notes, "its user or group ids changed: rules that are new wait until it is one user's, and its agent has come as that one");
	return true;
}

/* Is there a request that its agent was not told of? */
static bool wants_more(const struct process *p, const unsigned char *want)
{
	for (unsigned int i = 0; i < request_count(); i++) {
		const struct applied *a = want[i] == 1 ? applied_find(p, request_at(i)) : NULL;

		if (want[i] == 1 && (!a || a->state == APPLIED_OFF))
			return true;
	}
	return false;
}

static void agent_adjust(struct process *p, const unsigned char *want)
{
	if (p->inherited)
		keep_send(p, want);
	for (struct applied **at = &p->applied; *at;) {
		struct applied *a = *at;

		if (applied_adjust(p, a, want[a->request->index])) {
			at = &a->next;
			continue;
		}
		*at = a->next;
		applied_free(a);
	}
	for (unsigned int i = 0; i < request_count(); i++) {
		struct request *request = want[i] ? request_at(i) : NULL;

		if (!request || applied_find(p, request))
			continue;
		if (want[i] == 1)
			request_put_in(p, request, true);
		else if (p->inherited)
			request_put_in(p, request, false);	/* its parent may have had it */
	}
	p->inherited = false;
	p->refused_serial = broker.rules->serial;
}

void process_answered(struct process *p, const struct spi_msg_rule_done *done, const char *text)
{
	struct command *command = command_take(p);
	struct applied *a;
	bool waits = done->flags & SPI_DONE_WAITS;
	int status = done->status;

	p->silent = false;
	if (!command || (command->request ? command->request->id : 0) != done->rule) {
		command_free(command);
		spi_agent_close(p->agent);
		return;
	}
	a = command->request ? applied_find(p, command->request) : NULL;
	if (a && command->kind <= COMMAND_ENABLE) {
		a->pending--;
		a->known = !status || status == -EEXIST || waits;
		a->matched = done->matched;
		a->instrumented = done->instrumented;
		a->declined = done->declined;
		snprintf(a->text, sizeof(a->text), "%s", text);
		if (a->state == APPLIED_ADDING && !a->pending) {
			/* A parent's rule, on or off; or one that the agent has lost: once more, the other way. */
			bool other = command->kind == COMMAND_ADD ? status == -EEXIST : status == -ENOENT && !waits;

			a->state = status ? APPLIED_FAILED : APPLIED_ACTIVE;
			if (other)
				applied_start(p, a);
		}
	} else if (a && command->kind == COMMAND_DISABLE) {
		a->known = !status;
	}
	command_free(command);
	process_settle(p);
}

/* A library was loaded that has functions of a rule's. */
void process_answered_more(struct process *p, const struct spi_msg_rule_done *more, const char *text)
{
	struct applied *a = p->applied;

	while (a && a->request->id != more->rule)
		a = a->next;
	if (!a)
		return;
	a->matched += more->matched;
	a->instrumented += more->instrumented;
	a->declined += more->declined;
	if (a->state == APPLIED_FAILED || *text)
		snprintf(a->text, sizeof(a->text), "%s", text);
	if (a->state == APPLIED_FAILED && more->instrumented)
		a->state = APPLIED_ACTIVE;
}

void process_abandoned(struct process *p)
{
	struct command *command;

	ended_program(p);
	while ((command = command_take(p)))
		command_free(command);
	while (p->applied) {
		struct applied *a = p->applied;

		p->applied = a->next;
		applied_free(a);
	}
	lines_clear(&p->declined);
	lines_clear(&p->left_out);
	p->budget.budget = 0;
	hot_clear(p);
	p->agent = NULL;
	p->waits_for_go = p->silent = false;
}

/*
 * It became another program, or its agent gave up. As an application it will register again; under a tree that goes
 * into programs, the new one's agent comes by itself, unless libc was not asked to execute it: then one is brought.
 */
void process_executed(struct process *p)
{
	struct facts facts;
	bool lives;

	p->nr_follows = 0;
	for (const struct applied *a = p->applied; a && p->nr_follows < FOLLOWS_MAX; a = a->next)
		if (a->state == APPLIED_ACTIVE && a->request->follows_exec)
			p->follows[p->nr_follows++] = a->request->id;
	process_abandoned(p);
	p->facts.read_at = 0;
	/* Rules are for the program that it is now. */
	lives = !facts_read(&facts, p->facts.pid) && *facts.exec && facts.start_time == p->facts.start_time;
	if (lives)
		process_facts_set(p, &facts);
	/* Its registration may have been heard of before this, where it has executed itself. */
	p->application = lives && p->registered_since && facts_same_program(&p->facts, &p->served_as);
	if (p->nr_follows && !broker.ending) {
		snprintf(p->why, sizeof(p->why), "it has executed another program, whose agent has not come yet");
		p->refused_serial = broker.rules->serial;
		process_try_again(p, EXECUTED_MS);
	}
	process_apply(p);
}

/* Its user may be another by now. */
static bool facts_renew(struct process *p)
{
	struct facts facts;

	if (facts_read(&facts, p->facts.pid) || facts.start_time != p->facts.start_time)
		return false;
	process_facts_set(p, &facts);
	return true;
}

/* ---- one process ---------------------------------------------------------------------------- */

void process_apply(struct process *p)
{
	unsigned char *want = calloc(request_count() + 1, 1);
	unsigned int on;

	if (!want) {
		process_let_go(p);
		return;
	}
	on = collect(p, want);
	if (p->agent && !facts_are_fresh(&p->facts) && wants_more(p, want) && facts_renew(p)) {
		memset(want, 0, request_count());
		on = collect(p, want);
	}
	if (p->unsure && query_done() >= p->unsure) {
		if (wants_more(p, want))
			process_missed(p, "the session daemon did not tell in time which rules there are");
		p->unsure = 0;
	}
	if (p->agent && (facts_are_of(&p->facts, spi_agent_uid(p->agent)) || only_known(p, want)))
		agent_adjust(p, want);
	if (!p->applied)
		lines_clear(&p->declined);
	free(want);
	process_wait(p);
	if (p->agent) {
		process_settle(p);
		return;
	}
	if (!on) {
		injection_drop(p);
		*p->why = 0;
		/* Nothing yet; but the daemon may know more than we do. */
		if (!p->held_query || query_done() >= p->held_query)
			process_let_go(p);
		return;
	}
	if (p->injection || p->coming)
		return;
	if (process_may_inject(p))
		injection_want(p);
	else
		process_let_go(p);
}

/*
 * The injector is done, and the agent's thread has yet to run. Until it says HELLO
 * the process must not be injected again: a second time would be refused by its
 * agent, and the registration be let go for that.
 */
void process_expect(struct process *p, struct spi_agent *agent)
{
	process_expect_no_more(p);
	p->coming = agent;
	spi_agent_set_user(agent, p);
}

void process_expect_no_more(struct process *p)
{
	if (!p->coming)
		return;
	spi_agent_set_user(p->coming, NULL);
	spi_agent_close(p->coming);
	p->coming = NULL;
}

static void take_follows(struct process *p, const char *text)
{
	p->nr_follows = 0;
	while (*text && p->nr_follows < FOLLOWS_MAX) {
		char *end;

		p->follows[p->nr_follows] = strtoul(text, &end, 10);
		if (end == text)
			return;
		p->nr_follows++;
		text = *end ? end + 1 : end;
	}
}

void process_adopt(struct process *p, struct spi_agent *agent)
{
	uint32_t flags = spi_agent_flags(agent);

	p->agent = agent;
	p->served = true;
	p->registered_since = false;
	p->served_as = p->facts;
	if (p->coming == agent)
		p->coming = NULL;
	if ((flags & (SPI_HELLO_PRELOADED | SPI_HELLO_FORKED)) || *spi_agent_follow(agent))
		take_follows(p, spi_agent_follow(agent));
	p->application |= !!(flags & (SPI_HELLO_PRELOADED | SPI_HELLO_FORKED));
	p->inherited |= !!(flags & SPI_HELLO_FORKED);
	p->waits_for_go = flags & (SPI_HELLO_PRELOADED | SPI_HELLO_WAITS);
	p->is_short_of_time = flags & SPI_HELLO_WAITS;
	*p->why = 0;
	p->failures = 0;
	spi_agent_set_user(agent, p);
	if (p->waits_for_go && !p->held && !query_idle()) {
		p->held_query = query_next();
		query_want();
	}
	process_apply(p);
	if (flags & SPI_HELLO_FORKED)
		spi_agent_go(agent);	/* it waits until it has been told; what it is told to wait for comes behind that */
	disabling_joined(p);
}
