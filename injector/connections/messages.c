/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What an agent says: one packet at a time, checked and passed on. Agents live in programs that are
 * not trusted: the first packet that breaks the protocol ends the connection.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "injector/connections/internal.h"

/*
 * Map the counters: only from a memfd that can never shrink under us, and of
 * ordinary pages, which never run out.
 */
static void take_status(struct spi_agent *agent, int fd)
{
	const size_t most = SPI_STATUS_BLOCKS_AT + SPI_STATUS_BLOCKS_MAX * sizeof(struct spi_status_block);
	int seals = fcntl(fd, F_GET_SEALS);
	const struct spi_status_page *page;
	struct statfs fs;
	struct stat st;
	size_t size;

	if (agent->status || fstatfs(fd, &fs) || fs.f_type != TMPFS_MAGIC || seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &st) ||
			st.st_size < (off_t) sizeof(*page))
		return;
	size = (size_t) st.st_size < most ? (size_t) st.st_size : most;
	page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return;
	if (page->magic != SPI_STATUS_MAGIC) {
		munmap((void *) page, size);
		return;
	}
	agent->status = page;
	agent->status_size = size;
}

/*
 * From here on by a connection whose one end nobody else has: to receive by one that the target made takes a child each
 * time (base/foreign-fd.c). The former stays: it tells whether the target lives.
 */
static void agent_move(struct spi_agent *agent)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = &agent->source };
	struct spi_control *control = agent->control;
	struct rlimit files = { 0 };
	int pair[2];

	if (agent->first || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return;
	/* two descriptors an agent: not where there are so many that one each is better */
	if (getrlimit(RLIMIT_NOFILE, &files) || (rlim_t) pair[1] > files.rlim_cur / 2 ||
	    epoll_ctl(control->epoll, EPOLL_CTL_ADD, pair[0], &event)) {
		close(pair[0]);
		close(pair[1]);
		return;
	}
	fcntl(pair[0], F_SETFL, O_NONBLOCK);	/* not pair[1]: that is another open file */
	if (spi_agent_send(agent, SPI_MSG_SOCKET, 0, NULL, 0, NULL, 0, pair[1]) || agent->first) {	/* it goes on as it was */
		spi_agent_drop_queue(agent);
		close(pair[0]);
		return;
	}
	epoll_ctl(control->epoll, EPOLL_CTL_DEL, agent->source.fd, NULL);
	agent->former = agent->source.fd;
	agent->source.fd = pair[0];
	agent->is_shared = false;
}

static int take_hello(struct spi_agent *agent, uint32_t id, const char *body, size_t size, int fd)
{
	struct spi_control *control = agent->control;
	struct spi_msg_welcome welcome = { control->welcome_flags, control->string_max };
	const char *path = *control->executed ? control->executed : control->path;
	struct spi_msg_hello hello;
	size_t length;

	if (agent->said_hello || size < sizeof(hello))
		return -EPROTO;
	memcpy(&hello, body, sizeof(hello));
	if (hello.flags & SPI_HELLO_RENEWS)
		return spi_agent_take_over(agent);
	agent->said_hello = true;
	spi_first_ended_watch(agent->control);
	agent->flags = hello.flags;
	length = strnlen(body + sizeof(hello), size - sizeof(hello));
	if (length >= sizeof(agent->exe))
		return -EPROTO;
	if (sizeof(hello) + length + 1 < size)
		snprintf(agent->follow, sizeof(agent->follow), "%s", body + sizeof(hello) + length + 1);
	memcpy(agent->exe, body + sizeof(hello), length);
	agent->exe[length] = 0;
	if (fd >= 0)
		take_status(agent, fd);
	if (agent->is_shared && !agent->is_child && agent->flags & SPI_HELLO_SOCKET)
		agent_move(agent);
	spi_agent_send(agent, SPI_MSG_WELCOME, id, &welcome, sizeof(welcome), *path ? path : NULL,
		*path ? strlen(path) + 1 : 0, spi_floor_fd(control, agent->uid));
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
	spi_awaited_done(agent, done.rule);
	if (control->ops.on_rule_done)
		control->ops.on_rule_done(agent, &done, body + sizeof(done), control->data);
	return 0;
}

static int take_rule_more(struct spi_agent *agent, const char *body, size_t size)
{
	struct spi_control *control = agent->control;
	struct spi_msg_rule_done more;

	if (size < sizeof(more))
		return -EPROTO;
	memcpy(&more, body, sizeof(more));
	if (control->ops.on_rule_more)
		control->ops.on_rule_more(agent, &more, body + sizeof(more), control->data);
	return 0;
}

/* The next line, which begins behind this one; NULL: so many are no agent's. */
static char *line_end(char *line, unsigned int *n_lines)
{
	char *next = line + strcspn(line, "\n");

	if (++*n_lines > SPI_PROTO_LINES_MAX)
		return NULL;
	if (*next)
		*next++ = 0;
	return next;
}

/* Lines "OBJECT\tFUNCTION\tREASON\n"; the buffer is ours to cut up. */
static int take_declined(struct spi_agent *agent, char *text)
{
	struct spi_control *control = agent->control;
	unsigned int n_lines = 0;

	for (char *line = text, *next; *line; line = next) {
		char *function, *reason;

		next = line_end(line, &n_lines);
		if (!next)
			return -EPROTO;
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

/* Lines "COUNT\tOBJECT\tFUNCTION\n". */
static int take_hot(struct spi_agent *agent, char *text)
{
	struct spi_control *control = agent->control;
	unsigned int n_lines = 0;

	for (char *line = text, *next; *line; line = next) {
		char *object, *function;
		uint64_t count = strtoull(line, &object, 10);

		next = line_end(line, &n_lines);
		if (!next)
			return -EPROTO;
		function = *object == '\t' ? strchr(object + 1, '\t') : NULL;
		if (!function)
			return -EPROTO;
		*object++ = 0;
		*function++ = 0;
		if (control->ops.on_hot)
			control->ops.on_hot(agent, count, object, function, control->data);
	}
	return 0;
}

/* "BUDGET\tOWN\tSPENT\tRECORDS\n", then lines "out|back\tCALLS\tSHARE\tOBJECT\tFUNCTION\n". */
static int take_budget(struct spi_agent *agent, char *text)
{
	struct spi_control *control = agent->control;
	struct spi_budget_told told;
	unsigned int n_lines = 0;
	char *at, *next;

	told.budget = (unsigned int) strtoul(text, &at, 10);
	told.own = strtoull(at, &at, 10);
	told.spent = strtoull(at, &at, 10);
	told.records = strtoull(at, &at, 10);
	if (*at != '\n')
		return -EPROTO;
	if (control->ops.on_budget)
		control->ops.on_budget(agent, &told, control->data);
	for (char *line = at + 1; *line; line = next) {
		struct spi_left_out_told out = { .is_out = *line == 'o' };
		char *object, *function;

		next = line_end(line, &n_lines);
		if (!next)
			return -EPROTO;
		at = line + strcspn(line, "\t");
		out.calls = strtoull(at, &at, 10);
		out.share = (unsigned int) strtoul(at, &object, 10);
		function = *object == '\t' ? strchr(object + 1, '\t') : NULL;
		if (!function)
			return -EPROTO;
		*object++ = 0;
		*function++ = 0;
		out.object = object;
		out.function = function;
		if (control->ops.on_left_out)
			control->ops.on_left_out(agent, &out, control->data);
	}
	return 0;
}

static int take_peer_request(struct spi_agent *agent, uint32_t id, const char *body, size_t size)
{
	struct spi_control *control = agent->control;
	struct spi_msg_peer_request request;

	if (size < sizeof(request))
		return -EPROTO;
	memcpy(&request, body, sizeof(request));
	if (request.nr_rules > SPI_PEER_RULES_MAX || request.channel.path[sizeof(request.channel.path) - 1])
		return -EPROTO;
	if (control->ops.on_peer_request)
		control->ops.on_peer_request(agent, id, &request, control->data);
	else
		spi_agent_peers(agent, id, &(struct spi_msg_peers) { .status = -ENOSYS },
			"0\t\t-38\tmessages are followed by rules that the session daemon has, and by no other ones\n");
	return 0;
}

static int take_channel_done(struct spi_agent *agent, uint32_t id, const char *body, size_t size)
{
	struct spi_control *control = agent->control;
	struct spi_msg_channel_done done;

	if (size < sizeof(done))
		return -EPROTO;
	memcpy(&done, body, sizeof(done));
	if (control->ops.on_channel_done)
		control->ops.on_channel_done(agent, id, &done, control->data);
	return 0;
}

int spi_agent_take(struct spi_agent *agent, char *packet, size_t size, int *fd)
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
	if (agent->is_child && !agent->pid && spi_child_take_name(agent) < 0)
		return -EPERM;
	switch (head.type) {
	case SPI_MSG_HELLO:
		return take_hello(agent, head.id, body, head.size, *fd);
	case SPI_MSG_MAP_REQUEST:
		return spi_map_serve(agent, head.id, body, head.size);
	case SPI_MSG_FILE_REQUEST:
		spi_file_serve(agent, head.id, body);
		return 0;
	case SPI_MSG_RULE_DONE:
		return take_rule_done(agent, body, head.size);
	case SPI_MSG_RULE_MORE:
		return take_rule_more(agent, body, head.size);
	case SPI_MSG_DECLINED:
		return take_declined(agent, body);
	case SPI_MSG_HOT:
		return take_hot(agent, body);
	case SPI_MSG_BUDGET:
		return take_budget(agent, body);
	case SPI_MSG_NOTE:
		if (control->ops.on_note)
			control->ops.on_note(agent, body, control->data);
		return 0;
	case SPI_MSG_FLUSHED:
		if (control->ops.on_flushed)
			control->ops.on_flushed(agent, head.id, control->data);
		return 0;
	case SPI_MSG_RULE_CLOSED:
		if (control->ops.on_closed)
			control->ops.on_closed(agent, head.id, control->data);
		return 0;
	case SPI_MSG_PEER_REQUEST:
		return take_peer_request(agent, head.id, body, head.size);
	case SPI_MSG_CHANNEL_DONE:
		return take_channel_done(agent, head.id, body, head.size);
	case SPI_MSG_NURSERY:
		return spi_nursery_open(agent, fd);
	case SPI_MSG_DETACHED:
		if (control->ops.on_detached)
			control->ops.on_detached(agent, control->data);
		return 0;
	default:
		return 0;	/* a newer agent may say more */
	}
}
