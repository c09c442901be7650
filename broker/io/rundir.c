/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The broker's place beside the daemon's sockets: a lock, two sockets, a directory for saved sessions.
 *
 * The process that holds the lock is the daemon's broker. The kernel frees the lock when that process is gone,
 * however it went. What a former broker left there can then be removed without a question.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "broker/base/base.h"
#include "broker/io/internal.h"
#include "broker/process/process.h"
#include "broker/rules/rules.h"
#include "broker/status-proto.h"
#include "injector/serve/daemon-home.h"

#define LOCK_NAME	"spi-broker.lock"
#define QUERY_NAME	"spi-query"
#define LOCK_MS		3000u	/* the one before is given that long to take its agents' points out */

static int lock_fd = -1;
static struct loop_timer lock_timer;
static uint64_t lock_until;
static char query_directory[140];

static int path_of(char *path, size_t size, const char *name)
{
	return snprintf(path, size, "%s/%s", the_daemon()->directory, name) < (int) size ? 0 : -ENAMETOOLONG;
}

/* A listening socket for everybody, in the place of what was there. A descriptor or a negative errno. */
static int listen_at(const char *name, int type)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int ret = path_of(address.sun_path, sizeof(address.sun_path), name), fd;

	if (ret)
		return ret;
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	unlink(address.sun_path);
	/* The last is what clients wait for (cli/daemon/directory.c): they can connect then. */
	if (bind(fd, (struct sockaddr *) &address, sizeof(address)) || listen(fd, 128) ||
	    chmod(address.sun_path, 0666)) {
		ret = -errno;
		close(fd);
		return ret;
	}
	return fd;
}

static void empty_query_directory(void)
{
	int fd = open(query_directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlinkat(fd, entry->d_name, 0);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	rmdir(query_directory);
}

/* Directories for agents in containers (injector/serve/daemon-home.c) that one before us could not remove. */
static void remove_homes(void)
{
	DIR *dir = opendir(the_daemon()->directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, SPI_HOME_PREFIX, strlen(SPI_HOME_PREFIX)))
			spi_home_remove(dirfd(dir), entry->d_name);
	if (dir)
		closedir(dir);
}

static int serve(void)
{
	char executed[140];
	int agents, status, ret = path_of(query_directory, sizeof(query_directory), QUERY_NAME);

	if (ret)
		return ret;
	empty_query_directory();
	remove_homes();
	if (mkdir(query_directory, 0700))
		return -errno;
	agents = listen_at(SPI_AGENT_SOCKET, SOCK_SEQPACKET);
	if (agents < 0)
		return agents;
	ret = agents_listen(agents);
	if (ret)
		return ret;
	if (!path_of(executed, sizeof(executed), SPI_AGENT_SOCKET))
		spi_control_executed(agents_control(), executed);
	status = listen_at(SPI_STATUS_SOCKET, SOCK_STREAM);
	if (status < 0)
		return status;
	ret = status_open(status);
	if (!ret)
		query_want();
	return ret;
}

/* A broker removes its lock's file at its end: the file that is locked must still be the one that is there. */
static int lock_take(void)
{
	struct stat ours, there;
	char path[140];

	if (path_of(path, sizeof(path), LOCK_NAME))
		return -ENAMETOOLONG;
	for (int tries = 0; tries < 8; tries++) {
		if (lock_fd < 0)
			lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (lock_fd < 0 || flock(lock_fd, LOCK_EX | LOCK_NB))
			return -errno;
		if (!fstat(lock_fd, &ours) && !stat(path, &there) && ours.st_ino == there.st_ino &&
		    ours.st_dev == there.st_dev)
			return 0;
		close(lock_fd);
		lock_fd = -1;
	}
	return -EWOULDBLOCK;
}

static void try_lock(struct loop_timer *timer)
{
	int ret = lock_take();

	if (!ret)
		ret = serve();
	if (ret == -EWOULDBLOCK && loop_now() < lock_until)
		loop_timer_set(&lock_timer, 20, try_lock);
	else if (ret == -EWOULDBLOCK)
		broker_note("rundir", "another spi-broker serves %s: this one does nothing", the_daemon()->directory);
	else if (ret)
		broker_note("rundir", "%s: no sockets for agents and for lttng list --spi: %s", the_daemon()->directory,
			    strerror(-ret));
	if (ret && ret != -EWOULDBLOCK)
		query_want();		/* the rest works without */
}

int rundir_open(void)
{
	query_directory_is(query_directory);
	spi_control_daemon_directory(agents_control(), the_daemon()->directory);
	lock_until = loop_now() + LOCK_MS;
	try_lock(&lock_timer);
	return 0;
}

void rundir_close(void)
{
	char path[140];

	if (*query_directory) {
		empty_query_directory();
		if (!path_of(path, sizeof(path), SPI_AGENT_SOCKET))
			unlink(path);
		if (!path_of(path, sizeof(path), SPI_STATUS_SOCKET))
			unlink(path);
		if (!path_of(path, sizeof(path), LOCK_NAME))
			unlink(path);
	}
	loop_timer_cancel(&lock_timer);
	if (lock_fd >= 0)
		close(lock_fd);
}
