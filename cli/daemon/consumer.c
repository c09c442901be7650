/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The consumer daemon of the session daemon. When it has ended, the session daemon neither starts
 * another one nor tells its clients.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <lttng/lttng.h>

#include "cli/daemon/consumer.h"
#include "cli/daemon/directory.h"

/* Is it one for user space (-u), and that daemon's child? */
static int is_consumer(pid_t pid, pid_t parent)
{
	char path[40], text[256];
	int its_parent = 0, found = 0;
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	found = fscanf(file, "%*d (lttng-consumerd) %*c %d", &its_parent) == 1 && its_parent == parent;
	fclose(file);
	if (!found)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int) pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	found = 0;
	for (const char *word = text; word < text + n; word += strlen(word) + 1)
		found |= !strcmp(word, "-u");
	return found;
}

const char *consumer_remedy(int code)
{
	switch (code) {
	case -LTTNG_ERR_FATAL:		/* the first time that it is needed */
	case -LTTNG_ERR_UST_CONSUMER64_FAIL:
	case -LTTNG_ERR_NO_USTCONSUMERD:
		return ": LTTng's consumer daemon may have ended: restart the session daemon, which starts no other";
	}
	return "";
}

int consumer_open(void)
{
	pid_t daemon = daemon_pid(), pid;
	DIR *proc = daemon > 0 ? opendir("/proc") : NULL;
	struct dirent *entry;
	int fd = -1;

	while (proc && fd < 0 && (entry = readdir(proc))) {
		pid = (pid_t) strtol(entry->d_name, NULL, 10);
		if (pid > 0 && is_consumer(pid, daemon))
			fd = (int) syscall(SYS_pidfd_open, pid, 0);
	}
	if (proc)
		closedir(proc);
	return fd;
}
