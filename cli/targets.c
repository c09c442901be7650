/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Finding out everything about the processes before the first one is touched.
 * Several processes share the FUNCs: each is given those that it has. What one
 * alone has not is said at once; of several, only what none of them has.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/elf-file.h"
#include "cli/launch.h"
#include "cli/options.h"
#include "cli/run.h"
#include "cli/say.h"
#include "cli/targets.h"
#include "injector/inject.h"

static int proc_open(pid_t pid, const char *file)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, file);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void proc_read(pid_t pid, const char *file, char *text, size_t size)
{
	int fd = proc_open(pid, file);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
}

static int target_open(struct target *t, pid_t pid)
{
	struct elf_facts facts;
	int fd;

	memset(t, 0, sizeof(*t));
	t->pid = pid;
	t->pidfd = (int) syscall(SYS_pidfd_open, pid, 0);
	if (t->pidfd < 0) {
		if (errno == ESRCH)
			say_error("%d: no such process", (int) pid);
		else if (errno == EINVAL)
			say_error("%d: is a thread, not a process: name the process it belongs to", (int) pid);
		else
			say_error("%d: %s", (int) pid, strerror(errno));
		return TRACE_STATUS_ERROR;
	}
	proc_read(pid, "comm", t->name, sizeof(t->name));
	t->name[strcspn(t->name, "\n")] = '\0';
	snprintf(t->title, sizeof(t->title), "%s (%d)", t->name, (int) pid);
	fd = proc_open(pid, "exe");
	if (fd >= 0) {
		if (elf_facts_read(fd, &facts) == 0)
			t->stripped = !facts.has_symtab;
		close(fd);
	}
	return 0;
}

int target_inject(const struct target *t, uint32_t flags, int *fd)
{
	struct spi_inject_options options = { .size = sizeof(options), .flags = flags };
	struct spi_inject_result result = { .size = sizeof(result), .fd = -1 };
	int ret = spi_inject(t->pid, &options, &result);

	if (ret < 0) {
		say_error("%s", *result.text ? result.text : strerror(-ret));
		return TRACE_STATUS_ERROR;
	}
	if (!(flags & SPI_INJECT_CHECK))
		say_detail("%s: agent %s, thread %d stood still for %u us", t->title,
			result.already ? "was there" : "loaded", (int) result.tid, result.stop_us);
	if (fd)
		*fd = result.fd;
	else if (result.fd >= 0)
		close(result.fd);
	return 0;
}

/* Everything that forbids it is said before anything is touched. */
static int target_look(struct target *t, pid_t pid)
{
	int ret = target_open(t, pid);

	if (ret == 0)
		ret = target_inject(t, SPI_INJECT_CHECK, NULL);
	if (ret == 0) {
		ret = objects_of_process(&t->objects, pid);
		if (ret < 0) {
			say_error("%s: its loaded objects cannot be read: %s", t->title, strerror(-ret));
			ret = TRACE_STATUS_ERROR;
		}
	}
	return ret;
}

static void target_free(struct target *t)
{
	unsigned int i;

	if (t->pidfd >= 0)
		close(t->pidfd);
	for (i = 0; i < t->func_count; i++)
		func_free(&t->funcs[i]);
	free(t->funcs);
	objects_free(&t->objects);
}

/* One of several: FUNCs that it has not are left without a rule, and nothing is said. 0, or -EINTR, -ENOMEM. */
static int target_resolve(struct target *t, const struct run *run)
{
	int quiet = say_quiet, ret = 0;
	unsigned int i;

	t->funcs = calloc(run->func_count, sizeof(*t->funcs));
	for (i = 0; t->funcs && i < run->func_count && func_parse(&t->funcs[i], run->funcs[i].text, run->funcs[i].tree) == 0; i++)
		t->func_count++;
	if (t->func_count < run->func_count) {
		say_error("%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	say_quiet = 1;
	for (i = 0; i < t->func_count && ret >= 0; i++) {
		ret = func_resolve(&t->funcs[i], &t->objects, t->title, t->stripped, run->signals);
		t->found += ret == 0;
	}
	say_quiet = quiet;
	return ret < 0 ? ret : 0;
}

/* A FUNC that no process has: the first one says what it has instead. And a process that has none of them. */
static int targets_check_funcs(struct targets *ts, struct run *run)
{
	struct target *first = &ts->list[0];
	unsigned int i, k;
	int ret = 0;

	for (i = 0; i < run->func_count && ret == 0; i++) {
		for (k = 0; k < ts->count && !ts->list[k].funcs[i].rule; k++)
			;
		if (k == ts->count)
			ret = func_resolve(&first->funcs[i], &first->objects, first->title, first->stripped,
				run->signals);
	}
	for (k = 0; k < ts->count && ret == 0; k++)
		if (!ts->list[k].found) {
			say_error("%s: has none of these functions", ts->list[k].title);
			ret = TRACE_STATUS_ERROR;
		}
	return ret < 0 ? run_interrupted(run) : ret;
}

static int targets_resolve(struct targets *ts, struct run *run)
{
	unsigned int i;
	int ret;

	/* One process alone: what is said of its FUNCs is said at once. */
	if (ts->count == 1)
		return run_resolve(run, &ts->list[0].objects, ts->list[0].title, ts->list[0].stripped);
	for (i = 0; i < ts->count; i++) {
		ret = target_resolve(&ts->list[i], run);
		if (ret < 0)
			return ret == -EINTR ? run_interrupted(run) : TRACE_STATUS_ERROR;
		ts->sets[i].pid = ts->list[i].pid;
		ts->sets[i].funcs = ts->list[i].funcs;
	}
	return targets_check_funcs(ts, run);
}

static int targets_watch(struct targets *ts)
{
	struct epoll_event event = { .events = EPOLLIN };
	unsigned int i;

	ts->epoll = epoll_create1(EPOLL_CLOEXEC);
	for (i = 0; ts->epoll >= 0 && i < ts->count; i++) {
		event.data.u32 = i;
		if (epoll_ctl(ts->epoll, EPOLL_CTL_ADD, ts->list[i].pidfd, &event) < 0)
			return -errno;
	}
	return ts->epoll < 0 ? -errno : 0;
}

int targets_prepare(struct targets *ts, struct run *run)
{
	const struct trace_options *o = run->options;
	unsigned int i;
	int ret;

	ts->list = calloc(o->pid_count, sizeof(*ts->list));
	ts->sets = calloc(o->pid_count, sizeof(*ts->sets));
	if (!ts->list || !ts->sets) {
		say_error("%s", strerror(ENOMEM));
		return TRACE_STATUS_ERROR;
	}
	if (launch_check() < 0)
		return TRACE_STATUS_ERROR;
	for (i = 0; i < o->pid_count; i++) {
		ts->count++;
		ret = target_look(&ts->list[i], o->pids[i]);
		if (ret)
			return ret;
	}
	ret = targets_watch(ts);
	if (ret < 0) {
		say_error("the processes cannot be watched: %s", strerror(-ret));
		return TRACE_STATUS_ERROR;
	}
	return targets_resolve(ts, run);
}

void targets_free(struct targets *ts)
{
	unsigned int i;

	for (i = 0; i < ts->count; i++)
		target_free(&ts->list[i]);
	if (ts->epoll >= 0)
		close(ts->epoll);
	free(ts->list);
	free(ts->sets);
}

struct target *targets_reap(struct targets *ts)
{
	struct target *last = NULL;
	struct epoll_event event;

	while (epoll_wait(ts->epoll, &event, 1, 0) == 1) {
		last = &ts->list[event.data.u32];
		epoll_ctl(ts->epoll, EPOLL_CTL_DEL, last->pidfd, NULL);
		ts->ended++;
		if (ts->count > 1)
			say_detail("%s ended", last->title);
	}
	return last;
}
