/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The child that becomes spi-codemap. */
#ifndef SPI_INJECTOR_MAP_CHILD_H
#define SPI_INJECTOR_MAP_CHILD_H

#include "injector/control-internal.h"

struct spi_map_child {
	char **argv, **envp;
	int program, object, map, root, words;
	int cache;		/* directory for its maps, -1: the environment says */
	bool change_user;
	uid_t uid;
	gid_t gid;
};

/*
 * Open the object that an agent asks about, with the rights of its process, and
 * take these down for the child. 0; -ESRCH: the process has ended, and its id may
 * be another's; -EPERM: it runs with the ids of several users; -ESTALE: that file
 * is not what it has mapped; or another negative errno. l->object is to be closed
 * when it is not negative, whatever the result.
 */
int spi_map_child_open_object(struct spi_map_child *l, const struct spi_agent *agent,
			      const struct spi_msg_map_request *request, const char *path);

/* user-cache.c: root only: a directory for maps that are made with this user's rights; -1: there is none. */
int spi_user_cache_open(uid_t uid, gid_t gid);

/* fork() without SIGCHLD, with a pidfd. The child's id or a negative errno. */
pid_t spi_map_child_start(const struct spi_map_child *l, int *pidfd);

#endif /* SPI_INJECTOR_MAP_CHILD_H */
