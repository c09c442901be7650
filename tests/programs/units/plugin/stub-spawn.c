/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * In the place of the plugin's spawn.c under ThreadSanitizer, which takes any
 * clone() for a fork, in the memory that both share. A plain child here.
 */
#include <errno.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "spi-sessiond-plugin/broker/broker.h"

pid_t spawn_broker(const char *path, int socket, int *pidfd)
{
	posix_spawn_file_actions_t actions;
	char *argv[] = { (char *) path, NULL };
	pid_t pid;
	int ret;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, socket, SPI_BROKER_FD);
	ret = posix_spawn(&pid, path, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (ret)
		return -ret;
	*pidfd = (int) syscall(SYS_pidfd_open, pid, 0);
	return *pidfd < 0 ? -errno : pid;
}
