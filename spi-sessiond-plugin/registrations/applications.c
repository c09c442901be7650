/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Telling a new broker of the applications there are. They are found among the daemon's
 * descriptors: an application is registered exactly as long as the daemon keeps its connection.
 * So there is no list to be kept beside them, and none that could be wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spi-sessiond-plugin/broker/broker.h"
#include "spi-sessiond-plugin/daemon/daemon.h"
#include "spi-sessiond-plugin/registrations/held.h"

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

	if (!cookie || !sockets_is_app(sockets_path(fd, path)) ||
	    sockets_option(fd, SO_ACCEPTCONN) || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) ||
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

void applications_report(void)
{
	struct app_list list = { NULL, 0, 0 };

	sockets_visit(visit_app, &list);
	/* One whose descriptor the daemon takes over just now, under another number, was perhaps met under neither. */
	if (held_first())
		sockets_visit(visit_app, &list);
	free(list.pids);
}
