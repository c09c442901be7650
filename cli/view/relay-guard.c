/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Preloaded into the relay daemon of a live view, which speaks TCP and asks nobody for a name. A
 * connection that is not its user's or root's is ended before anything is read from it or sent. To the
 * daemon the other end of that connection has gone.
 */
#include <sys/socket.h>

#include "cli/daemon/tcp-owner.h"

__attribute__((visibility("default"))) int accept(int socket, struct sockaddr *restrict address, socklen_t *restrict size)
{
	int fd = accept4(socket, address, size, 0);

	if (fd >= 0 && !tcp_peer_is_trusted(fd))
		shutdown(fd, SHUT_RDWR);
	return fd;
}
