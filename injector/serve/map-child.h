/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The child that becomes spi-codemap. */
#ifndef SPI_INJECTOR_SERVE_MAP_CHILD_H
#define SPI_INJECTOR_SERVE_MAP_CHILD_H

#include "injector/control/internal.h"

/* A process, and the user that it belongs to. */
struct spi_map_target {
	pid_t pid;
	uint64_t start_time;
	uid_t uid;
};

struct spi_map_child {
	char **argv, **envp;
	char **name;		/* what the object is called: in argv, for the child to fill in */
	int program, map, root, words;
	int prototypes;		/* a bundle of files of prototypes, -1: none */
	int cache;		/* directory for its maps, -1: the environment says */
	/* whose object, and which: map-object.c */
	pid_t pid, living;	/* a thread of it that has not ended */
	uint64_t start_time;
	const struct spi_msg_map_request *request;
	const struct spi_msg_map_file *file;	/* as the agent sees it, or NULL */
	const char *path;	/* as the agent calls it */
	bool is_ahead;		/* nobody waits for it */
	bool change_user;
	uid_t uid;
	gid_t gid;
};

/*
 * Whose rights the child of that process has. 0; -ESRCH: the process has ended, and its id may
 * be another's; -EPERM: it runs with the ids of several users, or of another than the target's.
 */
int spi_map_child_identity(struct spi_map_child *l, const struct spi_map_target *target);

/* user-cache.c: root only: a directory for maps that are made with this user's rights; -1: there is none. */
int spi_user_cache_open(uid_t uid, gid_t gid);

/* fork() without SIGCHLD, with a pidfd. The child's id or a negative errno. Its exit status is spi-codemap's, or SPI_MAP_CHILD_FAILED + an errno. */
#define SPI_MAP_CHILD_FAILED	128
#define SPI_MAP_CHILD_OTHER	'\1'	/* it says this first: the file is not what the agent says; the map is not for the next who says so */
pid_t spi_map_child_start(const struct spi_map_child *l, int *pidfd);

/*
 * In the child, with the target's rights to files. A descriptor of the object, and its name; -ESTALE: that file
 * is not what it has mapped; or another negative errno.
 */
int spi_object_open(const struct spi_map_child *l, char name[PATH_MAX]);
bool spi_object_is_exact(const struct spi_map_child *l, int fd);
/* Is the process the same, and that user's? 0, -ESRCH or -EPERM. */
int spi_object_check(const struct spi_map_child *l);

#endif /* SPI_INJECTOR_SERVE_MAP_CHILD_H */
