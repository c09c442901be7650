/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the plugin tells of a process: that it registers with the session daemon, and how long it may be held. */
#include <stdio.h>
#include <string.h>

#include "broker/process/internal.h"
#include "injector/procfs/procfs.h"
#include "spi-sessiond-plugin/base/ust-threads.h"

/* A process that is known may be another program, or another user, by now. */
static void facts_renew(struct process *p, struct facts *facts)
{
	*facts = p->facts;
	if (!p->is_application && !p->agent && facts_are_fresh(facts))
		return;
	if (facts_read(facts, p->facts.pid) || facts->start_time != p->facts.start_time)
		return;
	/* The former program's connection is open still where a child has it, too. */
	if (p->agent && *facts->exec && !facts_same_program(facts, &p->served_as)) {
		agent_is_former(p);
		process_event(p, EVENT_AGENT_OVER, NULL);
		flushing_answered();
		processes_look();
	}
	if (memcmp(facts->uids, p->facts.uids, sizeof(facts->uids)))
		process_event(p, EVENT_BEGINS, NULL);
	process_set_facts(p, facts);
}

static void hold(struct process *p, const struct facts *facts, const struct spi_broker_app *app)
{
	if (p->hold.id && p->hold.id != app->id)
		plugin_release(p->hold.id);
	p->hold.id = app->id;
	/*
	 * A command before it may have made a rule that the broker has not heard of: the daemon's next answer
	 * decides.
	 */
	p->hold.query = query_idle() && app->generation <= query_generation() && table_matches(facts) ? 0 :
			query_next();
	if (p->hold.query)
		query_want();
}

/* A program that begins does not wait for what was to be tried again later. */
static void try_now(struct process *p)
{
	if (!p->refusal.again.armed)
		return;
	loop_timer_cancel(&p->refusal.again);
	process_event(p, EVENT_AGAIN, NULL);
}

/*
 * The child of a fork that registers while it is within fork(): its parent has told of the child before there was
 * one. An injection that has begun finds no safe moment in such a child, and is not waited for. *p: as of
 * process_hear_agents().
 */
static bool is_within_fork(struct process **p)
{
	if ((*p)->agent || (*p)->coming)
		return false;
	*p = process_hear_agents(*p);
	return *p && process_is_forked(*p);
}

static void registered_held(struct process *p, const struct facts *facts, const struct spi_broker_app *app,
			    bool is_first)
{
	bool is_forked;

	try_now(p);
	/* Its agent itself has loaded lttng-ust, and waits for this registration: nothing is to come before it. */
	if (p->agent) {
		plugin_release(app->id);
		process_mark(p, MARK_RULES);
		return;
	}
	snprintf(p->name, sizeof(p->name), "%.*s", (int) sizeof(app->name) - 1, app->name);
	is_forked = is_first && is_within_fork(&p);
	if (!p || is_forked) {
		plugin_release(app->id);
		if (p)
			process_comes_forked(p);
		return;
	}
	hold(p, facts, app);
	process_mark(p, MARK_RULES);
}

static void registered_free(struct process *p, const struct facts *facts, const struct spi_broker_app *app)
{
	if (!p->agent && !p->coming && !p->injection)
		unheld_tell(p, facts, app);
	if (!p->agent)
		snprintf(p->name, sizeof(p->name), "%.*s", (int) sizeof(app->name) - 1, app->name);
	process_mark(p, MARK_RULES);
}

void process_registered(const struct spi_broker_app *app, int pidfd, bool is_held)
{
	struct process *p = process_get(app->pid, pidfd);
	struct facts facts;
	bool is_first;

	if (!p && !is_held)
		unheld_ended(app);
	if (p && (p->agent || p->coming))
		p = process_hear_agents(p);	/* the end of the former program's connection */
	if (!p) {
		if (is_held)
			plugin_release(app->id);
		return;
	}
	facts_renew(p, &facts);
	is_first = p->registration == REGISTERED_NEVER;
	p->is_application = true;
	p->registration = p->agent ? REGISTERED_SERVED : REGISTERED;
	if (is_held)
		registered_held(p, &facts, app, is_first);
	else
		registered_free(p, &facts, app);
}

void registration_expired(uint64_t id)
{
	for (struct process *p = processes; p; p = p->next)
		if (p->hold.id == id) {
			process_let_go_late(p, "it was held at its start for as long as is allowed, and its rules were not in force");
			return;
		}
}

void registration_late(const struct spi_broker_late *late)
{
	static const char text[] = "the session daemon accepted it %u ms after its start; lttng-ust waits 3 s, "
				   "or as LTTNG_UST_REGISTER_TIMEOUT says";
	struct process *p = process_find(late->pid);
	struct ended *e;
	size_t n;

	if (p) {
		process_missed(p, text, late->ms);
		return;
	}
	if (ended_has_missed(late->pid, late->uid))
		return;
	e = ended_add(late->pid, late->uid, "");
	snprintf(e->name, sizeof(e->name), "%.*s", (int) sizeof(late->name) - 1, late->name);
	n = snprintf(e->missed, sizeof(e->missed), MISSED_PREFIX);
	snprintf(e->missed + n, sizeof(e->missed) - n, text, late->ms);
	missed_count();
}

/* The daemon may have ended in the middle of a turn, for which it put the application first in line. */
void registrations_put_back(void)
{
	for (const struct process *p = processes; p; p = p->next)
		if (p->registration != REGISTERED_NEVER && spi_process_start_time(p->facts.pid) == p->facts.start_time)
			ust_threads_back(p->facts.pid, !p->was_ahead);
}
