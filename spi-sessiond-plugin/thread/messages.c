/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the broker says, and what the broker is told when it begins. With the end of a broker, all
 * that it told is forgotten, and no registration is held any more.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "spi-sessiond-plugin/base/base.h"
#include "spi-sessiond-plugin/broker/broker.h"
#include "spi-sessiond-plugin/daemon/daemon.h"
#include "spi-sessiond-plugin/registrations/registrations.h"
#include "spi-sessiond-plugin/thread/thread.h"

/* The daemon makes its two sockets listen in two threads. */
static bool client_socket_is_awaited(void)
{
	return __atomic_load_n(&sockets.client_fd, __ATOMIC_ACQUIRE) < 0;
}

static void broker_begun(void)
{
	struct spi_broker_daemon message = { .pid = plugin_pid, .uid = geteuid() };

	pthread_mutex_lock(&plugin_lock);
	table_forget();
	clients_set_querier(0);
	queue_open(true);
	message.generation = clients_ended();
	message.flags = plugin_attached || !clients_users_known() ? SPI_BROKER_DAEMON_ATTACHED : 0;
	memcpy(message.client_socket, sockets.client_path, sizeof(message.client_socket));
	memcpy(message.app_socket, sockets.app_path, sizeof(message.app_socket));
	queue_post(SPI_BROKER_DAEMON, &message, sizeof(message), NULL, 0, -1, QUEUE_VITAL);
	clients_report_users();
	pthread_mutex_unlock(&plugin_lock);
	/* Who came before the queue was open is found here; who comes now is told of by the hook, or twice. */
	applications_report();
}

static void broker_given_up(void)
{
	pthread_mutex_lock(&plugin_lock);
	queue_open(false);
	table_forget();
	clients_set_querier(0);
	pthread_mutex_unlock(&plugin_lock);
	held_release_all();
}

static void broker_lagged(void)
{
	struct spi_broker_generation message;

	pthread_mutex_lock(&plugin_lock);
	message.generation = clients_ended();
	queue_post(SPI_BROKER_DIRTY, &message, sizeof(message), NULL, 0, -1, QUEUE_URGENT);
	pthread_mutex_unlock(&plugin_lock);
	applications_report();
}

static int message_table(const void *body, size_t size)
{
	struct spi_broker_table table;

	if (size < sizeof(table))
		return -EBADMSG;
	memcpy(&table, body, sizeof(table));
	if (table.count > SPI_BROKER_TABLE_MAX || size != sizeof(table) + table.count * sizeof(struct spi_broker_entry))
		return -EBADMSG;
	pthread_mutex_lock(&plugin_lock);
	table_set(&table, (const struct spi_broker_entry *) ((const char *) body + sizeof(table)));
	pthread_mutex_unlock(&plugin_lock);
	held_rejudge();
	return 0;
}

static int broker_said(const struct spi_broker_msg *head, const void *body)
{
	struct spi_broker_release release;
	struct spi_broker_querier querier;

	switch (head->type) {
	case SPI_BROKER_RELEASE:
		if (head->size != sizeof(release))
			return -EBADMSG;
		memcpy(&release, body, sizeof(release));
		held_release(release.id);
		return 0;
	case SPI_BROKER_DISABLED:
		if (head->size != sizeof(release))
			return -EBADMSG;
		memcpy(&release, body, sizeof(release));
		rules_disabled(release.id);
		return 0;
	case SPI_BROKER_FLUSHED:
		if (head->size != sizeof(release))
			return -EBADMSG;
		memcpy(&release, body, sizeof(release));
		flush_done(release.id);
		return 0;
	case SPI_BROKER_TABLE:
		return message_table(body, head->size);
	case SPI_BROKER_QUERIER:
		if (head->size != sizeof(querier))
			return -EBADMSG;
		memcpy(&querier, body, sizeof(querier));
		pthread_mutex_lock(&plugin_lock);
		clients_set_querier(querier.pid);
		pthread_mutex_unlock(&plugin_lock);
		return 0;
	default:
		return -EBADMSG;
	}
}

const struct broker_events thread_broker_events = {
	.must_wait = client_socket_is_awaited,
	.begun = broker_begun,
	.given_up = broker_given_up,
	.lagged = broker_lagged,
	.said = broker_said,
};
