/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The table of processes, which of them are marked to be looked at, and what rooms above are asked for. */
#include "broker/process/internal.h"

struct process *processes;

struct process *processes_first(void)
{
	return processes;
}

struct process *process_find(pid_t pid)
{
	struct process *p = processes;

	while (p && p->facts.pid != pid)
		p = p->next;
	return p;
}

struct process_hooks process_hooks;

void processes_set_hooks(const struct process_hooks *hooks)
{
	process_hooks = *hooks;
}

/* ---- marks --------------------------------------------------------------------------------------------------- */

static struct process *marked, **marked_end = &marked;

void process_mark(struct process *p, unsigned int marks)
{
	if (!p->marks) {
		p->next_marked = NULL;
		*marked_end = p;
		marked_end = &p->next_marked;
	}
	p->marks |= marks;
}

void process_unmark(struct process *p)
{
	struct process **at = &marked;

	if (!p->marks)
		return;
	while (*at != p)
		at = &(*at)->next_marked;
	*at = p->next_marked;
	if (!*at)
		marked_end = at;
	p->marks = 0;
}

void processes_mark(void)
{
	for (struct process *p = processes; p; p = p->next)
		process_mark(p, MARK_RULES);
}

bool processes_are_marked(void)
{
	return marked != NULL;
}

struct process *processes_take_marked(void)
{
	struct process *taken = marked;

	marked = NULL;
	marked_end = &marked;
	return taken;
}
