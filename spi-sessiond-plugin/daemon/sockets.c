/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The daemon's own sockets. Which are the client's and the applications' is told by their file
 * names when the daemon makes them listen, or found among its descriptors when the plugin comes
 * later.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "spi-sessiond-plugin/base/base.h"
#include "spi-sessiond-plugin/broker/broker.h"
#include "spi-sessiond-plugin/daemon/daemon.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD	77
#endif
#define CLIENT_SOCKET	"client-lttng-sessiond"
#define APP_SOCKET	"lttng-ust-sock-"

struct sockets sockets = { .client_fd = -1, .app_fd = -1 };

const char *sockets_path(int fd, char path[static 109])
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

bool sockets_is_app(const char *name)
{
	return !strncmp(name, APP_SOCKET, sizeof(APP_SOCKET) - 1);
}

/* Remember a listening socket; true when it is the application socket. */
static bool socket_note(int fd)
{
	char path[109];
	const char *name = sockets_path(fd, path);
	size_t size = strlen(path) + 1;

	if (size > sizeof(sockets.app_path))
		return false;
	if (!strcmp(name, CLIENT_SOCKET)) {
		memcpy(sockets.client_path, path, size);
		__atomic_store_n(&sockets.client_fd, fd, __ATOMIC_RELEASE);
		return false;
	}
	if (!sockets_is_app(name))
		return false;
	memcpy(sockets.app_path, path, size);
	__atomic_store_n(&sockets.app_fd, fd, __ATOMIC_RELEASE);
	return true;
}

bool sockets_listening(int fd)
{
	bool app;

	if (plugin_pid && !plugin_armed())
		return false;		/* a child's */
	pthread_mutex_lock(&plugin_lock);
	app = socket_note(fd);
	pthread_mutex_unlock(&plugin_lock);
	if (!app && plugin_armed())
		queue_wake();
	return app;
}

/* ---- among the descriptors ------------------------------------------------ */

void sockets_visit(void (*visit)(int fd, void *data), void *data)
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

int sockets_option(int fd, int option)
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

	if (sockets_option(fd, SO_ACCEPTCONN) && !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
	    peer.pid == getpid() && socket_note(fd))
		*(bool *) data = true;
}

bool sockets_find(void)
{
	bool found = false;

	sockets_visit(visit_listening, &found);
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
