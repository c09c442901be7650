/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Sources of events: descriptors in the controller's epoll instance, each with the function that serves it. */
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "injector/control/internal.h"

int spi_source_add(struct spi_control *control, struct spi_source *source, int fd, uint32_t events,
		   void (*ready)(struct spi_control *, struct spi_source *, uint32_t))
{
	struct epoll_event event = { .events = events, .data.ptr = source };

	source->fd = fd;
	source->ready = ready;
	return epoll_ctl(control->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

void spi_source_remove(struct spi_control *control, struct spi_source *source)
{
	if (source->fd < 0)
		return;
	epoll_ctl(control->epoll, EPOLL_CTL_DEL, source->fd, NULL);
	close(source->fd);
	source->fd = -1;
}
