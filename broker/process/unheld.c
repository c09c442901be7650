/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Programs whose registration was not held though a rule may concern them.
 *
 * A rule names programs by their executable's name, or by what they were started as. The plugin cannot know all of
 * the latter. The broker reads it, but the program runs meanwhile. So the broker says of such a program that its
 * first calls may be missing, and of programs that had ended before they could be looked at, how many there were.
 */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "broker/process/internal.h"
#include "rules/glob.h"

#define SERVED_MAX	64u	/* the latest that have ended */
#define START_MS	1000	/* a program of that age is at its start */

/*
 * That it has registered is told a moment later: by then one that had its rules, as its file's opening had told of
 * it, may have ended.
 */
static pid_t served[SERVED_MAX];
static unsigned int nr_served;

void unheld_served(const struct process *p)
{
	served[nr_served++ % SERVED_MAX] = p->facts.pid;
}

void unheld_ended(const struct spi_broker_app *app)
{
	static unsigned int n;

	for (unsigned int i = 0; i < SERVED_MAX; i++)
		if (served[i] == app->pid) {
			served[i] = 0;
			return;
		}

	for (const struct rule *rule = rules_now()->rules; rule; rule = rule->next)
		if (rule->enabled && rule->wants.asked.exec.count && rule_instruments(rule) &&
		    (!rule->owner || rule->owner == app->uid)) {
			n++;
			broker_note("unheld", "%u program%s ended before the names %s could be read: calls may be missing "
				    "of a rule whose --exec is not an executable's name", n, n == 1 ? "" : "s",
				    n == 1 ? "that it was started by" : "that they were started by");
			return;
		}
}

void unheld_tell(struct process *p, const struct facts *facts, const struct spi_broker_app *app)
{
	struct facts bare = *facts;
	struct timespec now;
	int64_t ms;

	if (!*facts->names.title && !*facts->exec) {		/* a zombie has neither */
		unheld_ended(app);
		return;
	}
	if (spi_glob_match_title(facts->exec, facts->names.title) || clock_gettime(CLOCK_BOOTTIME, &now))
		return;
	ms = now.tv_sec * 1000ll + now.tv_nsec / 1000000 - (int64_t) (facts->start_time * 1000 / sysconf(_SC_CLK_TCK));
	if (ms > START_MS)
		return;		/* it had run before */
	if (!*facts->names.title) {		/* it ended after the other had been read */
		unheld_ended(app);
		return;
	}
	memset(&bare.names, 0, sizeof(bare.names));
	for (const struct rule *rule = rules_now()->rules; rule; rule = rule->next)
		if (rule->enabled && rule->wants.asked.exec.count && rule_concerns(rule, facts, true) &&
		    !rule_concerns(rule, &bare, true)) {
			process_missed(p, "it was not held at its start: a rule names it by the name that it was started by (%.40s), which "
				       "is neither its executable's name nor the process's", facts->names.title);
			return;
		}
}
