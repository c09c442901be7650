/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Whom a rule acts on.
 *
 * Root's rules reach everybody, any other user's only processes that are his in
 * all four user ids: one that is changing them, or was started setuid, is not.
 * Within that, the session's trackers decide as they do in LTTng itself, and the
 * rule's own scope. A rule without scope means the processes that LTTng would
 * trace: those that registered. Programs that such a process executes come under
 * a call tree that follows them, whatever its scope (process_follows()).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "broker/base/base.h"
#include "broker/rules/ruleset.h"
#include "injector/procfs/timed-reader.h"
#include "injector/procfs/procfs.h"
#include "rules/glob.h"

#define FRESH_MS	10u
#define EXECUTES_NS	50000	/* execve() is over then, mostly; */
#define EXECUTES_MOST	4u	/* after so many of them the process is nobody's until it is looked at again */

/* ---- facts ------------------------------------------------------------------------ */

static void take_ids(const char *status, const char *key, unsigned int ids[4])
{
	if (!status || !spi_status_ids(status, key, ids))
		for (int i = 0; i < 4; i++)
			ids[i] = -1u;
}

bool facts_same_program(const struct facts *a, const struct facts *b)
{
	return !strcmp(a->exec, b->exec) && (!a->stack || !b->stack || a->stack == b->stack);
}

bool facts_are_fresh(const struct facts *facts)
{
	return loop_now() - facts->read_at < FRESH_MS;
}

/* 0 also where it may not be read. */
static uint64_t stat_number(const char *stat, unsigned int field)
{
	const char *text = stat ? spi_stat_field(stat, field) : NULL;

	return text ? strtoull(text, NULL, 10) : 0;
}

/*
 * The executable before the stack, and that before the ids: within execve() a process has another executable at once, its new ids later, and
 * a stack last. False: it has none yet. A process may draw this out, so the end is not waited for.
 */
static bool program_read(struct facts *facts, pid_t pid)
{
	char *stat;

	spi_executable_name(facts->exec, sizeof(facts->exec), pid);
	stat = spi_proc_read(NULL, "%d/stat", (int) pid);
	facts->start_time = stat_number(stat, 22);
	facts->stack = stat_number(stat, 28);
	free(stat);
	return facts->stack || !*facts->exec || geteuid();
}

/* It has ended, or is a zombie: root sees the executable and the stack of all others. */
static bool has_no_program(const struct facts *facts)
{
	return !facts->start_time || (!geteuid() && !*facts->exec && !facts->stack);
}

int facts_read(struct facts *facts, pid_t pid)
{
	const struct timespec moment = { .tv_nsec = EXECUTES_NS };
	struct facts now = { 0 };
	bool is_whole = false;
	const char *parent;
	char *status;

	memset(facts, 0, sizeof(*facts));
	facts->pid = pid;
	for (unsigned int i = 0; !(is_whole = program_read(facts, pid)) && i < EXECUTES_MOST; i++)
		nanosleep(&moment, NULL);
	status = spi_proc_read(NULL, "%d/status", (int) pid);
	facts->read_at = loop_now();
	if (!status || !facts->start_time) {
		free(status);
		return -ESRCH;
	}
	take_ids(is_whole ? status : NULL, "Uid", facts->uids);
	take_ids(is_whole ? status : NULL, "Gid", facts->gids);
	facts->inner_pid = spi_status_inner_pid(status, pid);
	parent = spi_status_value(status, "PPid");
	facts->parent = parent ? atoi(parent) : 0;
	free(status);
	/* Where the first such rule comes, all are looked at again (scope.c). */
	if (!nr_exec_rules)
		return 0;
	facts->is_unread = spi_reader_names(&facts->names, pid, facts->uids[0], facts->exec) < 0;
	/*
	 * Names of another program than the ids are of: the process is nobody's until it is looked at again. One that has
	 * ended meanwhile stays whose it was.
	 */
	program_read(&now, pid);
	if (!has_no_program(&now) && !facts_same_program(&now, facts)) {
		take_ids(NULL, "Uid", facts->uids);
		take_ids(NULL, "Gid", facts->gids);
	}
	return 0;
}

/* ---- concerns ----------------------------------------------------------------------- */

static bool tracker_includes(const struct tracker *tracker, int64_t id)
{
	if (!tracker->present || tracker->any)
		return true;
	for (unsigned int i = 0; i < tracker->n; i++)
		if (tracker->ids[i] == id)
			return true;
	return false;
}

bool facts_are_of(const struct facts *facts, uid_t uid)
{
	for (int i = 0; i < 4; i++)
		if (facts->uids[i] != uid)
			return false;
	return true;
}

static bool owner_may(uid_t owner, const struct facts *facts)
{
	return owner ? facts_are_of(facts, owner) : facts->uids[0] != (uid_t) -1;
}

static bool scope_includes(const struct spi_rule *asked, const struct facts *facts)
{
	bool named = !asked->exec.count;

	for (unsigned int i = 0; !named && i < asked->exec.count; i++)
		named = (*facts->exec && spi_glob_match(asked->exec.name[i], facts->exec)) ||
			spi_names_match(&facts->names, asked->exec.name[i]);
	if (!named || !asked->nr_pids)
		return named;
	for (unsigned int i = 0; i < asked->nr_pids; i++)
		if (asked->pids[i] == facts->pid)
			return true;
	return false;
}

bool rule_has_scope(const struct rule *rule)
{
	return rule->wants.asked.nr_pids || rule->wants.asked.exec.count;
}

bool rule_instruments(const struct rule *rule)
{
	return !rule->parsed && !rule->deaf && rule->wants.nr_requests && !(rule->session && *rule->session->why);
}

bool rule_may(const struct rule *rule, const struct facts *facts)
{
	const struct tracker *trackers = rule->session ? rule->session->trackers : NULL;

	return rule_instruments(rule) && owner_may(rule->owner, facts) &&
	       (!trackers || (tracker_includes(&trackers[TRACK_VPID], facts->inner_pid) &&
			      tracker_includes(&trackers[TRACK_VUID], facts->uids[0]) &&
			      tracker_includes(&trackers[TRACK_VGID], facts->gids[0])));
}

bool rule_concerns(const struct rule *rule, const struct facts *facts, bool application)
{
	return rule_may(rule, facts) && (rule_has_scope(rule) ? scope_includes(&rule->wants.asked, facts) : application);
}
