/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The mappings of a process (/proc/PID/maps), the files that are mapped, and the memory in them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "injector/procfs/procfs.h"

#define TEXT_MOST	(32u << 20)	/* 65 530 mappings, the kernel's most, of paths of 400 bytes */

/* The kernel writes a newline in a path as \012, and nothing else so: a file that is named so itself is told by its inode. */
static void path_decode(char *path)
{
	char *to = path, *from = path;

	while (*from) {
		bool newline = !strncmp(from, "\\012", 4);

		*to++ = newline ? '\n' : *from;
		from += newline ? 4 : 1;
	}
	*to = 0;
}

/* "START-END PROT OFFSET MAJOR:MINOR INODE PATH". By hand: sscanf() takes as long for this as the kernel for the text. */
int spi_mapping_parse(struct spi_mapping *m, char *line)
{
	static const char after[] = "-  :  ";	/* what follows each number */
	static const int base[] = { 16, 16, 16, 16, 16, 10 };
	uint64_t number[6];
	const char *prot = NULL;
	char *at = line, *end;

	for (int i = 0; i < 6; i++) {
		if (i == 2) {
			prot = at;
			at += strcspn(at, " ");
			at += *at == ' ';
			if (at - prot < 5)
				return -EINVAL;
		}
		number[i] = strtoull(at, &end, base[i]);
		if (end == at || (*end != after[i] && (i < 5 || *end)))
			return -EINVAL;
		at = end + (*end != 0);
	}
	m->start = number[0];
	m->end = number[1];
	m->offset = number[2];
	m->device = makedev(number[3], number[4]);
	m->inode = number[5];
	m->read = prot[0] == 'r';
	m->write = prot[1] == 'w';
	m->exec = prot[2] == 'x';
	at += strspn(at, " ");
	path_decode(at);
	m->path = at;
	m->span_known = false;
	return 0;
}

int spi_maps_read(struct spi_maps *maps, pid_t pid)
{
	size_t room = 0;

	memset(maps, 0, sizeof(*maps));
	maps->text = spi_proc_read(NULL, "%d/maps", (int) spi_living_thread(pid));
	if (!maps->text)
		return -errno;
	for (char *line = maps->text, *next; *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		else
			next = line + strlen(line);
		if (maps->count == room) {
			struct spi_mapping *more;

			room = room ? room * 2 : 128;
			more = realloc(maps->all, room * sizeof(*more));
			if (!more)
				return -ENOMEM;
			maps->all = more;
		}
		if (!spi_mapping_parse(&maps->all[maps->count], line))
			maps->count++;
	}
	return 0;
}

void spi_maps_free(struct spi_maps *maps)
{
	free(maps->all);
	free(maps->text);
	memset(maps, 0, sizeof(*maps));
}

const struct spi_mapping *spi_maps_find(const struct spi_maps *maps, uint64_t address)
{
	size_t low = 0, high = maps->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (maps->all[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < maps->count && maps->all[low].start <= address ? &maps->all[low] : NULL;
}

const char *spi_mapping_name(const struct spi_mapping *mapping)
{
	const char *slash = strrchr(mapping->path, '/');
	const char *name = slash ? slash + 1 : mapping->path;

	return strncmp(name, "memfd:", 6) ? name : name + 6;
}

const struct spi_mapping *spi_maps_find_file(const struct spi_maps *maps, const char *prefix)
{
	size_t length = strlen(prefix);

	for (size_t i = 0; i < maps->count; i++)
		if (maps->all[i].path[0] == '/' && !strncmp(spi_mapping_name(&maps->all[i]), prefix, length))
			return &maps->all[i];
	return NULL;
}

/* A path in the target's root. Symbolic links there must not lead into ours, nor FIFOs make us wait. */
static int root_open(pid_t living, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
		.resolve = RESOLVE_IN_ROOT,
	};
	char root[64];
	int dir, fd;

	snprintf(root, sizeof(root), "/proc/%d/root", (int) living);
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	if (fd < 0)
		fd = -errno;
	close(dir);
	return fd;
}

int spi_mapping_open(pid_t pid, const struct spi_mapping *mapping)
{
	return spi_mapping_open_of(spi_living_thread(pid), mapping);
}

int spi_mapping_open_of(pid_t living, const struct spi_mapping *mapping)
{
	char link[96];
	struct stat st;
	int fd;

	/* The kernel's own link to the mapped file: works for deleted ones too, but for the privileged only. */
	snprintf(link, sizeof(link), "/proc/%d/map_files/%llx-%llx", (int) living,
		 (unsigned long long) mapping->start, (unsigned long long) mapping->end);
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0)
		return fd;
	fd = root_open(living, mapping->path);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_ino != mapping->inode) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

int spi_memory_read(pid_t pid, uint64_t address, void *buffer, size_t size)
{
	struct iovec local = { buffer, size }, remote = { (void *) (uintptr_t) address, size };
	ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
	pid_t living;

	if (n < 0 && errno == ESRCH && (living = spi_living_thread(pid)) != pid)
		n = process_vm_readv(living, &local, 1, &remote, 1, 0);
	return n < 0 ? -errno : (size_t) n == size ? 0 : -EFAULT;
}
