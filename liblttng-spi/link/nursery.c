/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The nursery: a socket whose other end the controller has, and which all children inherit: one that begins sends the other end of a connection of
 * its own over it.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/internal.h"

int spi_nursery_fd = -1;

void spi_nursery_close(void)
{
	int fd = __atomic_exchange_n(&spi_nursery_fd, -1, __ATOMIC_ACQ_REL);

	if (fd >= 0)
		spi_sys(SYS_close, fd);
}

static int socket_give(struct spi_link *over, uint16_t type, int passes_credentials, long flags)
{
	int ends[2], on = passes_credentials;
	long r = spi_sys(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0L, ends);

	if (r < 0)
		return (int) r;
	r = spi_sys(SYS_setsockopt, ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	if (r == 0)
		r = spi_link_send_with(over, type, 0, NULL, 0, NULL, 0, ends[1], flags);
	spi_sys(SYS_close, ends[1]);
	if (r < 0) {
		spi_sys(SYS_close, ends[0]);
		return (int) r;
	}
	return spi_fd_high(ends[0]);
}

/* For controllers that take children; the others find them by themselves. */
void spi_nursery_open(struct spi_link *link)
{
	spi_nursery_close();
	if (link->welcome_flags & SPI_WELCOME_CHILDREN || link->welcome_flags >> SPI_WELCOME_RUN_SHIFT) {
		int fd = socket_give(link, SPI_MSG_NURSERY, 0, 0);

		__atomic_store_n(&spi_nursery_fd, fd < 0 ? -1 : fd, __ATOMIC_RELEASE);
	}
}

int spi_nursery_connect(int may_wait)
{
	struct spi_link nursery = { .fd = spi_nursery_fd };

	return nursery.fd < 0 ? -ENOENT : socket_give(&nursery, SPI_MSG_CHILD, 1, may_wait ? 0 : MSG_DONTWAIT);
}

void spi_nursery_note(const char *line)
{
	struct spi_link nursery = { .fd = spi_nursery_fd };

	if (nursery.fd >= 0)
		spi_link_send_with(&nursery, SPI_MSG_NOTE, 0, line, strlen(line) + 1, NULL, 0, -1, MSG_DONTWAIT);
}

void spi_link_note(const char *line, size_t size)
{
	if (spi_link_current)
		spi_link_send(spi_link_current, SPI_MSG_NOTE, 0, line, size, NULL, 0, -1);
	else if (spi_mode_is_child())
		spi_nursery_note(line);
}
