/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The terminal: colours and width as `ls` and `git` choose them, the pager, messages, progress. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "reader/base/text.h"

extern char **environ;

struct terminal terminal;

static pid_t pager;			/* 0: none */
static int progress_shown;

void terminal_find(void)
{
	const char *columns = getenv("COLUMNS"), *no_colour = getenv("NO_COLOR"), *kind = getenv("TERM");
	struct winsize size;

	terminal.is_one = isatty(STDOUT_FILENO);
	if (!terminal.is_one)
		return;
	terminal.has_colour = !(no_colour && *no_colour) && kind && strcmp(kind, "dumb");
	if (columns && atoi(columns) > 0)
		terminal.width = (unsigned int) atoi(columns);
	else if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		terminal.width = size.ws_col;
	else
		terminal.width = 80;
}

const char *colour_begin(enum colour colour)
{
	static const char *const sequences[] = { "", "\033[2m", "\033[36m", "\033[33m", "\033[31m", "\033[1;31m", "\033[1m" };

	return terminal.has_colour ? sequences[colour] : "";
}

const char *colour_end(enum colour colour)
{
	return terminal.has_colour && colour != COLOUR_NONE ? "\033[0m" : "";
}

/* ---- the pager ---- */

void pager_begin(void)
{
	const char *command = getenv("LTTNG_SPI_PAGER");
	int pipes[2];
	posix_spawn_file_actions_t actions;
	/* where there is no such command the text comes all the same */
	char *arguments[] = { "sh", "-c", "eval \"$0\"; [ $? != 127 ] || exec cat", NULL, NULL };

	if (!terminal.is_one || pager)
		return;
	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less";
	if (!*command || !strcmp(command, "cat") || pipe(pipes) < 0)
		return;
	setenv("LESS", "FRX", 0);	/* as git: out at once when it fits, colours as they are */
	arguments[3] = (char *) (uintptr_t) command;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipes[0], STDIN_FILENO);
	posix_spawn_file_actions_addclose(&actions, pipes[0]);
	posix_spawn_file_actions_addclose(&actions, pipes[1]);
	if (posix_spawn(&pager, "/bin/sh", &actions, NULL, arguments, environ) != 0) {
		pager = 0;
		close(pipes[1]);
	} else {
		fflush(stdout);
		dup2(pipes[1], STDOUT_FILENO);
		close(pipes[1]);
	}
	close(pipes[0]);
	posix_spawn_file_actions_destroy(&actions);
}

void pager_end(void)
{
	if (!pager)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);
	signal(SIGINT, SIG_IGN);	/* which the pager takes */
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	pager = 0;
}

/* ---- stderr ---- */

static void say(const char *kind, const char *format, va_list arguments)
{
	char line[4096];
	int n = snprintf(line, sizeof(line), "%s: ", kind), m;

	progress_end();
	m = vsnprintf(line + n, sizeof(line) - (size_t) n - 1, format, arguments);
	n += m < 0 ? 0 : m < (int) sizeof(line) - n - 1 ? m : (int) sizeof(line) - n - 2;
	text_clean(line);
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, (size_t) n) < 0)
		return;
}

void say_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say("Error", format, arguments);
	va_end(arguments);
}

void say_warning(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say("Warning", format, arguments);
	va_end(arguments);
}

void progress(double share)
{
	static time_t begun, last;
	struct timespec now;
	double left;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!begun)
		begun = now.tv_sec;
	if (now.tv_sec == last || now.tv_sec - begun < 1 || share <= 0 || !isatty(STDERR_FILENO) || (pager && terminal.is_one))
		return;
	last = now.tv_sec;
	left = (double) (now.tv_sec - begun) * (1 - share) / share;
	fprintf(stderr, "\r%3.0f %% read, %.0f s left  ", share * 100, left);
	progress_shown = 1;
}

void progress_end(void)
{
	if (progress_shown)
		fputs("\r                                \r", stderr);
	progress_shown = 0;
}
