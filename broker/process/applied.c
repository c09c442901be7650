/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The requests in a process: which ones its agent has, in what state each is, and the difference to what should be
 * there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "broker/process/internal.h"

struct applied *applied_find(const struct process *p, const struct request *request)
{
	struct applied *a = p->talk.applied;

	while (a && a->request != request)
		a = a->next;
	return a;
}

bool applied_any_pending(const struct process *p)
{
	for (const struct applied *a = p->talk.applied; a; a = a->next)
		if (a->pending)
			return true;
	return false;
}

bool applied_lacks(const struct process *p, const unsigned char *want)
{
	for (unsigned int i = 0; i < request_count(); i++) {
		const struct applied *a = want[i] == WANT_ON ? applied_find(p, request_at(i)) : NULL;

		if (want[i] == WANT_ON && (!a || a->state == APPLIED_OFF))
			return true;
	}
	return false;
}

static void applied_free(struct applied *a)
{
	request_put(a->request);
	free(a);
}

void applied_clear(struct process *p)
{
	while (p->talk.applied) {
		struct applied *a = p->talk.applied;

		p->talk.applied = a->next;
		applied_free(a);
	}
}

/* ---- the difference ------------------------------------------------------------------------------------------ */

static void start(struct process *p, struct applied *a)
{
	a->state = APPLIED_ADDING;
	a->pending++;
	/* What its busiest functions are is told of one tree after the other. */
	if (request_is_tree(a->request))
		hot_clear(p);
	command_send(p, a->request, a->known ? COMMAND_ENABLE : COMMAND_ADD);
}

static void put_in(struct process *p, struct request *request, bool on)
{
	struct applied *a = calloc(1, sizeof(*a)), **at = &p->talk.applied;

	if (!a)
		return;
	a->request = request_hold(request);
	while (*at)
		at = &(*at)->next;
	*at = a;
	if (on) {
		start(p, a);
		return;
	}
	a->state = APPLIED_OFF;
	command_send(p, request, COMMAND_DISABLE);
}

/* false: it is to be freed. */
static bool adjust(struct process *p, struct applied *a, unsigned char want)
{
	bool again = a->state == APPLIED_FAILED && p->refusal.serial != rules_now()->serial;

	if (want == WANT_ON && (a->state == APPLIED_OFF || again)) {
		start(p, a);
	} else if (want == WANT_OFF && a->state != APPLIED_OFF) {
		if (a->state != APPLIED_FAILED || a->known)
			command_send(p, a->request, COMMAND_DISABLE);
		a->state = APPLIED_OFF;
	} else if (want == WANT_NOT) {
		if (a->known || a->pending)
			command_send(p, a->request, COMMAND_REMOVE);
		commands_forget(p, a->request);
		return false;
	}
	return true;
}

void applied_adjust(struct process *p, const unsigned char *want)
{
	if (p->talk.has_unknown_rules)
		command_keep(p, want);
	for (struct applied **at = &p->talk.applied; *at;) {
		struct applied *a = *at;

		if (adjust(p, a, want[a->request->index])) {
			at = &a->next;
			continue;
		}
		*at = a->next;
		applied_free(a);
	}
	for (unsigned int i = 0; i < request_count(); i++) {
		struct request *request = want[i] != WANT_NOT ? request_at(i) : NULL;

		if (!request || applied_find(p, request))
			continue;
		if (want[i] == WANT_ON)
			put_in(p, request, true);
		else if (p->talk.has_unknown_rules)
			put_in(p, request, false);	/* its parent may have had it */
	}
	p->talk.has_unknown_rules = false;
	p->refusal.serial = rules_now()->serial;
}

/* ---- answers ------------------------------------------------------------------------------------------------- */

static void take_started(struct process *p, struct applied *a, const struct command *command,
			 const struct spi_msg_rule_done *done, const char *text)
{
	bool waits = done->flags & SPI_DONE_WAITS, other;
	int status = done->status;

	a->pending--;
	a->known = !status || status == -EEXIST || waits;
	a->matched = done->matched;
	a->instrumented = done->instrumented;
	a->declined = done->declined;
	snprintf(a->text, sizeof(a->text), "%s", text);
	if (a->state != APPLIED_ADDING || a->pending)
		return;
	/* A parent's rule, on or off; or one that the agent has lost: once more, the other way. */
	other = command->kind == COMMAND_ADD ? status == -EEXIST : status == -ENOENT && !waits;
	a->state = status ? APPLIED_FAILED : APPLIED_ACTIVE;
	if (other)
		start(p, a);
}

void process_answered(struct process *p, const struct spi_msg_rule_done *done, const char *text)
{
	struct command *command = command_take(p);
	struct applied *a;

	p->talk.is_silent = false;
	if (!command || (command->request ? command->request->id : 0) != done->rule) {
		command_free(command);
		spi_agent_close(p->agent);
		return;
	}
	a = command->request ? applied_find(p, command->request) : NULL;
	if (a && command->kind <= COMMAND_ENABLE)
		take_started(p, a, command, done, text);
	else if (a && command->kind == COMMAND_DISABLE)
		a->known = !done->status;
	command_free(command);
	process_mark(p, MARK_HOLD);
}

/* A library was loaded that has functions of a rule's. */
void process_answered_more(struct process *p, const struct spi_msg_rule_done *more, const char *text)
{
	struct applied *a = p->talk.applied;

	while (a && a->request->id != more->rule)
		a = a->next;
	if (!a)
		return;
	a->matched += more->matched;
	a->instrumented += more->instrumented;
	a->declined += more->declined;
	if (a->state == APPLIED_FAILED || *text)
		snprintf(a->text, sizeof(a->text), "%s", text);
	if (a->state == APPLIED_FAILED && more->instrumented)
		a->state = APPLIED_ACTIVE;
}
