/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Opens the object that an agent wants a map of, in the child that becomes spi-codemap: a file system
 * in user space, or a process that keeps its memory locked, may make the child wait for any time.
 * The object must be the one that the process runs, by device and inode. Where file systems show
 * two faces of one file (overlays), it must have a build id, which the agent compares with what it
 * has mapped. The object's name is the kernel's, not the agent's.
 *
 * The child makes only system calls: the caller of fork() may have had other threads. Text is read
 * in pieces, as the process decides how much of it there is in /proc.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "injector/procfs/procfs.h"
#include "injector/serve/map-child.h"

static char text[3 * PATH_MAX];		/* a line has one path */

/* To the last detail what the agent sees under that name. */
bool spi_object_is_exact(const struct spi_map_child *l, int fd)
{
	const struct spi_msg_map_file *file = l->file;
	struct stat st;

	return file && !fstat(fd, &st) && st.st_ino == l->request->inode && st.st_dev == l->request->device && (uint64_t) st.st_size == file->size &&
	       st.st_mtim.tv_sec == file->modified_s && st.st_mtim.tv_nsec == file->modified_ns && st.st_ctim.tv_sec == file->changed_s &&
	       st.st_ctim.tv_nsec == file->changed_ns;
}

static bool is_same_object(const struct spi_msg_map_request *request, int fd)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	return !request->inode || (st.st_ino == request->inode && st.st_dev == request->device) || request->build_id_size;
}

static int open_same(const struct spi_map_child *l, const struct spi_mapping *m)
{
	int fd = spi_mapping_open_of(l->living, m);

	if (fd >= 0 && !is_same_object(l->request, fd)) {
		close(fd);
		fd = -ESTALE;
	}
	return fd;
}

/* The file behind a mapping of the target that is, or is named like, the object that was asked for. */
static int open_mapped(const struct spi_map_child *l, char *name)
{
	char path[64];
	size_t have = 0;
	ssize_t n;
	int maps, fd = -ENOENT;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int) l->living);
	maps = open(path, O_RDONLY | O_CLOEXEC);
	if (maps < 0)
		return -errno;
	while (fd < 0 && (n = read(maps, text + have, sizeof(text) - 1 - have)) > 0) {
		char *line = text, *end;

		have += n;
		text[have] = 0;
		for (; fd < 0 && (end = strchr(line, '\n')); line = end + 1) {
			struct spi_mapping m;

			*end = 0;
			if (spi_mapping_parse(&m, line) || m.path[0] != '/' || m.offset ||
			    (m.inode != l->request->inode && strcmp(m.path, l->path)) || strlen(m.path) >= PATH_MAX)
				continue;
			strcpy(name, m.path);
			fd = open_same(l, &m);
		}
		have -= line - text;
		memmove(text, line, have);
		if (have == sizeof(text) - 1)
			break;		/* no line is as long as that */
	}
	close(maps);
	return fd;
}

static int open_executed(const struct spi_map_child *l, char *name)
{
	char exe[64];
	ssize_t n;
	int fd;

	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int) l->living);
	n = readlink(exe, name, PATH_MAX - 1);
	fd = n > 0 ? open(exe, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
	if (fd < 0)
		return -errno;
	name[n] = 0;
	if (is_same_object(l->request, fd))
		return fd;
	close(fd);
	return -ESTALE;
}

/* As the process itself names it, when its root is below ours. */
static void name_within_root(const struct spi_map_child *l, char *name)
{
	static const char deleted[] = " (deleted)";
	char link[64], root[PATH_MAX];
	size_t size = strlen(name);
	ssize_t n;

	if (size > sizeof(deleted) && !strcmp(name + size - (sizeof(deleted) - 1), deleted))
		name[size -= sizeof(deleted) - 1] = 0;
	snprintf(link, sizeof(link), "/proc/%d/root", (int) l->living);
	n = l->root < 0 ? 0 : readlink(link, root, sizeof(root));
	if (n > 1 && (size_t) n < size && !memcmp(name, root, n) && name[n] == '/')
		memmove(name, name + n, size - n + 1);
}

int spi_object_open(const struct spi_map_child *l, char name[PATH_MAX])
{
	int fd = -ENOENT;

	if (l->request->flags & SPI_MAP_REQUEST_EXE)
		fd = open_executed(l, name);
	if (fd < 0)
		fd = open_mapped(l, name);
	if (fd >= 0)
		name_within_root(l, name);
	return fd;
}

static ssize_t proc_text(const struct spi_map_child *l, const char *name)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int) l->pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	return n;
}

/* Another process may have its number by now; or it may be another user's. Read when the object is open. */
int spi_object_check(const struct spi_map_child *l)
{
	unsigned int uids[4], gids[4];
	const char *start;

	if (proc_text(l, "stat") <= 0 || !(start = spi_stat_field(text, 22)) || strtoull(start, NULL, 10) != l->start_time)
		return -ESRCH;
	if (proc_text(l, "status") <= 0 || !spi_status_ids(text, "Uid", uids) || !spi_status_ids(text, "Gid", gids))
		return -ESRCH;
	for (unsigned int i = 0; i < 4 && !geteuid(); i++)
		if (uids[i] != l->uid || gids[i] != l->gid)
			return -EPERM;
	return 0;
}
