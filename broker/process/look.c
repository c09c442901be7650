/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A look at one process: what the rules ask for there, and what follows from that.
 *
 * All event rules that concern the process are put together into a set of requests. A request is on when any of its
 * rules is enabled. A request whose rules are all disabled is disabled in the agent, too: the code goes back to what
 * it was, and the agent keeps the request, so that it is quickly in again. A request without rules is removed
 * (applied.c). Without an agent and with a request that is on, the process is injected. Its registration is let go
 * when all this is done (hold.c).
 *
 * Whatever happens marks the processes that are concerned. The loop looks at each marked process once a turn, however
 * often it was marked. Processes that a look marks are looked at in the next turn.
 */
#include <stdlib.h>
#include <string.h>

#include "broker/process/internal.h"

#define RENEWED_MS	1000	/* for the ids of a process to be one user's */

/* ---- what the rules ask for ---------------------------------------------------------------------------------- */

static bool has_followed(const struct process *p, const struct request *request)
{
	for (unsigned int k = 0; k < p->talk.nr_follows; k++)
		if (request->id == p->talk.follows[k])
			return true;
	return false;
}

/* Did the process that executed it have the rule, and does that go along? */
static bool process_follows(const struct process *p, const struct rule *rule)
{
	for (unsigned int i = 0; i < rule->wants.nr_requests; i++)
		if (has_followed(p, rule->requests[i]))
			return rule_may(rule, &p->facts);
	return false;
}

/*
 * Has a message brought it under the rule? The agent that came for that registers with the session daemon: so that
 * the process is an application since counts for nothing.
 */
static bool is_brought_in(const struct process *p, const struct rule *rule, bool concerns, bool follows)
{
	return rule->on_message && !follows && !(concerns && rule_has_scope(rule)) &&
	       has_followed(p, rule->on_message) && rule_may(rule, &p->facts);
}

static void want_request(const struct rule *rule, const struct request *request, unsigned char *want, unsigned int *on)
{
	unsigned char *w = &want[request->index];

	if (rule->enabled) {
		*on += *w != WANT_ON;
		*w = WANT_ON;
	} else if (*w == WANT_NOT) {
		*w = WANT_OFF;
	}
}

/* Which requests should be there: want[index]. Returns how many are on. */
static unsigned int collect(const struct process *p, unsigned char *want)
{
	unsigned int on = 0;

	for (const struct rule *rule = rules_now()->rules; rule && !daemon_is_gone() && !p->is_own; rule = rule->next) {
		bool concerns = rule_concerns(rule, &p->facts, p->is_application), follows = process_follows(p, rule);

		if (is_brought_in(p, rule, concerns, follows))
			want_request(rule, rule->on_message, want, &on);
		else if (concerns || follows)
			for (unsigned int i = 0; i < rule->wants.nr_requests; i++)
				want_request(rule, rule->requests[i], want, &on);
	}
	return on;
}

/* ---- an agent of another user -------------------------------------------------------------------------------- */

static void renewal_want(struct process *p)
{
	if (p->refusal.again.armed)
		return;		/* it has been told */
	spi_agent_renew(p->agent);
	process_try_again(p, RENEWED_MS);
}

/*
 * The connection of a process that became another user may not be told what is new to it. The agent keeps the rules
 * that it has, its parent's where it was forked, until it has made another connection. False: nothing is to be told
 * at all.
 */
static bool only_known(struct process *p, unsigned char *want)
{
	bool is_news = false;

	if (p->talk.has_unknown_rules) {
		renewal_want(p);
		return false;
	}
	for (unsigned int i = 0; i < request_count(); i++)
		if (want[i] != WANT_NOT && !applied_find(p, request_at(i))) {
			want[i] = WANT_NOT;
			is_news = true;
		}
	if (!is_news)
		return true;
	renewal_want(p);
	lines_add(&p->report.notes, "its user or group ids changed: new rules wait until all of its ids are one user's, and the tracer "
		  "in it has connected again");
	return true;
}

/* Its user may be another by now. */
static bool facts_renew(struct process *p)
{
	struct facts facts;

	if (facts_read(&facts, p->facts.pid) || facts.start_time != p->facts.start_time)
		return false;
	process_set_facts(p, &facts);
	return true;
}

/* ---- the look ------------------------------------------------------------------------------------------------ */

static void look_without_agent(struct process *p, unsigned int on)
{
	if (on) {
		process_event(p, process_is_refused(p) ? EVENT_HOPELESS : EVENT_WANTED, NULL);
		return;
	}
	process_event(p, EVENT_UNWANTED, NULL);
	/* No rule yet, but the daemon may know more than the broker does. */
	if (!p->hold.query || query_done() >= p->hold.query)
		process_let_go(p);
}

static void look_at_rules(struct process *p)
{
	unsigned char *want = calloc(request_count() + 1, 1);
	unsigned int on;

	if (!want) {
		process_let_go(p);
		return;
	}
	on = collect(p, want);
	if (p->agent && !facts_are_fresh(&p->facts) && applied_lacks(p, want) && facts_renew(p)) {
		memset(want, WANT_NOT, request_count());
		on = collect(p, want);
	}
	if (p->hold.unsure && query_done() >= p->hold.unsure) {
		if (applied_lacks(p, want))
			process_missed(p, "the session daemon did not tell in time which rules there are");
		p->hold.unsure = 0;
	}
	if (p->agent && (facts_are_of(&p->facts, spi_agent_uid(p->agent)) || only_known(p, want)))
		applied_adjust(p, want);
	if (!p->talk.applied)
		lines_clear(&p->report.declined);
	free(want);
	process_wait(p);
	if (p->agent)
		process_settle(p);
	else
		look_without_agent(p, on);
}

static void look(struct process *p, unsigned int marks)
{
	if (marks & MARK_RULES)
		look_at_rules(p);
	else if (p->agent)
		process_settle(p);
	if (!(marks & MARK_JOINED) || !p->agent)
		return;
	/* A forked child waits until it has been told its rules. What it is told to wait for comes behind that. */
	if (spi_agent_flags(p->agent) & SPI_HELLO_FORKED)
		spi_agent_go(p->agent);
	disabling_joined(p);
}

void processes_look(void)
{
	struct process *p = processes_take_marked(), *next;

	for (; p; p = next) {
		unsigned int marks = p->marks;

		next = p->next_marked;
		p->marks = 0;
		look(p, marks);
		process_hooks.looked(p);
	}
}
