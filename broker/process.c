/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Every process the broker has to do with: one that registered with the daemon,
 * whose agent connected, or whom a rule's scope names.
 *
 * Each is held by a pidfd, so that its number cannot come to mean another while
 * we know it; facts are read after the pidfd was opened and the process was seen
 * alive through it. When it ends, all that is known of it goes, but for what ended.c
 * keeps.
 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "broker/broker.h"
#include "spi-sessiond-plugin/base/ust-threads.h"

#define FORKED_MS	2000	/* it was just forked */

struct process *processes;

/* ---- lines -------------------------------------------------------------------------- */

#define LINES_MOST	(2u << 20)	/* bytes of the lines of one user's processes; root's may have more */
#define LINES_OTHERS	(6u << 20)	/* of those of all users who have no sessions */

/* What a user's processes have told. */
struct told {
	struct told *next;
	uid_t uid;
	size_t bytes;
};
static struct told *told;

/* NULL: there is none, or with `makes` no memory for one. */
static struct told *told_of(uid_t uid, bool makes)
{
	struct told *t = told;

	while (t && t->uid != uid)
		t = t->next;
	if (!t && makes && (t = calloc(1, sizeof(*t)))) {
		t->uid = uid;
		t->next = told;
		told = t;
	}
	return t;
}

static size_t told_by_others(void)
{
	size_t bytes = 0;

	for (const struct told *t = told; t; t = t->next)
		if (!ruleset_has_sessions(broker.rules, t->uid))
			bytes += t->bytes;
	return bytes;
}

static bool may_be_told(struct lines *lines, size_t size)
{
	struct told *t = told_of(lines->uid, false);
	bool is_ours = !lines->uid || lines->uid == geteuid();

	if (!is_ours && (t ? t->bytes : 0) + size > LINES_MOST)
		return false;
	if (!is_ours && !ruleset_has_sessions(broker.rules, lines->uid) && told_by_others() + size > LINES_OTHERS)
		return false;
	if (!t && !(t = told_of(lines->uid, true)))
		return false;
	t->bytes += size;
	lines->bytes += size;
	return true;
}

static void told_less(struct lines *lines)
{
	struct told **at = &told, *t;

	if (!lines->bytes)
		return;
	while ((t = *at)->uid != lines->uid)
		at = &t->next;
	t->bytes -= lines->bytes;
	lines->bytes = 0;
	if (t->bytes)
		return;
	*at = t->next;
	free(t);
}

/* What is there already is not said again: a rule that cannot be is tried whenever the rules have changed. */
void lines_add(struct lines *lines, const char *format, ...)
{
	char text[1024];
	struct line *line;
	va_list args;

	if (lines->more)
		return;		/* nothing finds room any more: agents may say as much as they like */
	if (!lines->last)
		lines->last = &lines->first;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (line = lines->first; line; line = line->next)
		if (!strcmp(line->text, text))
			return;
	line = lines->n < lines->max && may_be_told(lines, strlen(text) + sizeof(*line)) ? malloc(sizeof(*line) + strlen(text) + 1) : NULL;
	if (!line) {
		lines->more = true;
		return;
	}
	strcpy(line->text, text);
	line->next = NULL;
	*lines->last = line;
	lines->last = &line->next;
	lines->n++;
}

void lines_clear(struct lines *lines)
{
	while (lines->first) {
		struct line *line = lines->first;

		lines->first = line->next;
		free(line);
	}
	told_less(lines);
	lines->last = &lines->first;
	lines->n = 0;
	lines->more = false;
}

/* ---- ends ---------------------------------------------------------------------------- */

static void process_ended(struct loop_source *source, uint32_t events)
{
	process_forget(LOOP_OWNER(source, struct process, end));
}

void process_forget(struct process *p)
{
	struct spi_agent *agent = p->agent;

	for (struct process **at = &processes; *at; at = &(*at)->next)
		if (*at == p) {
			*at = p->next;
			break;
		}
	if ((p->injection || p->coming) && !*p->why)
		snprintf(p->why, sizeof(p->why), "it ended before it could be instrumented");
	if (p->scoped && (p->injection || p->coming))
		scope_look_soon();
	injection_drop(p);
	process_expect_no_more(p);
	process_let_go(p);
	if (p->served && !p->registered)
		unheld_served(p);
	process_abandoned(p);
	ended_remember(p);
	if (agent) {
		spi_agent_set_user(agent, NULL);
		spi_agent_close(agent);
	}
	loop_timer_cancel(&p->patience);
	loop_timer_cancel(&p->again);
	loop_remove(&p->end);
	lines_clear(&p->notes);
	free(p);
}

/* ---- finding and making --------------------------------------------------------------- */

struct process *process_find(pid_t pid)
{
	struct process *p = processes;

	while (p && p->facts.pid != pid)
		p = p->next;
	return p;
}

static void name_take(struct process *p)
{
	snprintf(p->name, sizeof(p->name), "%.*s", (int) sizeof(p->name) - 1, p->facts.exec);
}

void process_begins(struct process *p)
{
	*p->why = 0;
	p->failures = 0;
	p->served = p->carries = false;
}

void process_facts_set(struct process *p, const struct facts *facts)
{
	bool is_other = !facts_same_program(&p->facts, facts);

	p->facts = *facts;
	if (!is_other)
		return;
	name_take(p);
	process_begins(p);
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

bool process_may_be_forked(const struct process *p)
{
	const struct process *parent = process_find(p->facts.parent);

	return !p->served && parent && facts_same_program(&parent->facts, &p->facts);
}

bool process_is_forked(const struct process *p)
{
	return process_may_be_forked(p) && spi_control_unborn(broker.control, p->facts.parent, FORKED_MS);
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
	p->first_ahead = ust_thread_stands_ahead(pid);
	p->serial = ++serial;
	p->own = facts_are_own(&p->facts, false);
	p->declined.max = 200;
	p->notes.max = 16;
	p->left_out.max = 400;
	p->declined.uid = p->notes.uid = p->left_out.uid = p->facts.uids[0];
	name_take(p);
	p->next = processes;
	processes = p;
	return p;
}

void processes_apply(void)
{
	for (struct process *p = processes, *next; p; p = next) {
		next = p->next;
		process_apply(p);
	}
}
