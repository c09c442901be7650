/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The set of connections: the listening socket and the dispatch.
 *
 * One epoll instance holds everything that is waited for: the listening socket, the agents, and the
 * children that make code maps. That instance can be polled itself, so it fits into any loop. An
 * agent whose connection is over is only marked, and freed at the end of a dispatch, after its
 * callback: an event of the same batch may still point to it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "injector/base/foreign-fd.h"
#include "injector/connections/internal.h"
#include "injector/procfs/procfs.h"
#include "injector/serve/kept-map.h"
#include "injector/serve/prototypes.h"

/* ---- listening ------------------------------------------------------ */

#define ACCEPTED_AT_ONCE	64

static bool has_agent(const struct spi_control *control, pid_t pid)
{
	uint64_t start_time = pid > 0 ? spi_process_start_time(pid) : 0;
	const struct spi_agent *agent = control->agents;

	while (agent && (agent->pid != pid || agent->start_time != start_time))
		agent = agent->next;
	for (unsigned int i = 0; !agent && i < FORMER_MAX; i++)
		if (start_time && control->formers[i].pid == pid && control->formers[i].start_time == start_time)
			return true;
	return start_time && agent;
}

/*
 * A process that is known under another user, or the child of one: it has changed its user and executed a program (setpriv,
 * runuser). Its connection as the program that it was may have ended already.
 */
static bool is_traced(const struct spi_control *control, pid_t pid)
{
	char *status;
	const char *parent;
	bool ret = has_agent(control, pid);

	if (ret)
		return true;
	status = spi_proc_read(NULL, "%d/status", (int) pid);
	parent = status ? spi_status_value(status, "PPid") : NULL;
	ret = parent && has_agent(control, atoi(parent));
	free(status);
	return ret;
}

static void listener_ready(struct spi_control *control, struct spi_source *source, uint32_t events)
{
	/* Other processes that connect leave time for the rest. */
	for (int i = 0; i < ACCEPTED_AT_ONCE; i++) {
		int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct ucred peer = { .uid = (uid_t) -1 };
		socklen_t size = sizeof(peer);

		if (fd < 0)
			return;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || peer.pid <= 0 ||
		    (peer.uid != geteuid() && peer.uid != 0 && !is_traced(control, peer.pid))) {
			spi_foreign_close(fd, false, peer.uid);
			continue;
		}
		spi_control_accept(control, fd, peer.pid);
	}
}

int spi_control_listen(struct spi_control *control, const char **path)
{
	const bool is_root = !geteuid();
	const char *base = getenv("XDG_RUNTIME_DIR");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat st;
	int fd, ret;

	if (control->listener.fd >= 0)
		return -EALREADY;
	/* A path that is too long for a socket's address cannot be used. */
	if (!base || *base != '/' || strlen(base) > 60 || access(base, W_OK | X_OK))
		base = "/tmp";
	/* What root's program executes as another user has to get there. */
	if (is_root && (stat(base, &st) || !(st.st_mode & S_IXOTH)))
		base = "/tmp";
	ret = spi_control_directory_make(control, base);
	if (ret)
		return ret;
	strcpy(address.sun_path, control->path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *) &address, sizeof(address))) {
		ret = -errno;
		goto failed;
	}
	if (chmod(control->path, is_root ? 0666 : 0600) || (is_root && chmod(control->directory, 0711)) || listen(fd, 64)) {
		ret = -errno;
		goto failed;
	}
	ret = spi_source_add(control, &control->listener, fd, EPOLLIN, listener_ready);
	if (ret)
		goto failed;
	*path = control->path;
	return 0;
failed:
	if (fd >= 0)
		close(fd);
	control->listener.fd = -1;
	return ret;
}

int spi_control_executed(struct spi_control *control, const char *path)
{
	if (strlen(path) >= sizeof(control->executed))
		return -ENAMETOOLONG;
	strcpy(control->executed, path);
	return 0;
}

/* ---- the set -------------------------------------------------------- */

int spi_control_create(struct spi_control **out, const struct spi_control_ops *ops, void *data)
{
	struct spi_control *control = calloc(1, sizeof(*control));

	if (!control)
		return -ENOMEM;
	if (ops)
		control->ops = *ops;
	control->data = data;
	control->listener.fd = control->look.fd = control->directory_lock = control->output = -1;
	control->packet = malloc(PACKET_MAX + 1);
	control->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (control->epoll < 0 || !control->packet) {
		int ret = control->epoll < 0 ? -errno : -ENOMEM;

		spi_control_destroy(control);
		return ret;
	}
	*out = control;
	return 0;
}

void spi_control_destroy(struct spi_control *control)
{
	if (!control)
		return;
	while (control->agents) {
		struct spi_agent *agent = control->agents;

		control->agents = agent->next;
		spi_agent_free(control, agent);
	}
	spi_nurseries_free(control);
	spi_map_jobs_forget(control, NULL);
	spi_source_remove(control, &control->listener);
	spi_source_remove(control, &control->look);
	spi_control_directory_remove(control);
	spi_files_free(control);
	spi_kept_maps_free(control);
	spi_prototypes_free(control);
	spi_floors_free(control);
	if (control->epoll >= 0)
		close(control->epoll);
	free(control->packet);
	free(control);
}

int spi_control_fd(const struct spi_control *control)
{
	return control->epoll;
}

int spi_control_dispatch(struct spi_control *control)
{
	struct epoll_event events[32];
	const int most = sizeof(events) / sizeof(events[0]);
	int n = epoll_wait(control->epoll, events, most, 0);

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	for (int i = 0; i < n; i++) {
		struct spi_source *source = events[i].data.ptr;

		/* An event before in this batch may have closed it. */
		if (source->fd >= 0)
			source->ready(control, source, events[i].events);
	}
	spi_agents_reap(control);
	spi_nurseries_reap(control);
	spi_map_jobs_reap(control);
	spi_foreign_reap();
	return n == most;
}

void spi_control_welcome(struct spi_control *control, uint32_t flags, uint32_t string_max)
{
	control->welcome_flags = flags | control->run << SPI_WELCOME_RUN_SHIFT;
	control->string_max = string_max;
}

void spi_control_output(struct spi_control *control, int fd)
{
	control->output = fd;
}

void spi_control_run(struct spi_control *control, uint32_t run)
{
	control->welcome_flags &= (1u << SPI_WELCOME_RUN_SHIFT) - 1;
	control->welcome_flags |= run << SPI_WELCOME_RUN_SHIFT;
	control->run = run;
}

int spi_control_daemon_directory(struct spi_control *control, const char *path)
{
	if (strlen(path) >= sizeof(control->daemon_directory))
		return -ENAMETOOLONG;
	strcpy(control->daemon_directory, path);
	return 0;
}

unsigned int spi_control_count(const struct spi_control *control)
{
	unsigned int n = 0;

	for (const struct spi_agent *agent = control->agents; agent; agent = agent->next)
		n += !agent->over;
	return n;
}

struct spi_agent *spi_control_next(struct spi_control *control, struct spi_agent *agent)
{
	agent = agent ? agent->next : control->agents;
	while (agent && agent->over)
		agent = agent->next;
	return agent;
}
