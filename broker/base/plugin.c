/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Messages to the session daemon's plugin.
 *
 * A message that does not fit the socket is queued. The plugin must never wait for the broker, and the broker must not
 * wait for the plugin.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "broker/base/base.h"

static struct loop_source plugin = { .fd = -1 };

struct packet {
	struct packet *next;
	size_t size;
	int fd;			/* goes along; -1: none */
	char bytes[];
};

static struct packet *queue, **queue_end = &queue;

static void queue_pop(void)
{
	struct packet *packet = queue;

	queue = packet->next;
	if (!queue)
		queue_end = &queue;
	if (packet->fd >= 0)
		close(packet->fd);
	free(packet);
}

void plugin_flush(void)
{
	while (queue) {
		if (packet_send(plugin.fd, queue->bytes, queue->size, &queue->fd, queue->fd >= 0) == -EAGAIN)
			break;
		queue_pop();
	}
	loop_change(&plugin, EPOLLIN | (queue ? EPOLLOUT : 0));
}

/* Takes fd over, unless it is -1. */
static int plugin_send_fd(uint16_t type, const void *head, size_t head_size, const void *tail, size_t tail_size, int fd)
{
	struct spi_broker_msg message = {
		.magic = SPI_BROKER_MAGIC, .version = SPI_BROKER_VERSION, .type = type, .size = head_size + tail_size,
	};
	struct packet *packet = plugin.fd < 0 ? NULL : malloc(sizeof(*packet) + sizeof(message) + message.size);

	if (!packet) {
		if (fd >= 0)
			close(fd);
		return plugin.fd < 0 ? -EPIPE : -ENOMEM;
	}
	packet->next = NULL;
	packet->fd = fd;
	packet->size = sizeof(message) + message.size;
	memcpy(packet->bytes, &message, sizeof(message));
	if (head_size)
		memcpy(packet->bytes + sizeof(message), head, head_size);
	if (tail_size)
		memcpy(packet->bytes + sizeof(message) + head_size, tail, tail_size);
	*queue_end = packet;
	queue_end = &packet->next;
	plugin_flush();
	return 0;
}

static int plugin_send(uint16_t type, const void *head, size_t head_size, const void *tail, size_t tail_size)
{
	return plugin_send_fd(type, head, head_size, tail, tail_size, -1);
}

int plugin_release(uint64_t id)
{
	const struct spi_broker_release release = { .id = id };

	return plugin_send(SPI_BROKER_RELEASE, &release, sizeof(release), NULL, 0);
}

int plugin_disabled(uint64_t id)
{
	const struct spi_broker_release release = { .id = id };

	return plugin_send(SPI_BROKER_DISABLED, &release, sizeof(release), NULL, 0);
}

int plugin_flushed(uint64_t id)
{
	const struct spi_broker_release release = { .id = id };

	return plugin_send(SPI_BROKER_FLUSHED, &release, sizeof(release), NULL, 0);
}

int plugin_querier(pid_t pid)
{
	const struct spi_broker_querier querier = { .pid = pid };

	return plugin_send(SPI_BROKER_QUERIER, &querier, sizeof(querier), NULL, 0);
}

int plugin_table(uint64_t generation, uint32_t flags, const struct spi_broker_entry *entries, uint32_t count)
{
	const struct spi_broker_table head = { .generation = generation, .count = count, .flags = flags };

	return plugin_send(SPI_BROKER_TABLE, &head, sizeof(head), entries, count * sizeof(entries[0]));
}

int plugin_found(pid_t pid, bool by_message, int fd)
{
	const struct spi_broker_found found = { .pid = pid, .flags = by_message ? SPI_BROKER_FOUND_BY_MESSAGE : 0 };

	return plugin_send_fd(SPI_BROKER_FOUND, &found, sizeof(found), NULL, 0, fd);
}

int plugin_lacks(pid_t pid, const char *name, bool is_late, const char *why)
{
	struct spi_broker_lacks lacks = { .pid = pid, .is_late = is_late };

	snprintf(lacks.name, sizeof(lacks.name), "%s", name);
	snprintf(lacks.why, sizeof(lacks.why), "%s", why);
	return plugin_send(SPI_BROKER_LACKS, &lacks, sizeof(lacks), NULL, 0);
}

int plugin_looked(void)
{
	return plugin_send(SPI_BROKER_LOOKED, NULL, 0, NULL, 0);
}

int plugin_tell(pid_t pid, uint32_t number, const struct spi_msg_channel_told *told)
{
	const struct spi_broker_tell tell = { .pid = pid, .number = number, .told = *told };

	return plugin_send(SPI_BROKER_TELL, &tell, sizeof(tell), NULL, 0);
}

int plugin_peers(pid_t pid, uint32_t id, const struct spi_msg_peers *peers, const char *text)
{
	const struct spi_broker_peers head = { .pid = pid, .id = id, .peers = *peers };

	return plugin_send(SPI_BROKER_PEERS, &head, sizeof(head), text, strlen(text) + 1);
}

void plugin_close(void)
{
	loop_remove(&plugin);
	while (queue)
		queue_pop();
}

int plugin_open(void (*ready)(struct loop_source *source, uint32_t events))
{
	int fd = fcntl(SPI_BROKER_FD, F_DUPFD_CLOEXEC, 10), ret;

	if (fd < 0)
		return -errno;
	close(SPI_BROKER_FD);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	ret = loop_add(&plugin, fd, EPOLLIN, ready);
	if (ret)
		close(fd);
	return ret;
}
