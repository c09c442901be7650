/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * One recording session of the session daemon, made, driven and destroyed
 * through liblttng-ctl. Functions that return int give 0 or a negative number
 * after one line was said.
 */
#ifndef SPI_CLI_DAEMON_SESSION_H
#define SPI_CLI_DAEMON_SESSION_H

#include <stdint.h>
#include <sys/types.h>

struct lttng_handle;
struct trace_options;
struct relay;

struct session {
	char name[200];
	char host[65];
	char *directory;	/* where the trace is: an absolute path, or a net:// address */
	char note[40];		/* what has to be known besides */
	struct lttng_handle *handle;
	int created, started;
	int announced;		/* the user was told of it, so is told how it ends */
};

/*
 * session_create() - a session named trace-SUBJECT-YYYYmmdd-HHMMSS with one
 * channel "spi" and the contexts vpid and vtid, for trees ip as well. It records to the absolute path
 * `directory`, or live to `relay` when that is NULL.
 */
int session_create(struct session *s, const char *subject, const char *directory, const struct relay *relay,
		   const struct trace_options *options);
/* session_enable() - record events that match; a name that is enabled already is fine. */
int session_enable(struct session *s, const char *pattern);
/* session_enable_filtered() - those of them only for which `filter` is true. */
int session_enable_filtered(struct session *s, const char *pattern, const char *filter);
/* session_disable() - no longer; that it is gone already is fine. Nothing is said. */
void session_disable(struct session *s, const char *pattern);
/* session_track() - record only this process. The daemon knows it by the pid that its socket
 * tells (SO_PEERCRED): as seen from here, also when it lives in a pid namespace of its own. */
int session_track(struct session *s, pid_t vpid);
int session_start(struct session *s);
/* session_is_there() - 0: somebody else has destroyed it; 1: not, or that cannot be asked. */
int session_is_there(const struct session *s);

/*
 * session_stop() - no more events; waits until all were handed over, unless
 * stop_fd becomes readable or nothing moves for a minute. *discarded is LTTng's
 * own count of events that found no room.
 */
int session_stop(struct session *s, int stop_fd, uint64_t *discarded);
/*
 * session_destroy() - also when it was never complete; frees what *s holds. 1 when a session was destroyed. `was_killed`: the
 * program; then LTTng may wait for what nobody completes any more, and is not waited for as long.
 */
int session_destroy(struct session *s, int was_killed);

#endif /* SPI_CLI_DAEMON_SESSION_H */
