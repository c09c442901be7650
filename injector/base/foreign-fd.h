/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Descriptors that strangers send. No function here waits for what another user may delay. */
#ifndef SPI_INJECTOR_BASE_FOREIGN_FD_H
#define SPI_INJECTOR_BASE_FOREIGN_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

/*
 * spi_foreign_receive() - one packet from a non-blocking SOCK_SEQPACKET socket: its size, 0 at the end, or a negative errno.
 * *fd is the first descriptor that came along, if it was a memfd or a packet socket of AF_UNIX, or -1; `sender` has pid 0 when
 * it is not told, which it is with `shared` (others may have our end of it, too) and SO_PASSCRED.
 */
ssize_t spi_foreign_receive(int socket, bool shared, uid_t uid, void *packet, size_t size, int *fd, struct ucred *sender);

/* spi_foreign_close() - shut down and close a socket by which others may have sent us anything. */
void spi_foreign_close(int socket, bool shared, uid_t uid);

/* Is it a socket of AF_UNIX and SOCK_SEQPACKET? Asks nobody but the kernel. */
bool spi_foreign_is_packet_socket(int fd);

/* A child without an exit signal that has nothing more to do, or was killed: it is reaped once it has ended. */
void spi_foreign_leave(pid_t pid, uid_t uid);

/* So many of that user's are left, and do not end. */
bool spi_foreign_has_many(uid_t uid);

/* Reap those that have ended, and close what could not be closed before. Is there more to come? */
bool spi_foreign_reap(void);

#endif /* SPI_INJECTOR_BASE_FOREIGN_FD_H */
