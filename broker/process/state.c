/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The states of a process: how its agent stands.
 *
 *      ALONE ----- WANTED -----> INJECTING ----- ENTERS -----> ENTERING ----- HELLO -----> SERVED
 *        ^                         |    |                         |                        |   ^
 *        |<------- UNWANTED -------+    | FAILED                  | ENTRY_OVER             |   | HELLO
 *        |                              v                         v                        |   | (from any state)
 *        |<--- BEGINS, AGAIN, ------- PUT_OFF <-------------------+                        |
 *        |     UNWANTED               WANTED: INJECTING                                    |
 *        |                                                                                 |
 *        +<------------------------------ AGENT_OVER --------------------------------------+
 *
 * ENTRY_OVER leads to PUT_OFF by way of ALONE. An injection that ends makes INJECTION_OVER, which leads to ALONE. Then
 * ENTERS, COMES or FAILED says what came of the injection. An agent may come by itself while an injection is under way: then the process is SERVED, and what comes of
 * the injection changes that no more, unless the injection brings a second connection. After AGENT_OVER the process is
 * in the state of what is under way still: INJECTING, ENTERING or ALONE.
 *
 * The table says for each state and event what is done and which state follows. The new state is in force when the
 * action runs, so an action may make another event. An empty cell means nothing to do: the state stays.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/process/internal.h"

#define EXECUTED_MS	200	/* for the agent of a program that was executed */

void agent_is_former(struct process *p)
{
	spi_agent_set_user(p->agent, NULL);
	spi_agent_close(p->agent);
}

/* ---- no agent ------------------------------------------------------------------------------------------------ */

static void reason_clear(struct process *p, const void *data)
{
	*p->refusal.why = 0;
}

static void inject(struct process *p, const void *data)
{
	if (!process_hooks.inject(p))
		process_refuse(p, true, "no memory to load the tracer into it");
}

static void injection_drop(struct process *p, const void *data)
{
	process_hooks.drop(p);
	*p->refusal.why = 0;
}

/* It goes on without. */
static void go_without(struct process *p, const void *data)
{
	process_let_go(p);
}

static void put_off(struct process *p, const void *data)
{
	refusal_set(p, data);
}

static void begin(struct process *p, const void *data)
{
	*p->refusal.why = 0;
	p->refusal.failures = 0;
	p->rules_had = RULES_NEVER;
	if (p->is_handed)
		process_taken_back(p);
}

static void end_early(struct process *p, const void *data)
{
	if (!*p->refusal.why)
		snprintf(p->refusal.why, sizeof(p->refusal.why), "it ended before it could be instrumented");
	if (p->is_scoped)
		process_hooks.slipped();
}

/* ---- an agent enters ----------------------------------------------------------------------------------------- */

void process_expect_no_more(struct process *p)
{
	if (!p->coming)
		return;
	spi_agent_set_user(p->coming, NULL);
	spi_agent_close(p->coming);
	p->coming = NULL;
}

/*
 * The injector is done, and the agent's thread has yet to run. Until the agent says HELLO the process must not be
 * injected again: the agent would refuse a second injection, and the registration would be let go for that.
 */
static void enter(struct process *p, const void *data)
{
	struct spi_agent *agent = (struct spi_agent *) data;

	process_expect_no_more(p);
	p->coming = agent;
	spi_agent_set_user(agent, p);
}

static void entry_over(struct process *p, const void *data)
{
	p->coming = NULL;
}

/*
 * The agent could not begin. Or the process has executed another program, which is no application before it
 * registers.
 */
static void entry_lost(struct process *p, const void *data)
{
	struct facts facts;

	p->coming = NULL;
	p->is_application = p->is_application && !facts_read(&facts, p->facts.pid) &&
			    facts_same_program(&facts, &p->facts);
	p->facts.read_at = 0;
	process_refuse(p, true, "the tracer in it ended before it had connected");
}

/* ---- an agent comes and goes --------------------------------------------------------------------------------- */

/* What a process executes under a tree that a message has begun waits for none: it records from its start. */
static uint32_t without_message(uint32_t id)
{
	for (const struct rule *rule = rules_now()->rules; rule; rule = rule->next)
		if (rule->on_message && rule->on_message->id == id)
			return rule->requests[0]->id;
	return id;
}

static void take_follows(struct process *p, const char *text, bool is_forked)
{
	p->talk.nr_follows = 0;
	while (*text && p->talk.nr_follows < FOLLOWS_MAX) {
		char *end;
		uint32_t id = strtoul(text, &end, 10);

		if (end == text)
			return;
		p->talk.follows[p->talk.nr_follows++] = is_forked ? id : without_message(id);
		text = *end ? end + 1 : end;
	}
}

static void adopt(struct process *p, const void *data)
{
	const struct hello *hello = data;
	struct spi_agent *agent = hello->agent;
	uint32_t flags = spi_agent_flags(agent);
	bool came_along = flags & (SPI_HELLO_PRELOADED | SPI_HELLO_FORKED);

	process_set_facts(p, hello->facts);
	p->agent = agent;
	spi_agent_set_user(agent, p);
	if (p->coming == agent)
		p->coming = NULL;
	p->rules_had = RULES_OF_AGENT;
	if (p->registration == REGISTERED_SERVED)
		p->registration = REGISTERED;
	p->served_as = p->facts;
	if (came_along || *spi_agent_follow(agent))
		take_follows(p, spi_agent_follow(agent), flags & SPI_HELLO_FORKED);
	p->is_application |= came_along;
	p->talk.has_unknown_rules |= !!(flags & SPI_HELLO_FORKED);
	p->talk.waits = flags & SPI_HELLO_WAITS ? AGENT_WAITS_BRIEFLY :
			flags & SPI_HELLO_PRELOADED ? AGENT_WAITS : AGENT_RUNS;
	*p->refusal.why = 0;
	p->refusal.failures = 0;
	if (p->talk.waits != AGENT_RUNS && !p->hold.id && !query_idle()) {
		p->hold.query = query_next();
		query_want();
	}
	process_mark(p, MARK_RULES | MARK_JOINED);
}

void process_abandoned(struct process *p)
{
	ended_program(p);
	commands_clear(p);
	applied_clear(p);
	lines_clear(&p->report.declined);
	lines_clear(&p->report.left_out);
	p->report.budget.budget = 0;
	hot_clear(p);
	p->agent = NULL;
	p->talk.waits = AGENT_RUNS;
	p->talk.is_silent = false;
}

static void adopt_another(struct process *p, const void *data)
{
	agent_is_former(p);
	process_abandoned(p);
	adopt(p, data);
}

/*
 * The process became another program, or its agent gave up. As an application it will register again. Under a tree that
 * goes into programs, the new program's agent comes by itself, unless libc was not asked to execute the program: then
 * one is injected.
 */
static void part(struct process *p, const void *data)
{
	static const struct setback executed = {
		.why = "it executed another program, and the tracer in that has not connected yet", .again_ms = EXECUTED_MS,
		.holds = true,
	};
	struct facts facts;
	bool lives;

	p->talk.nr_follows = 0;
	for (const struct applied *a = p->talk.applied; a && p->talk.nr_follows < FOLLOWS_MAX; a = a->next)
		if (a->state == APPLIED_ACTIVE && a->request->follows_exec)
			p->talk.follows[p->talk.nr_follows++] = without_message(a->request->id);
	process_abandoned(p);
	p->facts.read_at = 0;
	/* Rules are for the program that it is now. */
	lives = !facts_read(&facts, p->facts.pid) && *facts.exec && facts.start_time == p->facts.start_time;
	if (lives)
		process_set_facts(p, &facts);
	/* Its registration may have been heard of before this, where it has executed itself. */
	p->is_application = lives && p->registration == REGISTERED_SERVED &&
			    facts_same_program(&p->facts, &p->served_as);
	if (p->talk.nr_follows && !daemon_is_gone())
		process_event(p, EVENT_COMES, &executed);
	process_mark(p, MARK_RULES);
}

/* ---- the table ----------------------------------------------------------------------------------------------- */

/* Not a state but what is under way, now that there is no agent. */
#define UNDER_WAY	NR_PROCESS_STATES

static void nothing(struct process *p, const void *data)
{
}

struct step {
	/* NULL: the event means nothing in this state. */
	void (*action)(struct process *process, const void *data);
	unsigned int next;		/* enum process_state, or UNDER_WAY */
};

static const struct step steps[NR_PROCESS_STATES][NR_PROCESS_EVENTS] = {
	[PROCESS_ALONE] = {
		[EVENT_WANTED]		= { inject,		PROCESS_INJECTING },
		[EVENT_HOPELESS]	= { go_without,		PROCESS_ALONE },
		[EVENT_UNWANTED]	= { reason_clear,	PROCESS_ALONE },
		[EVENT_ENTERS]		= { enter,		PROCESS_ENTERING },
		[EVENT_COMES]		= { put_off,		PROCESS_PUT_OFF },
		[EVENT_FAILED]		= { put_off,		PROCESS_PUT_OFF },
		[EVENT_HELLO]		= { adopt,		PROCESS_SERVED },
		[EVENT_BEGINS]		= { begin,		PROCESS_ALONE },
		[EVENT_AGAIN]		= { reason_clear,	PROCESS_ALONE },
	},
	[PROCESS_INJECTING] = {
		[EVENT_UNWANTED]	= { injection_drop,	PROCESS_ALONE },
		[EVENT_INJECTION_OVER]	= { nothing,		PROCESS_ALONE },
		[EVENT_COMES]		= { put_off,		PROCESS_INJECTING },
		[EVENT_FAILED]		= { put_off,		PROCESS_PUT_OFF },
		[EVENT_HELLO]		= { adopt,		PROCESS_SERVED },
		[EVENT_BEGINS]		= { begin,		PROCESS_INJECTING },
		[EVENT_AGAIN]		= { reason_clear,	PROCESS_INJECTING },
		[EVENT_ENDS]		= { end_early,		PROCESS_INJECTING },
	},
	[PROCESS_ENTERING] = {
		[EVENT_UNWANTED]	= { reason_clear,	PROCESS_ENTERING },
		[EVENT_ENTRY_OVER]	= { entry_lost,		PROCESS_ALONE },
		[EVENT_COMES]		= { put_off,		PROCESS_ENTERING },
		[EVENT_HELLO]		= { adopt,		PROCESS_SERVED },
		[EVENT_BEGINS]		= { begin,		PROCESS_ENTERING },
		[EVENT_AGAIN]		= { reason_clear,	PROCESS_ENTERING },
		[EVENT_ENDS]		= { end_early,		PROCESS_ENTERING },
	},
	[PROCESS_PUT_OFF] = {
		[EVENT_WANTED]		= { inject,		PROCESS_INJECTING },
		[EVENT_HOPELESS]	= { go_without,		PROCESS_PUT_OFF },
		[EVENT_UNWANTED]	= { reason_clear,	PROCESS_ALONE },
		[EVENT_COMES]		= { put_off,		PROCESS_PUT_OFF },
		[EVENT_FAILED]		= { put_off,		PROCESS_PUT_OFF },
		[EVENT_HELLO]		= { adopt,		PROCESS_SERVED },
		[EVENT_BEGINS]		= { begin,		PROCESS_ALONE },
		[EVENT_AGAIN]		= { reason_clear,	PROCESS_ALONE },
	},
	[PROCESS_SERVED] = {
		[EVENT_ENTERS]		= { enter,		PROCESS_SERVED },
		[EVENT_ENTRY_OVER]	= { entry_over,		PROCESS_SERVED },
		[EVENT_HELLO]		= { adopt_another,	PROCESS_SERVED },
		[EVENT_AGENT_OVER]	= { part,		UNDER_WAY },
		[EVENT_BEGINS]		= { begin,		PROCESS_SERVED },
		[EVENT_AGAIN]		= { reason_clear,	PROCESS_SERVED },
	},
};

void process_event(struct process *p, enum process_event event, const void *data)
{
	const struct step *step = &steps[p->state][event];

	if (!step->action)
		return;
	if (step->next != UNDER_WAY)
		p->state = step->next;
	else
		p->state = p->injection ? PROCESS_INJECTING : p->coming ? PROCESS_ENTERING : PROCESS_ALONE;
	step->action(p, data);
}
