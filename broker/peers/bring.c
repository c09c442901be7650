/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Bringing a process at the other end of a channel under the rules of the process that sends.
 *
 * The process is marked to follow the rules, as a program is that a traced one executed. A look at it does the rest:
 * it is injected, and its agent is told. The rules' owner must have the right to it (rule_may()), so nobody is traced
 * over a channel who could not be traced directly. What programs of the system are waited for by everything else is
 * never brought in.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/peers/internal.h"
#include "rules/glob.h"

#define RULE_MOST	64u	/* processes that one rule brings in, at a time */

/* Programs by which a user or the system is reached, or which carry traces; and those that LTTNG_SPI_IPC_NEVER names. */
bool peer_is_never(const struct facts *facts)
{
	static const char *const never[] = {
		"sshd*", "ssh", "systemd*", "init", "dbus-daemon", "dbus-broker*", "lttng-sessiond", "lttng-consumerd",
		"lttng-relayd", "lttng", "lt-lttng*", "lttng-spi", "spi-broker", "spi-codemap", "spi-inject",
	};
	const char *more = secure_getenv("LTTNG_SPI_IPC_NEVER");
	char name[64];

	if (facts->pid == 1)
		return true;
	for (unsigned int i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		if (spi_glob_match(never[i], facts->exec))
			return true;
	for (size_t n; more && *more; more += n + (more[n] == ',')) {
		n = strcspn(more, ",");
		snprintf(name, sizeof(name), "%.*s", (int) n, more);
		if (n && spi_glob_match(name, facts->exec))
			return true;
	}
	return false;
}

/* ---- rules ----------------------------------------------------------------------------------------------------- */

static uint32_t channels_of(uint32_t kind)
{
	static const uint32_t channels[SPI_CHANNEL_KINDS] = {
		[SPI_CHANNEL_PIPE] = SPI_CHANNELS_PIPE, [SPI_CHANNEL_UNIX_STREAM] = SPI_CHANNELS_UNIX,
		[SPI_CHANNEL_UNIX_DATAGRAM] = SPI_CHANNELS_UNIX, [SPI_CHANNEL_TCP] = SPI_CHANNELS_TCP,
		[SPI_CHANNEL_UDP] = SPI_CHANNELS_UDP,
	};

	return kind < SPI_CHANNEL_KINDS ? channels[kind] : 0;
}

bool rule_follows_messages(const struct rule *rule)
{
	return rule->enabled && rule->on_message && rule_instruments(rule);
}

static const struct applied *applied_with(const struct process *p, uint32_t id)
{
	const struct applied *a = p->talk.applied;

	while (a && a->request->id != id)
		a = a->next;
	return a;
}

static const struct rule *rule_with(const struct request *request, uint32_t channels)
{
	for (const struct rule *rule = rules_now()->rules; rule; rule = rule->next)
		if (rule_follows_messages(rule) && (rule->requests[0] == request || rule->on_message == request) &&
		    (rule->wants.asked.ipc & channels))
			return rule;
	return NULL;
}

/* A receiver names no rule, as it brings nobody in. */
static bool is_named(const struct asking *asking, uint32_t id)
{
	for (unsigned int i = 0; i < asking->request.nr_rules; i++)
		if (asking->request.rules[i] == id)
			return true;
	return asking->request.flags & SPI_PEER_ASKED_BY_RECEIVER;
}

int asking_take_rules(struct asking *asking, const struct process *p, char *why, size_t size)
{
	uint32_t kind = asking->request.channel.kind;
	const struct rule *front = the_daemon()->is_front_end ? front_rule() : NULL;

	if (front)	/* its agent asks for the channels that its own rules follow */
		asking->rules[asking->nr_rules++] = (struct rule_name) { front->requests[0]->id, front->on_message->id };

	for (const struct applied *a = p->talk.applied; a && asking->nr_rules < SPI_PEER_RULES_MAX; a = a->next) {
		const struct rule *rule = is_named(asking, a->request->id) &&
			(a->state == APPLIED_ACTIVE || a->state == APPLIED_ADDING) ? rule_with(a->request, channels_of(kind)) : NULL;

		if (rule)
			asking->rules[asking->nr_rules++] = (struct rule_name) { rule->requests[0]->id, rule->on_message->id };
	}
	if (asking->nr_rules)
		return 0;
	snprintf(why, size, "no rule that is in force in it follows messages over %s", channel_kind_name(kind));
	return -EPERM;
}

/* Is there one of that name that may concern such a process? */
static bool rule_reaches(const struct rule_name *name, const struct facts *facts)
{
	for (const struct rule *rule = rules_now()->rules; rule; rule = rule->next)
		if (rule_follows_messages(rule) && rule->on_message->id == name->on_message && rule_may(rule, facts))
			return true;
	return false;
}

static bool reaches(const struct asking *asking, const struct facts *facts)
{
	for (unsigned int i = 0; i < asking->nr_rules; i++)
		if (rule_reaches(&asking->rules[i], facts))
			return true;
	return false;
}

/* Is the process under it already, or about to be, and waits for no message? */
static bool rule_has_begun(const struct rule_name *name, const struct process *p)
{
	if (applied_with(p, name->plain))
		return true;
	for (const struct rule *rule = rules_now()->rules; rule; rule = rule->next)
		if (rule_follows_messages(rule) && rule->on_message->id == name->on_message &&
		    rule_concerns(rule, &p->facts, p->is_application))
			return true;
	return false;
}

static bool follows(const struct process *p, uint32_t id)
{
	for (unsigned int i = 0; i < p->talk.nr_follows; i++)
		if (p->talk.follows[i] == id)
			return true;
	return false;
}

/* It has one of the rules, or is about to: nothing is to be done but to tell it. */
static bool is_in(const struct asking *asking, const struct process *p)
{
	for (unsigned int i = 0; p->agent && i < asking->nr_rules; i++)
		if (applied_with(p, asking->rules[i].plain) || applied_with(p, asking->rules[i].on_message))
			return true;
	return p->is_handed;
}

static unsigned int brought_in(uint32_t id)
{
	unsigned int n = 0;

	for (const struct process *p = processes_first(); p; p = p->next)
		n += follows(p, id);
	return n;
}

static void follows_tidy(struct process *p)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < p->talk.nr_follows; i++)
		for (const struct rule *rule = rules_now()->rules; rule; rule = rule->next)
			if (rule->on_message && (rule->on_message->id == p->talk.follows[i] ||
						 rule->requests[0]->id == p->talk.follows[i])) {
				p->talk.follows[n++] = p->talk.follows[i];
				break;
			}
	p->talk.nr_follows = n;
}

void peers_rules_changed(void)
{
	ahead_update();
	for (struct process *p = processes_first(); p; p = p->next) {
		if (!p->brought.kind)
			continue;
		follows_tidy(p);
		if (!p->talk.nr_follows)
			p->brought.kind = SPI_CHANNEL_NONE;
	}
}

/* ---- one process ----------------------------------------------------------------------------------------------- */

void peer_refuse(const struct asking *asking, struct peer *peer, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(peer->why, sizeof(peer->why), format, args);
	va_end(args);
	peer->state = PEER_REFUSED;
	peer->error = error;
	unfollowed_add(asking, peer);
}

static bool is_same(const struct one *one, const struct facts *facts)
{
	return one->pid == facts->pid && one->start_time == facts->start_time;
}

/* As it is now: its user may be another since it was read. NULL: it is not known yet. 0, or -ESRCH. */
static int facts_now(const struct asking *asking, const struct one *one, struct facts *facts, struct process **process)
{
	struct process *p = process_find(one->pid);

	*process = p && is_same(one, &p->facts) ? p : NULL;
	if (*process && (facts_are_fresh(&p->facts) || is_in(asking, p))) {
		*facts = p->facts;
		return 0;
	}
	if (facts_read(facts, one->pid) || !is_same(one, facts))
		return -ESRCH;
	if (*process)
		process_set_facts(p, facts);
	return 0;
}

/* Was it forked by a process under the rules, whose trees are in it as well? It says so itself, with its first record. */
static bool is_child_of_traced(const struct asking *asking, const struct process *p)
{
	const struct process *parent = process_find(p->facts.parent);

	if (p->agent || p->coming || p->injection || !parent || !process_is_forked(p))
		return false;
	for (unsigned int i = 0; i < asking->nr_rules; i++) {
		const struct applied *a = applied_with(parent, asking->rules[i].plain);

		a = a ?: applied_with(parent, asking->rules[i].on_message);
		if (a && a->state == APPLIED_ACTIVE)
			return true;
	}
	return false;
}

/* It follows those of the rules that it is not under. 0, or a negative errno: it was refused. */
static int follow(const struct asking *asking, struct peer *peer, struct process *p)
{
	unsigned int marks = 0;

	for (unsigned int i = 0; i < asking->nr_rules; i++) {
		const struct rule_name *name = &asking->rules[i];

		if (!rule_reaches(name, &p->facts) || rule_has_begun(name, p) || follows(p, name->on_message))
			continue;
		if (brought_in(name->on_message) >= RULE_MOST) {
			peer_refuse(asking, peer, E2BIG, "the rule has brought in %u processes, the most at a time", RULE_MOST);
			return -E2BIG;
		}
		if (p->talk.nr_follows == FOLLOWS_MAX) {
			peer_refuse(asking, peer, E2BIG, "it has come under %u rules of other processes, the most", FOLLOWS_MAX);
			return -E2BIG;
		}
		p->talk.follows[p->talk.nr_follows++] = name->on_message;
		marks = MARK_RULES;
	}
	if (marks && !p->brought.kind) {
		p->brought = (struct brought) {
			.is_late = p->brought.is_late, .kind = asking->request.channel.kind, .by = asking->one.pid, .uid = asking->uid,
		};
		memcpy(p->brought.name, asking->name, sizeof(p->brought.name));
	}
	if (marks)
		process_mark(p, marks);
	return 0;
}

void peer_add(struct asking *asking, const struct one *one)
{
	struct peer *peer = &asking->peers[asking->nr];
	struct facts facts;
	struct process *p;

	if (facts_now(asking, one, &facts, &p))
		return;		/* it has ended since */
	if (asking->nr == HOLDERS_MAX) {
		asking->beyond++;
		return;
	}
	asking->nr++;
	*peer = (struct peer) { .one = *one, .uid = facts.uids[0], .is_slow = p && p->brought.is_late };
	snprintf(peer->name, sizeof(peer->name), "%.*s", (int) sizeof(peer->name) - 1, p ? p->name : facts.exec);
	if (p && (is_same(&asking->one, &facts) || is_child_of_traced(asking, p))) {
		peer->was_in = true;
		peer->state = PEER_READY;
	} else if (p && asking->nr_rules == 1 && is_in(asking, p)) {
		peer->serial = p->serial;
		peer_advance(asking, peer, p);
		peer->was_in = peer->state == PEER_TOLD;
	} else if (facts_are_own(&facts, true) || peer_is_never(&facts)) {
		peer_refuse(asking, peer, EPERM, "it is one of the programs that messages never bring in");
	} else if (!reaches(asking, &facts)) {
		peer_refuse(asking, peer, EPERM, the_daemon()->is_front_end ?
			"it is another user's, or runs with ids of several: only root can bring a payload into it" :
			"the rule's owner, or what the session tracks, does not reach it");
	} else if (asking->within_user && !facts_are_of(&facts, asking->uid)) {
		peer_refuse(asking, peer, EPERM, "it is another user's, and its payload alone asks for that: give --ipc");
	} else if (!(p = process_get(one->pid, -1)) || !is_same(one, &p->facts)) {
		peer_refuse(asking, peer, ESRCH, "it has ended");
	} else if (process_is_forked_with_agent(p)) {
		peer->was_in = true;
		peer->state = PEER_READY;
	} else if (!follow(asking, peer, p)) {
		peer->serial = p->serial;
		peer_advance(asking, peer, p);
		peer->was_in = peer->state == PEER_TOLD;
	}
}

static void tell(const struct asking *asking, struct peer *peer, struct process *p, struct spi_msg_channel_told *told)
{
	static uint32_t number;

	told->channel = asking->request.channel;
	told->channel.receiver = asking->is_listening ? 0 : asking->inode;
	peer->told = number = number == UINT32_MAX ? 1 : number + 1;
	peer->agent = p->agent;
	peer->state = PEER_TOLD;
	if (peer_tell(peer, told))
		peer_refuse(asking, peer, EPIPE, "the connection to the tracer in it is over");
}

/* Nothing is in force, and nothing is under way to that. */
static void advance_without(const struct asking *asking, struct peer *peer, const struct process *p)
{
	/* what has failed twice, as it is static or has a debugger, is tried again without messages that wait */
	peer->is_slow = peer->is_slow || (!p->agent && p->refusal.failures > 1);
	if (p->marks & MARK_RULES || p->state == PROCESS_INJECTING || p->state == PROCESS_ENTERING ||
	    p->refusal.again.armed)
		return;
	if (*p->refusal.why && !p->agent)
		peer_refuse(asking, peer, ENOTSUP, "%.*s", (int) sizeof(peer->why) - 1, p->refusal.why);
	else
		peer_refuse(asking, peer, ENOENT, "the rule is not for it any more");
}

void peer_advance(struct asking *asking, struct peer *peer, struct process *p)
{
	struct spi_msg_channel_told told = { .nr_rules = 0 };
	const char *failed = NULL;
	bool is_due = false;

	if (peer->state == PEER_READY || peer->state == PEER_REFUSED)
		return;
	if (!p) {
		peer_refuse(asking, peer, ESRCH, "it has ended");
		return;
	}
	if (peer->state == PEER_TOLD && p->agent == peer->agent)
		return;
	peer->state = PEER_COMES;
	for (unsigned int i = 0; i < asking->nr_rules; i++) {
		const struct applied *a = applied_with(p, asking->rules[i].plain);

		if (!a || a->state == APPLIED_OFF)
			a = applied_with(p, asking->rules[i].on_message);
		if (a && a->state == APPLIED_ACTIVE)
			told.rules[told.nr_rules++] = a->request->id;
		else if (a && a->state == APPLIED_FAILED)
			failed = a->text;
		else if (a && a->state == APPLIED_ADDING)
			is_due = true;
	}
	if (p->is_handed) {
		tell(asking, peer, p, &told);
		return;
	}
	if (is_due || !p->agent || p->marks & MARK_RULES) {
		if (!is_due && !p->agent)
			advance_without(asking, peer, p);
		return;
	}
	if (told.nr_rules)
		tell(asking, peer, p, &told);
	else if (failed)
		peer_refuse(asking, peer, ENOENT, "%.*s", (int) sizeof(peer->why) - 1, failed);
	else
		advance_without(asking, peer, p);
}

unsigned int peers_known(const struct asking *asking, struct one *list, unsigned int most)
{
	unsigned int n = 0;

	for (const struct process *p = processes_first(); p && n < most; p = p->next)
		if (is_in(asking, p) && !is_same(&asking->one, &p->facts))
			list[n++] = (struct one) { .pid = p->facts.pid, .start_time = p->facts.start_time };
	return n;
}
