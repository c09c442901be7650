/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Functions of libc's that send and receive by sockets alone. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/ipc/internal.h"

SPI_IPC_DECLARE(send);
SPI_IPC_DECLARE(sendto);
SPI_IPC_DECLARE(sendmsg);
SPI_IPC_DECLARE(sendmmsg);
SPI_IPC_DECLARE(recv);
SPI_IPC_DECLARE(recvfrom);
SPI_IPC_DECLARE(recvmsg);
SPI_IPC_DECLARE(recvmmsg);

/* What is only looked at stays; urgent data is beside the stream, or in it without a reader's knowing. */
static int is_receive(int flags)
{
	if (flags & MSG_OOB)
		spi_ipc_not_followed(SPI_IPC_NOT_URGENT);
	return !(flags & (MSG_PEEK | MSG_OOB | MSG_ERRQUEUE));
}

/* Its last byte is taken out of the stream at the other end, or not: positions of both are not known from here on. */
static void urgent_end(struct spi_ipc_op *op, int flags)
{
	if (spi_likely(!(flags & MSG_OOB)) || !op->channel || !op->place)
		return;
	spi_ipc_not_followed(SPI_IPC_NOT_URGENT);
	__atomic_fetch_or(&op->place->state, SPI_IPC_LOST, __ATOMIC_RELAXED);
}

static ssize_t ipc_send(int fd, const void *buffer, size_t size, int flags)
{
	const struct spi_ipc_data data = SPI_IPC_ONE(buffer, size);
	struct spi_ipc_op op;
	ssize_t n;

	if (!spi_ipc_begin(&op, SPI_IPC_P, fd, SPI_IPC_SEND, NULL, &data))
		return SPI_NEXT(send)(fd, buffer, size, flags);
	n = SPI_NEXT(send)(fd, buffer, size, flags);
	urgent_end(&op, flags);
	spi_ipc_end(&op, n, &data, 0);
	return n;
}

static ssize_t ipc_sendto(
	int fd, const void *buffer, size_t size, int flags, const struct sockaddr *to, socklen_t to_size)
{
	const struct spi_ipc_data data = SPI_IPC_ONE(buffer, size);
	const struct spi_ipc_address address = { to, to_size };
	struct spi_ipc_op op;
	ssize_t n;

	if (!spi_ipc_begin(&op, SPI_IPC_P, fd, SPI_IPC_SEND, &address, &data))
		return SPI_NEXT(sendto)(fd, buffer, size, flags, to, to_size);
	n = SPI_NEXT(sendto)(fd, buffer, size, flags, to, to_size);
	urgent_end(&op, flags);
	spi_ipc_end(&op, n, &data, 0);
	return n;
}

static ssize_t ipc_sendmsg(int fd, const struct msghdr *message, int flags)
{
	struct spi_ipc_address to;
	struct spi_ipc_data data;
	struct spi_ipc_op op;
	ssize_t n;

	if (!spi_ipc_message(message, &data, &to) || !spi_ipc_begin(&op, SPI_IPC_P, fd, SPI_IPC_SEND, &to, &data))
		return SPI_NEXT(sendmsg)(fd, message, flags);
	n = SPI_NEXT(sendmsg)(fd, message, flags);
	urgent_end(&op, flags);
	spi_ipc_end(&op, n, &data, 0);
	return n;
}

static ssize_t ipc_recv(int fd, void *buffer, size_t size, int flags)
{
	const struct spi_ipc_data data = SPI_IPC_ONE(buffer, size);
	struct spi_ipc_op op;
	ssize_t n;

	if (!is_receive(flags) || !spi_ipc_begin(&op, SPI_IPC_P, fd, SPI_IPC_RECV, NULL, &data))
		return SPI_NEXT(recv)(fd, buffer, size, flags);
	n = SPI_NEXT(recv)(fd, buffer, size, flags);
	spi_ipc_end(&op, n, &data, n > (ssize_t) size ? SPI_IPC_CUT : 0);
	return n;
}

static ssize_t ipc_recvfrom(int fd, void *buffer, size_t size, int flags, struct sockaddr *from, socklen_t *from_size)
{
	const struct spi_ipc_data data = SPI_IPC_ONE(buffer, size);
	struct spi_ipc_op op;
	ssize_t n;

	if (!is_receive(flags) || !spi_ipc_begin(&op, SPI_IPC_P, fd, SPI_IPC_RECV, NULL, &data))
		return SPI_NEXT(recvfrom)(fd, buffer, size, flags, from, from_size);
	n = SPI_NEXT(recvfrom)(fd, buffer, size, flags, from, from_size);
	spi_ipc_end(&op, n, &data, n > (ssize_t) size ? SPI_IPC_CUT : 0);
	return n;
}

static ssize_t ipc_recvmsg(int fd, struct msghdr *message, int flags)
{
	struct spi_ipc_address from;
	struct spi_ipc_data data;
	struct spi_ipc_op op;
	ssize_t n;

	if (!is_receive(flags) || !spi_ipc_message(message, &data, &from) ||
		!spi_ipc_begin(&op, SPI_IPC_P, fd, SPI_IPC_RECV, NULL, &data))
		return SPI_NEXT(recvmsg)(fd, message, flags);
	n = SPI_NEXT(recvmsg)(fd, message, flags);
	spi_ipc_end(&op, n, &data, n >= 0 ? spi_ipc_message_flags(message) : 0);
	return n;
}

static int ipc_sendmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags)
{
	struct spi_ipc_address to;
	struct spi_ipc_data data;
	struct spi_ipc_op op;
	int n;

	if (!count || !spi_ipc_message(&messages->msg_hdr, &data, &to) ||
		!spi_ipc_begin(&op, SPI_IPC_P, fd, SPI_IPC_SEND, &to, &data))
		return SPI_NEXT(sendmmsg)(fd, messages, count, flags);
	n = SPI_NEXT(sendmmsg)(fd, messages, count, flags);
	urgent_end(&op, flags);
	spi_ipc_end_many(&op, messages, n);
	return n;
}

static int ipc_recvmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags, struct timespec *timeout)
{
	struct spi_ipc_address from;
	struct spi_ipc_data data;
	struct spi_ipc_op op;
	int n;

	if (!count || !is_receive(flags) || !spi_ipc_message(&messages->msg_hdr, &data, &from) ||
			!spi_ipc_begin(&op, SPI_IPC_P, fd, SPI_IPC_RECV, NULL, &data))
		return SPI_NEXT(recvmmsg)(fd, messages, count, flags, timeout);
	n = SPI_NEXT(recvmmsg)(fd, messages, count, flags, timeout);
	spi_ipc_end_many(&op, messages, n);
	return n;
}

const struct spi_hook spi_ipc_message_hooks[] = {
	SPI_IPC_ROW(send, SPI_IPC_WRONG),
	SPI_IPC_ROW(sendto, SPI_IPC_WRONG),
	SPI_IPC_ROW(sendmsg, SPI_IPC_WRONG),
	SPI_IPC_ROW(sendmmsg, SPI_IPC_WRONG),
	SPI_IPC_ROW(recv, SPI_IPC_WRONG),
	SPI_IPC_ROW(recvfrom, SPI_IPC_WRONG),
	SPI_IPC_ROW(recvmsg, SPI_IPC_WRONG),
	SPI_IPC_ROW(recvmmsg, SPI_IPC_WRONG),
	{ NULL },
};
