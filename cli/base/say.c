/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Messages: one line to stderr, with one write(). See say.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/say.h"
#include "rules/harmless.h"

int say_quiet;
int say_verbose;

static void say_line(const char *prefix, const char *format, va_list args)
{
	char line[4096];
	size_t used = strlen(prefix);
	int n;

	memcpy(line, prefix, used);
	n = vsnprintf(line + used, sizeof(line) - used - 1, format, args);
	if (n < 0)
		return;
	used += (size_t) n < sizeof(line) - used - 1 ? (size_t) n : sizeof(line) - used - 2;
	/* A name that was typed, or that a traced program has, must not end the line, nor be obeyed by a terminal. */
	spi_make_harmless(line, used, "");
	line[used++] = '\n';
	/* Nobody is left to be told when stderr itself fails. */
	if (write(STDERR_FILENO, line, used) < 0)
		return;
}

#define SAY(condition, prefix)				\
	do {						\
		va_list args;				\
							\
		if (!(condition))			\
			return;				\
		va_start(args, format);			\
		say_line(prefix, format, args);		\
		va_end(args);				\
	} while (0)

void say_error(const char *format, ...)
{
	SAY(!say_quiet, "Error: ");
}

void say_warning(const char *format, ...)
{
	SAY(!say_quiet, "Warning: ");
}

void say(const char *format, ...)
{
	SAY(!say_quiet, "");
}

void say_plain(const char *format, ...)
{
	SAY(1, "");
}

void say_detail(const char *format, ...)
{
	SAY(say_verbose && !say_quiet, "");
}
