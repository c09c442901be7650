/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Finding out everything about the processes of -p before the first one is touched. Several processes
 * share the FUNCs: each is given those that it has. A FUNC that a single process lacks is said at once;
 * of several processes, only a FUNC that none of them has.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/base/say.h"
#include "cli/base/signals.h"
#include "cli/functions/elf-file.h"
#include "cli/run/launch.h"
#include "cli/run/run.h"
#include "cli/run/targets.h"
#include "cli/ui/trace-options.h"
#include "injector/control/control.h"
#include "injector/inject/inject.h"
#include "injector/procfs/procfs.h"

#define ATTACH_MOST	16

/* A NAME means those that run: one that ends while it is looked at is none of them any more. */
static bool is_over(const struct run *run, const struct target *t, int error)
{
	return run->options->named && (error == -ESRCH || (kill(t->pid, 0) < 0 && errno == ESRCH));
}

static int target_open(struct target *t, const struct run *run, pid_t pid)
{
	char *comm;

	memset(t, 0, sizeof(*t));
	t->pid = pid;
	t->pidfd = (int) syscall(SYS_pidfd_open, pid, 0);
	if (t->pidfd < 0) {
		t->is_over = is_over(run, t, -errno);
		if (t->is_over)
			say_detail("%d: has ended meanwhile", (int) pid);
		else if (errno == ESRCH)
			say_error("%d: no such process", (int) pid);
		else if (errno == EINVAL || errno == ENOENT)
			say_error("%d: is a thread, not a process: name the process it belongs to", (int) pid);
		else
			say_error("%d: %s", (int) pid, strerror(errno));
		return TRACE_STATUS_ERROR;
	}
	comm = spi_proc_read(NULL, "%d/comm", (int) pid);
	snprintf(t->name, sizeof(t->name), "%.*s", comm ? (int) strcspn(comm, "\n") : 0, comm ? comm : "");
	free(comm);
	snprintf(t->title, sizeof(t->title), "%s (%d)", t->name, (int) pid);
	return 0;
}

static bool program_is_stripped(const struct objects *objects)
{
	int fd = open(objects->list[0].open, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct elf_facts facts;
	bool stripped = fd >= 0 && elf_facts_read(fd, &facts) == 0 && !facts.has_symtab;

	if (fd >= 0)
		close(fd);
	return stripped;
}

static bool signal_waits(void *data)
{
	return signals_wait(0);
}

/* spi_inject() with `flags`: what it returns, and *result. Any thread. */
static int target_inject(const struct target *t, uint32_t flags, struct spi_inject_result *result)
{
	struct spi_inject_options options = { .size = sizeof(options), .flags = flags, .unwanted = signal_waits };
	int ret;

	memset(result, 0, sizeof(*result));
	result->size = sizeof(*result);
	result->fd = -1;
	ret = spi_inject(t->pid, &options, result);
	if (ret < 0 && !*result->text)
		snprintf(result->text, sizeof(result->text), "%s", strerror(-ret));
	return ret;
}

static int target_check(struct target *t, struct run *run)
{
	struct spi_inject_result result;
	int ret = target_inject(t, SPI_INJECT_CHECK, &result);

	if (ret == -ECANCELED)
		return run_interrupted(run);
	t->is_over = ret < 0 && is_over(run, t, ret);
	if (ret < 0 && !t->is_over)
		say_error("%s", result.text);
	return ret < 0 ? TRACE_STATUS_ERROR : 0;
}

/* Everything that forbids it is said before anything is touched. */
static int target_look(struct target *t, struct run *run, pid_t pid)
{
	int ret = target_open(t, run, pid);

	if (ret == 0)
		ret = target_check(t, run);
	if (ret == 0) {
		ret = objects_of_process(&t->objects, pid);
		if (ret < 0) {
			t->is_over = is_over(run, t, ret);
			if (!t->is_over)
				say_error("%s: its loaded objects cannot be read: %s", t->title, strerror(-ret));
			ret = TRACE_STATUS_ERROR;
		} else {
			t->stripped = program_is_stripped(&t->objects);
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
	for (i = 0; t->funcs && i < run->func_count; i++) {
		if (func_parse(&t->funcs[i], run->funcs[i].text, run->funcs[i].tree) < 0)
			break;
		t->funcs[i].asked = run->funcs[i].asked;
		t->funcs[i].is_recorded = run->funcs[i].is_recorded;
		t->funcs[i].is_optional = run->funcs[i].is_optional;
		t->func_count++;
	}
	if (t->func_count < run->func_count) {
		say_error("%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	say_quiet = 1;
	for (i = 0; i < t->func_count && ret >= 0; i++) {
		ret = func_resolve(&t->funcs[i], i, &t->objects, t->title, t->stripped, run->signals);
		t->found += ret == 0;
	}
	say_quiet = quiet;
	return ret < 0 ? ret : 0;
}

/* Of those that a NAME means the one that has nothing is left alone. */
static void targets_leave(struct targets *ts, unsigned int k)
{
	say_warning("%s: has none of these functions: it is not traced", ts->list[k].title);
	target_free(&ts->list[k]);
	memmove(&ts->list[k], &ts->list[k + 1], (--ts->count - k) * sizeof(ts->list[0]));
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
			ret = func_resolve(&first->funcs[i], i, &first->objects, first->title, first->stripped,
				run->signals);
	}
	for (k = 0; k < ts->count && ret == 0; k++)
		if (!ts->list[k].found && run->options->named) {
			targets_leave(ts, k--);
		} else if (!ts->list[k].found) {
			say_error("%s: has none of these functions", ts->list[k].title);
			ret = TRACE_STATUS_ERROR;
		}
	return ret < 0 ? run_interrupted(run) : ret;
}

static int targets_resolve(struct targets *ts, struct run *run)
{
	struct objects **lists;
	unsigned int i;
	int ret;

	/* One process alone: what is said of its FUNCs is said at once. */
	if (ts->count == 1)
		return run_resolve(run, &ts->list[0].objects, ts->list[0].title, ts->list[0].stripped);
	lists = calloc(ts->count, sizeof(*lists));
	for (i = 0; lists && i < ts->count; i++)
		lists[i] = &ts->list[i].objects;
	ret = lists ? funcs_look(run->funcs, run->func_count, lists, ts->count, run->signals) : 0;
	free(lists);
	if (ret < 0)
		return run_interrupted(run);
	for (i = 0; i < ts->count; i++) {
		ret = target_resolve(&ts->list[i], run);
		if (ret < 0)
			return ret == -EINTR ? run_interrupted(run) : TRACE_STATUS_ERROR;
	}
	ret = targets_check_funcs(ts, run);
	for (i = 0; i < ts->count; i++) {
		ts->sets[i].pid = ts->list[i].pid;
		ts->sets[i].funcs = ts->list[i].funcs;
	}
	return ret;
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
		struct target *t = &ts->list[ts->count++];

		ret = target_look(t, run, o->pids[i]);
		if (ret && (!o->named || run->killed_by || (ts->count == 1 && i + 1 == o->pid_count && !t->is_over)))
			return ret;
		/* It was said why, or it has ended since: the others that the NAME means are traced. */
		if (ret) {
			run->broken |= !t->is_over;
			target_free(&ts->list[--ts->count]);
		}
	}
	if (!ts->count) {
		say_error("all processes of this name have ended meanwhile");
		return TRACE_STATUS_ERROR;
	}
	ret = targets_resolve(ts, run);
	if (ret)
		return ret;
	ret = targets_watch(ts);
	if (ret < 0)
		say_error("the processes cannot be watched: %s", strerror(-ret));
	return ret < 0 ? TRACE_STATUS_ERROR : 0;
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

static void target_over(struct targets *ts, struct target *t)
{
	epoll_ctl(ts->epoll, EPOLL_CTL_DEL, t->pidfd, NULL);
	t->is_over = 1;
	ts->ended++;
}

struct target *targets_reap(struct targets *ts)
{
	struct target *last = NULL;
	struct epoll_event event;

	while (epoll_wait(ts->epoll, &event, 1, 0) == 1) {
		last = &ts->list[event.data.u32];
		target_over(ts, last);
		if (ts->count > 1)
			say_detail("%s ended", last->title);
	}
	return last;
}

unsigned int targets_unsettled(struct targets *ts, const struct run *run)
{
	unsigned int i, n = 0;

	for (i = 0; i < ts->count; i++) {
		ts->list[i].is_settled |= ts->list[i].is_over || agents_settled(&run->agents, ts->list[i].pid);
		n += !ts->list[i].is_settled;
	}
	return n;
}

void targets_report_unsettled(struct targets *ts, struct run *run)
{
	unsigned int i;

	for (i = 0; targets_unsettled(ts, run) && i < ts->count; i++)
		if (!ts->list[i].is_settled)
			report_unrecorded(&run->report, ts->list[i].title, REPORT_NOT_YET);
}

/* ---- side by side ---- */

struct attaching {
	struct target *list;
	struct spi_inject_result *results;
	int *rets;
	unsigned int count, next;
};

static void *attach_next(void *data)
{
	struct attaching *a = data;
	unsigned int i;

	while ((i = __atomic_fetch_add(&a->next, 1, __ATOMIC_RELAXED)) < a->count)
		a->rets[i] = target_inject(&a->list[i], SPI_INJECT_ATTACH, &a->results[i]);
	return NULL;
}

/* Each is work for a processor while a thread of its process stands still: no more of them at a time than get on with it. */
static void attach_all(struct attaching *a)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[ATTACH_MOST];
	unsigned int n = 0, most = cores < 1 ? 2 : cores * 2 > ATTACH_MOST ? ATTACH_MOST : (unsigned int) cores * 2;

	while (n + 1 < a->count && n + 1 < most && pthread_create(&threads[n], NULL, attach_next, a) == 0)
		n++;
	attach_next(a);
	while (n)
		pthread_join(threads[--n], NULL);
}

/* What came of one; 0, or negative: it is not attached to, and result->text says why. */
static int target_adopt(struct target *t, const struct run *run, int ret, struct spi_inject_result *result)
{
	if (ret < 0)
		return ret;
	say_detail("%s: agent %s, thread %d stood still for %u us", t->title, result->already ? "was there" : "loaded",
		(int) result->tid, result->stop_us);
	if (spi_control_adopt(run->agents.control, result->fd, t->pid))
		return 0;
	snprintf(result->text, sizeof(result->text), "%s: its agent cannot be reached: %s", t->title, strerror(errno));
	return -ECONNABORTED;
}

int targets_attach(struct targets *ts, struct run *run)
{
	struct attaching a = { .list = ts->list, .count = ts->count };
	unsigned int i, failed = 0;
	int ret = TRACE_STATUS_ERROR, cancelled = 0;

	a.results = calloc(ts->count, sizeof(*a.results));
	a.rets = calloc(ts->count, sizeof(*a.rets));
	if (!a.results || !a.rets) {
		say_error("%s", strerror(ENOMEM));
		goto out;
	}
	attach_all(&a);
	for (i = 0; i < ts->count; i++) {
		a.rets[i] = target_adopt(&ts->list[i], run, a.rets[i], &a.results[i]);
		failed += a.rets[i] < 0;
		cancelled |= a.rets[i] == -ECANCELED;
	}
	if (cancelled) {
		ret = run_interrupted(run);
		goto out;
	}
	for (i = 0; i < ts->count; i++) {
		if (a.rets[i] >= 0)
			continue;
		if (failed == ts->count) {
			say_error("%s", a.results[i].text);
			continue;
		}
		if (!is_over(run, &ts->list[i], a.rets[i])) {
			say_warning("%s", a.results[i].text);
			report_unrecorded(&run->report, "", a.results[i].text);
		}
		target_over(ts, &ts->list[i]);
	}
	ret = failed == ts->count ? TRACE_STATUS_ERROR : 0;
out:
	free(a.results);
	free(a.rets);
	return ret;
}
