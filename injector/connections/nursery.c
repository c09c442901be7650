/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Forked children of traced processes. A process's agent gives the controller one end of a socket,
 * its nursery (SPI_MSG_NURSERY); the process's children have the other end. A child that begins to
 * record sends its connection over the nursery (SPI_MSG_CHILD): by then the child may be another
 * user, or in another directory tree, where it could not reach the controller's socket. A nursery
 * outlives its process until no child is left that might begin.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "injector/base/foreign-fd.h"
#include "injector/connections/internal.h"
#include "injector/procfs/procfs.h"

#define UNBORN_MAX	256u	/* one user's children that have said nothing yet: more are left alone */

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

static bool is_unborn(const struct spi_agent *agent)
{
	return agent->is_child && !agent->pid && !agent->over;
}

/*
 * A child that begins. It is an agent from now on, so that a controller that waits for all agents waits for it, and has a
 * process id when it says HELLO.
 */
static int child_take(const struct spi_agent *parent, int *fd)
{
	struct spi_control *control = parent->control;
	unsigned int unborn = 0;
	struct spi_agent *child;

	if (!spi_foreign_is_packet_socket(*fd))
		return 0;
	child = spi_control_adopt(control, *fd, 0);
	*fd = -1;
	if (!child)
		return 0;
	for (const struct spi_agent *a = control->agents; a; a = a->next)
		unborn += is_unborn(a) && a->uid == child->uid;
	child->is_child = true;
	child->parent = parent->pid;
	child->given_ms = now_ms();
	/* a socket that another user has made may lead to a process of his */
	if (unborn >= UNBORN_MAX || (child->uid != parent->uid && parent->uid))
		spi_agent_close(child);
	return 0;
}

/* ---- nurseries ---- */

#define NURSERIES_MAX	1024u	/* of one user */

/* What children say before they have a connection is told as their parent's. */
struct spi_nursery {
	struct spi_source source;
	struct spi_nursery *next;
	struct spi_agent parent;	/* what is known of it, for children; it may be gone */
};

static void nursery_close(struct spi_control *control, struct spi_nursery *nursery)
{
	struct spi_nursery **at = &control->nurseries;

	while (*at && *at != nursery)
		at = &(*at)->next;
	if (*at)
		*at = nursery->next;
	epoll_ctl(control->epoll, EPOLL_CTL_DEL, nursery->source.fd, NULL);
	spi_foreign_close(nursery->source.fd, true, nursery->parent.uid);
	nursery->source.fd = -1;
	nursery->next = control->nurseries_over;	/* an event of this dispatch may still lead here */
	control->nurseries_over = nursery;
}

void spi_nurseries_reap(struct spi_control *control)
{
	while (control->nurseries_over) {
		struct spi_nursery *nursery = control->nurseries_over;

		control->nurseries_over = nursery->next;
		free(nursery);
	}
}

void spi_nurseries_free(struct spi_control *control)
{
	while (control->nurseries)
		nursery_close(control, control->nurseries);
	spi_nurseries_reap(control);
}

static int nursery_take(struct spi_nursery *nursery, char *packet, size_t size, int *fd)
{
	struct spi_control *control = nursery->parent.control;
	struct spi_msg head;

	if (size < sizeof(head))
		return -EPROTO;
	memcpy(&head, packet, sizeof(head));
	if (head.magic != SPI_PROTO_MAGIC || head.version != SPI_PROTO_VERSION || head.size != size - sizeof(head))
		return -EPROTO;
	if (head.type == SPI_MSG_CHILD)
		return *fd < 0 ? -EPROTO : child_take(&nursery->parent, fd);
	if (head.type == SPI_MSG_NOTE && control->ops.on_note)
		control->ops.on_note(&nursery->parent, packet + sizeof(head), control->data);
	return 0;
}

static void nursery_ready(struct spi_control *control, struct spi_source *source, uint32_t events)
{
	struct spi_nursery *nursery = (struct spi_nursery *) ((char *) source - offsetof(struct spi_nursery, source));
	struct ucred sender;
	int fd, ret = -EPIPE;
	ssize_t n = spi_foreign_receive(source->fd, true, nursery->parent.uid, control->packet, PACKET_MAX, &fd, &sender);

	(void) events;
	if (n == -EAGAIN || n == -EINTR)
		return;
	if (n > 0) {
		control->packet[n] = 0;
		ret = nursery_take(nursery, control->packet, (size_t) n, &fd);
	}
	if (fd >= 0 && spi_foreign_is_packet_socket(fd))
		spi_foreign_close(fd, true, nursery->parent.uid);
	else if (fd >= 0)
		close(fd);
	if (ret < 0)
		nursery_close(control, nursery);
}

int spi_nursery_open(const struct spi_agent *parent, int *fd)
{
	struct spi_control *control = parent->control;
	struct spi_nursery *nursery = control->nurseries;
	unsigned int n = 0;

	for (; nursery; nursery = nursery->next)
		n += nursery->parent.uid == parent->uid;
	if (!(control->run || control->welcome_flags & SPI_WELCOME_CHILDREN) || n >= NURSERIES_MAX || !spi_foreign_is_packet_socket(*fd))
		return 0;
	nursery = calloc(1, sizeof(*nursery));
	if (!nursery)
		return 0;
	nursery->parent.control = control;
	nursery->parent.pid = parent->pid;
	nursery->parent.uid = parent->uid;
	nursery->parent.start_time = parent->start_time;
	strcpy(nursery->parent.exe, parent->exe);
	if (spi_source_add(control, &nursery->source, *fd, EPOLLIN, nursery_ready) < 0) {
		free(nursery);
		return 0;
	}
	*fd = -1;
	nursery->next = control->nurseries;
	control->nurseries = nursery;
	return 0;
}

int spi_control_unborn(const struct spi_control *control, pid_t parent, unsigned int most_ms)
{
	const struct spi_agent *child = control->agents;
	uint64_t now = now_ms();

	while (child && (!is_unborn(child) || child->parent != parent || now - child->given_ms > most_ms))
		child = child->next;
	return child != NULL;
}

/*
 * The kernel says who has sent HELLO. It has to have the user who made the connection, its parent, in all its ids: a
 * program with a setuid bit may be brought to write to anything.
 */
int spi_child_take_name(struct spi_agent *agent)
{
	char *status = agent->sender.pid > 0 ? spi_proc_read(NULL, "%d/status", (int) agent->sender.pid) : NULL;
	unsigned int uid[4], same = 0;

	if (status && spi_status_ids(status, "Uid", uid))
		for (unsigned int i = 0; i < 4; i++)
			same += uid[i] == agent->uid;
	free(status);
	if (same != 4)
		return -EPERM;
	agent->pid = agent->sender.pid;
	agent->start_time = spi_process_start_time(agent->pid);
	return 0;
}
