/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The programs that the front end runs: COMMAND, spi-codemap, the dynamic
 * loader's --list, session and relay daemon, the viewer. A failure to execute is
 * the caller's error number, not a child that ends with 127.
 */
#ifndef SPI_CLI_BASE_CHILD_H
#define SPI_CLI_BASE_CHILD_H

#include <stddef.h>
#include <sys/types.h>

enum child_flags {
	CHILD_OWN_GROUP	= 1 << 0,	/* out of the terminal's foreground group: ^C is not for it */
	CHILD_TIED	= 1 << 1,	/* ends (SIGTERM) when the front end dies */
	CHILD_COMMAND	= 1 << 2,	/* is the user's: its signals are as the front end was started with */
};

#define CHILD_SOCKET	3

struct child_options {
	const char *path;	/* file to execute; NULL: look argv[0] up in PATH */
	char *const *argv;
	char *const *env;	/* NULL: ours */
	int in, out, err;	/* descriptors, or -1: ours */
	int socket;		/* a descriptor that becomes CHILD_SOCKET; 0: none */
	unsigned int flags;	/* enum child_flags */
};

/* child_spawn() - start a program. Returns its pid, or a negative errno of fork or exec. */
pid_t child_spawn(const struct child_options *options);

/*
 * child_wait() - wait until a child ends, `timeout` ms at most (-1: for ever) or
 * until a signal for the front end arrives when `stop_fd` (or -1) becomes readable.
 * Returns 0 with *status as waitpid() gives it, -ETIMEDOUT, -EINTR, or another
 * negative errno.
 */
int child_wait(pid_t pid, int timeout, int stop_fd, int *status);

/* child_await() - the same, but the child is not reaped: /proc still tells of it. */
int child_await(pid_t pid, int timeout, int stop_fd);

/* child_end() - SIGTERM, then after `grace` ms SIGKILL; reaped in any case. */
void child_end(pid_t pid, int grace);

/*
 * child_capture() - run a program to its end and keep what it writes: *out and
 * *err are malloc'ed, NUL-terminated, and never NULL on success (err may be
 * passed as NULL: the child's stderr is ours). Returns 0, -EINTR when stop_fd
 * became readable (the child is ended), or another negative errno.
 */
int child_capture(const struct child_options *options, int stop_fd, char **out, char **err, int *status);

#endif /* SPI_CLI_BASE_CHILD_H */
