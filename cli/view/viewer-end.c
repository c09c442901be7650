/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * How the live view comes to its end with everything printed.
 *
 * babeltrace2 reads a session from the end of what the relay daemon has got by then
 * (LTTNG_VIEWER_SEEK_LAST). So it must have attached before anything is recorded; the relay daemon's
 * list of sessions shows that. It must also have read the metadata before the session goes:
 * lttng-relayd 2.13 moves the metadata away with the session, and tells a viewer that comes for it
 * later, for ever, that there is none yet. A viewer that is told of events, or that there are none,
 * before the metadata that describes them, gives up. A viewer that took its place would see what comes
 * from then on, mostly nothing. So the next viewer reads the files that the relay daemon has written,
 * when the session is complete. That is done only with a relay daemon of our own; the files of another
 * one are not ours to find.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/child.h"
#include "cli/base/say.h"
#include "cli/daemon/live-protocol.h"
#include "cli/daemon/session.h"
#include "cli/view/viewer.h"

#define VIEWER_POLL_MS		20
#define VIEWER_ATTACH_MS	10000
#define VIEWER_BLIND_MS		1000	/* where its sleeps can't be seen (Yama): some ten of its rounds */
#define VIEWER_IDLE_MS		500
#define VIEWER_IDLE_MAX		20	/* looks at VIEWER_IDLE_MS that found it doing nothing */

/* ---- what /proc tells of it ---- */

static int viewer_open(pid_t pid, const char *file)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, file);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* The first bytes of a file of /proc/PID. */
static int viewer_read(pid_t pid, const char *file, char *text, size_t size)
{
	int fd = viewer_open(pid, file);
	ssize_t n;

	n = fd < 0 ? -1 : read(fd, text, size - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? 0 : -errno;
}

/* A number that stands behind `key` in a file of /proc/PID. 0 or a negative errno. */
static int viewer_number(pid_t pid, const char *file, const char *key, unsigned long *value)
{
	char text[4096], *at;
	int ret = viewer_read(pid, file, text, sizeof(text));

	at = ret < 0 ? NULL : strstr(text, key);
	if (!at)
		return ret < 0 ? ret : -ENOENT;
	*value = strtoul(at + strlen(key), NULL, 10);
	return 0;
}

void viewer_look_at(struct viewer *viewer)
{
	if (viewer->io > 0)
		close(viewer->io);
	viewer->io = viewer->pid > 0 ? viewer_open(viewer->pid, "io") : 0;
}

/* Bytes that it has written to our stdout. Also of one that has ended and was not reaped. */
static unsigned long viewer_printed(const struct viewer *viewer)
{
	static const char key[] = "wchar: ";
	unsigned long written = 0;
	char text[512], *at;
	struct stat err;
	ssize_t n = viewer->io > 0 ? pread(viewer->io, text, sizeof(text) - 1, 0) : 0;

	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, key);
	if (at)
		written = strtoul(at + strlen(key), NULL, 10);
	if (viewer->err > 0 && fstat(viewer->err, &err) == 0 && (unsigned long) err.st_size <= written)
		written -= (unsigned long) err.st_size;
	return written;
}

/*
 * Has it done anything since the last look? It is at work when it used the CPU
 * for more than its polling takes, or when it waits for the reader of our stdout.
 */
static int viewer_works(pid_t pid, unsigned long *ticks)
{
	unsigned long user = 0, kernel = 0, before = *ticks;
	char text[1024], *at;

	if (viewer_read(pid, "syscall", text, sizeof(text)) == 0 && (!strncmp(text, "1 0x1 ", 6)))
		return 1;	/* write(1, */
	if (viewer_read(pid, "stat", text, sizeof(text)) < 0)
		return 0;
	at = strrchr(text, ')');
	if (at)
		sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &kernel);
	*ticks = user + kernel;
	return *ticks > before + 1;
}

/* ---- its end ---- */

/* What it wrote to stderr, to ours. */
static void viewer_pass_errors(struct viewer *viewer)
{
	char text[4096];
	off_t at = 0;
	ssize_t n;

	if (viewer->err <= 0)
		return;
	while ((n = pread(viewer->err, text, sizeof(text), at)) > 0) {
		if (write(STDERR_FILENO, text, (size_t) n) < 0)
			break;
		at += n;
	}
	close(viewer->err);
	viewer->err = 0;
}

/* It has ended: 0: as it should; -EAGAIN: it has printed nothing, though nobody kept it from that; -EIO: it failed. */
static int viewer_reap(struct viewer *viewer)
{
	int status = 0, failed;

	viewer->printed = viewer_printed(viewer);
	if (waitpid(viewer->pid, &status, 0) < 0)
		status = 0;
	viewer->pid = 0;
	/* A reader that went away (`| head`) is no failure. */
	failed = WIFSIGNALED(status) ? WTERMSIG(status) != SIGPIPE : WEXITSTATUS(status) != 0;
	viewer->failed = failed;
	viewer->left = WIFSIGNALED(status) && !failed;
	if (!viewer->printed && (failed || (viewer->io > 0 && !viewer->left)))
		return -EAGAIN;
	return failed ? -EIO : 0;
}

void viewer_end(struct viewer *viewer)
{
	if (viewer->pid)
		child_end(viewer->pid, 2000);
	if (viewer->sieve)
		child_end(viewer->sieve, 2000);
	viewer->pid = viewer->sieve = 0;
	viewer_look_at(viewer);
	viewer_pass_errors(viewer);
}

/* What stands behind it ends when it has passed on everything. */
static int viewer_finish_sieve(struct viewer *viewer, int stop_fd)
{
	int status, ret = viewer->sieve ? child_wait(viewer->sieve, -1, stop_fd, &status) : 0;

	if (ret == 0)
		viewer->sieve = 0;
	return ret;
}

/* ---- before the session is destroyed ---- */

int viewer_wait_session(struct viewer *viewer, const struct session *s, int most_ms, int stop_fd)
{
	int waited, ret;

	for (waited = 0; waited < most_ms; waited += VIEWER_POLL_MS) {
		if (live_viewers(viewer->port, s->host, s->name) > 0)
			return 0;
		ret = child_await(viewer->pid, VIEWER_POLL_MS, stop_fd);
		if (ret != -ETIMEDOUT)
			return ret == 0 ? -ECHILD : ret;
	}
	return -ETIMEDOUT;
}

/* Does it sleep between two times that it asks the relay daemon? 1, 0, or a negative errno where that can't be seen. */
static int viewer_sleeps(pid_t pid)
{
	char text[64];
	int ret = viewer_read(pid, "syscall", text, sizeof(text)), call;

	if (ret < 0 || sscanf(text, "%d", &call) != 1)
		return ret < 0 ? ret : 0;	/* "running" */
	return call == SYS_clock_nanosleep || call == SYS_nanosleep;
}

/*
 * Has it read the trace's metadata? Then it has printed something; or, where there
 * is nothing to print, it was seen to sleep, and again in a later sleep: in between
 * it has asked for everything once.
 */
static int viewer_wait_metadata(struct viewer *viewer, int stop_fd)
{
	static const char key[] = "\nvoluntary_ctxt_switches:";
	unsigned long asleep = 0, waits = 0;
	int waited, ret, sleeps;

	for (waited = 0; waited < VIEWER_ATTACH_MS; waited += VIEWER_POLL_MS) {
		if (viewer_printed(viewer))
			return 0;
		sleeps = viewer_sleeps(viewer->pid);
		if (viewer_number(viewer->pid, "status", key, &waits) < 0 || (sleeps < 0 && waited >= VIEWER_BLIND_MS))
			return 0;
		if (sleeps > 0 && viewer_sleeps(viewer->pid) > 0) {	/* still: the count is that of a sleep */
			if (asleep && waits > asleep)
				return 0;
			asleep = asleep ?: waits;
		}
		ret = child_await(viewer->pid, VIEWER_POLL_MS, stop_fd);
		if (ret != -ETIMEDOUT)
			return ret == 0 ? -ECHILD : ret;
	}
	return -ETIMEDOUT;
}

int viewer_attached(struct viewer *viewer, const struct session *s, int stop_fd)
{
	int ret = viewer_wait_session(viewer, s, VIEWER_ATTACH_MS, stop_fd);

	if (ret == 0)
		ret = viewer_wait_metadata(viewer, stop_fd);
	if (ret == -ECHILD && viewer_reap(viewer) == -EAGAIN && viewer->directory && viewer_finish_sieve(viewer, stop_fd) == 0)
		viewer->from_files = 1;
	return ret;
}

/* ---- afterwards ---- */

/* 0: it has ended; *reaped: how. Else a negative errno: it is to be ended. */
static int viewer_wait_end(struct viewer *viewer, int stop_fd, int *reaped)
{
	unsigned long ticks = 0;
	int idle = 0, ret = 0;

	*reaped = 0;
	while (viewer->pid) {
		ret = child_await(viewer->pid, VIEWER_IDLE_MS, stop_fd);
		if (ret == 0)
			*reaped = viewer_reap(viewer);
		else if (ret != -ETIMEDOUT)
			break;
		else if (viewer_works(viewer->pid, &ticks))
			idle = 0;
		else if (++idle == VIEWER_IDLE_MAX)
			break;
	}
	return ret < 0 ? ret : viewer_finish_sieve(viewer, stop_fd);
}

/* Another one, for the files. */
static int viewer_read_files(struct viewer *viewer, int stop_fd)
{
	int ret, reaped;

	viewer->from_files = 1;
	ret = viewer_start(viewer, NULL, 0, viewer->filters);
	viewer->failed = ret < 0;
	return viewer_wait_end(viewer, stop_fd, &reaped);
}

int viewer_print_files(struct viewer *viewer, const char *directory, int stop_fd)
{
	int ret;

	viewer->directory = directory;
	ret = viewer_read_files(viewer, stop_fd);
	viewer_end(viewer);
	return ret < 0 ? ret : viewer->failed ? -EIO : 0;
}

int viewer_finish(struct viewer *viewer, uint64_t events, int stop_fd)
{
	int reaped = -EAGAIN, ret = 0, is_counted;

	if (!viewer->from_files)
		ret = viewer_wait_end(viewer, stop_fd, &reaped);
	if (viewer->from_files || (ret == 0 && reaped == -EAGAIN && events && viewer->directory))
		ret = viewer_read_files(viewer, stop_fd);
	is_counted = viewer->io > 0;
	viewer_end(viewer);
	if (ret < 0)
		say_warning("%s %s: events may be missing from what it printed", viewer->program,
			ret == -ETIMEDOUT ? "did not come to an end" : "was interrupted");
	else if (viewer->failed)
		say_warning("%s failed: events may be missing from what it printed", viewer->program);
	else if (is_counted && events && !viewer->printed && !viewer->left) {
		say_warning("%s printed none of the events: trace again, or record to a directory with -o DIR",
			viewer->program);
		return -EIO;
	}
	return ret < 0 ? ret : viewer->failed ? -EIO : 0;
}
