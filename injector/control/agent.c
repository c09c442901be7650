/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* One agent, as the controller knows it: which process it is in, and what the agent said of itself. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "injector/control/internal.h"
#include "injector/procfs/procfs.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD	77
#endif

void spi_agent_close(struct spi_agent *agent)
{
	if (agent->over)
		return;
	agent->over = true;
	/* Make the next dispatch come: a socket that is shut down is readable. */
	shutdown(agent->source.fd, SHUT_RDWR);
}

pid_t spi_agent_pid(const struct spi_agent *agent)
{
	return agent->pid;
}

uid_t spi_agent_uid(const struct spi_agent *agent)
{
	return agent->uid;
}

int spi_agent_is_child(const struct spi_agent *agent)
{
	return agent->is_child;
}

uint64_t spi_agent_start_time(const struct spi_agent *agent)
{
	return agent->start_time;
}

/* Linux before 6.5 does not tell: then who has the id must have its user and its start time. */
static bool has_same_id(const struct spi_agent *agent)
{
	char *status = spi_proc_read(NULL, "%d/status", (int) agent->pid);
	const char *uid = status ? spi_status_value(status, "Uid") : NULL;
	bool same = uid && strtoul(uid, NULL, 10) == agent->uid &&
		    spi_process_start_time(agent->pid) == agent->start_time;

	free(status);
	return same;
}

int spi_agent_lives(const struct spi_agent *agent)
{
	struct pollfd polled = { .events = POLLIN };
	socklen_t size = sizeof(polled.fd);
	bool lives;

	if (getsockopt(agent->former >= 0 ? agent->former : agent->source.fd, SOL_SOCKET, SO_PEERPIDFD, &polled.fd, &size))
		return errno == ENOPROTOOPT && has_same_id(agent);
	lives = !poll(&polled, 1, 0);
	close(polled.fd);
	return lives;
}

const char *spi_agent_exe(const struct spi_agent *agent)
{
	return agent->exe;
}

const char *spi_agent_follow(const struct spi_agent *agent)
{
	return agent->follow;
}

uint32_t spi_agent_flags(const struct spi_agent *agent)
{
	return agent->flags;
}

/* The page with its threads' blocks added up, as they are now. */
const volatile struct spi_status_page *spi_agent_status(struct spi_agent *agent)
{
	const volatile struct spi_status_block *blocks;
	uint64_t *total = &agent->totals.entries;
	size_t n = 0;

	if (!agent->status)
		return NULL;
	agent->totals = *agent->status;
	if (agent->status_size > SPI_STATUS_BLOCKS_AT)
		n = (agent->status_size - SPI_STATUS_BLOCKS_AT) / sizeof(*blocks);
	if (n > agent->totals.blocks)
		n = agent->totals.blocks;
	blocks = (const volatile struct spi_status_block *) ((const volatile char *) agent->status + SPI_STATUS_BLOCKS_AT);
	for (size_t i = 0; i < n; i++)
		for (unsigned int c = 0; c < sizeof(blocks->counter) / sizeof(blocks->counter[0]); c++)
			total[c] += blocks[i].counter[c];
	return &agent->totals;
}

void spi_agent_set_user(struct spi_agent *agent, void *user)
{
	agent->user = user;
}

void *spi_agent_user(const struct spi_agent *agent)
{
	return agent->user;
}
