/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Text of the daemon on its way to a terminal. `lttng list -u` shows names that programs have given
 * themselves. The stock command passes them on as they are, so anybody's program could send commands
 * to the terminal of the user who looks, who may be root. A pipe or a file gets every byte.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/ui/terminal-text.h"
#include "rules/harmless.h"

/* How much of the text can be judged: a character at its end may go on in what comes next. */
static size_t whole_size(const char *text, size_t size)
{
	size_t back = 1;

	while (back <= 3 && back <= size && ((unsigned char) text[size - back] & 0xc0) == 0x80)
		back++;
	return back <= 3 && back <= size && (unsigned char) text[size - back] >= 0xc2 && !spi_harmless(text + size - back, back) ?
	       size - back : size;
}

static int write_whole(const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(STDOUT_FILENO, text, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		text += n;
		size -= (size_t) n;
	}
	return 0;
}

static void pass_on(int from)
{
	char text[8192];
	size_t have = 0, whole;
	ssize_t n;

	while ((n = read(from, text + have, sizeof(text) - have)) > 0 || (n < 0 && errno == EINTR)) {
		have += n > 0 ? (size_t) n : 0;
		whole = whole_size(text, have);
		spi_make_harmless(text, whole, "\n\t");
		if (write_whole(text, whole))
			return;
		have -= whole;
		memmove(text, text + whole, have);
	}
	spi_make_harmless(text, have, "\n\t");
	write_whole(text, have);
}

void clean_output(void)
{
	int ends[2], status = EXIT_FAILURE << 8;
	pid_t pid;

	if (pipe(ends))
		return;
	signal(SIGCHLD, SIG_DFL);	/* ignored, it would leave us without the child's status */
	pid = fork();
	if (pid <= 0) {
		if (!pid)
			dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		return;
	}
	close(ends[1]);
	pass_on(ends[0]);
	close(ends[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}
