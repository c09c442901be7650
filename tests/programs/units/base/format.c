/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The agent's spi_format(), and words that nobody watches, for tests that link some of its sources only. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include "liblttng-spi/base/base.h"

#define WEAK	__attribute__((weak))	/* a test may link the agent's own, too */

WEAK uint32_t spi_debug_parts, spi_watched;
WEAK const struct spi_participant *spi_participants;
WEAK size_t spi_participant_count;

WEAK void spi_debug_line(enum spi_debug_part part, const char *format, ...)
{
	(void) part;
	(void) format;
}

int spi_format(char *buffer, size_t size, const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(buffer, size, format, arguments);
	va_end(arguments);
	return n;
}
