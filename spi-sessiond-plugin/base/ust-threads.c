/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * lttng-ust's threads in an application, and their place in line for a processor.
 *
 * These threads are known by their names, which end in "-ust" in every version. "Ahead" means the
 * lowest of the real-time priorities, which nothing inherits (RESET_ON_FORK). The kernel keeps a
 * thread's nice value meanwhile, so putting a thread back means the ordinary policy, and nothing has
 * to be remembered. Only threads with the ordinary policy are put ahead, and only threads that are
 * ahead in this way are put back: a thread that has chosen its own policy is left alone. No lock.
 *
 * A program can change the names. And when a thread executes another program, it gets the number of
 * the process's first thread, and keeps its place. So putting back does not ask for names, and
 * looks at the first thread last.
 */
#include <dirent.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "spi-sessiond-plugin/base/ust-threads.h"

#define LOOK_MAX	256u	/* threads of a process that are looked at */
#define AHEAD		(SCHED_RR | SCHED_RESET_ON_FORK)

static bool is_ust(pid_t pid, pid_t tid)
{
	static const char suffix[] = "-ust\n";
	char text[64];
	FILE *file;
	size_t n;

	snprintf(text, sizeof(text), "/proc/%d/task/%d/comm", (int) pid, (int) tid);
	file = fopen(text, "re");
	if (!file)
		return false;
	n = fread(text, 1, sizeof(text), file);
	fclose(file);
	return n >= sizeof(suffix) - 1 && !memcmp(text + n - (sizeof(suffix) - 1), suffix, sizeof(suffix) - 1);
}

unsigned int ust_threads_find(pid_t pid, pid_t tids[static UST_THREADS_MAX])
{
	unsigned int n = 0, looked = 0;
	struct dirent *entry;
	char path[32];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int) pid);
	tasks = opendir(path);
	if (!tasks)
		return 0;
	while (n < UST_THREADS_MAX && looked++ < LOOK_MAX && (entry = readdir(tasks))) {
		pid_t tid = atoi(entry->d_name);

		if (tid > 0 && is_ust(pid, tid))
			tids[n++] = tid;
	}
	closedir(tasks);
	return n;
}

bool ust_thread_stands_ahead(pid_t tid)
{
	struct sched_param param;

	return sched_getscheduler(tid) == AHEAD && !sched_getparam(tid, &param) && param.sched_priority == 1;
}

bool ust_thread_ahead(pid_t pid, pid_t tid)
{
	const struct sched_param lowest = { .sched_priority = 1 }, ordinary = { 0 };

	/* One that stands there already was left behind by somebody who did not live to put it back. */
	if (ust_thread_stands_ahead(tid))
		return true;
	if (sched_getscheduler(tid) != SCHED_OTHER || sched_setscheduler(tid, AHEAD, &lowest))
		return false;
	/* The number may have come to mean another process's thread, which nobody would put back. */
	if (syscall(SYS_tgkill, pid, tid, 0) && ust_thread_stands_ahead(tid))
		sched_setscheduler(tid, SCHED_OTHER, &ordinary);
	return true;
}

void ust_thread_back(pid_t pid, pid_t tid)
{
	const struct sched_param ordinary = { 0 };

	/* The number may have come to mean another process's thread. */
	if (ust_thread_stands_ahead(tid) && !syscall(SYS_tgkill, pid, tid, 0))
		sched_setscheduler(tid, SCHED_OTHER, &ordinary);
}

void ust_threads_back(pid_t pid, bool first_too)
{
	struct dirent *entry;
	char path[32];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int) pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		pid_t tid = atoi(entry->d_name);

		if (tid > 0 && tid != pid)
			ust_thread_back(pid, tid);
	}
	if (tasks)
		closedir(tasks);
	if (first_too)
		ust_thread_back(pid, pid);
}

bool ust_thread_time(pid_t pid, pid_t tid, uint64_t *ns)
{
	char path[64];
	FILE *file;
	bool known;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int) pid, (int) tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	known = fscanf(file, "%" SCNu64, ns) == 1;
	fclose(file);
	return known;
}
