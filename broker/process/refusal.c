/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Why a process has no agent: a reason that stays until there is an agent, the process is another program, or no rule
 * concerns the process any more.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "broker/process/internal.h"

#define COMES_MS	2000	/* until an agent that comes by itself is looked for again */
#define AGAIN_MS	50	/* doubled with each failure */
#define AGAIN_MOST	8u	/* failures after which it is left alone until it is another program */

static void again_due(struct loop_timer *timer)
{
	struct process *p = LOOP_OWNER(timer, struct process, refusal.again);
	struct facts facts;

	if (p->agent && !facts_read(&facts, p->facts.pid) && facts.start_time == p->facts.start_time)
		process_set_facts(p, &facts);
	process_event(p, EVENT_AGAIN, NULL);
	process_mark(p, MARK_RULES);
}

void process_try_again(struct process *p, unsigned int ms)
{
	loop_timer_set(&p->refusal.again, ms, again_due);
}

void refusal_set(struct process *p, const struct setback *setback)
{
	snprintf(p->refusal.why, sizeof(p->refusal.why), "%s", setback->why);
	p->refusal.serial = rules_now()->serial;
	if (setback->again_ms)
		process_try_again(p, setback->again_ms);
	if (!setback->holds)
		process_let_go(p);
}

void process_comes(struct process *p, const char *why)
{
	process_event(p, EVENT_COMES, &(struct setback) { .why = why, .again_ms = COMES_MS });
	p->hold.unsure = 0;
}

void process_comes_forked(struct process *p)
{
	if (p->rules_had == RULES_NEVER)
		p->rules_had = RULES_OF_PARENT;
	process_comes(p, "a traced program forked it, and the tracer in it has not connected yet");
}

/*
 * The injector's remedy is for a person who runs the injector by hand. The broker's injector has the rights of the
 * process's user, whoever made the rule.
 */
static void remedy_for_rules(char *why, size_t size, pid_t pid)
{
	static const char remedy[] = "be root (CAP_SYS_PTRACE)";
	char *at = strstr(why, remedy);

	if (at && !at[sizeof(remedy) - 1] && broker_is_root() && !the_daemon()->is_front_end)
		snprintf(at, size - (at - why), "rules go into a process with its user's rights alone; root can "
			 "trace it with lttng trace -p %d", (int) pid);
}

void process_refuse(struct process *p, bool again, const char *format, ...)
{
	char why[sizeof(p->refusal.why)];
	struct setback setback = { .why = why };
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	remedy_for_rules(why, sizeof(why), p->facts.pid);
	p->refusal.failures++;
	if (p->hold.id)
		process_missed(p, "%s", why);
	if (again && p->refusal.failures < AGAIN_MOST)
		setback.again_ms = AGAIN_MS << (p->refusal.failures - 1);
	process_event(p, EVENT_FAILED, &setback);
	if (!setback.again_ms)
		process_mark(p, MARK_HOLD);	/* a message may wait for it */
	if (the_daemon()->is_front_end && !setback.again_ms)
		plugin_lacks(p->facts.pid, p->facts.exec, false, why);
}

bool process_is_refused(const struct process *p)
{
	if (!*p->refusal.why)
		return false;
	return p->refusal.serial == rules_now()->serial || p->refusal.failures >= AGAIN_MOST || p->refusal.again.armed;
}
