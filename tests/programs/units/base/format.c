/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The agent's spi_format() for tests that link some of its sources only. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include "liblttng-spi/base/base.h"

int spi_format(char *buffer, size_t size, const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(buffer, size, format, arguments);
	va_end(arguments);
	return n;
}
