/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The daemon's own sockets, and who is connected to them.
 *
 * Which sockets are the client's and the applications' is told by their file
 * names when the daemon makes them listen, or found among its descriptors when
 * the plugin comes later. The applications that a new broker must know of are
 * found there, too: an application is registered exactly as long as the daemon
 * keeps its connection, so there is no list to be kept beside it, and none that
 * could be wrong.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "spi-sessiond-plugin/held.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD	77
#endif
#define CLIENT_SOCKET	"client-lttng-sessiond"
#define APP_SOCKET	"lttng-ust-sock-"

struct sockets sockets = { .client_fd = -1, .app_fd = -1 };

/* The path a UNIX socket is bound to, "" when none; returns its file name. */
static const char *socket_path(int fd, char path[static 109])
{
	struct sockaddr_un address;
	socklen_t size = sizeof(address);
	const char *slash;

	path[0] = 0;
	memset(&address, 0, sizeof(address));
	if (getsockname(fd, (struct sockaddr *) &address, &size) || address.sun_family != AF_UNIX)
		return path;
	memcpy(path, address.sun_path, sizeof(address.sun_path));
	path[sizeof(address.sun_path)] = 0;
	slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Remember a listening socket; true when it is the application socket. */
static bool socket_note(int fd)
{
	char path[109];
	const char *name = socket_path(fd, path);
	size_t size = strlen(path) + 1;

	if (size > sizeof(sockets.app_path))
		return false;
	if (!strcmp(name, CLIENT_SOCKET)) {
		memcpy(sockets.client_path, path, size);
		__atomic_store_n(&sockets.client_fd, fd, __ATOMIC_RELEASE);
		return false;
	}
	if (strncmp(name, APP_SOCKET, sizeof(APP_SOCKET) - 1))
		return false;
	memcpy(sockets.app_path, path, size);
	__atomic_store_n(&sockets.app_fd, fd, __ATOMIC_RELEASE);
	return true;
}

void sockets_listening(int fd)
{
	bool app;

	if (plugin_pid && !plugin_armed())
		return;		/* a child's */
	pthread_mutex_lock(&plugin_lock);
	app = socket_note(fd);
	pthread_mutex_unlock(&plugin_lock);
	if (app)
		plugin_start();
	else if (plugin_armed())
		queue_wake();
}

/* ---- among the descriptors ------------------------------------------------ */

/* Call visit() for each descriptor of this process. */
static void descriptors_visit(void (*visit)(int fd, void *data), void *data)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!directory)
		return;
	while ((entry = readdir(directory))) {
		if (*entry->d_name >= '0' && *entry->d_name <= '9')
			visit(atoi(entry->d_name), data);
	}
	closedir(directory);
}

static int socket_number(int fd, int option)
{
	int value = 0;
	socklen_t size = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, option, &value, &size) ? 0 : value;
}

/* A listening socket's peer credentials are those of the process that made it listen. */
static void visit_listening(int fd, void *data)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (socket_number(fd, SO_ACCEPTCONN) && !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
	    peer.pid == getpid() && socket_note(fd))
		*(bool *) data = true;
}

bool sockets_find(void)
{
	bool found = false;

	descriptors_visit(visit_listening, &found);
	return found;
}

int sockets_peer_pidfd(int fd, pid_t pid)
{
	int pidfd = -1;
	socklen_t size = sizeof(pidfd);

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size))
		return pidfd;
	/* Linux before 6.5: the peer still waits for our answer, so most likely the pid is still its own. */
	return errno == ENOPROTOOPT ? (int) syscall(SYS_pidfd_open, pid, 0) : -1;
}

/* ---- applications ------------------------------------------------------------ */

struct app_list {
	pid_t *pids;
	size_t nr, size;
};

/* Remember `pid`; false when it was there already. An application has two connections or more. */
static bool app_list_add(struct app_list *list, pid_t pid)
{
	for (size_t i = list->nr; i > 0; i--) {
		if (list->pids[i - 1] == pid)
			return false;
	}
	if (list->nr == list->size) {
		size_t size = list->size ? 2 * list->size : 64;
		pid_t *pids = realloc(list->pids, size * sizeof(*pids));

		if (!pids)
			return true;	/* told twice at worst */
		list->pids = pids;
		list->size = size;
	}
	list->pids[list->nr++] = pid;
	return true;
}

static uint64_t socket_cookie(int fd)
{
	uint64_t cookie = 0;
	socklen_t size = sizeof(cookie);

	return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) ? 0 : cookie;
}

/*
 * Threads of the daemon close and open meanwhile: the socket's cookie, asked
 * before and after, shows that all answers were the same socket's. Who is held for
 * this broker was told to it; one that is to be played back may have been held for
 * the last one.
 */
static void visit_app(int fd, void *data)
{
	struct spi_broker_app app = { .bits = 64 };
	struct ucred peer;
	socklen_t size = sizeof(peer);
	uint64_t cookie = socket_cookie(fd);
	char path[109], comm[32];
	FILE *file;
	int pidfd;

	if (!cookie || strncmp(socket_path(fd, path), APP_SOCKET, sizeof(APP_SOCKET) - 1) ||
	    socket_number(fd, SO_ACCEPTCONN) || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) ||
	    peer.pid <= 0 || peer.pid == plugin_pid || held_waits(peer.pid))
		return;
	pidfd = sockets_peer_pidfd(fd, peer.pid);
	if (pidfd < 0)
		return;
	if (socket_cookie(fd) != cookie || !app_list_add(data, peer.pid)) {
		close(pidfd);
		return;
	}
	app.pid = peer.pid;
	app.uid = peer.uid;
	app.gid = peer.gid;
	snprintf(comm, sizeof(comm), "/proc/%d/comm", (int) peer.pid);
	file = fopen(comm, "re");
	if (file) {
		if (fgets(app.name, sizeof(app.name), file))
			app.name[strcspn(app.name, "\n")] = 0;
		fclose(file);
	}
	pthread_mutex_lock(&plugin_lock);
	queue_post(SPI_BROKER_APP, &app, sizeof(app), NULL, 0, pidfd, QUEUE_TOLD_AGAIN);
	pthread_mutex_unlock(&plugin_lock);
}

void sockets_report_apps(void)
{
	struct app_list list = { NULL, 0, 0 };

	descriptors_visit(visit_app, &list);
	/* One whose descriptor the daemon takes over just now, under another number, was perhaps met under neither. */
	if (held_first())
		descriptors_visit(visit_app, &list);
	free(list.pids);
}
