/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Both ends speak spi-sessiond-plugin/broker/proto.h: see SPI_BROKER_FIND there, and finder.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/child.h"
#include "cli/base/say.h"
#include "cli/run/finder.h"
#include "cli/run/peers.h"
#include "cli/run/run.h"
#include "cli/ui/trace-options.h"
#include "injector/base/paths.h"
#include "injector/control/control.h"
#include "rules/event-name.h"
#include "spi-sessiond-plugin/broker/proto.h"

#define FINDER_END_MS	6000	/* an injection that is under way is brought to its end */

struct find_message {
	struct spi_broker_msg head;
	struct spi_broker_find find;
	char names[(SPI_RULE_LIST_MAX + 1) * (SPI_EVENT_NAME_MAX + 1)];
};

/*
 * A program's name as the scope of an event's name. NULL: what messages bring in. 0, or an exit status after one line
 * was said.
 */
static int name_add(struct find_message *message, size_t *used, const char *name)
{
	const struct spi_rule named = { .kind = spi_kind_call, .object = "", .function = "found", .exec = { 1, { name } } };
	const struct spi_rule met = {
		.kind = spi_kind_tree, .object = "", .function = "", .ipc = SPI_CHANNELS_ALL,
		.nr_pids = 1, .pids = { SPI_PID_STARTED },
	};
	const size_t room = SPI_EVENT_NAME_MAX + 1, n = strlen(SPI_EVENT_PROVIDER);
	char *text = message->names + *used;

	memcpy(text, SPI_EVENT_PROVIDER, n);
	if (spi_rule_write(name ? &named : &met, SPI_FORM_EVENT, text + n, room - n)) {
		say_error("--exec: %.100s...: the name is too long", name);
		return TRACE_STATUS_ERROR;
	}
	*used += strlen(text) + 1;
	return 0;
}

static int ask(struct finder *f, const struct trace_options *o)
{
	struct find_message message = { .head = { SPI_BROKER_MAGIC, SPI_BROKER_VERSION, SPI_BROKER_FIND } };
	size_t used = 0;
	int ret = 0;

	message.find.pid = getpid();
	message.find.count = o->asked.exec.count + 1;
	ret = name_add(&message, &used, NULL);
	for (unsigned int i = 0; ret == 0 && i < o->asked.exec.count; i++)
		ret = name_add(&message, &used, o->asked.exec.name[i]);
	message.head.size = (uint32_t) (sizeof(message.find) + used);
	used += offsetof(struct find_message, names);
	if (ret == 0 && send(f->fd, &message, used, MSG_NOSIGNAL) != (ssize_t) used) {
		say_error("spi-broker cannot be asked: %s", strerror(errno));
		ret = TRACE_STATUS_ERROR;
	}
	return ret;
}

static int start(struct finder *f)
{
	const char *path = spi_path_broker();
	char *argv[] = { (char *) "spi-broker", NULL };
	struct child_options child = {
		.path = path, .argv = argv, .in = -1, .out = -1, .err = -1, .flags = CHILD_OWN_GROUP,
	};
	int fds[2];

	if (!path) {
		say_error("spi-broker is not installed: run make, or make install");
		return -1;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0) {
		say_error("spi-broker cannot be reached: %s", strerror(errno));
		return -1;
	}
	f->fd = fds[0];
	child.socket = fds[1];
	f->pid = child_spawn(&child);
	close(fds[1]);
	if (f->pid > 0)
		return 0;
	say_error("%s: %s", path, strerror(-f->pid));
	f->pid = 0;
	return -1;
}

int finder_begin(struct finder *f, struct run *run)
{
	int ret;

	*f = (struct finder) { .fd = -1, .is_wanted = run->options->asked.exec.count != 0 };
	f->has_failed = start(f) < 0;
	ret = f->has_failed ? TRACE_STATUS_ERROR : ask(f, run->options);
	if (ret == 0)
		peers_begin(&run->peers);
	return ret;
}

int finder_reach(struct finder *f, struct run *run)
{
	if (f->fd < 0 && !f->pid && !f->has_failed)
		finder_begin(f, run);
	return f->fd < 0 ? -EPIPE : 0;
}

int finder_send(struct finder *f, uint16_t type, const void *body, size_t size)
{
	struct spi_broker_msg head = { SPI_BROKER_MAGIC, SPI_BROKER_VERSION, type, (uint32_t) size, 0 };
	struct iovec parts[2] = { { &head, sizeof(head) }, { (void *) body, size } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	if (f->fd < 0)
		return -EPIPE;
	return sendmsg(f->fd, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* An agent that came by itself, with a program that a traced one executed: the broker may have tried in vain. */
static int has_agent(const struct run *run, pid_t pid)
{
	struct spi_agent *agent = NULL;

	while ((agent = spi_control_next(run->agents.control, agent)) && spi_agent_pid(agent) != pid)
		;
	return agent != NULL;
}

static void take_lack(struct finder *f, struct run *run, const struct spi_broker_lacks *lacks)
{
	if (!lacks->pid)
		report_note(&run->report, lacks->why);
	else if (lacks->is_late)
		say_warning("%s (%d): %s", lacks->name, (int) lacks->pid, lacks->why);
	else if (!has_agent(run, lacks->pid) && peers_name(&run->peers, lacks->pid))
		agents_say_left(&run->agents, lacks->name, lacks->pid, lacks->why);
}

static void take_found(struct finder *f, struct run *run, const struct spi_broker_found *found, int fd)
{
	f->found++;
	if (fd < 0)
		return;
	if (agents_adopt(&run->agents, fd, found->pid, found->flags & SPI_BROKER_FOUND_BY_MESSAGE) < 0)
		say_warning("%d: its agent cannot be reached: %s", (int) found->pid, strerror(errno));
}

/* The bytes of a message, 0 at the end, -EAGAIN: there is none, or another negative errno. *fd: -1, or the caller's. */
static ssize_t receive(const struct finder *f, void *to, size_t size, int *fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { to, size };
	struct msghdr message = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(f->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;

	*fd = -1;
	if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(head), sizeof(int));
	return n < 0 ? -errno : n;
}

/* One message. What receive() returns. */
static ssize_t hear_one(struct finder *f, struct run *run)
{
	static struct {
		struct spi_broker_msg head;
		union {
			struct spi_broker_found found;
			struct spi_broker_lacks lacks;
			struct spi_broker_tell tell;
			struct {
				struct spi_broker_peers head;
				char text[SPI_BROKER_MESSAGE_MAX];
			} peers;
		} body;
	} message;
	int fd;
	ssize_t n = receive(f, &message, sizeof(message), &fd);

	if (n < (ssize_t) sizeof(message.head))
		return n > 0 ? -EPROTO : n;
	if (message.head.type == SPI_BROKER_FOUND) {
		take_found(f, run, &message.body.found, fd);
		return n;
	}
	if (fd >= 0)
		close(fd);
	if (message.head.type == SPI_BROKER_LACKS)
		take_lack(f, run, &message.body.lacks);
	else if (message.head.type == SPI_BROKER_TELL)
		peers_tell(&run->peers, &message.body.tell);
	else if (message.head.type == SPI_BROKER_PEERS)
		peers_answer(&run->peers, &message.body.peers.head, message.body.peers.text);
	else if (message.head.type == SPI_BROKER_LOOKED)
		f->has_looked = 1;
	return n;
}

int finder_hear(struct finder *f, struct run *run)
{
	ssize_t n;

	while ((n = hear_one(f, run)) > 0)
		;
	if (n == -EAGAIN)
		return 0;
	close(f->fd);
	f->fd = -1;
	peers_end(&run->peers);
	say_error("spi-broker has ended: %s", f->is_wanted ? "programs that start from now on are not found" :
		"messages to other processes are not followed from now on");
	return TRACE_STATUS_ERROR;
}

void finder_end(struct finder *f, struct run *run)
{
	struct pollfd fd = { .fd = f->fd, .events = POLLIN };
	int status;

	if (!f->pid)
		return;
	run->agents.is_ending = 1;
	peers_end(&run->peers);
	if (f->fd >= 0) {
		shutdown(f->fd, SHUT_WR);
		while (poll(&fd, 1, FINDER_END_MS) > 0 && hear_one(f, run) > 0)
			;
		close(f->fd);
	}
	if (child_wait(f->pid, FINDER_END_MS, -1, &status) == -ETIMEDOUT)
		child_end(f->pid, 0);
	f->fd = -1;
	f->pid = 0;
}
