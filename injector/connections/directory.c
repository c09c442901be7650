/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The directory of a control socket.
 *
 * The controller that makes the directory keeps it locked as long as it lives, and so do its
 * helpers. A directory without a lock was left behind by a controller that was killed: the next
 * controller that ends in peace removes it. That is done at the end because at the beginning a
 * program waits to be started. Between the making and the locking of a directory a moment passes,
 * so young ones are left.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "injector/connections/internal.h"

#define PREFIX		"lttng-spi-agents-"
#define SOCKET		"agents"
#define YOUNG_S		10

int spi_control_directory_make(struct spi_control *control, const char *base)
{
	int ret;

	snprintf(control->directory, sizeof(control->directory), "%s/" PREFIX "XXXXXX", base);
	if (!mkdtemp(control->directory)) {
		ret = -errno;
		*control->directory = 0;
		return ret;
	}
	control->directory_lock = open(control->directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (control->directory_lock < 0) {
		ret = -errno;
		rmdir(control->directory);
		*control->directory = 0;
		return ret;
	}
	flock(control->directory_lock, LOCK_EX | LOCK_NB);	/* a file system without locks lets nobody remove it either */
	snprintf(control->path, sizeof(control->path), "%s/" SOCKET, control->directory);
	return 0;
}

/* One of this user's, if nobody has it. It is a directory that we hold and nobody else may write to: nobody can put a link in its place. */
static void left_remove(int base, const char *name)
{
	int fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 022) && st.st_mtime + YOUNG_S < time(NULL) &&
	    !flock(fd, LOCK_EX | LOCK_NB)) {
		unlinkat(fd, SOCKET, 0);
		unlinkat(base, name, AT_REMOVEDIR);
	}
	close(fd);
}

static void left_remove_all(const char *base)
{
	DIR *dir = opendir(base);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
			left_remove(dirfd(dir), entry->d_name);
	if (dir)
		closedir(dir);
}

void spi_control_directory_remove(struct spi_control *control)
{
	if (!*control->directory)
		return;
	unlink(control->path);
	rmdir(control->directory);
	if (control->directory_lock >= 0)
		close(control->directory_lock);
	control->directory_lock = -1;
	*strrchr(control->directory, '/') = 0;
	left_remove_all(*control->directory ? control->directory : "/");
	*control->directory = 0;
}
