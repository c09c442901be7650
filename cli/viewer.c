/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * babeltrace2 as a child, on our stdout, outside the terminal's foreground
 * process group: ^C is for COMMAND, the viewer ends by itself when the session
 * is destroyed and everything is printed. It reads a session from its beginning
 * whenever it attaches, so it may start late; it must have attached before the
 * session goes, which the relay daemon's list of sessions shows, and must have read
 * the metadata: lttng-relayd 2.13 moves that away with the session, and tells a
 * viewer that comes for it then, for ever, that there is none yet.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/live.h"
#include "cli/say.h"
#include "cli/session.h"
#include "cli/viewer.h"

#define VIEWER_POLL_MS		20
#define VIEWER_ATTACH_MS	10000
#define VIEWER_WAITS		5	/* two requests and the sleeps around them, whichever comes first */
#define VIEWER_IDLE_MS		500
#define VIEWER_IDLE_MAX		20	/* looks at VIEWER_IDLE_MS that found it doing nothing */

int viewer_start(struct viewer *viewer, const struct session *s, unsigned int port)
{
	char url[400];
	char *argv[] = { (char *) "babeltrace2", (char *) "--input-format=lttng-live", url, NULL };
	struct child_options child = { .argv = argv, .out = -1, .err = -1, .flags = CHILD_OWN_GROUP | CHILD_TIED };

	snprintf(url, sizeof(url), "net://localhost:%u/host/%s/%s", port, s->host, s->name);
	viewer->port = port;
	child.in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	viewer->pid = child_spawn(&child);
	if (child.in >= 0)
		close(child.in);
	if (viewer->pid < 0) {
		int error = -viewer->pid;

		viewer->pid = 0;
		say_error("babeltrace2: %s: install babeltrace2, or record to a directory with -o DIR",
			error == ENOENT ? "not found" : strerror(error));
		return -error;
	}
	return 0;
}

/* The first bytes of a file of /proc/PID. */
static int viewer_read(pid_t pid, const char *file, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, size - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? 0 : -errno;
}

/* Wait until the relay daemon says that it has the session open. */
static int viewer_wait_session(struct viewer *viewer, const struct session *s, int stop_fd)
{
	int waited, status, ret;

	for (waited = 0; viewer->pid && waited < VIEWER_ATTACH_MS; waited += VIEWER_POLL_MS) {
		if (live_viewers(viewer->port, s->host, s->name) > 0)
			return 0;
		ret = child_wait(viewer->pid, VIEWER_POLL_MS, stop_fd, &status);
		if (ret == 0) {
			viewer->pid = 0;
			return -ECHILD;
		}
		if (ret != -ETIMEDOUT)
			return ret;
	}
	return viewer->pid ? -ETIMEDOUT : -ECHILD;
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

/*
 * Has it read the trace's metadata? Then it has printed something; or, where there
 * is nothing to print, it has asked again: a request is one time that it waits, and
 * between two it sleeps a tenth of a second.
 */
static int viewer_has_metadata(pid_t pid, unsigned long waits_before)
{
	unsigned long written = 0, waits = 0;

	if (viewer_number(pid, "io", "wchar: ", &written) == 0 && written)
		return 1;
	return viewer_number(pid, "status", "\nvoluntary_ctxt_switches:", &waits) < 0 ||
		waits >= waits_before + VIEWER_WAITS;
}

int viewer_attached(struct viewer *viewer, const struct session *s, int stop_fd)
{
	unsigned long waits = 0;
	int waited, status, ret = viewer_wait_session(viewer, s, stop_fd);

	if (ret < 0)
		return ret;
	viewer_number(viewer->pid, "status", "\nvoluntary_ctxt_switches:", &waits);
	for (waited = 0; waited < VIEWER_ATTACH_MS; waited += VIEWER_POLL_MS) {
		if (viewer_has_metadata(viewer->pid, waits))
			return 0;
		ret = child_wait(viewer->pid, VIEWER_POLL_MS, stop_fd, &status);
		if (ret == 0) {
			viewer->pid = 0;
			return -ECHILD;
		}
		if (ret != -ETIMEDOUT)
			return ret;
	}
	return -ETIMEDOUT;
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

int viewer_finish(struct viewer *viewer, int stop_fd)
{
	unsigned long ticks = 0;
	int idle = 0, status = 0, ret;

	if (!viewer->pid)
		return 0;
	for (;;) {
		ret = child_wait(viewer->pid, VIEWER_IDLE_MS, stop_fd, &status);
		if (ret != -ETIMEDOUT)
			break;
		idle = viewer_works(viewer->pid, &ticks) ? 0 : idle + 1;
		if (idle >= VIEWER_IDLE_MAX)
			break;
	}
	if (ret < 0) {
		viewer_end(viewer);
		say_warning("babeltrace2 %s: events may be missing from what it printed",
			ret == -ETIMEDOUT ? "did not come to an end" : "was interrupted");
		return ret;
	}
	viewer->pid = 0;
	/* A reader that went away (`| head`) is no failure. */
	if (WIFSIGNALED(status) ? WTERMSIG(status) != SIGPIPE : WEXITSTATUS(status) != 0) {
		say_warning("babeltrace2 failed: events may be missing from what it printed");
		return -EIO;
	}
	return 0;
}

void viewer_end(struct viewer *viewer)
{
	if (viewer->pid)
		child_end(viewer->pid, 2000);
	viewer->pid = 0;
}
