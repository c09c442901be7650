/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * babeltrace2, or lttng-spi, as a child, on our stdout, outside the terminal's foreground process group: ^C is for
 * COMMAND, and the viewer ends by itself when the session is destroyed and everything is printed
 * (viewer-end.c). What the viewer writes to stderr is kept until then, because a viewer that is
 * replaced must not be heard of.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/base/child.h"
#include "cli/base/say.h"
#include "cli/daemon/session.h"
#include "cli/view/sieve.h"
#include "cli/view/viewer.h"
#include "injector/base/paths.h"

#define VIEWER_FILES	0x100u

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

/* The plugin's directory, as an option of the command; NULL: this babeltrace2 can't have it. */
static char *viewer_plugin(void)
{
	static char path[4200];
	const char *directory = spi_path_bt2();

	if (!directory || !viewer_knows("lttng-spi.expand", directory))
		return NULL;
	snprintf(path, sizeof(path), "--plugin-path=%s", directory);
	return path;
}

/* lttng-spi's words, at most 6. 0, or a negative errno after one line was said. */
static int viewer_make_reader(char **argv, char *url, enum trace_view view)
{
	*argv++ = (char *) (uintptr_t) spi_path_reader();
	if (!argv[-1]) {
		say_error("lttng-spi is not installed: install lttng-spi's, or use --format events");
		return -ENOENT;
	}
	*argv++ = (char *) (view == VIEW_REPORT ? "report" : view == VIEW_LEAKS ? "leaks" : "calls");
	if (view == VIEW_JSON)
		*argv++ = (char *) "--format=json";
	if (view == VIEW_LEAKS)
		*argv++ = (char *) "--lines";
	*argv++ = url;
	*argv = NULL;
	return 0;
}

/* babeltrace2's words for `url`, a directory with VIEWER_FILES, and `filters`, at most 6. 0, or a negative errno after one line was said. */
static int viewer_make_words(char **argv, char *url, unsigned int filters)
{
	char *plugin = filters & (VIEWER_EXPAND | VIEWER_NAMES | VIEWER_CALLERS) ? viewer_plugin() : NULL;

	*argv++ = (char *) "babeltrace2";
	if (!plugin && filters & VIEWER_EXPAND) {
		say_error("--compact: babeltrace2 has no component filter.lttng-spi.expand to read such records: "
			"install lttng-spi's, or record to a directory with -o DIR");
		return -ENOENT;
	}
	if (plugin)
		*argv++ = plugin;
	if (!(filters & VIEWER_FILES))
		*argv++ = (char *) "--input-format=lttng-live";
	*argv++ = url;
	/* Names are a convenience: where plain records are printed without these they have addresses. */
	if (plugin)
		*argv++ = (char *) "--component=expand:filter.lttng-spi.expand";
	if (filters & VIEWER_NAMES && viewer_knows("lttng-utils.debug-info", NULL))
		*argv++ = (char *) "--component=names:filter.lttng-utils.debug-info";
	*argv = NULL;
	return 0;
}

int viewer_start(struct viewer *viewer, const struct session *s, unsigned int port, unsigned int filters)
{
	char url[4200], *argv[8];
	struct child_options child = { .argv = argv, .out = -1, .err = -1,
		.flags = CHILD_OWN_GROUP | CHILD_TIED };

	if (viewer->from_files)
		snprintf(url, sizeof(url), "%s", viewer->directory);
	else
		snprintf(url, sizeof(url), "net://127.0.0.1:%u/host/%s/%s", port, s->host, s->name);
	viewer->port = port;
	viewer->filters = filters;
	viewer->program = viewer->view == VIEW_EVENTS ? "babeltrace2" : "lttng-spi";
	if (viewer->view == VIEW_EVENTS ?
			viewer_make_words(argv, url, filters | (viewer->from_files ? VIEWER_FILES : 0)) < 0 :
			viewer_make_reader(argv, url, viewer->view) < 0)
		return -ENOENT;
	if (viewer->view == VIEW_EVENTS && filters & (VIEWER_NAMES | VIEWER_CALLERS | VIEWER_RULES))
		viewer->sieve = sieve_start(&child.out);
	if (viewer->sieve < 0) {
		say_error("%s", strerror((int) -viewer->sieve));
		viewer->sieve = 0;
		return -EAGAIN;
	}
	if (viewer->err > 0) {
		if (ftruncate(viewer->err, 0) < 0)
			return -errno;
	} else {
		viewer->err = memfd_create("viewer", MFD_CLOEXEC);
		if (viewer->err > 0)
			fcntl(viewer->err, F_SETFL, O_APPEND);
	}
	child.err = viewer->err > 0 ? viewer->err : -1;
	child.in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	viewer->pid = child_spawn(&child);
	if (child.in >= 0)
		close(child.in);
	if (child.out >= 0)
		close(child.out);
	viewer_look_at(viewer);
	if (viewer->pid < 0) {
		int error = -viewer->pid;

		viewer->pid = 0;
		say_error("%s: %s: install %s, or record to a directory with -o DIR", viewer->program,
			error == ENOENT ? "not found" : strerror(error), viewer->program);
		return -error;
	}
	return 0;
}
