/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * lttng-ust's connections to session daemons in a forked child that has not begun. Nobody reads there: a daemon would take the
 * parent, once that has ended, for a process that does not answer. So the child has something else at these numbers, which lttng-ust closes
 * when it begins.
 *
 * Which they are is found before the fork, by their peers' names, and again where one of them is another file by then or none is
 * known, the latter not more than once a second.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/process/internal.h"

#define MOST	8u		/* two of each of two daemons */
#define LOOK_NS	UINT64_C(1000000000)

static struct {
	int fd;
	uint64_t inode;
} sockets[MOST];
static SPI_FORK_DATA uint32_t count;
static SPI_FORK_DATA uint64_t looked;

static uint64_t socket_inode(int fd)
{
	struct stat st;

	return spi_sys(SYS_fstat, (long) fd, &st) == 0 && S_ISSOCK(st.st_mode) ? st.st_ino : 0;
}

static void socket_take(int fd)
{
	static const char name[] = "/lttng-ust-sock-";
	struct sockaddr_un peer = { .sun_family = 0 };
	uint64_t inode = socket_inode(fd);
	socklen_t size = sizeof(peer) - 1;	/* a NUL stays behind the name */

	if (!inode || count == MOST || spi_sys(SYS_getpeername, (long) fd, &peer, &size) < 0 || peer.sun_family != AF_UNIX ||
			!strstr(peer.sun_path, name))
		return;
	sockets[count].fd = fd;
	sockets[count++].inode = inode;
}

static void sockets_find(void)
{
	char path[SPI_PROC_PATH];
	struct spi_numbers fd;

	count = 0;
	if (spi_numbers_open(&fd, spi_proc_path(path, "fd")) < 0)
		return;
	while (spi_numbers_next(&fd))
		socket_take(fd.number);
	spi_numbers_close(&fd);
}

/* Before the fork, by the thread that holds its locks. */
void spi_child_sockets_look(void)
{
	uint64_t now = spi_now_ns();
	uint32_t i = 0;

	while (i < count && socket_inode(sockets[i].fd) == sockets[i].inode)
		i++;
	if ((count && i == count) || (!count && now < looked + LOOK_NS))
		return;
	looked = now;
	sockets_find();
}

/* In the child. */
void spi_child_sockets_drop(void)
{
	long nothing = count ? spi_sys(SYS_eventfd2, 0L, (long) EFD_CLOEXEC) : -1;

	for (uint32_t i = 0; nothing >= 0 && i < count; i++)
		if (socket_inode(sockets[i].fd) == sockets[i].inode)
			spi_sys(SYS_dup3, nothing, (long) sockets[i].fd, (long) O_CLOEXEC);
	if (nothing >= 0)
		spi_sys(SYS_close, nothing);
	count = 0;
}
