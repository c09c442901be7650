/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * liblttng-ctl chooses the daemon: root's for root and for whoever may write to
 * its client socket (the tracing group), the user's own for the others. The same
 * order is kept here, for the plugin's socket lies beside the daemon's own.
 * LTTNG_RUNDIR, which lttng-tools knows from 2.14 on, has the first word.
 */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <lttng/lttng.h>

#include "broker/status-proto.h"
#include "cli/daemon-directory.h"

#define ROOT_DIRECTORY	"/run/lttng"
#define CLIENT_SOCKET	"client-lttng-sessiond"
#define AWAIT_MS	500
#define AWAIT_STEP_MS	20

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

int plugin_await(int any)
{
	const struct timespec pause = { .tv_nsec = AWAIT_STEP_MS * 1000000L };
	int fd = plugin_connect(any), left = AWAIT_MS / AWAIT_STEP_MS;

	if (fd >= 0 || lttng_session_daemon_alive() != 1)
		return fd;
	for (; fd < 0 && left > 0; left--) {
		nanosleep(&pause, NULL);
		fd = plugin_connect(any);
	}
	return fd;
}

static int file_runnable(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

const char *sessiond_default(void)
{
	static char path[4096];
	char self[4096], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	if ((size_t) snprintf(path, sizeof(path), "%s/spi-sessiond", self) < sizeof(path) && file_runnable(path))
		return path;
	slash = strrchr(self, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	if ((size_t) snprintf(path, sizeof(path), "%s/spi-sessiond-plugin/spi-sessiond", self) < sizeof(path) &&
	    file_runnable(path))
		return path;
	return NULL;
}
