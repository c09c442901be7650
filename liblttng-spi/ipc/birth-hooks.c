/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Functions of libc's that make channels, or make something else of one. Who sees a channel made knows that nothing has
 * gone through it yet, whoever is in the middle of what by the time that its other end is first used.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/ipc/internal.h"

/* Too short for a jump (glibc 2.36); libc itself calls pipe2(). */
SPI_HOOK_DECLARE(pipe)
SPI_IPC_DECLARE(pipe2);
SPI_IPC_DECLARE(socketpair);
SPI_IPC_DECLARE(accept);
SPI_IPC_DECLARE(accept4);
SPI_IPC_DECLARE(connect);
SPI_IPC_DECLARE(setsockopt);

/* A vforked child makes none that its parent has. */
static int is_looked_at(void)
{
	return spi_unlikely(__atomic_load_n(&spi_ipc_is_on, __ATOMIC_RELAXED)) && spi_mode <= SPI_MODE_CHILD_LEFT &&
	       !spi_thread.busy && !spi_thread_is_foreign(&spi_thread);
}

SPI_EXPORT int pipe(int fds[2])
{
	const int r = SPI_NEXT(pipe)(fds);

	if (r == 0 && is_looked_at())
		spi_ipc_born(fds[1]);
	return r;
}

static int ipc_pipe2(int fds[2], int flags)
{
	const int r = SPI_NEXT(pipe2)(fds, flags);

	if (r == 0 && is_looked_at())
		spi_ipc_born(fds[1]);
	return r;
}

static int ipc_socketpair(int domain, int type, int protocol, int fds[2])
{
	const int r = SPI_NEXT(socketpair)(domain, type, protocol, fds);

	if (r == 0 && is_looked_at()) {
		spi_ipc_born(fds[0]);
		spi_ipc_born(fds[1]);
	}
	return r;
}

static int ipc_accept(int fd, struct sockaddr *from, socklen_t *size)
{
	const int made = SPI_NEXT(accept)(fd, from, size);

	if (made >= 0 && is_looked_at())
		spi_ipc_born(made);
	return made;
}

static int ipc_accept4(int fd, struct sockaddr *from, socklen_t *size, int flags)
{
	const int made = SPI_NEXT(accept4)(fd, from, size, flags);

	if (made >= 0 && is_looked_at())
		spi_ipc_born(made);
	return made;
}

static int ipc_connect(int fd, const struct sockaddr *to, socklen_t size)
{
	const int r = SPI_NEXT(connect)(fd, to, size);

	if (is_looked_at()) {
		spi_ipc_channel_forget(fd);
		if (r == 0)
			spi_ipc_born(fd);
	}
	return r;
}

/* The kernel encrypts from here on. */
static void tls_begins(int fd)
{
	for (int end = 0; end < 2; end++) {
		struct spi_ipc_channel *channel = spi_ipc_channel_find(fd, (enum spi_ipc_end) end, NULL);
		struct spi_ipc_op op = { .channel = channel, .fd = fd, .end = (enum spi_ipc_end) end };

		if (!channel)
			continue;
		spi_ipc_not_followed(SPI_IPC_NOT_TLS);
		spi_ipc_op_place(&op);
		if (op.place)
			__atomic_fetch_or(&op.place->state, SPI_IPC_LOST, __ATOMIC_RELAXED);
		spi_ipc_channel_leave(channel);
	}
}

static int ipc_setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
	const int r = SPI_NEXT(setsockopt)(fd, level, name, value, size);
	char protocol[4] = "";

	if (level == IPPROTO_TCP && name == TCP_ULP && r == 0 && size >= 3 && is_looked_at() &&
			spi_memory_copy(protocol, (uint64_t) value, 3) == 0 && !strcmp(protocol, "tls"))
		tls_begins(fd);
	return r;
}

#define BORN	"positions in channels that it makes are not known while both ends are busy"
const struct spi_hook spi_ipc_birth_hooks[] = {
	{ SPI_HOOK_ROW(pipe), .ways = SPI_HOOK_ORDER | SPI_HOOK_POINTERS },
	SPI_IPC_ROW(pipe2, BORN),
	SPI_IPC_ROW(socketpair, BORN),
	SPI_IPC_ROW(accept, BORN),
	SPI_IPC_ROW(accept4, BORN),
	SPI_IPC_ROW(connect, "datagrams of a socket that is connected a second time are told as its first peer's"),
	SPI_IPC_ROW(setsockopt, "a connection that the kernel encrypts has wrong positions"),
	{ NULL },
};
