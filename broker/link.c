/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The plugin's end of the line: who registered, who is held, what may have
 * changed; and back, who may go on and who is to be held.
 *
 * What is sent and does not fit the socket is queued: the plugin must never wait
 * for us, and we not for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "broker/broker.h"
#include "injector/target.h"
#include "spi-sessiond-plugin/ust-threads.h"

static struct loop_source link_source = { .fd = -1 };

struct packet {
	struct packet *next;
	size_t size;
	char bytes[];
};

static struct packet *queue, **queue_end = &queue;

static struct spi_broker_entry table[SPI_BROKER_TABLE_MAX];
static unsigned int table_count;

/* ---- to the plugin -------------------------------------------------------------------- */

static void link_flush(void)
{
	while (queue) {
		struct packet *packet = queue;

		if (packet_send(link_source.fd, packet->bytes, packet->size, NULL, 0) == -EAGAIN)
			break;
		queue = packet->next;
		if (!queue)
			queue_end = &queue;
		free(packet);
	}
	loop_change(&link_source, EPOLLIN | (queue ? EPOLLOUT : 0));
}

static int link_send(uint16_t type, const void *head, size_t head_size, const void *tail, size_t tail_size)
{
	struct spi_broker_msg message = {
		.magic = SPI_BROKER_MAGIC, .version = SPI_BROKER_VERSION, .type = type, .size = head_size + tail_size,
	};
	struct packet *packet;

	if (link_source.fd < 0)
		return -EPIPE;
	packet = malloc(sizeof(*packet) + sizeof(message) + message.size);
	if (!packet)
		return -ENOMEM;
	packet->next = NULL;
	packet->size = sizeof(message) + message.size;
	memcpy(packet->bytes, &message, sizeof(message));
	memcpy(packet->bytes + sizeof(message), head, head_size);
	if (tail_size)
		memcpy(packet->bytes + sizeof(message) + head_size, tail, tail_size);
	*queue_end = packet;
	queue_end = &packet->next;
	link_flush();
	return 0;
}

int link_release(uint64_t id)
{
	const struct spi_broker_release release = { .id = id };

	return link_send(SPI_BROKER_RELEASE, &release, sizeof(release), NULL, 0);
}

int link_disabled(uint64_t id)
{
	const struct spi_broker_release release = { .id = id };

	return link_send(SPI_BROKER_DISABLED, &release, sizeof(release), NULL, 0);
}

int link_flushed(uint64_t id)
{
	const struct spi_broker_release release = { .id = id };

	return link_send(SPI_BROKER_FLUSHED, &release, sizeof(release), NULL, 0);
}

int link_querier(pid_t pid)
{
	const struct spi_broker_querier querier = { .pid = pid };

	return link_send(SPI_BROKER_QUERIER, &querier, sizeof(querier), NULL, 0);
}

/* ---- the table ------------------------------------------------------------------------- */

static void table_add(uid_t uid, pid_t pid, const char *exec)
{
	struct spi_broker_entry entry = { .uid = uid, .pid = pid };

	strncpy(entry.exec, exec, sizeof(entry.exec) - 1);
	for (unsigned int i = 0; i < table_count; i++)
		if (!memcmp(&table[i], &entry, sizeof(entry)))
			return;
	if (table_count == SPI_BROKER_TABLE_MAX) {
		table[0] = (struct spi_broker_entry) { .uid = -1 };
		table_count = 1;
		return;
	}
	table[table_count++] = entry;
}

/* Who may be concerned by a rule, as far as the table can tell: rather too many than too few. */
static void table_add_rule(const struct rule *rule)
{
	const struct tracker *vuid = rule->session ? &rule->session->trackers[TRACK_VUID] : NULL;
	const struct spi_rule *asked = &rule->wants.asked;
	bool by_uid = !rule->owner && vuid && vuid->present && !vuid->any;
	unsigned int uids = by_uid ? vuid->n : 1, pids = asked->nr_pids ? asked->nr_pids : 1;
	unsigned int execs = asked->exec.count ? asked->exec.count : 1;

	for (unsigned int i = 0; i < uids * pids * execs; i++) {
		const char *exec = asked->exec.count ? asked->exec.name[i / pids % execs] : "";
		uid_t uid = rule->owner ? rule->owner : by_uid ? (uid_t) vuid->ids[i / pids / execs] : (uid_t) -1;

		if (strpbrk(exec, "*?[\\"))
			exec = "";
		table_add(uid, asked->nr_pids ? asked->pids[i % pids] : 0, exec);
	}
}

int link_table(void)
{
	struct spi_broker_table head = { .generation = broker.generation };

	table_count = 0;
	for (const struct rule *rule = broker.rules->rules; rule; rule = rule->next)
		if (rule->enabled && rule_instruments(rule)) {
			table_add_rule(rule);
			head.flags |= rule->wants.asked.compact ? SPI_BROKER_TABLE_COMPACT : 0;
		}
	head.count = table_count;
	return link_send(SPI_BROKER_TABLE, &head, sizeof(head), table, table_count * sizeof(table[0]));
}

static bool entry_names(const struct spi_broker_entry *entry, const char *name)
{
	return !strncmp(entry->exec, name, sizeof(entry->exec) - 1);
}

bool link_table_matches(const struct facts *facts)
{
	for (unsigned int i = 0; i < table_count; i++) {
		const struct spi_broker_entry *entry = &table[i];

		if ((entry->uid == (uid_t) -1 || entry->uid == facts->uids[0]) && (!entry->pid || entry->pid == facts->pid) &&
		    (!*entry->exec || entry_names(entry, facts->exec) || entry_names(entry, facts->names.run_as) ||
		     entry_names(entry, facts->names.comm)))
			return true;
	}
	return false;
}

/* ---- from the plugin --------------------------------------------------------------------- */

/* It registered, so it is an application now; what we knew of the program it was may be out of date. */
static void take_app(const struct spi_broker_app *app, int pidfd, bool held)
{
	struct process *p = process_get(app->pid, pidfd);
	bool may_be_forked, is_first;
	struct facts facts;

	if (!p && !held)
		unheld_ended(app);
	if (p && (p->agent || p->coming))
		p = process_hear_agents(p);	/* the end of the former program's connection */
	if (!p) {
		if (held)
			link_release(app->id);
		return;
	}
	facts = p->facts;
	/* One that we knew as an application may be another program by now. */
	if ((p->application || p->agent || !facts_are_fresh(&facts)) && !facts_read(&facts, app->pid) &&
	    facts.start_time == p->facts.start_time) {
		/* The former program's: the connection is open still where a child has it, too. */
		if (p->agent && *facts.exec && !facts_same_program(&facts, &p->served_as)) {
			agent_is_former(p);
			process_executed(p);
			flushing_answered();
		}
		if (memcmp(facts.uids, p->facts.uids, sizeof(facts.uids)))
			process_begins(p);
		process_facts_set(p, &facts);
	}
	is_first = !p->registered;
	p->application = p->registered = true;
	p->registered_since = p->agent != NULL;
	if (!held && !p->agent && !p->coming && !p->injection)
		unheld_tell(p, &facts, app);
	/* A program that begins does not wait for what was to be tried again later. */
	if (held && p->again.armed) {
		loop_timer_cancel(&p->again);
		*p->why = 0;
	}
	/* Its agent itself has loaded lttng-ust, and waits for this registration: nothing is to come before it. */
	if (p->agent && held) {
		link_release(app->id);
		process_apply(p);
		return;
	}
	if (!p->agent)
		snprintf(p->name, sizeof(p->name), "%.*s", (int) sizeof(app->name) - 1, app->name);
	/* An injection that has begun finds no safe moment in one that waits here within fork(): it is not waited for. */
	may_be_forked = held && is_first && !p->agent && !p->coming;
	if (may_be_forked && !(p = process_hear_agents(p))) {	/* its parent has told before there was a child */
		link_release(app->id);
		return;
	}
	if (may_be_forked && process_is_forked(p)) {
		link_release(app->id);
		process_comes_forked(p);
		return;
	}
	if (held) {
		if (p->held && p->held != app->id)
			link_release(p->held);
		p->held = app->id;
		/* A command before it may have made a rule that we have not heard of: the next answer of the daemon decides. */
		p->held_query = query_idle() && app->generation <= query_generation() &&
				link_table_matches(&facts) ? 0 : query_next();
		if (p->held_query)
			query_want();
	}
	process_apply(p);
}

static void take_expired(uint64_t id)
{
	for (struct process *p = processes; p; p = p->next)
		if (p->held == id) {
			process_let_go_late(p, "it was held for as long as it may be");
			return;
		}
}

static void take_late(const struct spi_broker_late *late)
{
	static const char text[] = "the session daemon accepted it %u ms after its start; lttng-ust waits 3 s, "
				   "or as LTTNG_UST_REGISTER_TIMEOUT says";
	struct process *p = process_find(late->pid);
	struct ended *e;
	size_t n;

	if (p) {
		process_missed(p, text, late->ms);
		return;
	}
	if (ended_has_missed(late->pid, late->uid))
		return;
	e = ended_add(late->pid, late->uid, "");
	snprintf(e->name, sizeof(e->name), "%.*s", (int) sizeof(late->name) - 1, late->name);
	n = snprintf(e->missed, sizeof(e->missed), MISSED_PREFIX);
	snprintf(e->missed + n, sizeof(e->missed) - n, text, late->ms);
	missed_count();
}

/*
 * The daemon tells every application each of its rules; only one that we do not
 * know is a reason to ask. A rule switched off was so by a client's command,
 * after which we ask anyway.
 */
static bool rule_is_news(const char *body, size_t size)
{
	const char *name = body + sizeof(struct spi_broker_rule);
	size_t n = strnlen(name, size - sizeof(struct spi_broker_rule));
	struct spi_broker_rule seen;

	memcpy(&seen, body, sizeof(seen));
	for (const struct rule *rule = broker.rules->rules; rule; rule = rule->next)
		if (strlen(rule->name) == n && !memcmp(rule->name, name, n) && (rule->enabled || !seen.enabled))
			return false;
	return seen.enabled;
}

static int take_message(const struct spi_broker_msg *head, const char *body, int *fd)
{
	struct spi_broker_generation generation;
	struct spi_broker_release release;
	struct spi_broker_disabling disabling;
	struct spi_broker_late late;
	struct spi_broker_app app;

	switch (head->type) {
	case SPI_BROKER_DAEMON:
		if (head->size < sizeof(broker.daemon) || broker.greeted)
			return -EPROTO;
		memcpy(&broker.daemon, body, sizeof(broker.daemon));
		broker.daemon.client_socket[sizeof(broker.daemon.client_socket) - 1] = 0;
		broker.daemon.app_socket[sizeof(broker.daemon.app_socket) - 1] = 0;
		broker.generation = broker.daemon.generation;
		broker.greeted = true;
		version_ask();
		return rundir_open();
	case SPI_BROKER_APP:
	case SPI_BROKER_HELD:
		if (head->size < sizeof(app) || !broker.greeted)
			return -EPROTO;
		memcpy(&app, body, sizeof(app));
		take_app(&app, *fd, head->type == SPI_BROKER_HELD);
		*fd = -1;
		return 0;
	case SPI_BROKER_DIRTY:
		if (head->size < sizeof(generation))
			return -EPROTO;
		memcpy(&generation, body, sizeof(generation));
		broker.generation = generation.generation;
		query_want();
		return 0;
	case SPI_BROKER_RULE_SEEN:
		if (head->size >= sizeof(struct spi_broker_rule) && rule_is_news(body, head->size))
			query_want();
		return 0;
	case SPI_BROKER_CLIENT:
		if (head->size < sizeof(struct spi_broker_client))
			return -EPROTO;
		query_add_uid(((const struct spi_broker_client *) body)->uid);
		return 0;
	case SPI_BROKER_DISABLING:
		/* head->size says where the name ends; it is NUL-terminated there, or the message is not taken */
		if (head->size <= sizeof(disabling) || ((const char *) body)[head->size - 1])
			return -EPROTO;
		memcpy(&disabling, body, sizeof(disabling));
		disabling_begin(&disabling, (const char *) body + sizeof(disabling));
		return 0;
	case SPI_BROKER_FLUSH:
		if (head->size < sizeof(release))
			return -EPROTO;
		memcpy(&release, body, sizeof(release));
		flushing_begin(release.id);
		return 0;
	case SPI_BROKER_EXPIRED:
		if (head->size < sizeof(release))
			return -EPROTO;
		memcpy(&release, body, sizeof(release));
		take_expired(release.id);
		return 0;
	case SPI_BROKER_LATE:
		if (head->size < sizeof(late))
			return -EPROTO;
		memcpy(&late, body, sizeof(late));
		take_late(&late);
		return 0;
	default:
		return 0;	/* a newer plugin may say more */
	}
}

/* The daemon may have ended in the middle of a turn, for which it put the application first in line. */
static void processes_put_back(void)
{
	for (const struct process *p = processes; p; p = p->next)
		if (p->registered && spi_process_start_time(p->facts.pid) == p->facts.start_time)
			ust_threads_back(p->facts.pid, !p->first_ahead);
}

static void link_over(void)
{
	processes_put_back();
	loop_remove(&link_source);
	while (queue) {
		struct packet *packet = queue;

		queue = packet->next;
		free(packet);
	}
	queue_end = &queue;
	broker.ending = true;
	agents_detach_all();
}

static void link_ready(struct loop_source *source, uint32_t events)
{
	static _Alignas(8) char buffer[sizeof(struct spi_broker_msg) + SPI_BROKER_MESSAGE_MAX];
	struct spi_broker_msg head;
	unsigned int nr_fds;
	int fd = -1, ret = 0;
	ssize_t n;

	if (events & EPOLLOUT)
		link_flush();
	n = packet_receive(source->fd, buffer, sizeof(buffer), &fd, 1, &nr_fds);
	if (n == -EAGAIN)
		return;
	if (n <= 0) {
		link_over();
		return;
	}
	if (!nr_fds)
		fd = -1;
	memcpy(&head, buffer, sizeof(head));
	if (n < (ssize_t) sizeof(head) || head.magic != SPI_BROKER_MAGIC || head.version != SPI_BROKER_VERSION ||
	    head.size != n - sizeof(head))
		ret = -EPROTO;
	else
		ret = take_message(&head, buffer + sizeof(head), &fd);
	if (fd >= 0)
		close(fd);
	if (ret)
		link_over();
}

int link_open(void)
{
	int fd = fcntl(SPI_BROKER_FD, F_DUPFD_CLOEXEC, 10), ret;

	if (fd < 0)
		return -errno;
	close(SPI_BROKER_FD);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	ret = loop_add(&link_source, fd, EPOLLIN, link_ready);
	if (ret)
		close(fd);
	return ret;
}
