/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * LTTng's own daemons. A session daemon stays once it runs, as after `lttng create`. A relay daemon for
 * the live view is ended again when this run has started it.
 */
#ifndef SPI_CLI_DAEMON_START_H
#define SPI_CLI_DAEMON_START_H

#include <sys/types.h>

struct trace_options;

/* sessiond_ensure() - have a session daemon. Returns 0, -EINTR, or a negative errno after one line was said. */
int sessiond_ensure(const struct trace_options *options, int stop_fd);

struct relay {
	pid_t pid;		/* 0: it was running before us */
	unsigned int control, data, live;	/* ports on the local host */
	char *dir;		/* ours, for what it writes */
};

/* relay_ensure() - have a relay daemon. Returns as sessiond_ensure(). */
int relay_ensure(struct relay *relay, const struct trace_options *options, int stop_fd);
/* relay_end() - end it and remove its files, when we started it. */
void relay_end(struct relay *relay);

/* directory_remove() - with all that is in it; one line is said where that cannot be. */
void directory_remove(const char *path);

#endif /* SPI_CLI_DAEMON_START_H */
