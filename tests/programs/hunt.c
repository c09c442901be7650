/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * hunt NAME MS US - wait up to MS milliseconds for a process called NAME to
 * appear, let it run for US microseconds, and kill it. Status 0 when there was
 * one. Such processes live for some milliseconds, too short for a script.
 */
#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int is_called(const char *pid, const char *name)
{
	char path[300], comm[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fgets(comm, sizeof(comm), file))
		comm[strcspn(comm, "\n")] = 0;
	fclose(file);
	return !strcmp(comm, name);
}

static int find(const char *name)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int pid = 0;

	while (dir && !pid && (entry = readdir(dir)))
		if (isdigit((unsigned char) *entry->d_name) && is_called(entry->d_name, name))
			pid = atoi(entry->d_name);
	if (dir)
		closedir(dir);
	return pid;
}

static void wait_us(long us)
{
	nanosleep(&(struct timespec) { us / 1000000, us % 1000000 * 1000 }, NULL);
}

int main(int argc, char **argv)
{
	long tries = argc == 4 ? atol(argv[2]) : 0;
	int pid = 0;

	while (tries-- > 0 && !(pid = find(argv[1])))
		wait_us(1000);
	if (!pid)
		return 1;
	wait_us(atol(argv[3]));
	kill(pid, SIGKILL);
	printf("%d\n", pid);
	return 0;
}
