/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the kernel tells of a process in /proc/PID/stat. The second field, the name, may hold any
 * character.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "spi-sessiond-plugin/base/base.h"

/* What follows the name; NULL when the process is gone. */
static const char *read_stat(pid_t pid, char *text, size_t size)
{
	char path[32];
	const char *end;
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	n = fread(text, 1, size - 1, file);
	fclose(file);
	text[n] = 0;
	end = strrchr(text, ')');
	return end ? end + 1 : NULL;
}

pid_t process_parent(pid_t pid)
{
	char text[512];
	const char *fields = read_stat(pid, text, sizeof(text));
	int parent = 0;

	return fields && sscanf(fields, " %*c %d", &parent) == 1 ? parent : 0;
}

int64_t process_ticks(pid_t pid)
{
	char text[1024];
	const char *fields = read_stat(pid, text, sizeof(text));
	unsigned long long ticks;

	/* the 22nd field; in ticks since the machine was started, times asleep included */
	return fields && sscanf(fields, " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
				&ticks) == 1 ? (int64_t) ticks : 0;
}

int64_t process_started(pid_t pid)
{
	int64_t ticks = process_ticks(pid);
	struct timespec now;

	if (!ticks || clock_gettime(CLOCK_BOOTTIME, &now))
		return 0;
	return plugin_clock() - (now.tv_sec * 1000ll + now.tv_nsec / 1000000 - ticks * 1000 / sysconf(_SC_CLK_TCK));
}
