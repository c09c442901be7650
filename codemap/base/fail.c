/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The one way to give up: a line on stderr, and the end of the process.
 * File names and section contents may be part of the line, so control characters are taken out.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "codemap/base/base.h"
#include "rules/harmless.h"

const char *fail_object = "";
void (*fail_last)(void);

static void fail_print(const char *format, va_list args)
{
	char line[1024];

	vsnprintf(line, sizeof(line), format, args);
	spi_make_harmless(line, strlen(line), "");	/* one line, whatever a file's name or contents are */
	fflush(stdout);
	if (fail_object[0])
		fprintf(stderr, "spi-codemap: %s: %s\n", fail_object, line);
	else
		fprintf(stderr, "spi-codemap: %s\n", line);
}

static __attribute__((noreturn)) void end(int status)
{
	if (fail_last)
		fail_last();
	fflush(NULL);
	_exit(status);
}

void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fail_print(format, args);
	va_end(args);
	end(EXIT_BAD);
}

void fail_status(enum exit_status status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fail_print(format, args);
	va_end(args);
	end(status);
}

void fail_memory(void)
{
	fail("out of memory: the analysis of one file may use 1.5 GB");
}
