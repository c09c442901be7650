/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Injections, a few at a time (inject-room.c), each in a process of its own.
 *
 * The child takes the target's user and group ids before it touches the target,
 * and keeps no capability: whatever the target has prepared for it, it meets
 * somebody with the target's own rights. Who the target is was learnt while a
 * pidfd held it; the child is told to refuse anything else that it finds under
 * that number. It hands our end of the agent's socket back. One that is late is
 * killed.
 *
 * A child that is done stays for a moment, for the next process of the same user:
 * what it has found out about that user's C library is half of an injection's
 * time. It never serves anybody else, so what one target could have made of it
 * is worth no more to the user than what he has anyway.
 *
 * A program that was executed just now is over its first calls before all that is to be known of it has been read. So an idle worker
 * of its user stops it, and waits to hear whether a rule names it; one of our own user is kept for that.
 *
 * Registrations that are held come first, and among equals the user who has the
 * fewest injections under way. One who has none has a place beyond those that there
 * are: another's processes may make each of theirs take as long as it may.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "broker/broker.h"
#include "injector/base/foreign-fd.h"
#include "injector/inject/inject.h"

#define FIRST_NICE	-20
#define HELD_MS		1200u	/* to look for a safe moment while the registration is held */
#define HELD_AGAIN_MS	10u	/* the same when it has the agent, and its parent's rules, already */
#define FREE_MS		3000u
#define GRACE_MS	2500u	/* and to be done with it */
#define IDLE_MS		5000u	/* that long a worker waits for the next */
#define YOUNG_TRIES	3u
#define WORKER_MOST	500u	/* injections, then a fresh one */
#define TIDY_MS		100u	/* for what the last of them has left to put away */
#define PLACES		ROOM_EACH	/* so many times room_most() with those of users who have none else, and workers at all */

struct injection {
	struct injection *next;
	struct process *process;	/* NULL: nobody waits any more */
	uid_t uid;
	struct worker *worker;		/* NULL: waits for its turn */
};

/* A child; `injection` is NULL while it waits for work. */
struct worker {
	struct worker *next;
	uid_t uid;
	gid_t gid;
	unsigned int done;
	pid_t stopped;			/* at its start, or asked to; 0: none */
	struct child child;
	struct loop_timer timer;	/* it is late, or idle for long */
	struct injection *injection;
};

/* What the child sends, with the agent's socket when `ret` is 0. */
struct outcome {
	int32_t ret;
	uint32_t already, begun;
	char text[1024];
};

static struct injection *injections;	/* in the order of their coming */
static struct worker *workers;
static unsigned int nr_workers;

/* ---- the child ---------------------------------------------------------------------- */

struct order {
	struct facts facts;
	unsigned int deadline_ms, again_ms;
	enum at_start { AT_ANY_TIME, AT_START_STOP, AT_START } at_start;	/* _STOP: what to do follows; facts: the pid, 0: nothing */
};

struct identity {
	bool become;
	uid_t uid;
	gid_t gid;
};

/* One injection, from the order to the answer. */
struct turn {
	int refused;		/* the worker could not take its user's id */
	uid_t uid;
	bool answered, over;	/* over: the broker is gone, or wants no more */
};

static void answer(struct turn *turn, struct outcome *outcome, int fd)
{
	turn->answered = true;
	if (packet_send(CHILD_FD, outcome, sizeof(*outcome), &fd, !outcome->ret && fd >= 0))
		turn->over = true;
	if (fd >= 0)
		close(fd);
}

/* At once: the agent waits for us by now, and what the injector has to put away takes as long as a tenth of an injection. */
static void take_result(int ret, const struct spi_inject_result *result, void *data)
{
	struct outcome outcome = { .ret = ret, .already = result->already, .begun = result->begun };

	snprintf(outcome.text, sizeof(outcome.text), "%s", result->text);
	answer(data, &outcome, result->fd);
}

static void work_once(struct turn *turn, const struct order *order)
{
	struct spi_inject_options options = {
		.size = sizeof(options),
		.flags = SPI_INJECT_ATTACH | SPI_INJECT_EXPECT_UID | SPI_INJECT_ON_CALLER | (order->at_start == AT_START ? SPI_INJECT_AT_START : 0),
		.deadline_ms = order->deadline_ms, .again_ms = order->again_ms,
		.expect_uid = order->facts.uids[1], .expect_start_time = order->facts.start_time,
		.finished = take_result, .data = turn,
	};
	struct spi_inject_result result = { .size = sizeof(result), .fd = -1 };
	struct outcome outcome = { .ret = turn->refused };

	for (int i = 1; i < 4; i++)
		if (order->facts.uids[i] != order->facts.uids[0] || order->facts.gids[i] != order->facts.gids[0])
			outcome.ret = -EPERM;
	if (turn->refused)
		snprintf(outcome.text, sizeof(outcome.text), "cannot take its user id %u: %s", turn->uid,
			 strerror(-turn->refused));
	else if (outcome.ret)
		snprintf(outcome.text, sizeof(outcome.text), "runs with user or group ids of several users");
	else
		outcome.ret = spi_inject(order->facts.pid, &options, &result);
	if (!turn->answered)
		answer(turn, &outcome, -1);
}

/* A thread for each order, which is there before it comes. With its end the kernel lets go what it traces. */
static void *work_turn(void *data)
{
	struct turn *turn = data;
	struct order order;
	unsigned int nr_fds;

	turn->answered = false;
	do {
		if (packet_receive(CHILD_FD, &order, sizeof(order), NULL, 0, &nr_fds) != sizeof(order))
			turn->over = true;
		else if (order.at_start == AT_START_STOP && order.facts.pid)
			spi_inject_stop(order.facts.pid);
		else if (order.at_start != AT_START_STOP)
			work_once(turn, &order);
	} while (!turn->over && order.at_start == AT_START_STOP && order.facts.pid);
	return NULL;
}

static int work(void *data)
{
	const struct identity *identity = data;
	struct turn turn = { .uid = identity->uid };
	pthread_t thread;
	sigset_t all;

	setpriority(PRIO_PROCESS, 0, FIRST_NICE);	/* a program is not to be over its first calls before it is stopped; not permitted later */
	turn.refused = identity->become ? become(identity->uid, identity->gid) : 0;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	while (!turn.over && !pthread_create(&thread, NULL, work_turn, &turn))
		pthread_join(thread, NULL);
	return !turn.over;
}

/* ---- workers -------------------------------------------------------------------------- */

static void worker_free(struct worker *w)
{
	for (struct worker **at = &workers; *at; at = &(*at)->next)
		if (*at == w) {
			*at = w->next;
			break;
		}
	if (w->injection)
		w->injection->worker = NULL;
	loop_timer_cancel(&w->timer);
	child_stop(&w->child);
	nr_workers--;
	free(w);
}

static bool one_stays;		/* programs may be executed that a rule names */

static bool is_ours(const struct worker *w)
{
	return w->uid == geteuid() && w->gid == getegid();
}

static void worker_idle(struct loop_timer *timer)
{
	struct worker *w = LOOP_OWNER(timer, struct worker, timer), *other = workers;

	while (other && (other == w || other->injection || !is_ours(other)))
		other = other->next;
	if (one_stays && is_ours(w) && !other && w->done < WORKER_MOST)
		loop_timer_set(timer, IDLE_MS, worker_idle);
	else
		worker_free(w);
}

/* Takes the injection from its worker, and from the process that waits for it, which is returned. */
static struct process *injection_end(struct injection *in)
{
	struct process *p = in->process;

	for (struct injection **at = &injections; *at; at = &(*at)->next)
		if (*at == in) {
			*at = in->next;
			break;
		}
	if (in->worker)
		in->worker->injection = NULL;
	if (p)
		p->injection = NULL;
	free(in);
	return p;
}

static void take_outcome(struct injection *in, const struct outcome *outcome, int fd)
{
	uid_t uid = in->uid;
	struct process *p = injection_end(in);
	struct spi_agent *agent;

	if (!p) {
		if (fd >= 0)
			spi_foreign_close(fd, true, uid);	/* the agent takes nothing in and goes to sleep */
		return;
	}
	if (outcome->begun && (!outcome->ret || outcome->ret == -EAGAIN) && !p->application && !p->held) {
		process_missed(p, "it had begun before it could be stopped at its start");
		scope_look_soon();
	}
	if (outcome->ret == -EINPROGRESS) {	/* its registration, which is held, tells when */
		if (p->held)
			process_apply(p);
		else if (!p->agent)
			process_comes(p, "it has not registered with the session daemon yet");
		return;
	}
	if (!outcome->ret) {
		p->inherited = outcome->already;
		if (p->held)
			room_agent_begins(p);
		agent = fd < 0 ? NULL : spi_control_adopt(broker.control, fd, p->facts.pid);
		if (agent)
			process_expect(p, agent);	/* on_hello follows */
		else
			process_refuse(p, true, "no memory for its agent's connection");
		return;
	}
	if (p->agent)
		return;		/* it came to us meanwhile, by itself */
	/* It will: it was executed by a traced program, and waits in lttng-ust's constructor. Before main() it asks us for its rules. */
	if (outcome->ret == -EALREADY) {
		process_comes(p, "its agent, which it was executed with, has not come yet");
		return;
	}
	/*
	 * The child of a fork waits for the daemon within fork(), where nothing is safe.
	 * It has its parent's rules in force, and needs us for later changes only.
	 */
	if (outcome->already && p->held && outcome->ret == -EAGAIN) {
		const struct process *parent = process_find(p->facts.parent);

		p->carries = parent && parent->served;
		process_let_go(p);
	}
	/* A program that has just begun may have no libc yet; one of another kind will not get any. */
	process_refuse(p, outcome->ret == -ENOTSUP ? p->failures < YOUNG_TRIES :
		       outcome->ret != -ELIBACC && outcome->ret != -ENOENT, "%s", outcome->text);
}

static void worker_ready(struct loop_source *source, uint32_t events)
{
	struct worker *w = LOOP_OWNER(source, struct worker, child.socket);
	struct injection *in = w->injection;
	struct outcome outcome;
	unsigned int nr_fds;
	int fd = -1;
	ssize_t n = packet_receive(source->fd, &outcome, sizeof(outcome), &fd, 1, &nr_fds);

	if (n == -EAGAIN)
		return;
	if (n != sizeof(outcome) || !in) {
		outcome = (struct outcome) { .ret = -EIO, .text = "its injector ended unexpectedly" };
		if (n > 0 && nr_fds)
			spi_foreign_close(fd, true, w->uid);
		fd = -1;
		worker_free(w);
	} else {
		w->injection = NULL;
		in->worker = NULL;
		loop_timer_set(&w->timer, ++w->done < WORKER_MOST ? IDLE_MS : TIDY_MS, worker_idle);
	}
	outcome.text[sizeof(outcome.text) - 1] = 0;
	if (in)
		take_outcome(in, &outcome, fd);
	pool_advance();
}

static void worker_late(struct loop_timer *timer)
{
	struct worker *w = LOOP_OWNER(timer, struct worker, timer);
	const struct outcome outcome = { .ret = -ETIMEDOUT, .text = "its injector did not finish in time" };
	struct injection *in = w->injection;

	worker_free(w);
	take_outcome(in, &outcome, -1);
	pool_advance();
}

/* An idle one of that user, which has stopped that process or, with 0, none. */
static struct worker *worker_find(uid_t uid, gid_t gid, pid_t stopped)
{
	struct worker *w = workers;

	while (w && (w->injection || w->done >= WORKER_MOST || w->uid != uid || w->gid != gid || w->stopped != stopped))
		w = w->next;
	return w;
}

/* For that process: an idle one, or a new one. NULL: errno. */
static struct worker *worker_get(uid_t uid, gid_t gid, pid_t pid)
{
	struct identity identity = { broker_is_root() && uid, uid, gid };
	struct worker *w = worker_find(uid, gid, pid);
	int ret;

	if (!w)
		w = worker_find(uid, gid, 0);
	if (w)
		return w;
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	ret = child_start(&w->child, work, &identity, worker_ready);
	if (ret) {
		free(w);
		errno = -ret;
		return NULL;
	}
	w->uid = w->child.uid = uid;
	w->gid = gid;
	w->next = workers;
	workers = w;
	nr_workers++;
	return w;
}

void injections_stop(void)
{
	while (workers)
		worker_free(workers);
	while (injections)
		injection_end(injections);
}

/* ---- the pool -------------------------------------------------------------------------- */

static unsigned int running_of(uid_t uid)
{
	unsigned int n = 0;

	for (const struct worker *w = workers; w; w = w->next)
		n += w->injection && w->uid == uid;
	return n;
}

static unsigned int running(void)
{
	unsigned int n = 0;

	for (const struct worker *w = workers; w; w = w->next)
		n += w->injection != NULL;
	return n;
}

/* The next for which there is a place. */
static struct injection *choose(void)
{
	struct injection *best = NULL;
	unsigned int busy = running(), best_running = 0, taken = room_taken();
	uid_t rejected = (uid_t) -1;	/* others of the same user wait in a row */

	for (struct injection *in = injections; in; in = in->next) {
		unsigned int n;

		if (in->worker)
			continue;
		n = running_of(in->uid);
		/* the first of many has to be no better than the one that is known */
		if (best && !in->process->held == !best->process->held && n >= best_running)
			continue;
		if (busy >= (n ? room_most() : PLACES * room_most()) && (n || !ruleset_has_sessions(broker.rules, in->uid)))
			continue;
		if (in->uid == rejected)
			continue;
		if (!room_for_agent(in->process, taken) || spi_foreign_has_many(in->uid)) {
			rejected = in->uid;
			continue;
		}
		if (!best || !!in->process->held > !!best->process->held ||
		    (!!in->process->held == !!best->process->held && n < best_running)) {
			best = in;
			best_running = n;
		}
	}
	return best;
}

static void injection_start(struct injection *in)
{
	struct process *p = in->process;
	struct order order = {
		.deadline_ms = p->held ? HELD_MS : FREE_MS, .again_ms = p->held ? HELD_AGAIN_MS : 0, .at_start = p->starts && !p->held ? AT_START : AT_ANY_TIME,
	};
	struct worker *w = NULL;
	int ret;

	/* Who it is now: its program and user ids may have changed since it was first seen. */
	order.facts = p->facts;
	ret = facts_are_fresh(&p->facts) ? 0 : facts_read(&order.facts, p->facts.pid);
	if (!ret && order.facts.start_time != p->facts.start_time)
		ret = -ESRCH;
	if (!ret && (memcmp(order.facts.uids, p->facts.uids, sizeof(order.facts.uids)) ||
		     (*order.facts.exec && strcmp(order.facts.exec, p->facts.exec)))) {
		process_facts_set(p, &order.facts);
		injection_end(in);
		process_apply(p);	/* other rules may concern it */
		return;
	}
	if (!ret && !(w = worker_get(order.facts.uids[0], order.facts.gids[0], order.facts.pid)))
		ret = errno ? -errno : -ENOMEM;
	if (!ret && (ret = packet_send(w->child.socket.fd, &order, sizeof(order), NULL, 0)))
		worker_free(w);
	if (ret) {
		injection_end(in);
		process_refuse(p, true, "cannot be injected: %s", strerror(-ret));
		return;
	}
	w->injection = in;
	w->stopped = 0;
	in->worker = w;
	p->starts = false;
	loop_timer_set(&w->timer, order.deadline_ms + GRACE_MS, worker_late);
}

/* Those that wait for another user's processes make room. */
static void pool_make_room(void)
{
	struct worker *idle = NULL;

	for (struct worker *w = workers; w; w = w->next)
		if (!w->injection && !w->stopped)
			idle = w;
	if (nr_workers >= PLACES * room_most() && idle)
		worker_free(idle);
}

void pool_advance(void)
{
	static bool at_it;
	struct injection *in;

	if (at_it)
		return;		/* what we call may want another injection */
	at_it = true;
	while ((in = choose())) {
		pool_make_room();
		injection_start(in);
	}
	at_it = false;
}

void injection_want(struct process *p)
{
	struct injection *in = calloc(1, sizeof(*in)), **at = &injections;

	if (!in) {
		process_refuse(p, true, "cannot be injected: no memory");
		return;
	}
	in->process = p;
	in->uid = p->facts.uids[0];
	p->injection = in;
	while (*at)
		at = &(*at)->next;
	*at = in;
	pool_advance();
}

/* One that runs is left to finish: a target must not be let down in the middle. */
void injection_drop(struct process *p)
{
	struct injection *in = p->injection;

	p->injection = NULL;
	if (!in)
		return;
	in->process = NULL;
	if (!in->worker)
		injection_end(in);
}

/* ---- at a program's start ---------------------------------------------------------------- */

void injections_keep_ready(bool wanted)
{
	one_stays = wanted;
	if (wanted && !worker_find(geteuid(), getegid(), 0)) {
		struct worker *w = worker_get(geteuid(), getegid(), 0);

		if (w)
			loop_timer_set(&w->timer, IDLE_MS, worker_idle);
	}
}

static void stop_order(struct worker *w, pid_t pid)
{
	struct order order = { .facts.pid = pid, .at_start = AT_START_STOP };

	w->stopped = pid;
	if (packet_send(w->child.socket.fd, &order, sizeof(order), NULL, 0))
		worker_free(w);
}

void injection_stop_ahead(pid_t pid, uid_t uid, gid_t gid)
{
	struct worker *w = worker_find(uid, gid, 0);

	if (w)
		stop_order(w, pid);
}

void injection_stop_ahead_end(pid_t pid)
{
	for (struct worker *w = workers, *next; w; w = next) {
		next = w->next;
		if (w->stopped == pid)
			stop_order(w, 0);
	}
}
