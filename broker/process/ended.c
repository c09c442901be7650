/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What is remembered of processes that have ended.
 *
 * Their traces' holes: the counts of one that lost events, and why the first calls
 * of one may be missing; the last ENDED_MAX of them. How many there were of each session.
 *
 * What was not instrumented in them. A process that runs shows that itself. Of one
 * that ended before anybody looked a line stays for each reason, shared with all processes of the same user and
 * program that ended with it: so a thousand short-lived ones are one line, and
 * there are FAILURES_MAX of them at most. When there are more, those go first in
 * which a rule merely matched nothing, as most rules do in most programs, and
 * among equals the one that was not met for longest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/process/internal.h"

#define NO_MATCH	"no loaded function matches"

static struct ended ended[ENDED_MAX];
static unsigned int nr_ended;		/* ever: the last ENDED_MAX of them are kept, in ended[n % ENDED_MAX] */
static struct failure failures_met[FAILURES_MAX];
static unsigned int nr_failures_met;

unsigned int ended_count(void)
{
	return nr_ended < ENDED_MAX ? nr_ended : ENDED_MAX;
}

const struct ended *ended_at(unsigned int n)
{
	return &ended[(nr_ended - ended_count() + n) % ENDED_MAX];
}

unsigned int failures_count(void)
{
	return nr_failures_met;
}

const struct failure *failure_at(unsigned int n)
{
	return &failures_met[n];
}

/* ---- holes ---------------------------------------------------------------------------- */

struct ended *ended_add(pid_t pid, uid_t uid, const char *name)
{
	struct ended *e = &ended[nr_ended++ % ENDED_MAX];

	memset(e, 0, sizeof(*e));
	e->pid = pid;
	e->uid = uid;
	snprintf(e->name, sizeof(e->name), "%s", name);
	return e;
}

bool ended_has_missed(pid_t pid, uid_t uid)
{
	for (unsigned int i = 0; i < ENDED_MAX && i < nr_ended; i++)
		if (ended[i].pid == pid && ended[i].uid == uid && *ended[i].missed)
			return true;
	return false;
}

static bool has_losses(const volatile struct spi_status_page *counts)
{
	return counts->lost_entries + counts->lost_exits + counts->slots_exhausted != 0;
}

void ended_remember(const struct process *p)
{
	struct ended *e;

	if (!*p->missed && !has_losses(&p->lost))
		return;
	e = ended_add(p->facts.pid, p->facts.uids[0], p->facts.exec);
	memcpy(e->missed, p->missed, sizeof(e->missed));
	e->counts = p->lost;
}

/* ---- what was not instrumented ------------------------------------------------------------ */

static bool failure_is(const struct failure *f, const struct failure *other)
{
	return f->of == other->of && f->uid == other->uid && !strcmp(f->name, other->name) &&
	       !strcmp(f->reason, other->reason);
}

static bool goes_before(const struct failure *f, const struct failure *other)
{
	return f->is_mismatch != other->is_mismatch ? f->is_mismatch : f->used < other->used;
}

/* One thing that one process lacked; `seen` is the number of its end. */
static void failure_add(struct failure *met, uint64_t seen)
{
	struct failure *f = failures_met, *worst = failures_met;

	for (; f < failures_met + nr_failures_met && !failure_is(f, met); f++)
		worst = goes_before(f, worst) ? f : worst;
	if (f == failures_met + nr_failures_met) {
		if (nr_failures_met < FAILURES_MAX)
			nr_failures_met++;
		else if (met->is_mismatch && !worst->is_mismatch)
			return;
		else
			f = worst;
		*f = *met;
		f->processes = f->things = 0;
	}
	if (f->used != seen) {
		f->processes++;
		f->things_here = 0;
		f->last = met->last;
	}
	f->used = seen;
	if (++f->things_here > f->things)
		f->things = f->things_here;
}

/* Without the process's number, which would make each a reason of its own. */
static void reason_set(struct failure *f, const char *text, pid_t pid)
{
	char self[32];
	const char *at, *end;

	snprintf(self, sizeof(self), "process %d (", (int) pid);
	at = strstr(text, self);
	end = at ? strchr(at, ')') : NULL;
	if (end)
		snprintf(f->reason, sizeof(f->reason), "%.*sit%s", (int) (at - text), text, end + 1);
	else
		snprintf(f->reason, sizeof(f->reason), "%s", text);
}

/* Is that told of one of the functions themselves? */
static bool is_of_function(const struct process *p, const char *reason)
{
	for (const struct line *l = p->report.declined.first; l; l = l->next) {
		const char *last = strrchr(l->text, '\t');

		if (last && !strcmp(last + 1, reason))
			return true;
	}
	return false;
}

static void remember_rule(struct failure *f, const struct applied *a, uint64_t seen)
{
	f->of = FAILURE_RULE;
	f->is_mismatch = !strncmp(a->text, NO_MATCH, strlen(NO_MATCH));
	snprintf(f->what, sizeof(f->what), "%s", a->request->text);
	/* That reason ends with the rule, which is said anyway. */
	snprintf(f->reason, sizeof(f->reason), "%s", f->is_mismatch ? NO_MATCH : a->text);
	failure_add(f, seen);
}

/* "OBJECT\tFUNCTION\tREASON" */
static void remember_function(struct failure *f, const char *line, uint64_t seen)
{
	size_t object = strcspn(line, "\t");
	const char *function = line + object + !!line[object], *reason = function + strcspn(function, "\t");

	if (!*reason)
		return;
	f->of = FAILURE_FUNCTION;
	f->is_mismatch = false;
	snprintf(f->what, sizeof(f->what), "%.*s:%.*s", (int) object, line, (int) (reason - function), function);
	snprintf(f->reason, sizeof(f->reason), "%s", reason + 1);
	failure_add(f, seen);
}

static void remember_failures(const struct process *p)
{
	static uint64_t seen;
	struct failure f = { .uid = p->facts.uids[0], .last = p->facts.pid };

	seen++;
	memcpy(f.name, p->facts.exec, sizeof(f.name));
	for (const struct applied *a = p->talk.applied; a; a = a->next)
		if (a->state == APPLIED_FAILED && !is_of_function(p, a->text))
			remember_rule(&f, a, seen);
	for (const struct line *l = p->talk.applied ? p->report.declined.first : NULL; l; l = l->next)
		remember_function(&f, l->text, seen);
	/*
	 * One that had an agent is not to be brought one while it ends, and a short-lived child had its parent's
	 * rules.
	 */
	if (p->rules_had == RULES_NEVER && *p->refusal.why) {
		f.of = FAILURE_PROCESS;
		*f.what = 0;
		reason_set(&f, p->refusal.why, p->facts.pid);
		failure_add(&f, seen);
	}
}

/* ---- a program's end ------------------------------------------------------------------------ */

/* One more in each session that had a rule in force there. There may be thousands of rules: one look at each. */
static void count_for_sessions(const struct process *p)
{
	unsigned char *active = calloc(request_count() + 1, 1);

	for (struct session *s = rules_now()->sessions; s; s = s->next)
		s->counted = false;
	for (const struct applied *a = active ? p->talk.applied : NULL; a; a = a->next)
		active[a->request->index] = a->state == APPLIED_ACTIVE;
	for (const struct rule *rule = active ? rules_now()->rules : NULL; rule; rule = rule->next)
		for (unsigned int i = 0; rule->session && !rule->session->counted && i < rule->wants.nr_requests; i++)
			if (active[rule->requests[i]->index] || (rule->on_message && active[rule->on_message->index])) {
				rule->session->counted = true;
				rule->session->ended++;
			}
	free(active);
}

void ended_program(struct process *p)
{
	const volatile struct spi_status_page *counts = p->agent ? spi_agent_status(p->agent) : NULL;

	if (daemon_is_gone())
		return;
	remember_failures(p);
	if (p->talk.applied)
		count_for_sessions(p);
	/* The connection ends before the process does. */
	if (counts && has_losses(counts))
		p->lost = *counts;
}
