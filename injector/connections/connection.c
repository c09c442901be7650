/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The connection of one agent: accepting it, receiving, and its end. messages.c acts on what an
 * agent says, control/send.c sends. No agent gets more than its turn of the loop.
 */
#include <errno.h>
#include <stdlib.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "injector/base/foreign-fd.h"
#include "injector/connections/internal.h"
#include "injector/procfs/procfs.h"

/* Taken from one agent before the others have their turn: so many packets, */
#define PACKETS_AT_ONCE	32u
#define HEAR_MOST	64u
/* and no more once they have taken us so long: of processor time, so that a machine that is busy with others makes no turn shorter. */
#define TURN_NS		2000000u

/* ---- receiving ------------------------------------------------------ */

static uint64_t processor_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}

/* What it has said, as far as its turn goes. False: all. */
static bool agent_hear(struct spi_agent *agent)
{
	const struct spi_source *source = &agent->source;
	struct spi_control *control = agent->control;
	uint64_t end = processor_time() + TURN_NS;

	for (unsigned int n_packets = 0; !agent->over && n_packets < PACKETS_AT_ONCE && processor_time() < end; n_packets++) {
		int fd, ret = 0;
		ssize_t n = spi_foreign_receive(source->fd, agent->is_shared, agent->uid, control->packet, PACKET_MAX, &fd, &agent->sender);

		if (n == -EINTR)
			continue;
		if (n == -EAGAIN)
			return false;
		if (n > 0) {
			control->packet[n] = 0;
			ret = spi_agent_take(agent, control->packet, n, &fd);
		}
		if (fd >= 0 && spi_foreign_is_packet_socket(fd))
			spi_foreign_close(fd, true, agent->uid);
		else if (fd >= 0)
			close(fd);
		if (n <= 0 || ret)
			agent->over = true;
	}
	return !agent->over;
}

static void agent_ready(struct spi_control *control, struct spi_source *source, uint32_t events)
{
	struct spi_agent *agent = (struct spi_agent *) ((char *) source - offsetof(struct spi_agent, source));

	if (events & EPOLLOUT)
		spi_agent_flush(agent);
	agent_hear(agent);
}

/* ---- agents --------------------------------------------------------- */

static struct spi_agent *agent_add(struct spi_control *control, int fd, pid_t pid, bool is_shared)
{
	struct spi_agent *agent = calloc(1, sizeof(*agent)), **end = &control->agents;
	struct ucred peer = { .uid = (uid_t) -1 };
	socklen_t size = sizeof(peer);
	int ret = agent ? 0 : -ENOMEM;

	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
	if (!ret && !(agent->account = spi_account_hold(control, peer.uid)))
		ret = -ENOMEM;
	if (!ret) {
		agent->control = control;
		agent->pid = pid;
		agent->uid = peer.uid;
		agent->is_shared = is_shared;
		agent->former = -1;
		agent->start_time = spi_process_start_time(pid);
		agent->last = &agent->first;
		ret = spi_source_add(control, &agent->source, fd, EPOLLIN, agent_ready);
	}
	if (ret) {
		spi_foreign_close(fd, is_shared, peer.uid);
		if (agent)
			spi_account_put(control, agent->account);
		free(agent);
		errno = -ret;
		return NULL;
	}
	while (*end)
		end = &(*end)->next;
	*end = agent;
	return agent;
}

struct spi_agent *spi_control_adopt(struct spi_control *control, int fd, pid_t pid)
{
	return agent_add(control, fd, pid, true);
}

struct spi_agent *spi_control_accept(struct spi_control *control, int fd, pid_t pid)
{
	return agent_add(control, fd, pid, false);
}

static void agent_disconnect(struct spi_agent *agent)
{
	if (agent->source.fd >= 0) {
		epoll_ctl(agent->control->epoll, EPOLL_CTL_DEL, agent->source.fd, NULL);
		spi_foreign_close(agent->source.fd, agent->is_shared, agent->uid);
	}
	if (agent->former >= 0)
		spi_foreign_close(agent->former, true, agent->uid);
	agent->source.fd = agent->former = -1;
}

/* `fresh` is a connection that the same process has made as the user that it has become: the agent goes on by it. */
int spi_agent_take_over(struct spi_agent *fresh)
{
	struct spi_control *control = fresh->control;
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = NULL };
	struct spi_agent *agent = NULL;
	struct spi_account *other;

	/* the latest: a former program's may be open still */
	for (struct spi_agent *a = control->agents; a; a = a->next)
		if (a != fresh && !a->over && a->said_hello && a->pid == fresh->pid && a->start_time == fresh->start_time)
			agent = a;
	if (!agent || !fresh->is_child)
		return -EPROTO;
	/* a socket has room for some hundred packets; more come only from an agent that goes on by the former connection, which is none of ours */
	for (unsigned int turns = 0; agent_hear(agent); turns++)
		if (turns == HEAR_MOST)
			return -EPROTO;
	if (agent->over)
		return -EPROTO;
	agent_disconnect(agent);
	epoll_ctl(control->epoll, EPOLL_CTL_DEL, fresh->source.fd, NULL);
	agent->source.fd = fresh->source.fd;
	agent->uid = fresh->uid;
	spi_map_jobs_move(agent, fresh->account);
	agent->account->queued_bytes -= agent->queued_bytes;
	fresh->account->queued_bytes += agent->queued_bytes;
	other = agent->account;
	agent->account = fresh->account;
	fresh->account = other;
	agent->is_shared = fresh->is_shared;
	fresh->source.fd = -1;
	event.data.ptr = &agent->source;
	if (epoll_ctl(control->epoll, EPOLL_CTL_ADD, agent->source.fd, &event))
		agent->over = true;
	spi_agent_flush(agent);
	if (control->ops.on_renewed && !agent->over)
		control->ops.on_renewed(agent, control->data);
	return -EPIPE;		/* of `fresh` nothing is left */
}

void spi_agent_free(struct spi_control *control, struct spi_agent *agent)
{
	spi_map_jobs_forget(control, agent);
	agent_disconnect(agent);
	spi_agent_drop_queue(agent);
	spi_awaited_free(agent);
	if (agent->status)
		munmap((void *) agent->status, agent->status_size);
	spi_account_put(control, agent->account);
	free(agent);
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
		control->formers[control->nr_formers++ % FORMER_MAX] = (struct spi_former) { agent->pid, agent->start_time };
		*at = agent->next;
		spi_agent_free(control, agent);
	}
}
