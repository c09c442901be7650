/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * babeltrace2 as a child, on our stdout, outside the terminal's foreground
 * process group: ^C is for COMMAND, the viewer ends by itself when the session
 * is destroyed and everything is printed. It reads a session from its beginning
 * whenever it attaches, so it may start late; it must have attached before the
 * session goes, which the relay daemon's list of sessions shows.
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
#include "cli/sieve.h"
#include "cli/viewer.h"
#include "injector/paths.h"

#define VIEWER_POLL_MS		20
#define VIEWER_ATTACH_MS	10000
#define VIEWER_IDLE_MS		500
#define VIEWER_IDLE_MAX		20	/* looks at VIEWER_IDLE_MS that found it doing nothing */

/* Does this babeltrace2 have such a filter, among its own plugins or in `directory`? */
static int viewer_knows(const char *class, const char *directory)
{
	char option[4200], component[80], *out = NULL, *err = NULL;
	char *argv[] = { (char *) "babeltrace2", option, (char *) "help", component, NULL };
	struct child_options child = { .argv = argv, .in = -1, .out = -1, .err = -1 };
	int status = 0;

	snprintf(option, sizeof(option), "--plugin-path=%s", directory ? directory : "/nonexistent");
	snprintf(component, sizeof(component), "filter.%s", class);
	if (child_capture(&child, -1, &out, &err, &status) < 0)
		return 0;
	free(out);
	free(err);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* babeltrace2's words for `url` and `filters`, at most 6. 0, or a negative errno after one line was said. */
static int viewer_make_words(char **argv, char *url, unsigned int filters)
{
	static char path[4200];
	const char *directory = spi_path_bt2();

	*argv++ = (char *) "babeltrace2";
	if (filters & VIEWER_EXPAND) {
		if (!directory || !viewer_knows("lttng-spi.expand", directory)) {
			say_error("--compact: babeltrace2 has no component filter.lttng-spi.expand to read such records: "
				"install lttng-spi's, or record to a directory with -o DIR");
			return -ENOENT;
		}
		snprintf(path, sizeof(path), "--plugin-path=%s", directory);
		*argv++ = path;		/* an option of the command, not of what it does */
	}
	*argv++ = (char *) "--input-format=lttng-live";
	*argv++ = url;
	if (filters & VIEWER_EXPAND)
		*argv++ = (char *) "--component=expand:filter.lttng-spi.expand";
	/* Names are a convenience: a babeltrace2 that was built without them prints addresses. */
	if (filters & VIEWER_NAMES && viewer_knows("lttng-utils.debug-info", NULL))
		*argv++ = (char *) "--component=names:filter.lttng-utils.debug-info";
	*argv = NULL;
	return 0;
}

int viewer_start(struct viewer *viewer, const struct session *s, unsigned int port, unsigned int filters)
{
	char url[400], *argv[8];
	struct child_options child = { .argv = argv, .out = -1, .err = -1, .flags = CHILD_OWN_GROUP | CHILD_TIED };

	snprintf(url, sizeof(url), "net://localhost:%u/host/%s/%s", port, s->host, s->name);
	viewer->port = port;
	if (viewer_make_words(argv, url, filters) < 0)
		return -ENOENT;
	if (filters & VIEWER_NAMES)
		viewer->sieve = sieve_start(&child.out);
	if (viewer->sieve < 0) {
		say_error("%s", strerror((int) -viewer->sieve));
		viewer->sieve = 0;
		return -EAGAIN;
	}
	child.in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	viewer->pid = child_spawn(&child);
	if (child.in >= 0)
		close(child.in);
	if (child.out >= 0)
		close(child.out);
	if (viewer->pid < 0) {
		int error = -viewer->pid;

		viewer->pid = 0;
		say_error("babeltrace2: %s: install babeltrace2, or record to a directory with -o DIR",
			error == ENOENT ? "not found" : strerror(error));
		return -error;
	}
	return 0;
}

int viewer_attached(struct viewer *viewer, const struct session *s, int stop_fd)
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

/* The viewer has printed all: so does the sieve, as fast as our stdout is read. */
static int sieve_finish(struct viewer *viewer, int stop_fd)
{
	int status, ret = viewer->sieve ? child_wait(viewer->sieve, -1, stop_fd, &status) : 0;

	if (ret == 0)
		viewer->sieve = 0;
	return ret;
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
	if (ret == 0) {
		viewer->pid = 0;
		ret = sieve_finish(viewer, stop_fd);
	}
	if (ret < 0) {
		viewer_end(viewer);
		say_warning("babeltrace2 %s: events may be missing from what it printed",
			ret == -ETIMEDOUT ? "did not come to an end" : "was interrupted");
		return ret;
	}
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
	if (viewer->sieve)
		child_end(viewer->sieve, 2000);
	viewer->pid = viewer->sieve = 0;
}
