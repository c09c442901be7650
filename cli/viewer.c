/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * babeltrace2 as a child, on our stdout, outside the terminal's foreground
 * process group: ^C is for COMMAND, the viewer ends by itself when the session
 * is destroyed and everything is printed (viewer-end.c). What it writes to stderr is
 * kept until then: that of a viewer which is replaced is nobody's concern.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/say.h"
#include "cli/session.h"
#include "cli/viewer.h"

int viewer_start(struct viewer *viewer, const struct session *s, unsigned int port)
{
	char url[400];
	char *argv[] = { (char *) "babeltrace2", (char *) "--input-format=lttng-live", url, NULL };
	struct child_options child = { .argv = argv, .out = -1, .err = -1, .flags = CHILD_OWN_GROUP | CHILD_TIED };

	snprintf(url, sizeof(url), "net://localhost:%u/host/%s/%s", port, s->host, s->name);
	viewer->port = port;
	if (viewer->err > 0) {
		if (ftruncate(viewer->err, 0) < 0)
			return -errno;
	} else {
		viewer->err = memfd_create("babeltrace2", MFD_CLOEXEC);
		if (viewer->err > 0)
			fcntl(viewer->err, F_SETFL, O_APPEND);
	}
	child.err = viewer->err > 0 ? viewer->err : -1;
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
