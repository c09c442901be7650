/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Hot attach: the injector makes a thread of the running daemon load the plugin. The plugin's
 * constructor finds the daemon's sockets open and puts its hooks in.
 *
 * The name of the plugin's thread tells whether the plugin is at work in a process: a library that is
 * merely mapped could be one that found no function to stand before.
 *
 * A pid file outlives its daemon, and the number may be any process's by now. Nothing is loaded into
 * a process that does not look like a session daemon.
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
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "injector/inject/inject.h"
#include "spi-sessiond-plugin/attach.h"
#include "spi-sessiond-plugin/base/base.h"

#define PATIENCE_MS	2000	/* for the plugin's thread to name itself */
#define LISTENS		0x10000ul	/* __SO_ACCEPTCON, as /proc/net/unix has it */
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

/* The file name of its executable. */
static bool is_named_daemon(pid_t pid)
{
	static const char deleted[] = " (deleted)";
	char link[32], path[PATH_MAX], *name;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int) pid);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = 0;
	n = strlen(path) - (sizeof(deleted) - 1);
	if (n > 0 && !strcmp(path + n, deleted))
		path[n] = 0;	/* upgraded while it runs */
	name = strrchr(path, '/');
	/* the latter is one in its build tree */
	return name && (!strcmp(name, "/lttng-sessiond") || !strcmp(name, "/lt-lttng-sessiond"));
}

/* Has it mapped the library with which session daemons, and consumer daemons, talk to applications? */
static bool has_ust_ctl(pid_t pid)
{
	char path[32], line[PATH_MAX + 128];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int) pid);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file))
		found = strstr(line, "/liblttng-ust-ctl.so");
	if (file)
		fclose(file);
	return found;
}

static bool has_open(int directory, unsigned long inode)
{
	char text[64], link[64];
	struct dirent *entry;
	bool found = false;
	ssize_t n;
	DIR *fds = fdopendir(dup(directory));

	if (!fds)
		return false;
	rewinddir(fds);
	snprintf(text, sizeof(text), "socket:[%lu]", inode);
	while (!found && (entry = readdir(fds))) {
		n = readlinkat(directory, entry->d_name, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = 0;
		found = !strcmp(link, text);
	}
	closedir(fds);
	return found;
}

/* Does it accept connections at a path that ends so? 1, 0, or -1: that cannot be seen. */
static int listens_at(pid_t pid, const char *end)
{
	char path[64], line[512], at[256];
	int fds, found = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int) pid);
	fds = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/net/unix", (int) pid);
	file = fds >= 0 ? fopen(path, "re") : NULL;
	if (!file)
		found = -1;
	while (file && !found && fgets(line, sizeof(line), file)) {
		unsigned long flags, inode;
		size_t n;

		if (sscanf(line, "%*s %*s %*s %lx %*s %*s %lu %255s", &flags, &inode, at) != 3 || !(flags & LISTENS))
			continue;
		n = strlen(at);
		found = *at == '/' && n >= strlen(end) && !strcmp(at + n - strlen(end), end) && has_open(fds, inode);
	}
	if (file)
		fclose(file);
	if (fds >= 0)
		close(fds);
	return found;
}

/* One that was given another name, or client socket, is known by the other of the two. */
static bool is_daemon(pid_t pid)
{
	if (is_named_daemon(pid))
		return listens_at(pid, "") != 0;
	return has_ust_ctl(pid) && listens_at(pid, "/client-lttng-sessiond") == 1;
}

static bool is_of_this_user(pid_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int) pid);
	/* of a process that may not be looked into, it is root's */
	return !stat(path, &st) && (st.st_uid == geteuid() || !st.st_uid);
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
	if (!is_daemon(*pid) || !is_of_this_user(*pid)) {
		fprintf(stderr, "spi-sessiond: %s: left by a session daemon that has ended; process %d is not one: "
				"start one with spi-sessiond --daemonize, or name its pid\n", path, (int) *pid);
		return -ESRCH;
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
	if (!is_daemon(pid)) {
		fprintf(stderr, "spi-sessiond: process %d: not a session daemon: name the pid of a running lttng-sessiond, "
				"2.12 or later\n", (int) pid);
		return 1;
	}
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
