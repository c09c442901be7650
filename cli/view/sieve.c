/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * babeltrace2 puts names to addresses by events that tell where each library and its functions are:
 * dozens for each process. babeltrace2 must read them, and nobody wants to see them; it has no
 * component that drops events by name. So a child between babeltrace2 and our stdout drops their
 * lines.
 *
 * The child ends at the end of its input. When nobody reads our stdout any more, the child ends, and
 * babeltrace2 with it, by the same signal as without the child.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cli/base/signals.h"
#include "cli/view/sieve.h"

#define SIEVE_BUFFER (1u << 16)

/* "[TIME] (+DELTA) HOST PROVIDER:EVENT: {": the word in the fourth place. */
int sieve_hides(const char *line, size_t size)
{
	static const char *const hidden[] = { "lttng_ust_statedump:", "lttng_ust_lib:", "spi_tree:function", "spi_rule:" };
	const char *end = line + size, *at = line;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		at = memchr(at, ' ', (size_t) (end - at));
		if (!at)
			return 0;
		at++;
	}
	for (i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
		size_t n = strlen(hidden[i]);

		if ((size_t) (end - at) > n && !memcmp(at, hidden[i], n))
			return 1;
	}
	return 0;
}

static int write_all(const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(STDOUT_FILENO, text, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		text += n;
		size -= (size_t) n;
	}
	return 0;
}

/*
 * The whole lines of what was read, moved together and written at once. Returns how
 * many bytes of an unfinished line are left, moved to the start, or -1. A line that
 * is longer than the buffer goes out in parts, as it is.
 */
static ssize_t sift(char *text, size_t size, int *inside)
{
	size_t kept = 0, at = 0;

	while (at < size) {
		char *newline = memchr(text + at, '\n', size - at);
		size_t n = newline ? (size_t) (newline + 1 - (text + at)) : size - at;

		if (!newline && (at || size < SIEVE_BUFFER))
			break;
		if (*inside || !sieve_hides(text + at, n)) {
			memmove(text + kept, text + at, n);
			kept += n;
		}
		*inside = !newline;
		at += n;
	}
	if (write_all(text, kept) < 0)
		return -1;
	memmove(text, text + at, size - at);
	return (ssize_t) (size - at);
}

static void sieve_run(int from) __attribute__((noreturn));
static void sieve_run(int from)
{
	static char text[SIEVE_BUFFER];
	ssize_t left = 0, n;
	int inside = 0;

	for (;;) {
		n = read(from, text + left, sizeof(text) - (size_t) left);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		left = sift(text, (size_t) (left + n), &inside);
		if (left < 0)
			_exit(1);
	}
	_exit(write_all(text, (size_t) left) < 0);
}

pid_t sieve_start(int *to)
{
	pid_t parent = getpid(), pid;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		/* ^C is for COMMAND; this goes on as long as the viewer does. */
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		signals_restore();
		signal(SIGTTOU, SIG_IGN);
		close(ends[1]);
		close(STDIN_FILENO);
		if (getppid() != parent)
			_exit(1);
		sieve_run(ends[0]);
	}
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return -EAGAIN;
	}
	*to = ends[1];
	return pid;
}
