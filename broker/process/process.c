/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Processes come and end: each one that registered with the session daemon, whose agent connected, or that a rule's
 * scope names.
 *
 * Each is held by a pidfd, so that its number cannot come to mean another process while it is known. Facts are read
 * after the pidfd was opened and the process was seen alive through it. When the process ends, all that is known of
 * it goes, but for what ended.c keeps.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "broker/process/internal.h"
#include "spi-sessiond-plugin/base/ust-threads.h"

/* ---- ends ---------------------------------------------------------------------------- */

static void process_ended(struct loop_source *source, uint32_t events)
{
	process_forget(LOOP_OWNER(source, struct process, end));
}

/* A front end is told of each that it was to find and does not get. What came of the others it has heard. */
static void lack_tell(const struct process *p)
{
	const bool is_tried = p->state == PROCESS_INJECTING || p->state == PROCESS_ENTERING ||
			      (p->state == PROCESS_PUT_OFF && p->refusal.again.armed);

	/* of one that a message was for, the answer says it */
	if (the_daemon()->is_front_end && is_tried && !(p->brought.kind && !p->is_scoped))
		plugin_lacks(p->facts.pid, p->facts.exec, false, "it ended before the tracer was in it");
}

void process_forget(struct process *p)
{
	struct spi_agent *agent = p->agent;

	for (struct process **at = &processes; *at; at = &(*at)->next)
		if (*at == p) {
			*at = p->next;
			break;
		}
	process_unmark(p);
	lack_tell(p);
	process_hooks.ends(p);
	process_event(p, EVENT_ENDS, NULL);
	process_hooks.drop(p);
	process_expect_no_more(p);
	process_let_go(p);
	if (p->rules_had == RULES_OF_AGENT && p->registration == REGISTERED_NEVER)
		unheld_served(p);
	process_abandoned(p);
	ended_remember(p);
	if (agent) {
		spi_agent_set_user(agent, NULL);
		spi_agent_close(agent);
	}
	loop_timer_cancel(&p->hold.patience);
	loop_timer_cancel(&p->refusal.again);
	loop_remove(&p->end);
	lines_clear(&p->report.notes);
	free(p);
}

void processes_forget(void)
{
	while (processes)
		process_forget(processes);
}

/* ---- finding and making --------------------------------------------------------------- */

static void name_take(struct process *p)
{
	snprintf(p->name, sizeof(p->name), "%.*s", (int) sizeof(p->name) - 1, p->facts.exec);
}

void process_set_facts(struct process *p, const struct facts *facts)
{
	bool is_other = !facts_same_program(&p->facts, facts);

	p->facts = *facts;
	if (!is_other)
		return;
	name_take(p);
	process_event(p, EVENT_BEGINS, NULL);
}

bool process_may_be_forked(const struct process *p)
{
	const struct process *parent = process_find(p->facts.parent);

	return p->rules_had != RULES_OF_AGENT && parent && facts_same_program(&parent->facts, &p->facts);
}

static bool is_alive(int pidfd)
{
	struct pollfd polled = { .fd = pidfd, .events = POLLIN };

	return !poll(&polled, 1, 0);
}

struct process *process_get(pid_t pid, int pidfd)
{
	static uint64_t serial;
	struct process *p = process_find(pid);

	/* A known one that has ended: its number may be another's by now. */
	if (p && !is_alive(p->end.fd)) {
		process_forget(p);
		p = NULL;
	}
	if (p) {
		/* Whose pidfd it is may have ended, and the one that we know have the number since. */
		if (pidfd >= 0 && !is_alive(pidfd))
			p = NULL;
		if (pidfd >= 0)
			close(pidfd);
		return p;
	}
	if (pidfd < 0)
		pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p || facts_read(&p->facts, pid) || !is_alive(pidfd) || loop_add(&p->end, pidfd, EPOLLIN, process_ended)) {
		close(pidfd);
		free(p);
		return NULL;
	}
	p->was_ahead = ust_thread_stands_ahead(pid);
	p->serial = ++serial;
	p->is_own = facts_are_own(&p->facts, false);
	p->report.declined.max = 200;
	p->report.notes.max = 16;
	p->report.left_out.max = 400;
	p->report.declined.uid = p->report.notes.uid = p->report.left_out.uid = p->facts.uids[0];
	name_take(p);
	p->next = processes;
	processes = p;
	return p;
}
