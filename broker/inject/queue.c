/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Injections, a few at a time (places.c), each in a process of its own (workers.c).
 *
 * Registrations that are held come first, and among equals the user who has the fewest injections under way. A user
 * who has none has a place beyond those that there are: another user's processes may make each of theirs take as long
 * as it may.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "broker/inject/internal.h"
#include "injector/base/foreign-fd.h"

#define HELD_MS		1200u	/* to look for a safe moment while the registration is held */
#define HELD_AGAIN_MS	10u	/* the same when it has the agent, and its parent's rules, already */
#define FREE_MS		3000u
#define YOUNG_TRIES	3u
#define BROUGHT_TRIES	1u	/* what gets messages has most likely begun */

static struct injection *injections;	/* in the order of their coming */

/* Takes the injection from its worker, and from the process that waits for it, which is returned. */
static struct process *injection_end(struct injection *in)
{
	struct process *p = in->process;

	for (struct injection **at = &injections; *at; at = &(*at)->next)
		if (*at == in) {
			*at = in->next;
			break;
		}
	if (in->worker)
		in->worker->injection = NULL;
	free(in);
	if (p) {
		p->injection = NULL;
		process_event(p, EVENT_INJECTION_OVER, NULL);
	}
	return p;
}

/* The agent comes by itself, or it cannot be brought in. */
static void take_failure(struct process *p, const struct outcome *outcome)
{
	const unsigned int tries = p->brought.kind ? BROUGHT_TRIES : YOUNG_TRIES;
	int ret = outcome->ret;

	/*
	 * It was executed by a traced program, and waits in lttng-ust's constructor. Before main() its agent asks for
	 * its rules.
	 */
	if (ret == -EALREADY) {
		process_comes(p, "the tracer that it was started with has not connected yet");
		return;
	}
	/*
	 * The child of a fork waits for the daemon within fork(), where nothing is safe. The child has its parent's
	 * rules in force, and needs the broker for later changes only.
	 */
	if (outcome->already && p->hold.id && ret == -EAGAIN) {
		const struct process *parent = process_find(p->facts.parent);

		if (parent && parent->rules_had == RULES_OF_AGENT && p->rules_had == RULES_NEVER)
			p->rules_had = RULES_OF_PARENT;
		process_let_go(p);
	}
	/* A program that has just begun may have no libc yet; one of another kind will not get any. */
	process_refuse(p, ret == -ENOTSUP ? p->refusal.failures < tries : ret != -ELIBACC && ret != -ENOENT, "%s",
		       outcome->text);
	if (p->brought.kind)
		process_mark(p, MARK_RULES);	/* a message may wait for it */
}


static void take_agent(struct process *p, bool was_there, int fd)
{
	struct spi_agent *agent;

	if (the_daemon()->is_front_end && fd >= 0) {
		plugin_found(p->facts.pid, p->brought.kind && !p->is_scoped, fd);
		process_handed(p);
		return;
	}
	p->talk.has_unknown_rules = was_there;
	if (p->hold.id)
		room_agent_begins(p);
	agent = fd < 0 ? NULL : spi_control_adopt(agents_control(), fd, p->facts.pid);
	if (agent)
		process_event(p, EVENT_ENTERS, agent);	/* its HELLO follows */
	else
		process_refuse(p, true, "no memory for the connection to the tracer in it");
}

void injection_over(struct injection *in, const struct outcome *outcome, int fd)
{
	uid_t uid = in->uid;
	struct process *p = injection_end(in);

	if (!p) {
		if (fd >= 0)
			spi_foreign_close(fd, true, uid);	/* the agent takes nothing in and goes to sleep */
		return;
	}
	if (outcome->begun && (!outcome->ret || outcome->ret == -EAGAIN) && !p->is_application && !p->hold.id)
		process_slipped(p, "it had begun before it could be stopped at its start");
	if (!outcome->ret)
		take_agent(p, outcome->already, fd);
	else if (outcome->ret == -EINPROGRESS && p->hold.id)
		process_mark(p, MARK_RULES);		/* its registration, which is held, tells when */
	else if (p->agent || p->is_handed)
		return;					/* its agent came meanwhile, by itself */
	else if (outcome->ret == -EINPROGRESS)
		process_comes(p, "it has not registered with the session daemon yet");
	else
		take_failure(p, outcome);
}

/* The next for which there is a place. */
static struct injection *choose(void)
{
	struct injection *best = NULL;
	unsigned int busy = workers_at_work(), best_running = 0, taken = room_taken();
	uid_t rejected = (uid_t) -1;	/* others of the same user wait in a row */

	for (struct injection *in = injections; in; in = in->next) {
		unsigned int n;

		if (in->worker)
			continue;
		n = workers_at_work_of(in->uid);
		/* the first of many has to be no better than the one that is known */
		if (best && !in->process->hold.id == !best->process->hold.id && n >= best_running)
			continue;
		if (busy >= (n ? room_most() : PLACES * room_most()) &&
		    (n || !ruleset_has_sessions(rules_now(), in->uid)))
			continue;
		if (in->uid == rejected)
			continue;
		if (!room_for_agent(in->process, taken) || spi_foreign_has_many(in->uid)) {
			rejected = in->uid;
			continue;
		}
		if (!best || !!in->process->hold.id > !!best->process->hold.id ||
		    (!!in->process->hold.id == !!best->process->hold.id && n < best_running)) {
			best = in;
			best_running = n;
		}
	}
	return best;
}

/*
 * The process as it is now: its program and user ids may have changed since it was first seen. 0, 1: it is another,
 * or a negative errno.
 */
static int facts_now(struct process *p, struct facts *facts)
{
	int ret;

	*facts = p->facts;
	ret = facts_are_fresh(&p->facts) ? 0 : facts_read(facts, p->facts.pid);
	if (!ret && facts->start_time != p->facts.start_time)
		ret = -ESRCH;
	if (ret)
		return ret;
	return memcmp(facts->uids, p->facts.uids, sizeof(facts->uids)) ||
	       (*facts->exec && strcmp(facts->exec, p->facts.exec));
}

static void injection_start(struct injection *in)
{
	struct process *p = in->process;
	bool is_held = p->hold.id;
	struct order order = {
		.deadline_ms = is_held ? HELD_MS : FREE_MS, .again_ms = is_held ? HELD_AGAIN_MS : 0,
		.at_start = p->starts && !is_held ? AT_START : AT_ANY_TIME,
	};
	struct worker *w = NULL;
	int ret = facts_now(p, &order.facts);

	if (ret > 0) {
		process_set_facts(p, &order.facts);
		injection_end(in);
		process_mark(p, MARK_RULES);	/* other rules may concern it */
		return;
	}
	if (!ret && !(w = worker_get(order.facts.uids[0], order.facts.gids[0], order.facts.pid)))
		ret = errno ? -errno : -ENOMEM;
	if (!ret)
		ret = worker_begin(w, in, &order);
	if (ret) {
		injection_end(in);
		process_refuse(p, true, "cannot be injected: %s", strerror(-ret));
		return;
	}
	p->starts = false;
}

bool injections_are_over(void)
{
	return !injections;
}

static bool is_awake;

void injections_wake(void)
{
	is_awake = true;
}

void injections_advance(void)
{
	struct injection *in;

	if (!is_awake)
		return;
	is_awake = false;
	while ((in = choose())) {
		workers_make_room();
		injection_start(in);
	}
}

bool injection_want(struct process *p)
{
	struct injection *in = calloc(1, sizeof(*in)), **at = &injections;

	if (!in)
		return false;
	in->process = p;
	in->uid = p->facts.uids[0];
	p->injection = in;
	while (*at)
		at = &(*at)->next;
	*at = in;
	injections_wake();
	return true;
}

/* One that runs is left to finish: a target must not be let down in the middle. */
void injection_drop(struct process *p)
{
	struct injection *in = p->injection;

	p->injection = NULL;
	if (!in)
		return;
	in->process = NULL;
	if (!in->worker)
		injection_end(in);
}

void injections_stop(void)
{
	workers_stop();
	while (injections)
		injection_end(injections);
}
