/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * How long a process waits for its rules.
 *
 * A registration that is held, and a preloaded agent that waits to be told to go on, are let go when all that was asked
 * for is in force (look.c), or cannot be, or takes longer than a program should have to wait. A process that began too
 * early keeps the reason.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "broker/process/internal.h"

#define ANSWER_MS	300	/* for an answer of the daemon alone */

/* ---- programs that began too early ------------------------------------------------------------------ */

void missed_count(void)
{
	static unsigned int n;

	if (the_daemon()->is_front_end)
		return;		/* it was told of each */
	n++;
	broker_note("missed", "%u program%s began before all of %s rules were in force: processes are listed with the "
		    "reason, the last %u of them after their end", n, n == 1 ? "" : "s", n == 1 ? "its" : "their",
		    ENDED_MAX);
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
	if (the_daemon()->is_front_end)
		plugin_lacks(p->facts.pid, p->facts.exec, true, p->missed);
}

void process_slipped(struct process *p, const char *why)
{
	process_missed(p, "%s", why);
	process_hooks.slipped();
}

/* ---- letting go ------------------------------------------------------------------------ */

static bool is_held(const struct process *p)
{
	return p->hold.id || (p->agent && p->talk.waits != AGENT_RUNS);
}

/* The daemon has told all the rules that there were when it registered. */
static bool rules_known(const struct process *p)
{
	return query_done() >= p->hold.query;
}

void process_let_go(struct process *p)
{
	if (is_held(p) && !rules_known(p))
		p->hold.unsure = p->hold.query;
	if (p->hold.id)
		plugin_release(p->hold.id);
	p->hold.id = p->hold.query = p->hold.since = 0;
	loop_timer_cancel(&p->hold.patience);
	if (p->agent && p->talk.waits != AGENT_RUNS)
		spi_agent_go(p->agent);
	p->talk.waits = AGENT_RUNS;
	process_hooks.begun(p);
}

/* Because it has waited for as long as a program should. */
void process_let_go_late(struct process *p, const char *format, ...)
{
	char why[120];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	if (p->injection || p->coming || applied_any_pending(p))
		process_missed(p, "%s", why);
	process_let_go(p);
}

static void patience_over(struct loop_timer *timer)
{
	struct process *p = LOOP_OWNER(timer, struct process, hold.patience);

	process_let_go_late(p, "its rules were not in force after %u ms", (unsigned int) (loop_now() - p->hold.since));
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

	if (!p->hold.since)
		p->hold.since = now;
	end = p->hold.since + patience_ms();
	if (end < now + ms)
		ms = end > now ? end - now : 0;
	loop_timer_set(&p->hold.patience, ms, patience_over);
}

void process_wait(struct process *p)
{
	if (p->hold.id && !p->hold.patience.armed)
		patience_set(p, patience_ms());
}

/*
 * What its agent was told is done: it may go, once the daemon has told of the rules
 * that were made before it registered. That is asked already, and not waited for
 * long: some client's command may keep the daemon from answering.
 */
void process_settle(struct process *p)
{
	if (applied_any_pending(p)) {
		if (p->hold.id || p->talk.waits == AGENT_WAITS_BRIEFLY)
			patience_set(p, patience_ms());
		else
			loop_timer_cancel(&p->hold.patience);	/* a preloaded agent waits until it is told to go on */
	} else if (!is_held(p) || rules_known(p)) {
		process_let_go(p);
	} else {
		patience_set(p, ANSWER_MS);
	}
}
