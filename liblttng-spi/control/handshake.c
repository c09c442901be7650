/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* HELLO and WELCOME: what this process and its controller say of themselves before anything else. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/process/process.h"
#include "liblttng-spi/module/module.h"
#include "liblttng-spi/control/internal.h"

/* Only root or our own user may tell this process what to do. */
static int peer_is_allowed(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (spi_sys(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return 0;
	return peer.uid == 0 || peer.uid == (uid_t) spi_sys(SYS_getuid);
}

/* Say HELLO. Takes fd over, also when it fails. */
int spi_link_hello(struct spi_link *link, int fd, uint32_t hello_flags)
{
	struct spi_msg_hello hello = { .pid = (int32_t) spi_sys(SYS_getpid), .flags = hello_flags, .start_time = spi_process_start_time() };
	struct spi_object *exe;
	char words[sizeof(exe->path) + SPI_FOLLOW_MAX];	/* two strings */
	const char *follow;
	int page, n;
	long r;

	/* no child must be forked while the dynamic linker's lock is held by a thread that it will not have */
	spi_control_lock();
	exe = spi_objects_scan();
	n = spi_format(words, sizeof(words) - SPI_FOLLOW_MAX, "%s", exe ? exe->path : "") + 1;
	/* a forked child has its parent's trees; a program that was executed, those that came along */
	follow = hello_flags & SPI_HELLO_FORKED ? spi_exec_env_followed() : spi_env.follow ? spi_env.follow : "";
	n += spi_format(words + n, SPI_FOLLOW_MAX, "%s", follow) + 1;
	spi_control_unlock();
	memset(link, 0, sizeof(*link));
	link->fd = fd;
	link->hello_flags = hello_flags;
	link->uid = (uint32_t) spi_sys(SYS_geteuid);
	link->refused = UINT32_MAX;
	link->packet = spi_map_pages(SPI_PACKET_MAX);
	r = -EPERM;
	if (!link->packet || !peer_is_allowed(fd))
		goto fail;
	page = spi_status_fd();
	r = spi_link_send(link, SPI_MSG_HELLO, 0, &hello, sizeof(hello), words, (size_t) n, page);
	if (page >= 0)
		spi_sys(SYS_close, page);
	if (r >= 0)
		return 0;
fail:
	spi_link_close(link);
	return (int) r;
}

/* Hear WELCOME. Closes the link when it fails. */
int spi_link_welcome(struct spi_link *link)
{
	struct spi_msg_welcome welcome;
	int fd;
	long r = spi_link_answer(link, SPI_MSG_WELCOME, 0, &welcome, sizeof(welcome), &fd);

	if (r < 0) {
		spi_link_close(link);
		return (int) r;
	}
	link->welcome_flags = welcome.flags;
	spi_floor_take(fd);
	if (r > (long) sizeof(welcome))
		spi_exec_env_init(link->packet + sizeof(struct spi_msg) + sizeof(welcome), (size_t) r - sizeof(welcome));
	else
		spi_exec_env_init(NULL, 0);
	spi_module_run(welcome.flags >> SPI_WELCOME_RUN_SHIFT);
	spi_string_max = welcome.string_max ? welcome.string_max : spi_env_string_max();
	spi_nursery_open(link);
	spi_link_current = link;
	__atomic_store_n(&spi_link_fd, link->fd, __ATOMIC_RELEASE);
	return 0;
}
