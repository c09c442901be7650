/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The questions of agents: which process is at the other end?
 *
 *	asked ── what is the other end, and who of the processes under the rules has it? ── all who have it ──┐
 *	answered <── each is ready or refused, or the time is over <── each one is brought in <───────────────┘
 *
 * Where a process that is under the rules has the other end of a connection, the answer waits for that one alone:
 * whoever else has it is brought in meanwhile. All that may take a connection which is not accepted are waited for.
 * Those that are late go on being brought in, and are told what begins where when they are ready: the next message
 * finds them. A process is waited for once: while it is late, further messages to it are answered at once.
 *
 * Anybody's agent may ask, as often as it likes: so many questions of one process and of one user are open at a time,
 * and so many are taken a second. What is refused is answered at once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/peers/internal.h"
#include "injector/base/foreign-fd.h"
#include "rules/harmless.h"

#define OPEN_OF_PROCESS	64u
#define OPEN_OF_USER	256u
#define KEPT_OF_USER	1024u	/* answered ones, too, of which more is to be found */
#define OPEN_MOST	2048u
#define DEADLINE_MOST	10000u
#define LATE_MS		60000u	/* what is late is waited for so long */

static struct asking *askings;
static bool is_news;		/* one of them may be answered */

static struct asking *asking_find(uint64_t number)
{
	struct asking *a = askings;

	while (a && a->number != number)
		a = a->next;
	return a;
}

static void asking_free(struct asking *asking)
{
	struct asking **at = &askings;

	while (*at != asking)
		at = &(*at)->next;
	*at = asking->next;
	loop_timer_cancel(&asking->timer);
	free(asking);
}

/* ---- the answer ------------------------------------------------------------------------------------------------ */

/* "PID\tNAME\tSTATUS\tREASON\n", without what would end it. */
static void put_line(FILE *out, pid_t pid, const char *name, int status, const char *why)
{
	char text[400];

	snprintf(text, sizeof(text), "%s", name);
	spi_make_harmless(text, strlen(text), "");
	fprintf(out, "%d\t%s\t%d\t", (int) pid, text, status);
	snprintf(text, sizeof(text), "%s", why);
	spi_make_harmless(text, strlen(text), "");
	fprintf(out, "%s\n", text);
}

/* What its last injection failed with, where another one is due. */
static const char *why_late(const struct peer *peer)
{
	const struct process *p = process_find(peer->one.pid);

	return p && p->serial == peer->serial && !p->agent && !p->is_handed && *p->refusal.why ? p->refusal.why : "its rules are not in force yet";
}

static void put_peer(FILE *out, const struct asking *asking, const struct peer *peer)
{
	const bool may_know = !asking->uid || asking->uid == peer->uid;
	int status = peer->state == PEER_READY ? peer->was_in : peer->state == PEER_REFUSED ? -peer->error : -EINPROGRESS;
	const char *why = peer->state == PEER_READY ? "" : peer->state == PEER_REFUSED ? peer->why : why_late(peer);

	if (may_know)
		put_line(out, peer->one.pid, peer->name, status, why);
	else
		put_line(out, 0, "another user's process", status, status < 0 ? "what becomes of it is not told" : "");
}

static void answer_send(const struct asking *asking, const struct spi_msg_peers *peers, const char *why)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	for (unsigned int i = 0; out && i < asking->nr; i++)
		put_peer(out, asking, &asking->peers[i]);
	if (out && asking->beyond) {
		char name[32];

		snprintf(name, sizeof(name), "%u more", asking->beyond);
		put_line(out, 0, name, -E2BIG, "one message brings in 16 processes at most");
	}
	if (out && *why)
		put_line(out, 0, "", peers->status, why);
	if (!out || fclose(out))
		free(text), text = NULL;
	asking_reply(asking, peers, text ?: "");
	free(text);
}

/* Nobody is known there, or may be. */
static void refuse(struct asking *asking, int status, const char *why)
{
	struct spi_msg_peers peers = { .status = status, .inode = asking->inode };

	if (!asking->is_answered) {
		asked_nobody(asking, why);
		answer_send(asking, &peers, why);
	}
	asking_free(asking);
}

static void late_over(struct loop_timer *timer)
{
	asking_free(LOOP_OWNER(timer, struct asking, timer));
}

/* The messages to come do not wait for it, until it answers. */
static void mark_late(const struct peer *peer, bool is_late)
{
	struct process *p = process_find(peer->one.pid);

	if (p && p->serial == peer->serial)
		p->brought.is_late = is_late;
}

static void answer(struct asking *asking)
{
	struct spi_msg_peers peers = { .inode = asking->inode, .refused = asking->beyond };

	for (unsigned int i = 0; i < asking->nr; i++) {
		peers.ready += asking->peers[i].state == PEER_READY;
		peers.refused += asking->peers[i].state == PEER_REFUSED;
		peers.late += asking->peers[i].state < PEER_READY;
		if (asking->peers[i].state < PEER_READY)
			mark_late(&asking->peers[i], true);
	}
	if (peers.late || !asking->nr)
		asked_late(asking);
	answer_send(asking, &peers, "");
	asking->is_answered = true;
	loop_timer_set(&asking->timer, LATE_MS, late_over);
}

/* Who else has the other end? The answer may come, and end all, before this returns. */
static void scan(struct asking *asking)
{
	struct question question = {
		.number = asking->number, .is_scan = true, .asker = asking->one, .uid = asking->uid, .end = asking->end,
		.is_urgent = !asking->is_answered,
	};

	asking->end.nr_inodes = 0;
	if (!question.end.nr_inodes)
		peers_found(&(struct found) { .number = question.number, .is_scan = true });
	else if (finder_ask(&question))
		peers_found(&(struct found) { .number = question.number, .is_scan = true, .status = -ENOMEM, .why = "no memory" });
}

/* What is the other end, and who of those under the rules has it? 0 or -ENOMEM. */
static int end_ask(struct asking *asking)
{
	struct question question = {
		.number = asking->number, .by_receiver = asking->request.flags & SPI_PEER_ASKED_BY_RECEIVER, .asker = asking->one,
		.uid = asking->uid, .gid = asking->gid, .channel = asking->request.channel,
		.descriptor = asking->request.descriptor,
	};

	question.nr_known = peers_known(asking, question.known, HOLDERS_MAX);
	return finder_ask(&question);
}

/*
 * While a process was brought in, which takes a while, it may have accepted the connection, and have forked a child for it, which has
 * no agent.
 */
static bool is_to_be_asked_again(const struct asking *asking)
{
	for (unsigned int i = 0; i < asking->nr; i++)
		if (asking->peers[i].state == PEER_READY && !asking->peers[i].was_in)
			return !asking->is_again && !asking->is_answered;
	return false;
}

static void news(struct asking *asking)
{
	asking->is_news = is_news = true;
}

static void time_over(struct loop_timer *timer)
{
	struct asking *asking = LOOP_OWNER(timer, struct asking, timer);

	if (asking->nr || asking->is_scanned) {
		answer(asking);
		if (asking->end.nr_inodes)
			scan(asking);
	} else {
		refuse(asking, -ETIMEDOUT, "which process is at the other end was not known in time");
	}
}

/* Answered when there is nothing to wait for, and forgotten when nothing is to come. */
static void settle(struct asking *asking)
{
	bool is_quick = asking->nr && !asking->is_listening, is_late = false;

	asking->is_news = false;
	for (unsigned int i = 0; i < asking->nr; i++) {
		if (asking->peers[i].state >= PEER_READY)
			continue;
		if (asking->is_answered || !asking->peers[i].is_slow)
			return;
		is_late = true;
	}
	if (!is_late && is_to_be_asked_again(asking)) {
		asking->is_again = true;
		asking->is_scanned = false;
		if (end_ask(asking) == 0)
			return;
	}
	if (!asking->is_answered && (asking->is_scanned || is_quick))
		answer(asking);
	if (asking->is_answered && asking->is_scanned && !is_late)
		asking_free(asking);
	else if (asking->is_answered && asking->end.nr_inodes)
		scan(asking);
}

void peers_settle(void)
{
	if (!is_news)
		return;
	is_news = false;
	/* any of them may be gone after each */
	for (struct asking *a = askings; a;) {
		bool has_news = a->is_news;

		if (has_news)
			settle(a);
		a = has_news ? askings : a->next;
	}
}

/* ---- what is found --------------------------------------------------------------------------------------------- */

static bool has_peer(const struct asking *asking, const struct one *one)
{
	for (unsigned int i = 0; i < asking->nr; i++)
		if (asking->peers[i].one.pid == one->pid && asking->peers[i].one.start_time == one->start_time)
			return true;
	return false;
}

static bool is_own(const struct asking *asking, const struct one *one)
{
	return asking->one.pid == one->pid && asking->one.start_time == one->start_time;
}

/* The process that asks is at the other end where nobody else is. */
static void take_holders(struct asking *asking, const struct found *found)
{
	bool is_alone = found->is_scan && !asking->nr && found->nr == 1 && !found->beyond &&
		asking->request.channel.kind != SPI_CHANNEL_OTHER;

	for (unsigned int i = 0; i < found->nr && i < HOLDERS_MAX; i++)
		if (!has_peer(asking, &found->holders[i]) && (is_alone || !is_own(asking, &found->holders[i])))
			peer_add(asking, &found->holders[i]);
	asking->beyond += found->beyond;
}

static void take_scan(struct asking *asking, const struct found *found)
{
	asking->is_scanned = true;
	if (!found->status)
		take_holders(asking, found);
	if (!asking->nr && !asking->beyond)
		refuse(asking, found->status ?: -ESRCH, found->status ? found->why : "no process that may be looked into has the other end");
	else
		news(asking);
}

/* Those that have the other end are under the rules: the rest is looked for when they are ready, which takes no time. */
static bool has_told(const struct asking *asking)
{
	for (unsigned int i = 0; i < asking->nr; i++)
		if (asking->peers[i].state == PEER_COMES)
			return false;
	return asking->nr;
}

static void take_end(struct asking *asking, const struct found *found)
{
	asking->inode = found->inode;
	asking->is_listening = found->end.is_listening;
	if (asking->request.flags & SPI_PEER_ASKED_BY_RECEIVER) {
		answer_send(asking, &(struct spi_msg_peers) { .inode = found->inode }, "");
		asking_free(asking);
		return;
	}
	asking->end = found->end;
	take_holders(asking, found);
	if (asking->is_listening || asking->is_again || !has_told(asking))
		scan(asking);
	else
		news(asking);
}

void peers_found(const struct found *found)
{
	struct asking *asking = asking_find(found->number);

	if (!asking)
		return;
	if (found->is_scan)
		take_scan(asking, found);
	else if (found->status)
		refuse(asking, found->status, found->why);
	else
		take_end(asking, found);
}

/* ---- what is asked --------------------------------------------------------------------------------------------- */

/* May there be one more? */
static bool is_flood(const struct asking *asking)
{
	unsigned int of_agent = 0, of_user = 0, kept = 0, all = 0;

	for (const struct asking *a = askings; a; a = a->next) {
		of_agent += is_own(a, &asking->one) && !a->is_answered;
		of_user += a->uid == asking->uid && !a->is_answered;
		kept += a->uid == asking->uid;
		all++;
	}
	return of_agent > OPEN_OF_PROCESS || of_user > OPEN_OF_USER || kept > KEPT_OF_USER || all > OPEN_MOST || !asked_may(asking->uid) ||
	       spi_foreign_has_many(asking->uid);
}

static int check(struct asking *asking, const struct process *p, uid_t uid, char *why, size_t size)
{
	if (!facts_are_of(&p->facts, uid)) {
		snprintf(why, size, "its user has changed since it connected");
		return -EPERM;
	}
	if (is_flood(asking)) {
		snprintf(why, size, "it, or its user, asks too often which process is at the other end");
		return -EBUSY;
	}
	if (asking->request.channel.kind <= SPI_CHANNEL_NONE ||
	    asking->request.channel.kind >= (the_daemon()->is_front_end ? SPI_CHANNEL_KINDS : SPI_CHANNEL_OTHER)) {
		snprintf(why, size, "which process is at the other end of such a channel is not known");
		return -EOPNOTSUPP;
	}
	return asking_take_rules(asking, p, why, size);
}

void asking_begin(struct process *p, struct spi_agent *agent, uid_t uid, bool within_user, uint32_t id,
		  const struct spi_msg_peer_request *request)
{
	static uint64_t number;
	struct asking *asking = calloc(1, sizeof(*asking));
	unsigned int ms = request->deadline_ms < DEADLINE_MOST ? request->deadline_ms : DEADLINE_MOST;
	char why[200] = "";
	int ret;

	if (!asking) {
		asking = &(struct asking) { .agent = agent, .id = id, .one.pid = p->facts.pid };
		asking_reply(asking, &(struct spi_msg_peers) { .status = -ENOMEM }, "");
		return;
	}
	*asking = (struct asking) {
		.next = askings, .number = ++number, .agent = agent, .id = id, .uid = p->facts.uids[0], .request = *request,
		.one = { .pid = p->facts.pid, .start_time = p->facts.start_time }, .gid = p->facts.gids[0],
		.within_user = within_user,
	};
	memcpy(asking->name, p->name, sizeof(asking->name));
	askings = asking;
	asked_add(asking);
	ret = check(asking, p, uid, why, sizeof(why));
	if (ret) {
		refuse(asking, ret, why);
		return;
	}
	loop_timer_set(&asking->timer, ms * 9 / 10, time_over);
	if (end_ask(asking))
		refuse(asking, -ENOMEM, "no memory to look for which process is at the other end");
}

void peers_asked(struct process *p, uint32_t id, const struct spi_msg_peer_request *request)
{
	asking_begin(p, p->agent, spi_agent_uid(p->agent), false, id, request);
}

/* ---- what becomes of processes --------------------------------------------------------------------------------- */

void peers_told(struct process *p, uint32_t id, int status)
{
	for (struct asking *a = askings; a; a = a->next)
		for (unsigned int i = 0; i < a->nr; i++) {
			struct peer *peer = &a->peers[i];

			if (peer->state != PEER_TOLD || peer->told != id || peer->serial != p->serial)
				continue;
			if (status)
				peer_refuse(a, peer, status < 0 ? -status : EIO, "the tracer in it: %s", strerror(status < 0 ? -status : EIO));
			else
				peer->state = PEER_READY;
			mark_late(peer, false);
			news(a);
			return;
		}
}

static void process_changes(const struct process *p, struct process *as)
{
	for (struct asking *a = askings; a; a = a->next)
		for (unsigned int i = 0; i < a->nr; i++)
			if (a->peers[i].serial == p->serial && a->peers[i].state < PEER_READY) {
				peer_advance(a, &a->peers[i], as);
				news(a);
			}
}

void peers_looked(struct process *p)
{
	process_changes(p, p);
}

void peers_end(struct process *p)
{
	process_changes(p, NULL);
}

void peers_agent_over(const struct spi_agent *agent)
{
	for (struct asking *a = askings, *next; a; a = next) {
		next = a->next;
		if (a->agent == agent)
			asking_free(a);
	}
}

void peers_stop(void)
{
	while (askings)
		asking_free(askings);
	finder_stop();
	ahead_stop();
}
