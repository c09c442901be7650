/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * How long a process waits for its rules, and what becomes of one that cannot have them.
 *
 * A registration that is held, and a preloaded agent that waits to be told to go
 * on, are let go when all that was asked for is in force (apply.c), or cannot be,
 * or takes longer than a program should have to wait. One that began too early, or
 * could not be injected, keeps the reason.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "broker/broker.h"

#define ANSWER_MS	300	/* for an answer of the daemon alone */
#define COMES_MS	2000	/* until an agent that comes by itself is looked for again */
#define AGAIN_MS	50	/* doubled with each failure */
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
	injection_begun(p);
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

/* The plugin lets go by itself a little later. */
static unsigned int patience_ms(void)
{
	static unsigned int value;

	if (!value)
		value = spi_hold_ms() * 3 / 4;
	return value;
}

/* For `ms` more, but no longer than patience_ms() altogether. */
static void patience_set(struct process *p, unsigned int ms)
{
	uint64_t now = loop_now(), end;

	if (!p->waits_since)
		p->waits_since = now;
	end = p->waits_since + patience_ms();
	if (end < now + ms)
		ms = end > now ? end - now : 0;
	loop_timer_set(&p->patience, ms, patience_over);
}

void process_wait(struct process *p)
{
	if (p->held && !p->patience.armed)
		patience_set(p, patience_ms());
}

/*
 * What its agent was told is done: it may go, once the daemon has told of the rules
 * that were made before it registered. That is asked already, and not waited for
 * long: some client's command may keep the daemon from answering.
 */
void process_settle(struct process *p)
{
	if (any_pending(p)) {
		if (p->held || (p->waits_for_go && p->is_short_of_time))
			patience_set(p, patience_ms());
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
	struct facts facts;

	if (p->agent && !facts_read(&facts, p->facts.pid) && facts.start_time == p->facts.start_time)
		process_facts_set(p, &facts);
	*p->why = 0;
	process_apply(p);
}

void process_try_again(struct process *p, unsigned int ms)
{
	loop_timer_set(&p->again, ms, again_due);
}

void process_comes(struct process *p, const char *why)
{
	snprintf(p->why, sizeof(p->why), "%s", why);
	p->refused_serial = broker.rules->serial;
	process_let_go(p);
	p->unsure = 0;
	process_try_again(p, COMES_MS);
}

void process_comes_forked(struct process *p)
{
	p->carries = true;
	process_comes(p, "it was forked by a traced program, and its agent has not come yet");
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
		process_try_again(p, AGAIN_MS << (p->failures - 1));
	process_let_go(p);
}

/* Is there reason to bring the agent in, or to try it again? */
bool process_may_inject(const struct process *p)
{
	if (!*p->why)
		return true;
	return p->refused_serial != broker.rules->serial && p->failures < AGAIN_MOST && !p->again.armed;
}
