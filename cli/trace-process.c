/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * `lttng trace -f FUNC -p PID`: the agent is injected into a process that runs,
 * and the instrumentation taken out again at the end. The process is held by a
 * pidfd from the first look on, so that no other process that gets its number is
 * ever meant.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/elf-file.h"
#include "cli/launch.h"
#include "cli/objects.h"
#include "cli/options.h"
#include "cli/run.h"
#include "cli/say.h"
#include "cli/signals.h"
#include "cli/trace.h"
#include "injector/control.h"
#include "injector/inject.h"

struct target {
	pid_t pid;
	int pidfd;
	char name[64];		/* comm */
	char title[96];		/* "comm (PID)" for messages */
	int stripped;
};

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

static int target_inject(const struct target *t, uint32_t flags, int *fd)
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

static int process_prepare(struct run *run, struct target *t)
{
	struct objects objects = { 0 };
	int ret = target_open(t, run->options->pid);

	if (ret == 0 && launch_check() < 0)
		ret = TRACE_STATUS_ERROR;
	/* Everything that forbids it is said before anything is touched. */
	if (ret == 0)
		ret = target_inject(t, SPI_INJECT_CHECK, NULL);
	if (ret == 0) {
		ret = objects_of_process(&objects, t->pid);
		if (ret < 0) {
			say_error("%s: its loaded objects cannot be read: %s", t->title, strerror(-ret));
			ret = TRACE_STATUS_ERROR;
		}
	}
	if (ret == 0)
		ret = run_resolve(run, &objects, t->title, t->stripped);
	objects_free(&objects);
	return ret;
}

/* Until ^C, the process's end or the deadline. Returns the exit status. */
static int process_attend(struct run *run, const struct target *t)
{
	int64_t deadline = -1;
	int signal = 0;

	for (;;) {
		switch (run_wait(run, t->pidfd, deadline, &signal, NULL)) {
		case RUN_EVENT_SIGNAL:
			/* ^C is how one ends this; other signals mean us. */
			if (signal != SIGINT)
				run->killed_by = signal;
			return 0;
		case RUN_EVENT_PROCESS:
			if (run->agents.ready)
				return 0;
			say_error("%s ended before it was instrumented", t->title);
			return TRACE_STATUS_ERROR;
		case RUN_EVENT_TIME:
			return 0;
		case RUN_EVENT_ERROR:
			say_error("%s: its agent cannot be reached any more", t->title);
			return TRACE_STATUS_ERROR;
		case RUN_EVENT_AGENTS:
			break;
		}
		if (run->agents.hopeless) {
			say_error("%s", run->agents.failure);
			return TRACE_STATUS_ERROR;
		}
		if (deadline < 0 && run->agents.ready && run->options->duration >= 0)
			deadline = run_now() + run->options->duration;
		if (!spi_control_count(run->agents.control)) {
			/* It may be about to end: then its pidfd says so at once. */
			if (run_wait(run, t->pidfd, run_now() + 1000, &signal, NULL) != RUN_EVENT_PROCESS)
				say_warning("%s: its agent is gone: the process executed another program", t->title);
			return 0;
		}
	}
}

static int process_run(struct run *run, const struct target *t)
{
	int fd = -1, ret = target_inject(t, SPI_INJECT_ATTACH, &fd);

	if (ret)
		return ret;
	if (!spi_control_adopt(run->agents.control, fd, t->pid)) {
		say_error("%s: its agent cannot be reached: %s", t->title, strerror(errno));
		return TRACE_STATUS_ERROR;
	}
	return process_attend(run, t);
}

int trace_process(const struct trace_options *options)
{
	struct target target = { .pidfd = -1 };
	struct run run;
	int status, killed_by, broken;

	status = run_init(&run, options);
	if (status == 0)
		status = process_prepare(&run, &target);
	if (status == 0)
		status = run_begin(&run, target.name, target.pid);
	if (status == 0)
		status = process_run(&run, &target);
	if (target.pidfd >= 0)
		close(target.pidfd);
	run_end(&run);
	killed_by = run.killed_by;
	broken = run.broken;
	if (killed_by)
		signals_die(killed_by);
	return status ? status : broken ? TRACE_STATUS_ERROR : 0;
}
