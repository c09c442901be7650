/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Files of /proc: reading them whole, and finding fields of status and stat in them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "injector/procfs/procfs.h"

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
