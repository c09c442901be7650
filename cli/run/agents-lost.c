/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Programs that are not traced. Some run on without their agent: they have executed a program, by a system call that
 * is not libc's, or one that cannot load the agent. Some run without what was asked for. The summary names them, or a
 * line at once.
 */
#include <stdio.h>
#include <unistd.h>

#include "cli/base/say.h"
#include "cli/functions/func.h"
#include "cli/run/agents-internal.h"
#include "cli/run/report.h"
#include "cli/ui/tree-options.h"
#include "injector/control/control.h"
#include "injector/procfs/procfs.h"

#define AGENTS_LEFT_SAID 20u

void agents_lost_add(struct agents *a, const struct spi_agent *agent)
{
	struct spi_agent *other = NULL;
	char path[64];
	ssize_t n;

	while ((other = spi_control_next(a->control, other)))
		if (other != agent && spi_agent_pid(other) == spi_agent_pid(agent))
			return;
	if (a->lost_count == sizeof(a->lost) / sizeof(a->lost[0]) ||
	    spi_process_start_time(spi_agent_pid(agent)) != spi_agent_start_time(agent))
		return;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int) spi_living_thread(spi_agent_pid(agent)));
	n = readlink(path, a->lost[a->lost_count].exe, sizeof(a->lost[0].exe) - 1);
	if (n <= 0)
		return;
	a->lost[a->lost_count].exe[n] = 0;
	a->lost[a->lost_count++].pid = spi_agent_pid(agent);
}

void agents_lost_forget(struct agents *a, pid_t pid)
{
	for (unsigned int i = 0; i < a->lost_count; i++)
		if (a->lost[i].pid == pid)
			a->lost[i--] = a->lost[--a->lost_count];
}

void agents_lost_report(struct agents *a)
{
	char text[400];

	for (unsigned int i = 0; i < a->lost_count; i++) {
		snprintf(text, sizeof(text), "not followed: %s: it was executed without the tracer", a->lost[i].exe);
		report_note(a->report, text);
	}
	a->lost_count = 0;
}

void agents_say_left(struct agents *a, const char *name, pid_t pid, const char *why)
{
	if (++a->left <= AGENTS_LEFT_SAID)
		say_warning("%s (%d) runs without: %s", name, (int) pid, why);
	else if (a->left == AGENTS_LEFT_SAID + 1)
		say_warning("more programs run without: they are counted");
}

unsigned int agents_say_absent(const struct agents *a)
{
	unsigned int i, n = 0;

	for (i = 0; i < a->func_count; i++)
		if (a->funcs[i].is_late && !a->funcs[i].is_optional && !a->found[i] && !(a->funcs[i].tree && a->report->functions)) {
			say_error("%s: no program that ran has it: it was not traced", tree_title(a->funcs[i].text));
			n++;
		}
	return n;
}
