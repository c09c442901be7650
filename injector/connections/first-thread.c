/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Processes whose first thread has ended. When libc ends that thread, the agent sees it, and makes
 * sure that the process ends with the last of its own threads, although the tracer has some there
 * (liblttng-spi/process/last-thread.c). A thread that makes the system call by itself is seen by nobody
 * inside; from outside it is a zombie in a process that goes on. So the controller looks every few
 * seconds, and tells the agent once. That costs the target nothing.
 */
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "injector/base/clock.h"
#include "injector/connections/internal.h"
#include "injector/procfs/procfs.h"

#define LOOK_MS		3000u
#define LOOK_SHARE	200u	/* looking takes no more than one part in so many of our time */

static bool first_has_ended(const struct spi_agent *agent)
{
	char *stat = spi_proc_read(NULL, "%d/task/%d/stat", (int) agent->pid, (int) agent->pid);
	const char *state = stat ? spi_stat_field(stat, 3) : NULL;
	bool ended = state && *state == 'Z';

	free(stat);
	return ended;
}

static void timer_set(struct spi_control *control, uint64_t ms)
{
	struct itimerspec when = { .it_value = { (time_t) (ms / 1000), (long) (ms % 1000 * 1000000) } };

	timerfd_settime(control->look.fd, 0, &when, NULL);
}

static void look(struct spi_control *control, struct spi_source *source, uint32_t events)
{
	uint64_t begin = spi_now(), ms, times;
	bool any = false;

	(void) events;
	if (read(source->fd, &times, sizeof(times)) < 0)
		return;
	for (struct spi_agent *agent = control->agents; agent; agent = agent->next) {
		if (agent->over || agent->told_first_ended)
			continue;
		any = true;
		if (!first_has_ended(agent))
			continue;
		agent->told_first_ended = true;
		spi_agent_send(agent, SPI_MSG_FIRST_ENDED, 0, NULL, 0, NULL, 0, -1);
	}
	ms = (spi_now() - begin) / 1000000 * LOOK_SHARE;
	control->looking = any;
	if (any)
		timer_set(control, ms > LOOK_MS ? ms : LOOK_MS);
}

void spi_first_ended_watch(struct spi_control *control)
{
	int fd;

	if (control->looking)
		return;
	if (control->look.fd < 0) {
		fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
		if (fd < 0)
			return;
		if (spi_source_add(control, &control->look, fd, EPOLLIN, look) < 0) {
			close(fd);
			control->look.fd = -1;
			return;
		}
	}
	control->looking = true;
	timer_set(control, LOOK_MS);
}
