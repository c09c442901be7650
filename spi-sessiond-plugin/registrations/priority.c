/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The application whose turn it is goes first in line for a processor.
 *
 * While the daemon works through a registration, it asks a thread of the application a dozen
 * questions one after the other, and holds a lock that every client command wants. Where hundreds of
 * programs are started at once, each answer would wait until that thread gets a processor, a hundred
 * milliseconds for a turn of two. So lttng-ust's threads in that application are put ahead of
 * ordinary ones from the moment when the registration is played back until its turn is over.
 *
 * A program could give threads of its own such names, and compute in them. So what they may use
 * ahead of others is limited: after LIMIT_NS in a turn they are put back, and the programs of their
 * user stay where they are for a while. The plugin's thread stands ahead of them, or it would not
 * get to do that. Such a thread must not execute another program either: the program would keep the
 * place, under the number of the process's first thread. So the first thread is looked at as well,
 * unless it had such a place of its own.
 *
 * Should the daemon be killed, the broker puts the threads back (broker/process/registration.c). Should both be
 * killed, the application's next turn does. A daemon that has not the right to this does without.
 * Everything here is the plugin thread's.
 */
#include <sched.h>

#include "spi-sessiond-plugin/base/base.h"
#include "spi-sessiond-plugin/base/ust-threads.h"
#include "spi-sessiond-plugin/registrations/registrations.h"

#define AHEAD_MAX	16	/* more than there are turns at a time */
#define LOOK_MS		20
#define LIMIT_NS	20000000u	/* of processor time; lttng-ust takes one or two */
#define AHEAD_MS	300	/* and no longer than this, whatever the daemon waits for */
#define REFUSED_MAX	16
#define REFUSED_MS	10000

static struct ahead {
	pid_t pid;		/* 0: free */
	uid_t uid;
	int64_t started;	/* which process of that number */
	bool first;		/* its first thread stood there before */
	unsigned int nr;
	pid_t tids[UST_THREADS_MAX];
	uint64_t before[UST_THREADS_MAX];	/* their processor time */
	int64_t since;
} aheads[AHEAD_MAX];
static unsigned int nr_ahead;

static struct {
	uid_t uid;
	int64_t until;
} refused[REFUSED_MAX];

/* This thread's own place. False: we may not do that, and so not with others either. */
static bool self_ahead(bool ahead)
{
	const struct sched_param above = { .sched_priority = 2 }, ordinary = { 0 };
	static bool may_not;

	if (!ahead)
		return !sched_setscheduler(0, SCHED_OTHER, &ordinary);
	if (!may_not && (sched_getscheduler(0) != SCHED_OTHER ||
			 sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &above)))
		may_not = true;
	return !may_not;
}

static bool is_refused(uid_t uid, int64_t now)
{
	for (unsigned int i = 0; i < REFUSED_MAX; i++) {
		if (refused[i].until > now && refused[i].uid == uid)
			return true;
	}
	return false;
}

static void refuse(uid_t uid, int64_t now)
{
	unsigned int oldest = 0;

	for (unsigned int i = 0; i < REFUSED_MAX; i++) {
		if (refused[i].until < refused[oldest].until)
			oldest = i;
	}
	refused[oldest].uid = uid;
	refused[oldest].until = now + REFUSED_MS;
}

/* Has it used, since it was put ahead, more than it may? */
static bool ahead_computes(const struct ahead *a)
{
	uint64_t used = 0, ns;

	for (unsigned int i = 0; i < a->nr; i++) {
		/* gone: uses no more */
		if (ust_thread_time(a->pid, a->tids[i], &ns) && ns > a->before[i])
			used += ns - a->before[i];
	}
	return used >= LIMIT_NS;
}

/* Its first thread stands ahead: it was put there, or one that was has executed a program, and is the first now. */
static bool ahead_first(const struct ahead *a)
{
	for (unsigned int i = 0; i < a->nr; i++) {
		if (a->tids[i] == a->pid)
			return false;
	}
	return !a->first && ust_thread_stands_ahead(a->pid);
}

static void ahead_over(struct ahead *a)
{
	if (process_ticks(a->pid) == a->started) {
		for (unsigned int i = 0; i < a->nr; i++)
			ust_thread_back(a->pid, a->tids[i]);
		/* The last: whichever is gone by now can be this one, and by nothing else get away. */
		if (!a->first)
			ust_thread_back(a->pid, a->pid);
	}
	a->pid = 0;
	if (!--nr_ahead)
		self_ahead(false);
}

void ahead_take(pid_t pid, uid_t uid, int64_t now)
{
	pid_t tids[UST_THREADS_MAX];
	struct ahead *a = NULL;
	unsigned int n;

	if (is_refused(uid, now))
		return;
	for (unsigned int i = 0; i < AHEAD_MAX; i++) {
		if (aheads[i].pid == pid)
			return;
		if (!aheads[i].pid)
			a = &aheads[i];
	}
	if (!a || (!nr_ahead && !self_ahead(true)))
		return;
	*a = (struct ahead) { .pid = pid, .uid = uid, .since = now, .started = process_ticks(pid),
			      .first = ust_thread_stands_ahead(pid) };
	nr_ahead++;
	n = a->started ? ust_threads_find(pid, tids) : 0;
	for (unsigned int i = 0; i < n; i++) {
		/* Without its time nobody could tell that it computes. */
		if (!ust_thread_time(pid, tids[i], &a->before[a->nr]) || !ust_thread_ahead(pid, tids[i]))
			continue;
		a->tids[a->nr++] = tids[i];
	}
	if (!a->nr)
		ahead_over(a);
}

int ahead_advance(int64_t now)
{
	int next = -1;

	for (struct ahead *a = aheads; nr_ahead && a < aheads + AHEAD_MAX; a++) {
		if (!a->pid)
			continue;
		if (!held_in_turn(a->pid) || now - a->since >= AHEAD_MS) {
			ahead_over(a);
			continue;
		}
		bool executes = ahead_first(a);

		if (executes || (now - a->since >= LOOK_MS && ahead_computes(a))) {
			plugin_note("process %d: its threads of lttng-ust %s; it is not put first in line any more",
				    (int) a->pid, executes ? "execute a program" : "compute");
			refuse(a->uid, now);
			ahead_over(a);
			continue;
		}
		next = LOOK_MS;
	}
	return next;
}
