/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * /proc of another process: whole files, status fields, the memory map and the
 * memory itself.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "injector/target.h"

#define TEXT_MOST	(32u << 20)	/* 65 530 mappings, the kernel's most, of paths of 400 bytes */

char *spi_proc_read(size_t *size, const char *name, ...)
{
	char path[128];
	size_t room = 16384, have = 0;
	char *text;
	va_list args;
	int fd, n;

	memcpy(path, "/proc/", 6);
	va_start(args, name);
	vsnprintf(path + 6, sizeof(path) - 6, name, args);
	va_end(args);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return NULL;
	text = malloc(room);
	while (text) {
		n = read(fd, text + have, room - have - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		have += n;
		if (have > TEXT_MOST) {
			free(text);
			text = NULL;
			errno = E2BIG;
			break;
		}
		if (room - have < 8192) {
			char *more = realloc(text, room *= 2);

			if (!more) {
				free(text);
				text = NULL;
				break;
			}
			text = more;
		}
	}
	if (text && n < 0) {
		int error = errno;

		free(text);
		text = NULL;
		errno = error;
	}
	int error = errno;

	close(fd);
	errno = error;
	if (text) {
		text[have] = 0;
		if (size)
			*size = have;
	}
	return text;
}

const char *spi_status_value(const char *status, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = status; line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (!strncmp(line, key, length) && line[length] == ':') {
			line += length + 1;
			return line + strspn(line, " \t");
		}
	}
	return NULL;
}

bool spi_status_ids(const char *status, const char *key, unsigned int ids[4])
{
	const char *value = spi_status_value(status, key);
	unsigned int got[4];
	char *end;

	for (int i = 0; i < 4; i++, value = end) {
		got[i] = value ? strtoul(value, &end, 10) : 0;
		if (!value || end == value)
			return false;
	}
	memcpy(ids, got, sizeof(got));
	return true;
}

pid_t spi_status_inner_pid(const char *status, pid_t otherwise)
{
	const char *value = spi_status_value(status, "NSpid");
	pid_t inner = otherwise;

	while (value && *value >= '0' && *value <= '9') {
		char *end;

		inner = strtol(value, &end, 10);
		value = end + strspn(end, " \t");
	}
	return inner;
}

const char *spi_stat_field(const char *stat, unsigned int number)
{
	const char *at = strrchr(stat, ')');

	if (!at)
		return NULL;
	at++;
	for (unsigned int field = 3;; field++) {
		at += strspn(at, " ");
		if (!*at)
			return NULL;
		if (field == number)
			return at;
		at += strcspn(at, " ");
	}
}

uint64_t spi_process_start_time(pid_t pid)
{
	char *stat = spi_proc_read(NULL, "%d/stat", (int) pid);
	const char *field = stat ? spi_stat_field(stat, 22) : NULL;
	uint64_t time = field ? strtoull(field, NULL, 10) : 0;

	free(stat);
	return time;
}

bool spi_thread_has_ended(pid_t pid, pid_t tid)
{
	char *stat = spi_proc_read(NULL, "%d/task/%d/stat", (int) pid, (int) tid);
	const char *state = stat ? spi_stat_field(stat, 3) : NULL;
	bool ended = !state || *state == 'Z' || *state == 'X';

	free(stat);
	return ended;
}

pid_t spi_living_thread(pid_t pid)
{
	pid_t tid, found = 0;
	struct dirent *entry;
	char path[64];
	DIR *tasks;

	if (!spi_thread_has_ended(pid, pid))
		return pid;
	snprintf(path, sizeof(path), "/proc/%d/task", (int) pid);
	tasks = opendir(path);
	while (tasks && !found && (entry = readdir(tasks))) {
		tid = atoi(entry->d_name);
		if (tid > 0 && tid != pid && !spi_thread_has_ended(pid, tid))
			found = tid;
	}
	if (tasks)
		closedir(tasks);
	return found ? found : pid;
}

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
