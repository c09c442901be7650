/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Processes that run on without their agent: they have executed a program, by a system call that
 * is not libc's, or one that cannot load the agent. The summary names them.
 */
#include <stdio.h>
#include <unistd.h>

#include "cli/run/agents-internal.h"
#include "cli/run/report.h"
#include "injector/control/control.h"
#include "injector/procfs/procfs.h"

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
