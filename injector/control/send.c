/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Messages to an agent.
 *
 * What the socket does not take at once is queued, so the loop is never blocked. An agent that asks
 * and does not read its answers would make the controller keep memory and descriptors without end:
 * beyond a limit, the agent's own or its user's, its connection is closed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "injector/control/internal.h"

#define QUEUE_BYTES_MAX	(8u << 20)
#define USER_BYTES_MAX	(16u << 20)	/* all of one user's agents, but root's */
#define OTHERS_BYTES_MAX (24u << 20)	/* those of all users who have no sessions */
#define QUEUE_FDS_MAX	64u

/* Take the first out of the queue, and free it. */
static void outgoing_drop(struct spi_agent *agent)
{
	struct spi_outgoing *out = agent->first;

	agent->first = out->next;
	if (!agent->first)
		agent->last = &agent->first;
	agent->queued_bytes -= out->size;
	agent->account->queued_bytes -= out->size;
	if (out->fd >= 0) {
		agent->queued_fds--;
		close(out->fd);
	}
	free(out);
}

/* 0, -EAGAIN when the socket is full, or another negative errno. */
static int outgoing_write(const struct spi_agent *agent, struct spi_outgoing *out)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec io = { out->packet, out->size };
	struct msghdr message = { .msg_iov = &io, .msg_iovlen = 1 };

	if (out->fd >= 0) {
		struct cmsghdr *c;

		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &out->fd, sizeof(int));
	}
	while (sendmsg(agent->source.fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

static void agent_poll(struct spi_agent *agent, bool out)
{
	struct epoll_event event = { .events = EPOLLIN | (out ? EPOLLOUT : 0), .data.ptr = &agent->source };

	epoll_ctl(agent->control->epoll, EPOLL_CTL_MOD, agent->source.fd, &event);
}

void spi_agent_flush(struct spi_agent *agent)
{
	while (agent->first) {
		if (outgoing_write(agent, agent->first) == -EAGAIN)
			break;
		/* Any other error: the peer is gone, which reading will tell after its last words. */
		outgoing_drop(agent);
	}
	agent_poll(agent, agent->first != NULL);
}

void spi_agent_drop_queue(struct spi_agent *agent)
{
	while (agent->first)
		outgoing_drop(agent);
}

static bool is_beyond(const struct spi_agent *agent)
{
	const struct spi_account *account = agent->account;
	struct spi_account others;

	if (agent->queued_bytes > QUEUE_BYTES_MAX || agent->queued_fds > QUEUE_FDS_MAX || (account->uid != geteuid() && account->uid && account->queued_bytes > USER_BYTES_MAX))
		return true;
	if (account->uid == geteuid() || spi_account_has_sessions(agent->control, account))
		return false;
	spi_accounts_sum(agent->control, &others);
	return others.queued_bytes > OTHERS_BYTES_MAX;
}

int spi_agent_send(struct spi_agent *agent, uint16_t type, uint32_t id, const void *head, size_t head_size,
		   const void *text, size_t text_size, int fd)
{
	size_t body = head_size + text_size;
	struct spi_outgoing *out = NULL;
	int ret = agent->over ? -EPIPE : body > SPI_PROTO_BODY_MAX ? -E2BIG : 0;

	if (!ret && !(out = malloc(sizeof(*out) + sizeof(struct spi_msg) + body)))
		ret = -ENOMEM;
	if (ret) {
		if (fd >= 0)
			close(fd);
		return ret;
	}
	*(struct spi_msg *) out->packet = (struct spi_msg) {
		.magic = SPI_PROTO_MAGIC, .version = SPI_PROTO_VERSION, .type = type, .id = id, .size = body,
	};
	if (head_size)
		memcpy(out->packet + sizeof(struct spi_msg), head, head_size);
	if (text_size)
		memcpy(out->packet + sizeof(struct spi_msg) + head_size, text, text_size);
	out->size = sizeof(struct spi_msg) + body;
	out->fd = fd;
	out->next = NULL;
	*agent->last = out;
	agent->last = &out->next;
	agent->queued_bytes += out->size;
	agent->account->queued_bytes += out->size;
	agent->queued_fds += fd >= 0;
	spi_agent_flush(agent);
	if (agent->first && is_beyond(agent))
		spi_agent_close(agent);
	return 0;
}

static int send_rule(struct spi_agent *agent, uint16_t type, uint32_t rule, uint32_t flags, const char *text)
{
	struct spi_msg_rule head = { .rule = rule, .flags = flags };

	return spi_agent_send(agent, type, rule, &head, sizeof(head), text, text ? strlen(text) + 1 : 0, -1);
}

int spi_agent_rule_add(struct spi_agent *agent, uint32_t rule, uint32_t flags, const char *text)
{
	spi_awaited_add(agent, rule, text);
	return send_rule(agent, SPI_MSG_RULE_ADD, rule, flags, text);
}

int spi_agent_rule_remove(struct spi_agent *agent, uint32_t rule)
{
	return send_rule(agent, SPI_MSG_RULE_REMOVE, rule, 0, NULL);
}

int spi_agent_rule_disable(struct spi_agent *agent, uint32_t rule)
{
	return send_rule(agent, SPI_MSG_RULE_DISABLE, rule, 0, NULL);
}

int spi_agent_rule_enable(struct spi_agent *agent, uint32_t rule)
{
	return send_rule(agent, SPI_MSG_RULE_ENABLE, rule, 0, NULL);
}

int spi_agent_detach(struct spi_agent *agent)
{
	return spi_agent_send(agent, SPI_MSG_DETACH, 0, NULL, 0, NULL, 0, -1);
}

int spi_agent_renew(struct spi_agent *agent)
{
	return spi_agent_send(agent, SPI_MSG_RENEW, 0, NULL, 0, NULL, 0, -1);
}

int spi_agent_flush_calls(struct spi_agent *agent, uint32_t id)
{
	return spi_agent_send(agent, SPI_MSG_FLUSH, id, NULL, 0, NULL, 0, -1);
}

int spi_agent_rules_keep(struct spi_agent *agent, const struct spi_msg_rule_kept *kept, unsigned int n, int is_last)
{
	struct spi_msg_rule body = { .flags = is_last ? 0 : SPI_KEEP_MORE };

	return spi_agent_send(agent, SPI_MSG_RULES_KEEP, 0, &body, sizeof(body), kept, n * sizeof(*kept), -1);
}

int spi_agent_rule_close(struct spi_agent *agent, uint32_t rule, uint32_t flags, uint32_t id)
{
	struct spi_msg_rule body = { .rule = rule, .flags = flags };

	return spi_agent_send(agent, SPI_MSG_RULE_CLOSE, id, &body, sizeof(body), NULL, 0, -1);
}

int spi_agent_peers(struct spi_agent *agent, uint32_t id, const struct spi_msg_peers *peers, const char *lines)
{
	return spi_agent_send(agent, SPI_MSG_PEERS, id, peers, sizeof(*peers), lines, strlen(lines) + 1, -1);
}

int spi_agent_channel(struct spi_agent *agent, uint32_t id, const struct spi_msg_channel_told *told)
{
	return spi_agent_send(agent, SPI_MSG_CHANNEL, id, told, sizeof(*told), NULL, 0, -1);
}

int spi_agent_go(struct spi_agent *agent)
{
	return spi_agent_send(agent, SPI_MSG_GO, 0, NULL, 0, NULL, 0, -1);
}
