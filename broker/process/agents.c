/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The connections of agents: of those that were injected, and of those that come to the broker's socket.
 *
 * Anybody may connect to the socket. A connection speaks for the process that the kernel names at its other end. What
 * the agent says of itself counts for nothing, but which trees followed it there. So the most that a liar can get is
 * the rules that concern the liar's own process, or may concern a program that another process executes. The
 * connections of one user are counted, so that one user cannot use up all of the broker's.
 *
 * A process may have become another user since it connected, and left its connection with a child. So a connection is
 * told no rule and given no code map unless its process has in all ids the user who connected. As another user the
 * process makes another connection.
 *
 * A connection outlives the process that made it when a child of that process has it, too. The number of the process
 * may then be another user's. So the process must be there still when the broker holds the process of that number by
 * a pidfd: then the two are one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker/process/internal.h"
#include "injector/base/foreign-fd.h"

#define GUESTS_MAX	512u	/* connections of one user */
#define FORKED_MS	2000u	/* it was just forked */
#define DETACH_MS	2000u
#define HEAR_MS		50u	/* an agent that never stops to say something is not waited for */

/* A connection that came by the socket. */
struct guest {
	struct guest *next;
	struct spi_agent *agent;
	uid_t uid;
};

static struct spi_control *control;
static struct guest *guests;
static struct loop_source listener = { .fd = -1 }, control_source = { .fd = -1 };
static struct loop_timer detach_timer;

/* ---- what agents say ------------------------------------------------------------------ */

/*
 * One dispatch takes many connections, and some users may give the broker much to do there. So a process is looked at
 * as soon as its agent has come, or has answered all, and not only when all connections have been heard.
 */

/* A forked child is often about to become another user, and comes as that one later: look.c tells it nothing before. */
static bool may_speak(const struct process *p, const struct spi_agent *agent, const struct facts *facts)
{
	return facts_are_of(facts, spi_agent_uid(agent)) ||
	       (spi_agent_flags(agent) & SPI_HELLO_FORKED && spi_agent_is_child(agent) && !p->agent);
}

static void on_hello(struct spi_agent *agent, void *data)
{
	struct process *p = process_get(spi_agent_pid(agent), -1);
	struct facts facts;

	/* What was read a moment ago may be of the program before. */
	if (!p || daemon_is_gone() || facts_read(&facts, p->facts.pid) || facts.start_time != p->facts.start_time ||
	    facts.start_time != spi_agent_start_time(agent) || !may_speak(p, agent, &facts) ||
	    !spi_agent_lives(agent)) {
		spi_agent_close(agent);
		return;
	}
	process_event(p, EVENT_HELLO, &(struct hello) { .agent = agent, .facts = &facts });
	processes_look();
}

static int has_sessions(uid_t uid, void *data)
{
	return ruleset_has_sessions(rules_now(), uid);
}

static void on_renewed(struct spi_agent *agent, void *data)
{
	struct process *p = spi_agent_user(agent);
	struct facts facts;

	if (!p || facts_read(&facts, p->facts.pid) || facts.start_time != p->facts.start_time)
		return;
	process_set_facts(p, &facts);
	process_mark(p, MARK_RULES);
}

static void on_rule_done(struct spi_agent *agent, const struct spi_msg_rule_done *done, const char *text, void *data)
{
	struct process *p = spi_agent_user(agent);

	if (!p)
		return;
	process_answered(p, done, text);
	if (!p->talk.nr_commands)
		processes_look();
}

static void on_rule_more(struct spi_agent *agent, const struct spi_msg_rule_done *more, const char *text, void *data)
{
	struct process *p = spi_agent_user(agent);

	if (p)
		process_answered_more(p, more, text);
}

static void on_declined(struct spi_agent *agent, const char *object, const char *function, const char *reason,
			void *data)
{
	struct process *p = spi_agent_user(agent);

	if (p)
		lines_add(&p->report.declined, "%s\t%s\t%s", object, function, reason);
}

static void on_note(struct spi_agent *agent, const char *text, void *data)
{
	struct process *p = spi_agent_user(agent);

	if (p)
		lines_add(&p->report.notes, "%s", text);
}

static void on_hot(struct spi_agent *agent, uint64_t count, const char *object, const char *function, void *data)
{
	struct process *p = spi_agent_user(agent);

	if (p)
		hot_add(p, count, object, function);
}

static void on_flushed(struct spi_agent *agent, uint32_t id, void *data)
{
	struct process *p = spi_agent_user(agent);

	if (!p || (uint32_t) p->talk.flushing != id)
		return;
	p->talk.flushing = 0;
	flushing_answered();
}

static void on_closed(struct spi_agent *agent, uint32_t id, void *data)
{
	struct process *p = spi_agent_user(agent);

	if (!p)
		return;
	p->talk.is_silent = false;
	if (p->talk.closing == id)
		p->talk.closing = 0;
}

static void on_budget(struct spi_agent *agent, const struct spi_budget_told *told, void *data)
{
	struct process *p = spi_agent_user(agent);

	if (!p)
		return;
	p->report.budget = *told;
	lines_clear(&p->report.left_out);
}

static void on_left_out(struct spi_agent *agent, const struct spi_left_out_told *told, void *data)
{
	struct process *p = spi_agent_user(agent);

	if (p)
		lines_add(&p->report.left_out, "%s\t%llu\t%u\t%s\t%s", told->is_out ? "out" : "back",
			(unsigned long long) told->calls, told->share, told->object, told->function);
}

static void on_peer_request(struct spi_agent *agent, uint32_t id, const struct spi_msg_peer_request *request, void *data)
{
	struct process *p = spi_agent_user(agent);

	if (p && p->agent == agent)
		process_hooks.asked(p, id, request);
	else
		spi_agent_peers(agent, id, &(struct spi_msg_peers) { .status = -EPERM }, "");
}

static void on_channel_done(struct spi_agent *agent, uint32_t id, const struct spi_msg_channel_done *done, void *data)
{
	struct process *p = spi_agent_user(agent);

	if (p && p->agent == agent)
		process_hooks.told(p, id, done->status);
}

static void on_gone(struct spi_agent *agent, void *data)
{
	struct process *p = spi_agent_user(agent);
	struct guest *guest;

	process_hooks.agent_over(agent);
	for (struct guest **at = &guests; (guest = *at); at = &guest->next)
		if (guest->agent == agent) {
			*at = guest->next;
			free(guest);
			break;
		}
	if (!p)
		return;
	if (agent == p->coming) {
		process_event(p, EVENT_ENTRY_OVER, NULL);
		return;
	}
	process_event(p, EVENT_AGENT_OVER, NULL);
	flushing_answered();
}

/* ---- the socket ------------------------------------------------------------------------- */

static unsigned int guests_of(uid_t uid)
{
	unsigned int n = 0;

	for (const struct guest *guest = guests; guest; guest = guest->next)
		n += guest->uid == uid;
	return n;
}

static void listener_ready(struct loop_source *source, uint32_t events)
{
	int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred peer = { .uid = (uid_t) -1 };
	socklen_t size = sizeof(peer);
	struct guest *guest;

	if (fd < 0)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || peer.pid <= 0 ||
	    guests_of(peer.uid) >= GUESTS_MAX || (!broker_is_root() && peer.uid != geteuid()) ||
	    !(guest = calloc(1, sizeof(*guest)))) {
		spi_foreign_close(fd, false, peer.uid);
		return;
	}
	guest->agent = spi_control_accept(control, fd, peer.pid);
	if (!guest->agent) {
		free(guest);
		return;
	}
	guest->uid = peer.uid;
	guest->next = guests;
	guests = guest;
}

static void control_ready(struct loop_source *source, uint32_t events)
{
	spi_control_dispatch(control);
	children_reap();
}

/* A dispatch takes some of those that are ready, the next one others. */
void agents_hear(void)
{
	uint64_t until = loop_now() + HEAR_MS;

	while (spi_control_dispatch(control) > 0 && loop_now() < until)
		;
	processes_look();
}

struct process *process_hear_agents(const struct process *process)
{
	uint64_t serial = process->serial;
	struct process *p;

	agents_hear();
	for (p = processes; p && p->serial != serial; p = p->next)
		;
	return p;
}

int agents_open(void)
{
	static const struct spi_control_ops ops = {
		.has_sessions = has_sessions, .on_hello = on_hello, .on_renewed = on_renewed,
		.on_rule_done = on_rule_done, .on_rule_more = on_rule_more, .on_declined = on_declined,
		.on_note = on_note, .on_hot = on_hot, .on_flushed = on_flushed, .on_closed = on_closed,
		.on_budget = on_budget, .on_left_out = on_left_out, .on_peer_request = on_peer_request,
		.on_channel_done = on_channel_done, .on_gone = on_gone,
	};
	int ret = spi_control_create(&control, &ops, NULL), fd;

	if (ret)
		return ret;
	spi_control_welcome(control, SPI_WELCOME_CHILDREN, 0);
	/* The source owns a duplicate: the set closes its own. */
	fd = dup(spi_control_fd(control));
	if (fd < 0)
		return -errno;
	ret = loop_add(&control_source, fd, EPOLLIN, control_ready);
	if (ret)
		close(fd);
	return ret;
}

int agents_listen(int fd)
{
	int ret = loop_add(&listener, fd, EPOLLIN, listener_ready);

	if (ret)
		close(fd);
	return ret;
}

/* ---- the end ------------------------------------------------------------------------------ */

static void detach_late(struct loop_timer *timer)
{
	for (struct spi_agent *agent = NULL; (agent = spi_control_next(control, agent));)
		spi_agent_close(agent);
}

void agents_detach_all(void)
{
	loop_remove(&listener);
	for (struct spi_agent *agent = NULL; (agent = spi_control_next(control, agent));)
		spi_agent_detach(agent);
	loop_timer_set(&detach_timer, DETACH_MS, detach_late);
}

void agents_close(void)
{
	spi_control_destroy(control);
}

struct spi_control *agents_control(void)
{
	return control;
}

bool process_is_forked(const struct process *p)
{
	return process_may_be_forked(p) && spi_control_unborn(agents_control(), p->facts.parent, FORKED_MS);
}
