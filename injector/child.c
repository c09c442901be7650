/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Children whose connection comes before they do: their parent's agent gives it to us within fork() (SPI_MSG_CHILD), where they could
 * not reach our socket, as another user or in another directory tree, or where they must not be missed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "injector/control-internal.h"
#include "injector/foreign.h"
#include "injector/target.h"

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
 * A child that is being forked. It is an agent from now on, so that whoever waits for all of them waits for it, and has a
 * process id when it says HELLO; should there be no child after all, the connection ends.
 */
int spi_child_take(const struct spi_agent *parent, int *fd)
{
	struct spi_control *control = parent->control;
	unsigned int unborn = 0;
	struct spi_agent *child;

	for (child = control->agents; child; child = child->next)
		unborn += is_unborn(child) && child->uid == parent->uid;
	if (!(control->run || control->welcome_flags & SPI_WELCOME_CHILDREN) || unborn >= UNBORN_MAX || !spi_foreign_is_packet_socket(*fd))
		return 0;
	child = spi_control_adopt(control, *fd, 0);
	*fd = -1;
	if (!child)
		return 0;
	child->is_child = true;
	child->parent = parent->pid;
	child->given_ms = now_ms();
	/* a socket that another user has made may lead to a process of his */
	if (child->uid != parent->uid && parent->uid)
		spi_agent_close(child);
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
