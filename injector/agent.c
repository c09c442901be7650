/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * One agent's connection: messages out, messages in.
 *
 * Agents live in programs that anybody wrote: whatever they send is checked, and
 * the first packet that breaks the protocol ends the connection. What the socket
 * does not take at once is queued; the loop is never blocked.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "injector/control-internal.h"
#include "injector/target.h"

/* ---- sending -------------------------------------------------------- */

static void outgoing_free(struct spi_outgoing *out)
{
	if (out->fd >= 0)
		close(out->fd);
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

static void agent_flush(struct spi_agent *agent)
{
	while (agent->first) {
		struct spi_outgoing *out = agent->first;
		int ret = outgoing_write(agent, out);

		if (ret == -EAGAIN)
			break;
		/* Any other error: the peer is gone, which reading will tell after its last words. */
		agent->first = out->next;
		if (!agent->first)
			agent->last = &agent->first;
		outgoing_free(out);
	}
	agent_poll(agent, agent->first != NULL);
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
	agent_flush(agent);
	return 0;
}

static int send_rule(struct spi_agent *agent, uint16_t type, uint32_t rule, uint32_t flags, const char *text)
{
	struct spi_msg_rule head = { .rule = rule, .flags = flags };

	return spi_agent_send(agent, type, rule, &head, sizeof(head), text, text ? strlen(text) + 1 : 0, -1);
}

int spi_agent_rule_add(struct spi_agent *agent, uint32_t rule, uint32_t flags, const char *text)
{
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

int spi_agent_go(struct spi_agent *agent)
{
	return spi_agent_send(agent, SPI_MSG_GO, 0, NULL, 0, NULL, 0, -1);
}

/* ---- receiving ------------------------------------------------------ */

/* Map the counters: only from a memfd that can never shrink under us. */
static void take_status(struct spi_agent *agent, int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;
	void *page;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &st) ||
			st.st_size < (off_t) sizeof(struct spi_status_page))
		return;
	page = mmap(NULL, sizeof(struct spi_status_page), PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return;
	agent->status = page;
	if (agent->status->magic != SPI_STATUS_MAGIC) {
		munmap(page, sizeof(struct spi_status_page));
		agent->status = NULL;
	}
}

static int take_hello(struct spi_agent *agent, uint32_t id, const char *body, size_t size, int fd)
{
	struct spi_control *control = agent->control;
	struct spi_msg_welcome welcome = { control->welcome_flags, control->string_max };
	struct spi_msg_hello hello;
	size_t length;

	if (agent->said_hello || size < sizeof(hello))
		return -EPROTO;
	memcpy(&hello, body, sizeof(hello));
	agent->said_hello = true;
	agent->flags = hello.flags;
	length = strnlen(body + sizeof(hello), size - sizeof(hello));
	if (length >= sizeof(agent->exe))
		return -EPROTO;
	memcpy(agent->exe, body + sizeof(hello), length);
	agent->exe[length] = 0;
	if (fd >= 0)
		take_status(agent, fd);
	spi_agent_send(agent, SPI_MSG_WELCOME, id, &welcome, sizeof(welcome), NULL, 0, -1);
	if (control->ops.on_hello)
		control->ops.on_hello(agent, control->data);
	return 0;
}

static int take_rule_done(struct spi_agent *agent, const char *body, size_t size)
{
	struct spi_control *control = agent->control;
	struct spi_msg_rule_done done;

	if (size < sizeof(done))
		return -EPROTO;
	memcpy(&done, body, sizeof(done));
	if (control->ops.on_rule_done)
		control->ops.on_rule_done(agent, &done, body + sizeof(done), control->data);
	return 0;
}

/* Lines "OBJECT\tFUNCTION\tREASON\n"; the buffer is ours to cut up. */
static int take_declined(struct spi_agent *agent, char *text)
{
	struct spi_control *control = agent->control;

	for (char *line = text, *next; *line; line = next) {
		char *function, *reason;

		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = 0;
		function = strchr(line, '\t');
		reason = function ? strchr(function + 1, '\t') : NULL;
		if (!reason)
			return -EPROTO;
		*function++ = 0;
		*reason++ = 0;
		if (control->ops.on_declined)
			control->ops.on_declined(agent, line, function, reason, control->data);
	}
	return 0;
}

static int take_message(struct spi_agent *agent, char *packet, size_t size, int fd)
{
	struct spi_control *control = agent->control;
	struct spi_msg head;
	char *body = packet + sizeof(head);

	if (size < sizeof(head))
		return -EPROTO;
	memcpy(&head, packet, sizeof(head));
	if (head.magic != SPI_PROTO_MAGIC || head.version != SPI_PROTO_VERSION || head.size != size - sizeof(head))
		return -EPROTO;
	if (!agent->said_hello && head.type != SPI_MSG_HELLO)
		return -EPROTO;
	switch (head.type) {
	case SPI_MSG_HELLO:
		return take_hello(agent, head.id, body, head.size, fd);
	case SPI_MSG_MAP_REQUEST:
		return spi_map_serve(agent, head.id, body, head.size);
	case SPI_MSG_FILE_REQUEST:
		spi_file_serve(agent, head.id, body);
		return 0;
	case SPI_MSG_RULE_DONE:
		return take_rule_done(agent, body, head.size);
	case SPI_MSG_DECLINED:
		return take_declined(agent, body);
	case SPI_MSG_NOTE:
		if (control->ops.on_note)
			control->ops.on_note(agent, body, control->data);
		return 0;
	case SPI_MSG_DETACHED:
		if (control->ops.on_detached)
			control->ops.on_detached(agent, control->data);
		return 0;
	default:
		return 0;	/* a newer agent may say more */
	}
}

/* One packet: its size, 0 at the end, or a negative errno. Descriptors beyond the first are closed. */
static ssize_t receive(struct spi_agent *agent, char *packet, int *fd)
{
	char control[CMSG_SPACE(16 * sizeof(int))];
	struct iovec io = { packet, PACKET_MAX };
	struct msghdr message = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control,
				  .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(agent->source.fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	*fd = -1;
	if (n < 0)
		return -errno;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++) {
			int got;

			memcpy(&got, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (*fd < 0)
				*fd = got;
			else
				close(got);
		}
	}
	if (message.msg_flags & MSG_TRUNC)
		n = -EPROTO;
	return n;
}

static void agent_ready(struct spi_control *control, struct spi_source *source, uint32_t events)
{
	struct spi_agent *agent = (struct spi_agent *) ((char *) source - offsetof(struct spi_agent, source));

	if (events & EPOLLOUT)
		agent_flush(agent);
	while (!agent->over) {
		int fd, ret = 0;
		ssize_t n = receive(agent, control->packet, &fd);

		if (n == -EINTR)
			continue;
		if (n == -EAGAIN)
			return;
		if (n > 0) {
			control->packet[n] = 0;
			ret = take_message(agent, control->packet, n, fd);
		}
		if (fd >= 0)
			close(fd);
		if (n <= 0 || ret)
			agent->over = true;
	}
}

/* ---- agents --------------------------------------------------------- */

struct spi_agent *spi_control_adopt(struct spi_control *control, int fd, pid_t pid)
{
	struct spi_agent *agent = calloc(1, sizeof(*agent)), **end = &control->agents;
	int ret = agent ? 0 : -ENOMEM;

	if (!ret) {
		agent->control = control;
		agent->pid = pid;
		agent->start_time = spi_process_start_time(pid);
		agent->last = &agent->first;
		ret = spi_source_add(control, &agent->source, fd, EPOLLIN, agent_ready);
	}
	if (ret) {
		close(fd);
		free(agent);
		errno = -ret;
		return NULL;
	}
	while (*end)
		end = &(*end)->next;
	*end = agent;
	return agent;
}

void spi_agent_free(struct spi_control *control, struct spi_agent *agent)
{
	spi_map_jobs_forget(control, agent);
	spi_source_remove(control, &agent->source);
	while (agent->first) {
		struct spi_outgoing *out = agent->first;

		agent->first = out->next;
		outgoing_free(out);
	}
	if (agent->status)
		munmap((void *) agent->status, sizeof(struct spi_status_page));
	free(agent);
}

void spi_agent_close(struct spi_agent *agent)
{
	if (agent->over)
		return;
	agent->over = true;
	/* Make the next dispatch come: a socket that is shut down is readable. */
	shutdown(agent->source.fd, SHUT_RDWR);
}

void spi_agents_reap(struct spi_control *control)
{
	for (struct spi_agent **at = &control->agents; *at;) {
		struct spi_agent *agent = *at;

		if (!agent->over) {
			at = &agent->next;
			continue;
		}
		if (control->ops.on_gone)
			control->ops.on_gone(agent, control->data);
		*at = agent->next;
		spi_agent_free(control, agent);
	}
}

pid_t spi_agent_pid(const struct spi_agent *agent)
{
	return agent->pid;
}

uint64_t spi_agent_start_time(const struct spi_agent *agent)
{
	return agent->start_time;
}

const char *spi_agent_exe(const struct spi_agent *agent)
{
	return agent->exe;
}

uint32_t spi_agent_flags(const struct spi_agent *agent)
{
	return agent->flags;
}

const volatile struct spi_status_page *spi_agent_status(const struct spi_agent *agent)
{
	return agent->status;
}

void spi_agent_set_user(struct spi_agent *agent, void *user)
{
	agent->user = user;
}

void *spi_agent_user(const struct spi_agent *agent)
{
	return agent->user;
}
