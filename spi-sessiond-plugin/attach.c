/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Hot attach: the injector has a thread of the running daemon load the plugin,
 * whose constructor finds the daemon's sockets open and puts its hooks in.
 *
 * Whether the plugin is at work in a process is told by its thread's name: a
 * library that is merely mapped could be one that found nothing to stand before.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "injector/inject.h"
#include "spi-sessiond-plugin/attach.h"
#include "spi-sessiond-plugin/plugin.h"

#define PATIENCE_MS	2000	/* for the plugin's thread to name itself */
#define ATTEMPT_MS	10000	/* a busy daemon is rarely at a safe point */

static ssize_t file_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	return n;
}

/* Is there a thread of this name? */
static bool plugin_at_work(pid_t pid)
{
	char path[512], comm[32];
	struct dirent *entry;
	DIR *tasks;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/task", (int) pid);
	tasks = opendir(path);
	while (tasks && !found && (entry = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%s/comm", (int) pid, entry->d_name);
		found = *entry->d_name != '.' && file_read(path, comm, sizeof(comm)) > 0 &&
			!strcmp(comm, PLUGIN_THREAD "\n");
	}
	if (tasks)
		closedir(tasks);
	return found;
}

static bool plugin_comes_to_work(pid_t pid)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		if (plugin_at_work(pid))
			return true;
		poll(NULL, 0, 5);	/* nothing tells when a thread of another process begins */
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < PATIENCE_MS);
	return false;
}

/* The file in which this user's daemon left its pid. */
static int pid_file_path(char path[static PATH_MAX])
{
	const char *home = getenv("LTTNG_RUNDIR");
	const struct passwd *user;
	int n;

	if (home && *home) {
		n = snprintf(path, PATH_MAX, "%s/lttng-sessiond.pid", home);
	} else if (!geteuid()) {
		n = snprintf(path, PATH_MAX, "/run/lttng/lttng-sessiond.pid");
	} else {
		home = getenv("LTTNG_HOME");
		if (!home)
			home = getenv("HOME");
		if (!home) {
			user = getpwuid(geteuid());
			home = user ? user->pw_dir : "/";
		}
		n = snprintf(path, PATH_MAX, "%s/.lttng/lttng-sessiond.pid", home);
	}
	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int parse_pid(const char *text, pid_t *pid)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (*text < '0' || *text > '9' || (*end && *end != '\n') || errno || n <= 0 || n > INT_MAX)
		return -EINVAL;
	*pid = n;
	return 0;
}

static int find_daemon(pid_t *pid)
{
	char path[PATH_MAX], text[32];

	if (pid_file_path(path) || file_read(path, text, sizeof(text)) <= 0 || parse_pid(text, pid)) {
		fprintf(stderr, "spi-sessiond: %s: no running session daemon: start one with spi-sessiond --daemonize, "
				"or name its pid\n", path);
		return -ENOENT;
	}
	return 0;
}

int attach_daemon(const char *plugin, const char *text)
{
	struct spi_inject_options options = { .size = sizeof(options), .library = plugin, .deadline_ms = ATTEMPT_MS };
	struct spi_inject_result result = { .size = sizeof(result), .fd = -1 };
	pid_t pid;

	if (text && parse_pid(text, &pid)) {
		fprintf(stderr, "spi-sessiond: %s is not a process id: see spi-sessiond --help\n", text);
		return 2;
	}
	if (!text && find_daemon(&pid))
		return 1;
	if (plugin_at_work(pid)) {
		printf("spi-sessiond: session daemon %d has the plugin already\n", (int) pid);
		return 0;
	}
	if (spi_inject(pid, &options, &result)) {
		fprintf(stderr, "spi-sessiond: %s\n", result.text);
		return 1;
	}
	if (!plugin_comes_to_work(pid)) {
		fprintf(stderr, "spi-sessiond: process %d: the plugin found nothing to do there: "
				"name the pid of a running lttng-sessiond, 2.12 or later\n", (int) pid);
		return 1;
	}
	printf("spi-sessiond: session daemon %d has the plugin; a thread of it stood still for %u us\n", (int) pid,
	       result.stop_us);
	return 0;
}
