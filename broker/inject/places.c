/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * How many programs are injected at a time, and how many agents are at their rules before main().
 *
 * Each is some milliseconds of work for a processor. Where hundreds of programs start at once, they would keep all
 * processors busy for as long as that takes. A client's command would wait for a processor behind them, before the
 * daemon has even heard of the command, so that nothing in the daemon can help. Where others keep the processors busy,
 * too, programs get on by being many: the longer one has waited, the more there may be. One user's agents leave room
 * for another user's first one. With fewer injectors than that, commands would come sooner on such a machine, and some
 * programs too late.
 */
#include <unistd.h>

#include "broker/inject/internal.h"

#define BEGINS_MS	100u	/* so long an injected agent counts as one that is at its rules */
#define WAITS_MS	500u	/* when a program has waited for so long, there may be one more of these for each ... */
#define WAITS_MORE_MS	100u	/* ... that it waits on, */
#define WAITS_LONG_MS	1200u	/* and then any number */

unsigned int room_most(void)
{
	static long cores;	/* the C library opens a file to know */

	if (!cores)
		cores = sysconf(_SC_NPROCESSORS_ONLN);
	return cores < 2 ? 4 : cores > 8 ? 16 : 2 * (unsigned int) cores;
}

static void agent_late(struct loop_timer *timer)
{
	(void) timer;
	injections_wake();
}

static unsigned int agents_begin_of(uid_t uid)
{
	uint64_t now = loop_now();
	unsigned int n = 0;

	for (const struct process *p = processes_first(); p; p = p->next)
		n += p->begins_until > now && p->facts.uids[0] == uid;
	return n;
}

/* Agents that put their rules into force before main(). */
unsigned int room_taken(void)
{
	static struct loop_timer timer;
	uint64_t now = loop_now(), first = 0;
	unsigned int n = 0;

	for (const struct process *p = processes_first(); p; p = p->next)
		if (p->begins_until > now) {
			n++;
			first = !first || p->begins_until < first ? p->begins_until : first;
		}
	loop_timer_cancel(&timer);
	if (first)
		loop_timer_set(&timer, (unsigned int) (first - now), agent_late);
	return n;
}

bool room_for_agent(const struct process *next, unsigned int taken)
{
	uint64_t since = next->hold.since, ms = since ? loop_now() - since : 0;
	uid_t uid = next->facts.uids[0];
	unsigned int more = ms > WAITS_MS ? (ms - WAITS_MS) / WAITS_MORE_MS : 0;

	if (!next->hold.id || ms >= WAITS_LONG_MS || taken < room_most() + more)
		return true;
	return (taken < ROOM_EACH * room_most() || ruleset_has_sessions(rules_now(), uid)) && !agents_begin_of(uid);
}

void room_agent_begins(struct process *p)
{
	p->begins_until = loop_now() + BEGINS_MS;
}

void injection_begun(struct process *p)
{
	if (!p->begins_until)
		return;
	p->begins_until = 0;
	injections_wake();
}
