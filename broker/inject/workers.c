/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Worker processes, each of which injects for one user.
 *
 * A worker that is done stays for a moment, for the next process of the same user: what the worker has found out
 * about that user's C library is half of an injection's time. A worker never serves anybody else, so what one target
 * could have made of it is worth no more to the user than what the user has anyway. A worker that is late is killed.
 *
 * A program that was executed just now is over its first calls before all that is to be known of it has been read. So
 * an idle worker of its user stops it, and waits to hear whether a rule names it. One of our own user is kept for
 * that.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "broker/inject/internal.h"
#include "injector/base/foreign-fd.h"

#define GRACE_MS	2500u	/* beyond an injection's deadline, to be done with it */
#define IDLE_MS		5000u	/* that long a worker waits for the next */
#define WORKER_MOST	500u	/* injections, then a fresh one */
#define TIDY_MS		100u	/* for what the last of them has left to put away */

static struct worker *workers;
static unsigned int nr_workers;
static bool one_stays;		/* programs may be executed that a rule names */

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
		outcome = (struct outcome) { .ret = -EIO, .text = "the process that loads the tracer into it ended unexpectedly" };
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
		injection_over(in, &outcome, fd);
	injections_wake();
}

static void worker_late(struct loop_timer *timer)
{
	struct worker *w = LOOP_OWNER(timer, struct worker, timer);
	const struct outcome outcome = { .ret = -ETIMEDOUT, .text = "loading the tracer into it took too long" };
	struct injection *in = w->injection;

	worker_free(w);
	injection_over(in, &outcome, -1);
	injections_wake();
}

/* An idle one of that user, which has stopped that process or, with 0, none. */
static struct worker *worker_find(uid_t uid, gid_t gid, pid_t stopped)
{
	struct worker *w = workers;

	while (w && (w->injection || w->done >= WORKER_MOST || w->uid != uid || w->gid != gid || w->stopped != stopped))
		w = w->next;
	return w;
}

struct worker *worker_get(uid_t uid, gid_t gid, pid_t pid)
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
	ret = child_start(&w->child, injector_work, &identity, worker_ready);
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

int worker_begin(struct worker *w, struct injection *in, const struct order *order)
{
	int ret = packet_send(w->child.socket.fd, order, sizeof(*order), NULL, 0);

	if (ret) {
		worker_free(w);
		return ret;
	}
	w->injection = in;
	w->stopped = 0;
	in->worker = w;
	loop_timer_set(&w->timer, order->deadline_ms + GRACE_MS, worker_late);
	return 0;
}

void workers_stop(void)
{
	while (workers)
		worker_free(workers);
}

/* ---- how many ------------------------------------------------------------------------------------------------ */

unsigned int workers_at_work_of(uid_t uid)
{
	unsigned int n = 0;

	for (const struct worker *w = workers; w; w = w->next)
		n += w->injection && w->uid == uid;
	return n;
}

unsigned int workers_at_work(void)
{
	unsigned int n = 0;

	for (const struct worker *w = workers; w; w = w->next)
		n += w->injection != NULL;
	return n;
}

void workers_make_room(void)
{
	struct worker *idle = NULL;

	for (struct worker *w = workers; w; w = w->next)
		if (!w->injection && !w->stopped)
			idle = w;
	if (nr_workers >= PLACES * room_most() && idle)
		worker_free(idle);
}

/* ---- at a program's start ------------------------------------------------------------------------------------ */

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
