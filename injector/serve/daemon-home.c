/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * "daemon-home": a directory D such that lttng-ust with LTTNG_HOME=/proc/self/fd/D finds the host's
 * session daemon, whatever the root directory of its process.
 *
 * The directory holds the daemon's application socket (a hard link) and nothing else that could be
 * used: not the socket on which clients command the daemon, as root in a container is root on the
 * host's sockets. It is given away as a mount of its own that hangs nowhere (open_tree(2)), so ".."
 * leads nowhere; an ordinary descriptor of a directory would open all of the host's mounts to a
 * hostile process. Only where that is not permitted (a controller without CAP_SYS_ADMIN, whose
 * targets are its own user's), the descriptor is an ordinary one.
 *
 * Without the right to write in the daemon's directory, D is in /tmp and leads to the daemon's
 * directory by a relative link.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injector/serve/daemon-home.h"

#define APP_SOCKET "lttng-ust-sock-"

/* Link the application sockets of the daemon's directory into `home`. How many. */
static int sockets_link(int daemon, int home)
{
	DIR *dir = fdopendir(fcntl(daemon, F_DUPFD_CLOEXEC, 3));
	struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, APP_SOCKET, strlen(APP_SOCKET)) &&
		    !linkat(daemon, entry->d_name, home, entry->d_name, 0))
			n++;
	if (dir)
		closedir(dir);
	return n;
}

/* In the daemon's own directory. */
static int make_beside(char home[static PATH_MAX], const char *daemon)
{
	int from, to, ret = -ENOENT;

	if (snprintf(home, PATH_MAX, "%s/" SPI_HOME_PREFIX "XXXXXX", daemon) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (!mkdtemp(home))
		return -errno;
	from = open(daemon, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	to = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (from >= 0 && to >= 0 && sockets_link(from, to) && !symlinkat(".", to, ".lttng") && !fchmod(to, 0711))
		ret = 0;
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	if (ret)
		spi_home_remove(AT_FDCWD, home);
	return ret;
}

static int make_in_tmp(char home[static PATH_MAX], const char *daemon)
{
	char link[PATH_MAX + 8], target[PATH_MAX + 64];

	strcpy(home, "/tmp/lttng-" SPI_HOME_PREFIX "XXXXXX");
	if (!mkdtemp(home))
		return -errno;
	/* Up to the host's root, however deep /tmp is, and down again. */
	snprintf(target, sizeof(target), "../../../../../..%s", daemon);
	snprintf(link, sizeof(link), "%s/.lttng", home);
	if (!symlink(target, link) && !chmod(home, 0711))
		return 0;
	spi_home_remove(AT_FDCWD, home);
	return -EACCES;
}

int spi_home_make(char home[static PATH_MAX], const char *daemon)
{
	int ret = make_beside(home, daemon);

	/* A way through the host's root is nothing that root may hand out. */
	if (ret && geteuid())
		ret = make_in_tmp(home, daemon);
	if (ret)
		*home = 0;
	return ret;
}

int spi_home_open(const char *home)
{
	int fd = (int) syscall(SYS_open_tree, AT_FDCWD, home, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (fd < 0 && (errno == EPERM || errno == ENOSYS))
		fd = open(home, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

void spi_home_remove(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (stream && (entry = readdir(stream)))
		unlinkat(fd, entry->d_name, 0);		/* not "." and "..": directories */
	if (stream)
		closedir(stream);
	else if (fd >= 0)
		close(fd);
	unlinkat(dir, name, AT_REMOVEDIR);
}
