/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A client gives the daemon a command, which may stop a session, take a snapshot or rotate. Threads keep compact
 * records back for a twentieth of a second. So the daemon waits while all processes that have such rules write what
 * they have. A process that does not answer in time is named.
 */
#include <string.h>

#include "broker/process/internal.h"

#define ANSWERS_MS	80	/* the daemon waits a little longer */

static struct loop_timer timer;
static uint64_t current;	/* 0: none */

static void flushing_end(void)
{
	loop_timer_cancel(&timer);
	if (current)
		plugin_flushed(current);
	current = 0;
}

static bool is_compact(const struct process *p)
{
	for (const struct applied *a = p->talk.applied; a; a = a->next)
		if (a->state == APPLIED_ACTIVE &&
		    ((a->request->flags & SPI_RULE_COMPACT) || strstr(a->request->text, ";compact")))
			return true;
	return false;
}

static void flushing_late(struct loop_timer *unused)
{
	for (struct process *p = processes; p; p = p->next)
		if (p->agent && p->talk.flushing == current)
			lines_add(&p->report.notes, "it did not write its compact records within %u ms when a client "
				"gave a command: its latest calls may have come too late for that", ANSWERS_MS);
	flushing_end();
}

void flushing_answered(void)
{
	for (const struct process *p = processes; current && p; p = p->next)
		if (p->agent && p->talk.flushing == current)
			return;
	flushing_end();
}

void flushing_begin(uint64_t id)
{
	flushing_end();		/* the daemon does not wait for that any more */
	current = id;
	for (struct process *p = processes; p; p = p->next) {
		p->talk.flushing = 0;
		if (p->agent && is_compact(p) && spi_agent_flush_calls(p->agent, (uint32_t) id) == 0)
			p->talk.flushing = id;
	}
	loop_timer_set(&timer, ANSWERS_MS, flushing_late);
	flushing_answered();
}
