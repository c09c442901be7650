/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The directory of the session daemon's sockets, without asking the daemon. liblttng-ctl chooses the
 * daemon: root's for root and for users who may write to its client socket (the tracing group), and
 * the user's own for the others. The same order is kept here, for the plugin's socket is beside the
 * daemon's own. LTTNG_RUNDIR, which lttng-tools knows from 2.14 on, comes first.
 */
#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <lttng/lttng.h>

#include "broker/status-proto.h"
#include "cli/daemon/directory.h"

#define ROOT_DIRECTORY	"/run/lttng"
#define CLIENT_SOCKET	"client-lttng-sessiond"
#define AWAIT_MS	500
#define AWAIT_STEP_MS	50	/* where nothing tells of it */

static const char *lttng_home(void)
{
	const char *home = getenv("LTTNG_HOME");
	struct passwd *entry;

	if (!home || !*home)
		home = getenv("HOME");
	if (home && *home)
		return home;
	entry = getpwuid(getuid());
	return entry ? entry->pw_dir : NULL;
}

char *current_session(void)
{
	const char *home = lttng_home();
	char *path, *line = NULL, *name = NULL;
	size_t room = 0;
	FILE *file;

	if (!home || asprintf(&path, "%s/.lttngrc", home) < 0)
		return NULL;
	file = fopen(path, "re");
	free(path);
	if (!file)
		return NULL;
	while (!name && getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "session=", 8) && line[8])
			name = strdup(line + 8);
	}
	free(line);
	fclose(file);
	return name;
}

static int status_connect(const char *directory)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, ret;

	ret = snprintf(address.sun_path, sizeof(address.sun_path), "%s/" SPI_STATUS_SOCKET, directory);
	if (ret < 0 || (size_t) ret >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *) &address, sizeof(address)) < 0) {
		ret = -errno;
		close(fd);
		return ret;
	}
	return fd;
}

static int client_socket_usable(const char *directory)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/" CLIENT_SOCKET, directory);
	return stat(path, &st) == 0 && S_ISSOCK(st.st_mode) && access(path, W_OK) == 0;
}

int plugin_connect(int any)
{
	const char *chosen = getenv("LTTNG_RUNDIR"), *home = lttng_home();
	char own[4096];
	int ret = -ENOENT;

	if (chosen && *chosen)
		return status_connect(chosen);
	if (geteuid() == 0)
		return status_connect(ROOT_DIRECTORY);
	if (client_socket_usable(ROOT_DIRECTORY))
		return status_connect(ROOT_DIRECTORY);
	if (home && (size_t) snprintf(own, sizeof(own), "%s/.lttng", home) < sizeof(own))
		ret = status_connect(own);
	return ret < 0 && any ? status_connect(ROOT_DIRECTORY) : ret;
}

/* 0: there is none, or it is another user's. */
static pid_t directory_pid(const char *directory)
{
	char path[4096];
	FILE *file;
	int pid = 0;

	snprintf(path, sizeof(path), "%s/lttng-sessiond.pid", directory);
	file = fopen(path, "re");
	if (file && fscanf(file, "%d", &pid) != 1)
		pid = 0;
	if (file)
		fclose(file);
	return pid;
}

int plugin_path(const char *name, char *path, size_t size)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t length = sizeof(address) - 1;
	int fd = plugin_connect(0), ret = fd < 0 ? fd : 0;
	const char *end;

	if (ret == 0 && getpeername(fd, (struct sockaddr *) &address, &length) < 0)
		ret = -errno;
	if (fd >= 0)
		close(fd);
	end = strrchr(address.sun_path, '/');
	if (ret == 0 && (!end || (size_t) snprintf(path, size, "%.*s/%s", (int) (end - address.sun_path), address.sun_path, name) >= size))
		ret = -ENAMETOOLONG;
	return ret;
}

pid_t daemon_pid(void)
{
	const char *chosen = getenv("LTTNG_RUNDIR"), *home = lttng_home();
	char own[4000];

	if (chosen && *chosen)
		return directory_pid(chosen);
	if (geteuid() == 0 || client_socket_usable(ROOT_DIRECTORY))
		return directory_pid(ROOT_DIRECTORY);
	return home && (size_t) snprintf(own, sizeof(own), "%s/.lttng", home) < sizeof(own) ? directory_pid(own) : 0;
}

int plugin_watch(void)
{
	const char *chosen = getenv("LTTNG_RUNDIR"), *home = lttng_home();
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char own[4096];

	if (fd < 0)
		return -1;
	/* It can be connected to when its access rights have been set (broker/io/rundir.c). */
	if (chosen && *chosen)
		inotify_add_watch(fd, chosen, IN_ATTRIB);
	inotify_add_watch(fd, ROOT_DIRECTORY, IN_ATTRIB);
	if (home && (size_t) snprintf(own, sizeof(own), "%s/.lttng", home) < sizeof(own))
		inotify_add_watch(fd, own, IN_ATTRIB);
	return fd;
}

int plugin_watched(int watch, int stop_fd, int64_t left)
{
	struct pollfd fds[2] = { { .fd = watch, .events = POLLIN }, { .fd = stop_fd, .events = POLLIN } };
	char events[4096];

	if (watch < 0 && left > AWAIT_STEP_MS)
		left = AWAIT_STEP_MS;
	if (poll(fds, 2, (int) left) > 0 && fds[1].revents)
		return -EINTR;
	while (watch >= 0 && read(watch, events, sizeof(events)) > 0)
		;
	return 0;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int plugin_await(int any)
{
	int fd = plugin_connect(any), watch;
	int64_t deadline, left;

	if (fd >= 0 || lttng_session_daemon_alive() != 1)
		return fd;
	deadline = now_ms() + AWAIT_MS;
	watch = plugin_watch();
	while ((fd = plugin_connect(any)) < 0 && (left = deadline - now_ms()) > 0)
		plugin_watched(watch, -1, left);
	if (watch >= 0)
		close(watch);
	return fd;
}
