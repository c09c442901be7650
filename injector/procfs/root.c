/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The root directory of a process. Only the kernel is asked: a file system of that process could make us wait. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "injector/procfs/procfs.h"

static uint64_t mount_namespace(const char *process)
{
	char path[64], link[64] = "";

	snprintf(path, sizeof(path), "/proc/%s/ns/mnt", process);
	if (readlink(path, link, sizeof(link) - 1) <= 0)
		return 0;
	return strtoull(link + strcspn(link, "0123456789"), NULL, 10);
}

static int directory_open(struct spi_root *root, const char *path)
{
	struct statx st;

	root->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root->fd < 0 || statx(root->fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &st))
		return -1;
	root->device = makedev(st.stx_dev_major, st.stx_dev_minor);
	root->inode = st.stx_ino;
	return 0;
}

int spi_root_open(struct spi_root *root, pid_t pid)
{
	struct spi_root own = { .fd = -1 };
	char process[16], path[64];

	*root = own;
	snprintf(process, sizeof(process), "%d", (int) spi_living_thread(pid));
	snprintf(path, sizeof(path), "/proc/%s/root", process);
	root->name_space = mount_namespace(process);
	if (directory_open(root, path) || !root->name_space)
		return -EIO;
	if (!directory_open(&own, "/") && own.device == root->device && own.inode == root->inode &&
	    root->name_space == mount_namespace("self")) {
		close(root->fd);
		root->fd = -1;
	}
	if (own.fd >= 0)
		close(own.fd);
	return 0;
}
