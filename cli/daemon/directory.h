/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What a client finds out about the session daemon without asking it: which
 * session is the current one, and whether the daemon has the plugin.
 */
#ifndef SPI_CLI_DAEMON_DIRECTORY_H
#define SPI_CLI_DAEMON_DIRECTORY_H

#include <stdint.h>
#include <sys/types.h>

/* current_session() - the session that `lttng create` or `set-session` noted, malloc'ed, or NULL: there is none. */
char *current_session(void);

/*
 * plugin_connect() - connect to the status socket (broker/status-proto.h) of the
 * session daemon that commands of ours go to. With `any`, the plugin of a daemon
 * we may give no commands to counts, too: it tells everybody of his own processes.
 * Returns the descriptor, or a negative errno: no daemon, or it has no plugin.
 */
int plugin_connect(int any);

/* daemon_pid() - the session daemon that commands of ours go to, by the file where it noted that; 0: not known. */
pid_t daemon_pid(void);

/*
 * plugin_watch() - a descriptor for plugin_watched(), or -1: nothing tells. Open it before the first try to connect.
 * plugin_watched() - wait until it is worth another try, `left` ms at most. -EINTR: stop_fd (-1: none) is readable; else 0.
 */
int plugin_watch(void);
int plugin_watched(int watch, int stop_fd, int64_t left);

/* plugin_path() - the socket of this name beside the plugin's. 0 or a negative errno. */
int plugin_path(const char *name, char *path, size_t size);

/* plugin_await() - plugin_connect(); where a daemon runs that may just have been started, or whose broker was, for half a second. */
int plugin_await(int any);

/* PLUGIN_MISSING - what to tell a user whose daemon has no plugin. */
#define PLUGIN_MISSING "the session daemon has no plugin: calls are not recorded until it does; start it with " \
	"spi-sessiond, or: spi-sessiond --attach"

#endif /* SPI_CLI_DAEMON_DIRECTORY_H */
