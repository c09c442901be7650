/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The two children that answer which process is at the other end of a channel.
 *
 * The first takes one question at a time: it asks the kernel about the socket, and looks whether a process that is
 * under the rules already has the other end. The other one looks at all processes, once for all questions that wait.
 * Of the questions that wait for the first child the next is one of another user than the last was, if there is
 * any: the descriptors of one user's processes, however many, delay another user's question by one of them. Where no
 * program waits for it, a look at all processes takes in the questions of a while. A child
 * that is late is killed, and its questions are answered with that. Both have all of the broker's rights, and read
 * only what the kernel writes.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "broker/peers/internal.h"

#define QUICK_MS	300u
#define SCAN_MS		2000u
#define IDLE_MS		30000u
#define SCAN_SHARE	10u	/* where nobody waits, all processes are looked at for a tenth of the time */

struct waiting {
	struct waiting *next;
	struct question question;
	bool is_sent;
};

static struct finder {
	struct child child;
	struct loop_timer timer;	/* it is late, or has nothing to do for long */
	struct waiting *first;		/* sent ones before others */
	unsigned int most;		/* so many at a time */
	unsigned int patience_ms;
	uid_t last;			/* whose question was sent last */
	uint64_t began, rested;		/* the scanner's look; the next one for which nobody waits is not before */
	struct loop_timer rest;
} quick = { .most = 1, .patience_ms = QUICK_MS }, scanner = { .most = FOUND_MAX, .patience_ms = SCAN_MS };

/* ---- in the children ------------------------------------------------------------------------------------------- */

static void answer(const struct question *q, struct found *found, int status)
{
	found->number = q->number;
	found->is_scan = q->is_scan;
	found->status = status;
	packet_send(CHILD_FD, found, sizeof(*found), NULL, 0);
}

static int not_its(struct found *found)
{
	snprintf(found->why, sizeof(found->why), "the process has no such descriptor");
	return -EPERM;
}

/* A channel of a kind that a worker knows: who asks has told all that there is to know. */
static void find_other(const struct question *q, struct found *found)
{
	found->inode = q->channel.sender;
	holders_named(q, found);
	if (!q->channel.receiver)
		return;
	found->end.is_file = true;
	found->end.inodes[found->end.nr_inodes++] = q->channel.receiver;
	found->end.device = q->channel.device;
}

static int find_quickly(const struct question *q, struct found *found)
{
	const bool is_pipe = q->channel.kind == SPI_CHANNEL_PIPE;
	int directory = process_directory(&q->asker), ret = 0;
	uint64_t own = q->by_receiver ? q->channel.receiver : q->channel.sender;

	if (directory < 0) {
		snprintf(found->why, sizeof(found->why), "the process has ended");
		return -ESRCH;
	}
	if (!process_is_of(directory, q->uid)) {
		snprintf(found->why, sizeof(found->why), "the process runs with several users' ids, or another's since it connected");
		ret = -EPERM;
	} else if (q->channel.kind == SPI_CHANNEL_OTHER) {
		find_other(q, found);
	} else if (!process_holds(directory, is_pipe, own, q->descriptor, &found->end.device)) {
		ret = not_its(found);
	} else if (!q->by_receiver && front_end_holds(directory, is_pipe, own)) {
		snprintf(found->why, sizeof(found->why), "lttng trace itself has the channel from who started it");
		ret = -EXDEV;
	} else if (is_pipe) {
		found->end.is_pipe = true;
		found->end.inodes[found->end.nr_inodes++] = own;
		found->inode = own;
	} else {
		ret = sockets_find(q, directory, found);
	}
	close(directory);
	if (!ret && !q->by_receiver && found->end.nr_inodes)
		holders_among(q, found);
	return ret;
}

static int quick_work(void *data)
{
	struct question q;
	unsigned int nr_fds;

	setpriority(PRIO_PROCESS, 0, -10);	/* a program waits */
	while (packet_receive(CHILD_FD, &q, sizeof(q), NULL, 0, &nr_fds) == sizeof(q)) {
		struct found found = { .status = 0 };

		answer(&q, &found, find_quickly(&q, &found));
	}
	return 0;
}

static int scanner_work(void *data)
{
	static struct question questions[FOUND_MAX];
	static struct found found[FOUND_MAX];
	unsigned int n, nr_fds;

	setpriority(PRIO_PROCESS, 0, -10);
	while (packet_receive(CHILD_FD, &questions[0], sizeof(questions[0]), NULL, 0, &nr_fds) == sizeof(questions[0])) {
		struct pollfd polled = { .fd = CHILD_FD, .events = POLLIN };

		for (n = 1; n < FOUND_MAX && poll(&polled, 1, 0) == 1; n++)
			if (packet_receive(CHILD_FD, &questions[n], sizeof(questions[n]), NULL, 0, &nr_fds) !=
			    sizeof(questions[n]))
				return 0;
		memset(found, 0, n * sizeof(*found));
		for (unsigned int i = 0; i < n; i++)
			found[i].end = questions[i].end;
		holders_scan(questions, found, n);
		for (unsigned int i = 0; i < n; i++)
			answer(&questions[i], &found[i], 0);
	}
	return 0;
}

/* ---- in the broker --------------------------------------------------------------------------------------------- */

static void advance(struct finder *finder, bool has_answered);

static void rest_over(struct loop_timer *timer)
{
	advance(LOOP_OWNER(timer, struct finder, rest), false);
}

static void waiting_drop(struct finder *finder, struct waiting *waiting)
{
	struct waiting **at = &finder->first;

	while (*at != waiting)
		at = &(*at)->next;
	*at = waiting->next;
	free(waiting);
}

/* All that were sent to it are answered with that. */
static void fail(struct finder *finder, int error, const char *why)
{
	loop_timer_cancel(&finder->timer);
	finder->child.uid = finder == &quick && finder->first ? finder->first->question.uid : (uid_t) -1;
	if (finder->child.pid)
		child_stop(&finder->child);
	while (finder->first && finder->first->is_sent) {
		struct found found = { .number = finder->first->question.number, .is_scan = finder == &scanner, .status = -error };

		snprintf(found.why, sizeof(found.why), "%s", why);
		waiting_drop(finder, finder->first);
		peers_found(&found);
	}
}

static void finder_late(struct loop_timer *timer)
{
	struct finder *finder = LOOP_OWNER(timer, struct finder, timer);

	fail(finder, ETIMEDOUT, "to find out which process is at the other end took too long");
	advance(finder, false);
}

static void finder_ready(struct loop_source *source, uint32_t events)
{
	struct finder *finder = LOOP_OWNER(source, struct finder, child.socket);
	struct waiting *waiting = finder->first;
	struct found found;
	unsigned int nr_fds;
	ssize_t n = packet_receive(source->fd, &found, sizeof(found), NULL, 0, &nr_fds);

	if (n == -EAGAIN)
		return;
	while (waiting && waiting->question.number != found.number)
		waiting = waiting->next;
	if (n != sizeof(found) || !waiting || !waiting->is_sent) {
		fail(finder, EIO, "the process that finds out which process is at the other end ended unexpectedly");
	} else {
		found.why[sizeof(found.why) - 1] = 0;
		waiting_drop(finder, waiting);
		finder->rested = loop_now() + (loop_now() - finder->began) * (SCAN_SHARE - 1);
		peers_found(&found);
	}
	advance(finder, true);
}

/* Nobody waits, it has just looked, and there are few questions. */
static bool is_resting(struct finder *finder)
{
	unsigned int n = 0;

	if (finder != &scanner || loop_now() >= scanner.rested)
		return false;
	for (const struct waiting *waiting = finder->first; waiting; waiting = waiting->next)
		if (waiting->question.is_urgent || ++n == finder->most)
			return false;
	if (finder->first && !finder->rest.armed)
		loop_timer_set(&finder->rest, (unsigned int) (scanner.rested - loop_now()), rest_over);
	return true;
}

static int finder_start(struct finder *finder)
{
	return finder->child.pid ? 0 : child_start(&finder->child, finder == &quick ? quick_work : scanner_work, NULL, finder_ready);
}

/* The next that is to be sent: another user's than the last, or the oldest. */
static struct waiting *choose(const struct finder *finder)
{
	struct waiting *first = finder->first, *other;

	while (first && first->is_sent)
		first = first->next;
	for (other = first; other && other->question.uid == finder->last; other = other->next)
		;
	return other ?: first;
}

static void move_first(struct finder *finder, struct waiting *waiting)
{
	struct waiting **at = &finder->first;

	while (*at != waiting)
		at = &(*at)->next;
	*at = waiting->next;
	waiting->next = finder->first;
	finder->first = waiting;
}

/* Send what the child may have at a time. Its time begins anew with each answer, and not with questions. */
static void advance(struct finder *finder, bool has_answered)
{
	unsigned int sent = 0, before;
	struct waiting *waiting;
	int ret = 0;

	for (waiting = finder->first; waiting && waiting->is_sent; waiting = waiting->next)
		sent++;
	before = has_answered ? 0 : sent;
	if (!sent)
		finder->began = loop_now();
	while (!ret && sent < finder->most && !is_resting(finder) && (waiting = choose(finder))) {
		ret = finder_start(finder);
		if (!ret)
			ret = packet_send(finder->child.socket.fd, &waiting->question, sizeof(waiting->question), NULL, 0);
		if (ret == -EAGAIN && sent) {
			ret = 0;
			break;		/* more when it has answered */
		}
		waiting->is_sent = true;
		move_first(finder, waiting);
		finder->last = waiting->question.uid;
		sent++;
	}
	if (ret) {
		for (waiting = finder->first; waiting; waiting = waiting->next)
			waiting->is_sent = true;
		fail(finder, -ret, "no process can be started that finds out which process is at the other end");
		sent = 0;
	}
	if (finder->child.pid && (!sent || !before))
		loop_timer_set(&finder->timer, sent ? finder->patience_ms : IDLE_MS, finder_late);
}

int finder_ask(const struct question *question)
{
	struct finder *finder = question->is_scan ? &scanner : &quick;
	struct waiting *waiting = malloc(sizeof(*waiting)), **at = &finder->first;

	if (!waiting)
		return -ENOMEM;
	*waiting = (struct waiting) { .question = *question };
	while (*at)
		at = &(*at)->next;
	*at = waiting;
	advance(finder, false);
	return 0;
}

void finder_stop(void)
{
	for (struct finder *finder = &quick; finder; finder = finder == &quick ? &scanner : NULL) {
		loop_timer_cancel(&finder->timer);
		loop_timer_cancel(&finder->rest);
		if (finder->child.pid)
			child_stop(&finder->child);
		while (finder->first)
			waiting_drop(finder, finder->first);
	}
}
