/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the plugin sends: which program registered, which one is held, which client command has ended, which rule is
 * about to be switched off.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "broker/base/base.h"
#include "broker/io/internal.h"
#include "broker/peers/peers.h"
#include "broker/process/process.h"
#include "broker/rules/rules.h"

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
	for (const struct rule *rule = rules_now()->rules; rule; rule = rule->next)
		if (strlen(rule->name) == n && !memcmp(rule->name, name, n) && (rule->enabled || !seen.enabled))
			return false;
	return seen.enabled;
}

/* Those of a front end: each names programs. 0 or a negative errno. */
static int take_names(const char *body, size_t size)
{
	struct spi_broker_find find;
	struct ruleset *set;

	if (size <= sizeof(find) || body[size - 1] || the_daemon()->is_known)
		return -EPROTO;
	memcpy(&find, body, sizeof(find));
	set = ruleset_create();
	if (!set)
		return -ENOMEM;
	daemon_take_front_end(find.pid);
	for (const char *name = body + sizeof(find); find.count && name < body + size; name += strlen(name) + 1) {
		ruleset_add_trigger(set, "--exec", geteuid(), name, false, "");
		find.count--;
	}
	rules_take(set);
	return 0;
}

/* What it says of its agents. */
static int take_of_front_end(const struct spi_broker_msg *head, const char *body)
{
	union {
		struct spi_broker_has has;
		struct spi_broker_asked asked;
		struct spi_broker_told told;
	} of;
	const size_t size = head->type == SPI_BROKER_HAS ? sizeof(of.has) : head->type == SPI_BROKER_ASKED ? sizeof(of.asked) :
		sizeof(of.told);

	if (head->size < size)
		return -EPROTO;
	memcpy(&of, body, size);
	if (head->type == SPI_BROKER_HAS)
		front_has(of.has.pid, of.has.has);
	else if (head->type == SPI_BROKER_ASKED)
		front_asked(&of.asked);
	else
		front_told(&of.told);
	return 0;
}

static int take_message(const struct spi_broker_msg *head, const char *body, int *fd)
{
	struct spi_broker_generation generation;
	struct spi_broker_release release;
	struct spi_broker_disabling disabling;
	struct spi_broker_daemon daemon;
	struct spi_broker_late late;
	struct spi_broker_app app;
	int ret;

	switch (head->type) {
	case SPI_BROKER_DAEMON:
		if (head->size < sizeof(daemon) || the_daemon()->is_known)
			return -EPROTO;
		memcpy(&daemon, body, sizeof(daemon));
		query_generation_told(daemon.generation);
		ret = daemon_take(&daemon);
		version_ask();
		return ret ?: rundir_open();
	case SPI_BROKER_FIND:
		return take_names(body, head->size);
	case SPI_BROKER_HAS:
	case SPI_BROKER_ASKED:
	case SPI_BROKER_TOLD:
		return the_daemon()->is_front_end ? take_of_front_end(head, body) : -EPROTO;
	case SPI_BROKER_APP:
	case SPI_BROKER_HELD:
		if (head->size < sizeof(app) || !the_daemon()->is_known || the_daemon()->is_front_end)
			return -EPROTO;
		memcpy(&app, body, sizeof(app));
		process_registered(&app, *fd, head->type == SPI_BROKER_HELD);
		*fd = -1;
		return 0;
	case SPI_BROKER_DIRTY:
		if (head->size < sizeof(generation))
			return -EPROTO;
		memcpy(&generation, body, sizeof(generation));
		query_generation_told(generation.generation);
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
		registration_expired(release.id);
		return 0;
	case SPI_BROKER_LATE:
		if (head->size < sizeof(late))
			return -EPROTO;
		memcpy(&late, body, sizeof(late));
		registration_late(&late);
		return 0;
	default:
		return 0;	/* a newer plugin may say more */
	}
}

static void link_over(void)
{
	registrations_put_back();
	for (const struct note *note = the_daemon()->is_front_end ? broker_notes() : NULL; note; note = note->next)
		plugin_lacks(0, "", false, note->text);
	plugin_close();
	daemon_set_gone();
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
		plugin_flush();
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
	return plugin_open(link_ready);
}
