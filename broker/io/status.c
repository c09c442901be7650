/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What `lttng list --spi` is answered (status-proto.h).
 *
 * The whole answer is made at once, for the user who asks, and written as the client's socket takes it. A client is
 * never waited for: after a second it is dropped.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker/base/base.h"
#include "broker/io/internal.h"
#include "broker/peers/peers.h"
#include "broker/process/process.h"
#include "broker/rules/rules.h"
#include "broker/status-proto.h"
#include "injector/base/foreign-fd.h"
#include "injector/inject/inject.h"
#include "rules/harmless.h"

#define CLIENT_MS	1000u
#define CLIENTS_MAX	128u
#define CLIENTS_OF_USER	8u	/* at a time: he cannot keep others from being answered */

struct client {
	struct loop_source source;
	struct loop_timer late;
	struct client *next;
	uid_t uid;
	char *text;
	size_t size, done;
};

static struct loop_source listener = { .fd = -1 };
static struct client *clients;

/* ---- records ------------------------------------------------------------------------------- */

/* A tab and the field; what would end it, or do something to a terminal, becomes '?'. */
static void put_part(FILE *out, const char *field, size_t size)
{
	fputc('\t', out);
	spi_put_harmless(field, size, out);
}

static void put(FILE *out, const char *field)
{
	put_part(out, field, strlen(field));
}

static void put_number(FILE *out, long long number)
{
	fprintf(out, "\t%lld", number);
}

static bool may_see(uid_t asker, uid_t owner)
{
	return !asker || asker == geteuid() || asker == owner;
}

static void put_rules(FILE *out, uid_t asker)
{
	for (const struct session *s = rules_now()->sessions; s; s = s->next) {
		if (!may_see(asker, s->owner))
			continue;
		fputs("session", out);
		put(out, s->name);
		put_number(out, s->ended);
		fputc('\n', out);
		if (*s->why) {
			char text[700];

			snprintf(text, sizeof(text), "session %s: its rules instrument nothing: %s", s->name, s->why);
			fputs("note", out);
			put(out, text);
			fputc('\n', out);
		}
	}
	for (const struct account *a = rules_now()->accounts; a; a = a->next) {
		char text[1000];

		if (may_see(asker, a->uid) && ruleset_describe_beyond(rules_now(), a, text, sizeof(text))) {
			fputs("note", out);
			put(out, text);
			fputc('\n', out);
		}
	}
	for (const struct rule *r = rules_now()->rules; r; r = r->next) {
		char text[400] = "", trigger[280];

		if (!may_see(asker, r->owner))
			continue;
		snprintf(trigger, sizeof(trigger), "trigger %s", r->trigger);
		if (r->parsed == -EDQUOT || spi_event_name_describe(r->name, text, sizeof(text)))
			snprintf(text, sizeof(text), "%s", r->why);
		if (r->deaf)
			snprintf(text, sizeof(text), "no event of a function passes its log level: they are at DEBUG_LINE (%d)",
				FUNCTION_LOGLEVEL);
		fputs("rule", out);
		put(out, r->session ? r->session->name : trigger);
		put(out, r->channel);
		put(out, r->name);
		put(out, r->enabled ? "enabled" : "disabled");
		put_number(out, r->owner);
		put(out, rule_instruments(r) ? "instruments" : "records");
		put(out, text);
		put(out, r->filter ?: "");
		for (uint32_t i = 0; i < (r->enabled && rule_instruments(r) ? r->wants.nr_requests : 0); i++)
			fprintf(out, "%c%u", i ? '+' : '\t', r->requests[i]->id);
		fputc('\n', out);
	}
}

static void put_hot(FILE *out, struct process *p)
{
	hot_sort(p);
	for (unsigned int i = 0; i < p->report.nr_hot; i++) {
		fprintf(out, "hot\t%d\t%llu", (int) p->facts.pid, (unsigned long long) p->report.hot[i].count);
		put(out, p->report.hot[i].object);
		put(out, p->report.hot[i].function);
		fputc('\n', out);
	}
}

static void put_budget(FILE *out, const struct process *p)
{
	if (!p->report.budget.budget)
		return;
	fprintf(out, "budget\t%d\t%u\t%llu\t%llu\t%llu\n", (int) p->facts.pid, p->report.budget.budget,
		(unsigned long long) p->report.budget.own, (unsigned long long) p->report.budget.spent,
		(unsigned long long) p->report.budget.records);
	/* five fields, and no tab in the last two but from us: an agent's own would make one more */
	for (const struct line *l = p->report.left_out.first; l; l = l->next) {
		fprintf(out, "left-out\t%d", (int) p->facts.pid);
		for (const char *field = l->text; field; ) {
			size_t n = strcspn(field, "\t");

			put_part(out, field, n);
			field = field[n] ? field + n + 1 : NULL;
		}
		fputc('\n', out);
	}
}

static void put_applied(FILE *out, const struct process *p)
{
	for (const struct applied *a = p->talk.applied; a; a = a->next) {
		if (a->state == APPLIED_OFF)
			continue;
		fputs("applied", out);
		put_number(out, p->facts.pid);
		put(out, a->request->text);
		put(out, a->state == APPLIED_ACTIVE ? "active" : a->state == APPLIED_FAILED ? "failed" : "adding");
		put_number(out, a->matched);
		put_number(out, a->instrumented);
		put_number(out, a->declined);
		put(out, a->text);
		fputc('\n', out);
	}
	/* A line has its tabs from us; one inside a field would have been an agent's own. */
	for (const struct line *l = p->report.declined.first; l; l = l->next) {
		const char *function = strchr(l->text, '\t');
		const char *reason = function ? strchr(function + 1, '\t') : NULL;

		if (!reason)
			continue;
		fputs("declined", out);
		put_number(out, p->facts.pid);
		put_part(out, l->text, function - l->text);
		put_part(out, function + 1, reason - function - 1);
		put(out, reason + 1);
		fputc('\n', out);
	}
	if (*p->missed) {
		fputs("message", out);
		put_number(out, p->facts.pid);
		put(out, p->missed);
		fputc('\n', out);
	}
	for (const struct line *l = p->report.notes.first; l; l = l->next) {
		fputs("message", out);
		put_number(out, p->facts.pid);
		put(out, l->text);
		fputc('\n', out);
	}
}

/* `declined`: each function once, where all are known; the agent counts each time it is asked. */
static void put_counts(FILE *out, pid_t pid, const volatile struct spi_status_page *c, const struct lines *declined)
{
	if (c)
		fprintf(out, "counts\t%d\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\n", (int) pid,
			(unsigned long long) c->entries, (unsigned long long) c->exits,
			(unsigned long long) c->lost_entries, (unsigned long long) c->lost_exits,
			(unsigned long long) c->owed_exits, (unsigned long long) c->points,
			declined && !declined->more ? declined->n : (unsigned long long) c->declined);
}

/* Whose message it was is told to those who may know of that process. */
static void put_brought(FILE *out, const struct process *p, uid_t asker)
{
	const bool may_know = may_see(asker, p->brought.uid);

	if (!p->brought.kind)
		return;
	fputs("brought", out);
	put_number(out, p->facts.pid);
	put(out, channel_kind_name(p->brought.kind));
	put_number(out, may_know ? p->brought.by : 0);
	put(out, may_know ? p->brought.name : "");
	fputc('\n', out);
}

static void put_messages(FILE *out, uid_t asker)
{
	for (unsigned int i = 0; i < asked_count(); i++)
		for (unsigned int kind = 0; kind < SPI_CHANNEL_KINDS && may_see(asker, asked_at(i)->uid); kind++) {
			const struct asked *a = asked_at(i);

			if (!a->kind[kind].asked)
				continue;
			fprintf(out, "asked\t%u", a->uid);
			put(out, channel_kind_name(kind));
			fprintf(out, "\t%u\t%u\t%u\n", a->kind[kind].asked, a->kind[kind].nobody, a->kind[kind].late);
		}
	for (unsigned int i = 0; i < unfollowed_count(); i++) {
		const struct unfollowed *u = unfollowed_at(i);
		const bool may_know = u->peer_uid == (uid_t) -1 || may_see(asker, u->peer_uid);

		if (!may_see(asker, u->uid))
			continue;
		fprintf(out, "unfollowed\t%u", u->uid);
		put(out, channel_kind_name(u->kind));
		put_number(out, u->times);
		put_number(out, may_know ? u->pid : 0);
		put(out, may_know ? u->name : "another user's process");
		put(out, may_know ? u->why : "what becomes of it is not told");
		fputc('\n', out);
	}
}

static const char *state_of(const struct process *p)
{
	if (p->agent) {
		for (const struct applied *a = p->talk.applied; a; a = a->next)
			if (a->state != APPLIED_OFF)
				return a->state == APPLIED_ADDING && p->hold.id ? "waiting" : "traced";
		return "idle";
	}
	if (*p->refusal.why)
		return "refused";
	if (p->state == PROCESS_INJECTING || p->state == PROCESS_ENTERING || p->hold.id)
		return "waiting";
	return *p->missed ? "idle" : NULL;
}

static void put_processes(FILE *out, uid_t asker)
{
	for (struct process *p = processes_first(); p; p = p->next) {
		const char *state = state_of(p);

		if (!state || !may_see(asker, p->facts.uids[0]))
			continue;
		fputs("process", out);
		put_number(out, p->facts.pid);
		put_number(out, p->facts.uids[0]);
		put(out, state);
		put(out, p->name);
		put(out, p->refusal.why);
		put(out, p->refusal.again.armed ? "again" : "");
		fputc('\n', out);
		put_brought(out, p, asker);
		put_applied(out, p);
		if (p->agent)
			put_counts(out, p->facts.pid, spi_agent_status(p->agent), &p->report.declined);
		put_budget(out, p);
		put_hot(out, p);
	}
	for (unsigned int i = 0; i < ended_count(); i++) {
		const struct ended *e = ended_at(i);

		if (!may_see(asker, e->uid))
			continue;
		fprintf(out, "process\t%d\t%u\tended", (int) e->pid, e->uid);
		put(out, e->name);
		put(out, *e->missed ? e->missed : "events were lost");
		fputc('\n', out);
		if (e->counts.magic)
			put_counts(out, e->pid, &e->counts, NULL);
	}
}

static void put_failures(FILE *out, uid_t asker)
{
	static const char *const of[] = { "process", "rule", "function" };

	for (unsigned int i = 0; i < failures_count(); i++) {
		const struct failure *f = failure_at(i);

		if (!may_see(asker, f->uid))
			continue;
		fprintf(out, "lacked\t%u", f->uid);
		put(out, f->name);
		put_number(out, f->processes);
		put_number(out, f->last);
		put(out, of[f->of]);
		put(out, f->what);
		put_number(out, f->things);
		put(out, f->reason);
		fputc('\n', out);
	}
}

/* Injectors have the target's user and no capability, or root's. */
static void note_yama(void)
{
	int scope = spi_inject_yama();

	broker_note_clear("yama");
	if (scope >= 3)
		broker_note("yama", "kernel.yama.ptrace_scope is %d: no process can be instrumented; only a reboot changes "
			    "that", scope);
	else if (scope)
		broker_note("yama", "kernel.yama.ptrace_scope is %d: %s processes cannot be instrumented; set it to 0 "
			    "(sysctl kernel.yama.ptrace_scope=0)", scope, broker_is_root() ? "other users'" : "running");
}

static void put_all(FILE *out, uid_t asker)
{
	const struct daemon *daemon = the_daemon();

	fprintf(out, "version\t%d\ndaemon\t%d\t%s\t%s\n", SPI_STATUS_VERSION, (int) daemon->told.pid,
		daemon->told.flags & SPI_BROKER_DAEMON_ATTACHED ? "attached" : "plugin",
		*daemon->version ? daemon->version : "-");
	fprintf(out, "broker\t%d\n", (int) getpid());
	put_rules(out, asker);
	note_yama();
	for (const struct note *note = broker_notes(); note; note = note->next) {
		fputs("note", out);
		put(out, note->text);
		fputc('\n', out);
	}
	put_processes(out, asker);
	put_messages(out, asker);
	put_failures(out, asker);
	fputs("end\n", out);
}

/* ---- clients --------------------------------------------------------------------------------- */

static void client_free(struct client *c)
{
	for (struct client **at = &clients; *at; at = &(*at)->next)
		if (*at == c) {
			*at = c->next;
			break;
		}
	loop_timer_cancel(&c->late);
	spi_foreign_close(loop_take(&c->source), false, c->uid);
	children_reap();
	free(c->text);
	free(c);
}

static void client_late(struct loop_timer *timer)
{
	client_free(LOOP_OWNER(timer, struct client, late));
}

static void client_ready(struct loop_source *source, uint32_t events)
{
	struct client *c = LOOP_OWNER(source, struct client, source);

	while (c->done < c->size) {
		ssize_t n = send(source->fd, c->text + c->done, c->size - c->done, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0)
			break;
		c->done += n;
	}
	client_free(c);
}

static bool may_wait(uid_t uid)
{
	unsigned int all = 0, his = 0;

	for (const struct client *c = clients; c; c = c->next) {
		all++;
		his += c->uid == uid;
	}
	return his < CLIENTS_OF_USER && all < CLIENTS_MAX;
}

static void listener_ready(struct loop_source *source, uint32_t events)
{
	int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred peer = { .uid = (uid_t) -1 };
	socklen_t size = sizeof(peer);
	struct client *c;
	FILE *out;

	if (fd < 0)
		return;
	c = !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && may_wait(peer.uid) ? calloc(1, sizeof(*c)) : NULL;
	out = c ? open_memstream(&c->text, &c->size) : NULL;
	if (!out) {
		free(c);
		spi_foreign_close(fd, false, peer.uid);
		return;
	}
	put_all(out, peer.uid);
	if (fclose(out) || loop_add(&c->source, fd, EPOLLOUT, client_ready)) {
		free(c->text);
		free(c);
		spi_foreign_close(fd, false, peer.uid);
		return;
	}
	c->uid = peer.uid;
	c->next = clients;
	clients = c;
	loop_timer_set(&c->late, CLIENT_MS, client_late);
}

int status_open(int fd)
{
	int ret = loop_add(&listener, fd, EPOLLIN, listener_ready);

	if (ret)
		close(fd);
	return ret;
}
