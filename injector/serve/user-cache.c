/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Where spi-codemap keeps the maps that it makes with another user's rights.
 *
 * Such a run must use neither our cache directory, whose maps other processes rely on, nor a place
 * that this user's environment or home directory names: the analysis may be of a process in a
 * container. So each user has a directory below ours, which only that user can write to, and can
 * reach only through the descriptor that spi-codemap is given. What is in the directory serves that
 * user's processes alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "injector/serve/map-child.h"

#define BASE	"/var/cache/lttng-spi"

/* Ours, and nobody else's to write to. */
static int base_open(void)
{
	const char *path = getenv("LTTNG_SPI_CACHE");
	struct stat st;
	int fd;

	if (path && *path != '/')
		return -1;
	if (!path && mkdir(BASE, 0700) && errno != EEXIST)
		return -1;
	fd = open(path ? path : BASE, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0 && (fstat(fd, &st) || st.st_uid || (st.st_mode & 077))) {
		close(fd);
		return -1;
	}
	return fd;
}

int spi_user_cache_open(uid_t uid, gid_t gid)
{
	int base = base_open(), fd = -1;
	struct stat st;
	char name[32];

	if (base < 0)
		return -1;
	snprintf(name, sizeof(name), "user-%u", (unsigned int) uid);
	if (!mkdirat(base, name, 0700) || errno == EEXIST)
		fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	close(base);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || (st.st_uid != uid && (st.st_uid || fchown(fd, uid, gid)))) {
		close(fd);
		return -1;
	}
	return fd;
}
