/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Requests to the session daemon's plugin, in the reserved form of rules/event-name.h. The plugin's
 * status socket tells which process has which of them in force: there, the agents' rules show the tags
 * that the forms have.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/say.h"
#include "cli/daemon/directory.h"
#include "cli/rules/status.h"
#include "cli/run/run.h"
#include "cli/run/scope.h"
#include "cli/ui/trace-options.h"
#include "injector/procfs/procfs.h"
#include "injector/procfs/timed-reader.h"
#include "rules/glob.h"
#include "rules/options.h"

int scope_prepare(struct scope *e, const struct trace_options *o)
{
	unsigned int room = o->func_count + o->tree.count, i;
	struct rules_wish wish;
	char why[SPI_RULE_WHY];

	e->options.asked = o->asked;
	e->exec = o->exec;
	if (o->pid_count > SPI_RULE_LIST_MAX) {
		say_error("-p: at most %u processes at once when the session daemon's plugin traces",
			SPI_RULE_LIST_MAX);
		return TRACE_STATUS_ERROR;
	}
	for (i = 0; i < o->pid_count; i++)
		spi_rule_take_pid(&e->options.asked, o->pids[i], why);
	if (o->string_max)
		say_warning("--string-max: not heeded, since the session daemon's plugin traces");
	e->recipes = calloc(room, sizeof(*e->recipes));
	e->counts = calloc(room, sizeof(*e->counts));
	e->titles = calloc(room, sizeof(*e->titles));
	if (!e->recipes || !e->counts || !e->titles) {
		say_error("%s", strerror(ENOMEM));
		return TRACE_STATUS_ERROR;
	}
	for (; rules_wish(o->funcs, o->func_count, &o->tree, e->rows, &wish); e->rows++) {
		e->titles[e->rows] = rules_wish_title(&wish);
		if (rules_check_world(&e->options, &wish) < 0)
			return TRACE_STATUS_ERROR;
		e->counts[e->rows] = rules_recipes(&e->options, &wish, o->asked.one_event, e->recipes[e->rows]);
		if (e->counts[e->rows] < 0)
			return TRACE_STATUS_ERROR;
	}
	return 0;
}

void scope_free(struct scope *e)
{
	unsigned int i;

	for (i = 0; i < e->rows; i++)
		rules_recipes_free(e->recipes[i], e->counts[i]);
	free(e->recipes);
	free(e->counts);
	free(e->titles);
	status_free(&e->before);
}

int scope_status(struct status *status)
{
	int fd = plugin_connect(0), quiet = say_quiet, ret;

	memset(status, 0, sizeof(*status));
	if (fd < 0)
		return -1;
	say_quiet = 1;
	ret = status_read(status, fd);
	say_quiet = quiet;
	return ret < 0 ? -1 : 0;
}

int scope_enable(struct run *run)
{
	struct scope *e = run->data;
	unsigned int i;
	int pass, k, ret = 0;

	scope_status(&e->before);
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < e->rows; i++)
			for (k = 0; ret == 0 && k < e->counts[i]; k++)
				if (rules_is_form(e->recipes[i][k].name) == pass)
					ret = session_enable_filtered(&run->session, e->recipes[i][k].name,
						e->recipes[i][k].filter);
	return ret;
}

/* Has the event rule this tag? */
static int name_has_tag(const char *name, const char *tag)
{
	char room[SPI_EVENT_NAME_MAX + 1], why[SPI_RULE_WHY];
	struct spi_rule rule;

	return spi_event_name_read(name, &rule, room, why) == 0 && !strcmp(rule.tag, tag);
}

/* Which of ours is the agent's rule ("call(...;tag=TAG)", "tree(...)")? -1: none. */
static int applied_row(const struct scope *e, const char *text)
{
	char room[SPI_RULE_TEXT_MAX], why[SPI_RULE_WHY];
	struct spi_rule applied;
	unsigned int i;
	int k;

	if (spi_rule_read(&applied, text, SPI_FORM_AGENT, room, sizeof(room), why) < 0 || !*applied.tag)
		return -1;
	for (i = 0; i < e->rows; i++)
		for (k = 0; k < e->counts[i]; k++)
			if (name_has_tag(e->recipes[i][k].name, applied.tag))
				return (int) i;
	return -1;
}

static int applied_is_ours(const struct scope *e, const char *text)
{
	return applied_row(e, text) >= 0;
}

static int process_is_meant(const struct scope *e, const struct status_record *r)
{
	struct spi_names names;
	unsigned int i;
	int meant = 0;

	spi_reader_names(&names, r->pid, (uid_t) -1, r->field[3]);
	for (i = 0; i < e->options.asked.exec.count; i++) {
		const char *pattern = e->options.asked.exec.name[i];

		meant |= spi_glob_match(pattern, r->field[3]) || spi_names_match(&names, pattern);
	}
	for (i = 0; i < e->options.asked.nr_pids; i++)
		meant |= e->options.asked.pids[i] == r->pid;
	return meant;
}

/* Of the `n` records of one process: how many of our rules have been answered, and how many of those are in force. */
static unsigned int process_answered(const struct scope *e, const struct status_record *first, unsigned int n, unsigned int *active)
{
	unsigned int i, answered = 0;

	*active = 0;
	for (i = 0; i < n; i++) {
		if (!status_is(&first[i], "applied") || !applied_is_ours(e, first[i].field[1]))
			continue;
		*active += !strcmp(first[i].field[2], "active");
		answered += !strcmp(first[i].field[2], "active") || !strcmp(first[i].field[2], "failed");
	}
	return answered;
}

static unsigned int process_records(const struct status_record *first, unsigned int left)
{
	unsigned int n;

	for (n = 0; n < left && first[n].pid == first->pid; n++)
		;
	return n;
}

static const struct status_record *process_head(const struct status_record *first, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n && !status_is(&first[i], "process"); i++)
		;
	return i < n && strcmp(first[i].field[2], "ended") ? &first[i] : NULL;
}

/* A process that was asked for and is not recorded, with the reason. */
static void scope_report_unrecorded(const struct scope *e, const struct status_record *first, unsigned int n, struct report *report)
{
	const struct status_record *head = process_head(first, n);
	unsigned int i, active, answered = process_answered(e, first, n, &active);
	const char *reason = REPORT_NOT_YET;
	char title[300];

	if (!head || !process_is_meant(e, head))
		return;
	report->is_met |= strcmp(head->field[2], "refused") != 0;
	if (active)
		return;
	if (!strcmp(head->field[2], "refused"))
		reason = head->field[4];
	else if (answered == e->rows)
		for (i = 0, reason = ""; i < n && !*reason; i++)
			reason = status_is(&first[i], "applied") && applied_is_ours(e, first[i].field[1]) ? first[i].field[6] : "";
	else if (!answered && strcmp(head->field[2], "waiting") && strcmp(head->field[2], "traced"))
		return;
	snprintf(title, sizeof(title), "%.255s (%d)", head->field[3], (int) head->pid);
	report_unrecorded(report, title, *reason ? reason : "no function of it could be instrumented");
}

/* A process's budget, and then what it leaves out. */
static void scope_report_budget(const struct status_record *r, struct report *report)
{
	if (status_is(r, "budget")) {
		struct budget one = { .told = { (unsigned int) strtoul(r->field[1], NULL, 10), strtoull(r->field[2], NULL, 10),
			strtoull(r->field[3], NULL, 10), strtoull(r->field[4], NULL, 10) } };

		budget_add(&report->budget, &one);
	} else if (status_is(r, "left-out")) {
		const struct spi_left_out_told out = { !strcmp(r->field[1], "out"), strtoull(r->field[2], NULL, 10),
			(unsigned int) strtoul(r->field[3], NULL, 10), r->field[4], r->field[5] };

		budget_left_out(&report->budget, &out);
	}
}

/* The `n` records of one process. */
static void scope_report_process(const struct scope *e, const struct status_record *first, unsigned int n, struct report *report)
{
	unsigned int i;
	int ours = 0;

	scope_report_unrecorded(e, first, n, report);
	for (i = 0; i < n; i++) {
		if (!status_is(&first[i], "applied") || !applied_is_ours(e, first[i].field[1]))
			continue;
		ours |= strcmp(first[i].field[2], "failed") != 0;
		report->functions += strtoull(first[i].field[4], NULL, 10);
	}
	report->processes += (unsigned int) ours;
	report->is_met |= ours;
	if (ours)
		report_process(report, first->pid);
	for (i = 0; ours && i < n; i++) {
		scope_report_budget(&first[i], report);
		if (status_is(&first[i], "counts"))
			report->seen += strtoull(first[i].field[1], NULL, 10) + strtoull(first[i].field[2], NULL, 10) +
				strtoull(first[i].field[3], NULL, 10);
		if (status_is(&first[i], "declined"))
			report_declined(report, first[i].field[1], first[i].field[2], first[i].field[3]);
		else if (status_is(&first[i], "message"))
			report_note(report, first[i].field[1]);
	}
}

/* Was it said before we began? */
static int lacked_is_old(const struct scope *e, const struct status_record *r)
{
	unsigned int i, k;

	for (i = 0; i < e->before.count; i++) {
		const struct status_record *old = &e->before.records[i];

		for (k = 0; status_is(old, "lacked") && k < STATUS_FIELDS && !strcmp(old->field[k], r->field[k]); k++)
			;
		if (k == STATUS_FIELDS)
			return 1;
	}
	return 0;
}

/* What processes lacked that have ended meanwhile. */
static void scope_report_lacked(const struct scope *e, const struct status_record *r, struct report *report)
{
	int meant = 0, is_rule = !strcmp(r->field[4], "rule");
	unsigned int i;
	char note[1024];

	for (i = 0; i < e->options.asked.exec.count; i++)
		meant |= spi_glob_match(e->options.asked.exec.name[i], r->field[1]);
	for (i = 0; i < e->options.asked.nr_pids; i++)
		meant |= e->options.asked.pids[i] == (pid_t) strtol(r->field[3], NULL, 10);
	if (!meant || lacked_is_old(e, r) || (is_rule && !applied_is_ours(e, r->field[5])))
		return;
	status_describe_lacked(r, note, sizeof(note));
	report_note(report, note);
}

/* A FUNC that was asked for and is recorded nowhere. What those that have ended had of it is told by "lacked". */
static void scope_report_rows(const struct scope *e, const struct status *status, struct report *report)
{
	unsigned int row, i;

	for (row = 0; row < e->rows && !report->ended; row++) {
		const char *why = NULL;
		int is_active = 0;

		for (i = 0; i < status->count && !is_active; i++) {
			const struct status_record *r = &status->records[i];

			if (!status_is(r, "applied") || applied_row(e, r->field[1]) != (int) row)
				continue;
			is_active = !strcmp(r->field[2], "active");
			why = !strcmp(r->field[2], "failed") && *r->field[6] ? r->field[6] : "it was still being instrumented when the recording ended";
		}
		if (!is_active)
			report_declined(report, e->exec ? e->exec : "all", e->titles[row],
				why ? why : report->is_met ? "no process could be instrumented" : "no process of that name ran");
	}
}

static void not_known(struct report *report, const char *why)
{
	report_note(report, why);
	report->is_unknown = 1;
}

static const struct status_record *broker_of(const struct status *status)
{
	for (unsigned int i = 0; i < status->count; i++)
		if (status_is(&status->records[i], "broker"))
			return &status->records[i];
	return NULL;
}

/* Does the plugin know of all that it has traced since scope_enable()? */
static void scope_check(const struct scope *e, const struct status *status, const struct session *session, struct report *report)
{
	const struct status_record *began = broker_of(&e->before), *now = broker_of(status);

	if (!session_is_there(session))
		not_known(report, "the session was destroyed by somebody else: it has what was recorded until then");
	else if (began && now && strcmp(began->field[0], now->field[0]))
		not_known(report, "the session daemon's plugin has started its broker again: programs that were traced may not have been "
			"from then on");
}

static void scope_report(const struct scope *e, const struct session *session, struct report *report)
{
	struct status status;
	unsigned int i = 0, n;
	int fd = plugin_connect(0);

	report->by_daemon = 1;
	if (fd < 0 || status_read(&status, fd) < 0) {
		not_known(report, "the session daemon's plugin does not say what it traced: what was recorded is in the trace");
		return;
	}
	scope_check(e, &status, session, report);
	while (i < status.count) {
		const struct status_record *r = &status.records[i];

		if (status_is(r, "note"))
			report_note(report, r->field[0]);
		else if (status_is(r, "lacked"))
			scope_report_lacked(e, r, report);
		else if (status_is(r, "session") && !strcmp(r->field[0], session->name))
			report->ended += (unsigned int) strtoul(r->field[1], NULL, 10);
		report->is_met |= report->ended > 0;
		n = r->pid ? process_records(r, status.count - i) : 1;
		if (r->pid)
			scope_report_process(e, r, n, report);
		i += n;
	}
	if (!report->is_unknown)
		scope_report_rows(e, &status, report);
	status_free(&status);
}

/* What agents tell when a tree ends, of those processes. */
static void scope_report_hot(struct report *report)
{
	struct status status;
	unsigned int i;
	int ret = scope_status(&status);

	for (i = 0; ret == 0 && i < status.count; i++) {
		const struct status_record *r = &status.records[i];

		if (status_is(r, "hot") && report_has_process(report, r->pid))
			hot_add(&report->hot, strtoull(r->field[1], NULL, 10), r->field[2], r->field[3]);
	}
	status_free(&status);
}

void scope_end(const struct scope *e, struct run *run)
{
	unsigned int i;
	int k;

	scope_report(e, &run->session, &run->report);
	for (i = 0; i < e->rows; i++)
		for (k = 0; k < e->counts[i]; k++)
			if (rules_is_form(e->recipes[i][k].name))
				session_disable(&run->session, e->recipes[i][k].name);
	if (run->report.trees && !run->report.is_unknown)
		scope_report_hot(&run->report);
	run->broken |= run->report.is_unknown;
}

/* Every status that a process with an agent of the plugin's, or one on its way, can have. */
static int process_is_driven(const struct status_record *r)
{
	return status_is(r, "process") && (!strcmp(r->field[2], "waiting") || !strcmp(r->field[2], "traced") ||
		!strcmp(r->field[2], "idle"));
}

unsigned int scope_driven(const pid_t *pids, unsigned int count)
{
	struct status status;
	unsigned int i, k, driven = 0;
	int ret = scope_status(&status);

	for (i = 0; ret == 0 && i < status.count; i++)
		for (k = 0; process_is_driven(&status.records[i]) && k < count; k++)
			driven += status.records[i].pid == pids[k];
	status_free(&status);
	return driven;
}

int scope_is_known(const struct scope *e, const struct status *status, const char *session)
{
	unsigned int row, i;
	int k;

	for (row = 0; row < e->rows; row++)
		for (k = 0; k < e->counts[row]; k++) {
			for (i = 0; i < status->count; i++) {
				const struct status_record *r = &status->records[i];

				if (status_is(r, "rule") && !strcmp(r->field[0], session) && !strcmp(r->field[2], e->recipes[row][k].name))
					break;
			}
			if (i == status->count && rules_is_form(e->recipes[row][k].name))
				return 0;
		}
	return 1;
}

unsigned int scope_unsettled(const struct scope *e, const char *session, int soon)
{
	struct status status;
	unsigned int i, n, active, unsettled = 0;
	int ret = scope_status(&status), is_known = ret == 0 && scope_is_known(e, &status, session);

	for (i = 0; is_known && i < status.count; i += n) {
		const struct status_record *r = &status.records[i], *head;

		n = r->pid ? process_records(r, status.count - i) : 1;
		head = r->pid ? process_head(r, n) : NULL;
		if (head && process_is_meant(e, head) && (strcmp(head->field[2], "refused") || (soon && !strcmp(head->field[5], "again"))) &&
		    strcmp(head->field[2], "idle"))
			unsettled += process_answered(e, r, n, &active) < e->rows;
	}
	status_free(&status);
	return ret == 0 && !is_known ? 1 : unsettled;
}
