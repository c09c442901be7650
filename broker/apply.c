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
 * A registration that is held is let go when all this is done, or cannot be, or
 * takes longer than a program should have to wait.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/broker.h"

#define PATIENCE_MS	1500
#define ANSWER_MS	300	/* for an answer of the daemon alone */
#define AGAIN_MS	50	/* doubled with each failure */
#define COMMANDS_MAX	100000u
#define EXECUTED_MS	200	/* for the agent of a program that was executed */
#define AGAIN_MOST	8u	/* failures after which it is left alone until it is another program */

/* ---- who began too early ------------------------------------------------------------------ */

void missed_count(void)
{
	static unsigned int n;

	n++;
	broker_note("missed", "%u program%s began before all of %s rules were in force: processes are listed with the "
		    "reason, the last %u of them after their end", n, n == 1 ? "" : "s", n == 1 ? "its" : "their", ENDED_MAX);
}

/* The first reason stands. */
void process_missed(struct process *p, const char *format, ...)
{
	va_list args;
	size_t n;

	if (*p->missed)
		return;
	n = snprintf(p->missed, sizeof(p->missed), MISSED_PREFIX);
	va_start(args, format);
	vsnprintf(p->missed + n, sizeof(p->missed) - n, format, args);
	va_end(args);
	missed_count();
}

/* ---- letting go ------------------------------------------------------------------------ */

static bool any_pending(const struct process *p)
{
	for (const struct applied *a = p->applied; a; a = a->next)
		if (a->pending)
			return true;
	return false;
}

static bool is_held(const struct process *p)
{
	return p->held || (p->agent && p->waits_for_go);
}

/* The daemon has told all the rules that there were when it registered. */
static bool rules_known(const struct process *p)
{
	return query_done() >= p->held_query;
}

void process_let_go(struct process *p)
{
	if (is_held(p) && !rules_known(p))
		p->unsure = p->held_query;
	if (p->held)
		link_release(p->held);
	p->held = p->held_query = p->waits_since = 0;
	loop_timer_cancel(&p->patience);
	if (p->agent && p->waits_for_go)
		spi_agent_go(p->agent);
	p->waits_for_go = false;
}

/* Because it has waited for as long as a program should. */
void process_let_go_late(struct process *p, const char *format, ...)
{
	char why[120];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	if (p->injection || p->coming || any_pending(p))
		process_missed(p, "%s", why);
	process_let_go(p);
}

static void patience_over(struct loop_timer *timer)
{
	struct process *p = LOOP_OWNER(timer, struct process, patience);

	process_let_go_late(p, "its rules were not in force after %u ms", (unsigned int) (loop_now() - p->waits_since));
}

/* For `ms` more, but no longer than PATIENCE_MS altogether. */
static void patience_set(struct process *p, unsigned int ms)
{
	uint64_t now = loop_now();

	if (!p->waits_since)
		p->waits_since = now;
	if (p->waits_since + PATIENCE_MS < now + ms)
		ms = p->waits_since + PATIENCE_MS > now ? p->waits_since + PATIENCE_MS - now : 0;
	loop_timer_set(&p->patience, ms, patience_over);
}

/*
 * What its agent was told is done: it may go, once the daemon has told of the rules
 * that were made before it registered. That is asked already, and not waited for
 * long: some client's command may keep the daemon from answering.
 */
static void process_settle(struct process *p)
{
	if (any_pending(p)) {
		if (p->held)
			patience_set(p, PATIENCE_MS);
		else
			loop_timer_cancel(&p->patience);	/* a preloaded agent waits until it is told to go on */
	} else if (!is_held(p) || rules_known(p)) {
		process_let_go(p);
	} else {
		patience_set(p, ANSWER_MS);
	}
}

static void again_due(struct loop_timer *timer)
{
	struct process *p = LOOP_OWNER(timer, struct process, again);

	*p->why = 0;
	process_apply(p);
}

/* The injector's remedy is for who runs it by hand. Ours has the rights of the process's user, whoever made the rule. */
static void why_for_rules(struct process *p)
{
	static const char remedy[] = "be root (CAP_SYS_PTRACE)";
	char *at = strstr(p->why, remedy);

	if (at && !at[sizeof(remedy) - 1] && broker_is_root())
		snprintf(at, sizeof(p->why) - (at - p->why), "rules go into a process with its user's rights alone; root can "
			 "trace it with lttng trace -p %d", (int) p->facts.pid);
}

void process_refuse(struct process *p, bool again, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(p->why, sizeof(p->why), format, args);
	va_end(args);
	why_for_rules(p);
	p->refused_serial = broker.rules->serial;
	p->failures++;
	if (p->held)
		process_missed(p, "%s", p->why);
	if (again && p->failures < AGAIN_MOST)
		loop_timer_set(&p->again, AGAIN_MS << (p->failures - 1), again_due);
	process_let_go(p);
}

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

static void command_send(struct process *p, struct request *request, enum command_kind kind)
{
	struct command *command = p->nr_commands < COMMANDS_MAX ? calloc(1, sizeof(*command)) : NULL;

	if (!command) {
		spi_agent_close(p->agent);	/* it answers nothing any more */
		return;
	}
	if (!p->last_command)
		p->last_command = &p->commands;
	command->kind = kind;
	command->request = request;
	*p->last_command = command;
	p->last_command = &command->next;
	p->nr_commands++;
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
	return command;
}

static void applied_start(struct process *p, struct applied *a)
{
	a->state = APPLIED_ADDING;
	a->pending++;
	/* What its busiest functions are is told of one tree after the other. */
	if (!strncmp(a->request->text, "tree(", 5))
		hot_clear(p);
	command_send(p, a->request, a->known ? COMMAND_ENABLE : COMMAND_ADD);
}

static void request_put_in(struct process *p, struct request *request)
{
	struct applied *a = calloc(1, sizeof(*a)), **at = &p->applied;

	if (!a)
		return;
	a->request = request;
	while (*at)
		at = &(*at)->next;
	*at = a;
	applied_start(p, a);
}

/* false: it is to be freed. */
static bool applied_adjust(struct process *p, struct applied *a, unsigned char want)
{
	bool again = a->state == APPLIED_FAILED && p->refused_serial != broker.rules->serial;

	if (want == 1 && (a->state == APPLIED_OFF || again)) {
		applied_start(p, a);
	} else if (want == 2 && a->state != APPLIED_OFF) {
		if (a->state != APPLIED_FAILED)
			command_send(p, a->request, COMMAND_DISABLE);
		a->state = APPLIED_OFF;
	} else if (!want) {
		if (a->known || a->pending)
			command_send(p, a->request, COMMAND_REMOVE);
		return false;
	}
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
	for (struct applied **at = &p->applied; *at;) {
		struct applied *a = *at;

		if (applied_adjust(p, a, want[a->request->index])) {
			at = &a->next;
			continue;
		}
		*at = a->next;
		free(a);
	}
	for (unsigned int i = 0; i < request_count(); i++) {
		if (want[i] == 1 && !applied_find(p, request_at(i)))
			request_put_in(p, request_at(i));
		else if (p->inherited && want[i] != 1 && !applied_find(p, request_at(i)))
			command_send(p, request_at(i), COMMAND_REMOVE);	/* its parent may have had it */
	}
	p->inherited = false;
	p->refused_serial = broker.rules->serial;
}

void process_answered(struct process *p, const struct spi_msg_rule_done *done, const char *text)
{
	struct command *command = command_take(p);
	struct applied *a;
	int status = done->status;

	if (!command || command->request->id != done->rule) {
		free(command);
		spi_agent_close(p->agent);
		return;
	}
	a = applied_find(p, command->request);
	if (a && command->kind <= COMMAND_ENABLE) {
		a->pending--;
		a->known = !status || status == -EEXIST;
		a->matched = done->matched;
		a->instrumented = done->instrumented;
		a->declined = done->declined;
		snprintf(a->text, sizeof(a->text), "%s", text);
		if (a->state == APPLIED_ADDING && !a->pending) {
			/* A parent's rule, on or off; or one that the agent has lost: once more, the other way. */
			bool other = command->kind == COMMAND_ADD ? status == -EEXIST : status == -ENOENT;

			a->state = status ? APPLIED_FAILED : APPLIED_ACTIVE;
			if (other)
				applied_start(p, a);
		}
	} else if (a && command->kind == COMMAND_DISABLE) {
		a->known = !status;
	}
	free(command);
	process_settle(p);
}

void process_abandoned(struct process *p)
{
	struct command *command;

	while ((command = command_take(p)))
		free(command);
	while (p->applied) {
		struct applied *a = p->applied;

		p->applied = a->next;
		free(a);
	}
	lines_clear(&p->declined);
	lines_clear(&p->left_out);
	p->budget.budget = 0;
	hot_clear(p);
	p->agent = NULL;
	p->waits_for_go = false;
}

static bool goes_into_programs(const struct request *request)
{
	const char *follow = strstr(request->text, ";follow=");

	return !strncmp(request->text, "tree(", 5) && (!follow || strstr(follow, "exec"));
}

/*
 * It became another program, or its agent gave up. As an application it will register again; under a tree that goes
 * into programs, the new one's agent comes by itself, unless libc was not asked to execute it: then one is brought.
 */
void process_executed(struct process *p)
{
	p->nr_follows = 0;
	for (const struct applied *a = p->applied; a && p->nr_follows < FOLLOWS_MAX; a = a->next)
		if (a->state == APPLIED_ACTIVE && goes_into_programs(a->request))
			p->follows[p->nr_follows++] = a->request->id;
	process_abandoned(p);
	p->application = false;
	p->facts.read_at = 0;
	if (p->nr_follows && !broker.ending) {
		snprintf(p->why, sizeof(p->why), "it has executed another program, whose agent has not come yet");
		p->refused_serial = broker.rules->serial;
		loop_timer_set(&p->again, EXECUTED_MS, again_due);
	}
	process_apply(p);
}

/* ---- one process ---------------------------------------------------------------------------- */

/* Is there reason to bring the agent in, or to try it again? */
static bool may_inject(const struct process *p)
{
	if (!*p->why)
		return true;
	return p->refused_serial != broker.rules->serial && p->failures < AGAIN_MOST && !p->again.armed;
}

void process_apply(struct process *p)
{
	unsigned char *want = calloc(request_count() + 1, 1);
	unsigned int on;

	if (!want) {
		process_let_go(p);
		return;
	}
	on = collect(p, want);
	if (p->unsure && query_done() >= p->unsure) {
		if (wants_more(p, want))
			process_missed(p, "the session daemon did not tell in time which rules there are");
		p->unsure = 0;
	}
	if (p->agent)
		agent_adjust(p, want);
	if (!p->applied)
		lines_clear(&p->declined);
	free(want);
	if (p->held && !p->patience.armed)
		patience_set(p, PATIENCE_MS);
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
	if (may_inject(p))
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
	if (p->coming == agent)
		p->coming = NULL;
	if ((flags & (SPI_HELLO_PRELOADED | SPI_HELLO_FORKED)) || *spi_agent_follow(agent))
		take_follows(p, spi_agent_follow(agent));
	p->application |= !!(flags & (SPI_HELLO_PRELOADED | SPI_HELLO_FORKED));
	p->inherited |= !!(flags & SPI_HELLO_FORKED);
	p->waits_for_go = flags & SPI_HELLO_PRELOADED;
	*p->why = 0;
	p->failures = 0;
	spi_agent_set_user(agent, p);
	if (p->waits_for_go && !p->held && !query_idle()) {
		p->held_query = query_next();
		query_want();
	}
	process_apply(p);
}
