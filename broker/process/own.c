/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The processes that carry the trace: the session daemon, and what the daemon and the broker have forked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker/process/process.h"
#include "injector/procfs/timed-reader.h"
#include "injector/procfs/procfs.h"

#define OWN_DEPTH 4u	/* spi-codemap's child below a helper of ours */

static pid_t parent_of(pid_t pid)
{
	char *status = spi_proc_read(NULL, "%d/status", (int) pid);
	const char *parent = status ? spi_status_value(status, "PPid") : NULL;
	pid_t ret = parent ? atoi(parent) : 0;

	free(status);
	return ret;
}

static bool is_path_of(pid_t pid, const char *path)
{
	char link[32], other[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int) pid);
	n = readlink(link, other, sizeof(other) - 1);
	other[n > 0 ? n : 0] = 0;
	return n > 0 && !strcmp(other, path);
}

/*
 * A child of the daemon: was it forked by it, or by a broker before us? Or has the kernel made it the daemon's child
 * when its own parent ended, as it does with any program where the daemon is the first process of a container?
 */
static bool is_forked_by_daemon(pid_t pid, uid_t uid)
{
	static const char *const names[] = {
		"lttng-consumerd", "lt-lttng-consumerd", "spi-broker", "spi-codemap",
	};
	char link[32], path[4096];
	const char *name;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int) pid);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = 0;
	/* It has forked and not executed: its worker with the users' rights. */
	if (n > 0 && is_path_of(the_daemon()->told.pid, path))
		return true;
	name = strrchr(path, '/');
	for (unsigned int i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name + 1, names[i]))
			return true;
	/* A consumer daemon that was given another name: lttng-sessiond --consumerd64-path */
	return spi_reader_arguments_have(pid, uid, "--consumerd-cmd-sock");
}

bool facts_are_own(const struct facts *facts, bool deep)
{
	pid_t pid = facts->pid, above = facts->parent;

	/*
	 * A front end's spi-codemap is no child of the daemon's or of ours, and an agent would end it in its sandbox.
	 */
	if (!strcmp(facts->exec, "spi-codemap"))
		return true;
	for (unsigned int i = 0; i < (deep ? OWN_DEPTH : 1); i++) {
		if (pid == getpid() || pid == the_daemon()->told.pid || above == getpid())
			return true;
		if (above == the_daemon()->told.pid)
			return is_forked_by_daemon(pid, facts->uids[0]);
		pid = above;
		above = pid > 1 ? parent_of(pid) : 0;
	}
	return false;
}
