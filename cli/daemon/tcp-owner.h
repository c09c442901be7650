/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The owner of a TCP socket of this host. The kernel tells it (sock_diag(7)) to any process of the same
 * network namespace.
 */
#ifndef SPI_CLI_DAEMON_TCP_OWNER_H
#define SPI_CLI_DAEMON_TCP_OWNER_H

#include <sys/socket.h>

/* tcp_listener_is_trusted() - does a socket of this user's or root's listen on this port of 127.0.0.1? 1 or 0. */
int tcp_listener_is_trusted(unsigned int port);

/*
 * tcp_peer_is_trusted() - is the other end of this connection, which is a socket of this host in the same network namespace, open, and
 * this user's or root's? 1 or 0. May be called from any thread.
 */
int tcp_peer_is_trusted(int fd);

#endif /* SPI_CLI_DAEMON_TCP_OWNER_H */
