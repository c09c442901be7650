/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Notes for the user. They go to the controller when there is one, else to the
 * file that LTTNG_SPI_DEBUG names, else nowhere: to the program's stderr only where LTTNG_SPI_DEBUG asks for parts.
 * Formatting is our own, as libc's allocates and takes locks.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/internal.h"

static void put_char(char *buffer, size_t size, size_t *n, char c)
{
	if (*n + 1 < size)
		buffer[*n] = c;
	(*n)++;
}

static void put_number(char *buffer, size_t size, size_t *n, uint64_t value, unsigned int base)
{
	char digits[24];
	int count = 0;

	do {
		digits[count++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	while (count)
		put_char(buffer, size, n, digits[--count]);
}

int spi_vformat(char *buffer, size_t size, const char *format, va_list args)
{
	size_t n = 0;

	for (; *format; format++) {
		int is_long = 0;

		if (*format != '%') {
			put_char(buffer, size, &n, *format);
			continue;
		}
		format++;
		while (*format == 'l' || *format == 'z') {
			is_long = 1;
			format++;
		}
		switch (*format) {
		case 's': {
			const char *s = va_arg(args, const char *);

			for (s = s ? s : "(null)"; *s; s++)
				put_char(buffer, size, &n, *s);
			break;
		}
		case 'c':
			put_char(buffer, size, &n, (char) va_arg(args, int));
			break;
		case 'd': {
			int64_t v = is_long ? va_arg(args, long) : va_arg(args, int);

			if (v < 0)
				put_char(buffer, size, &n, '-');
			put_number(buffer, size, &n, v < 0 ? -(uint64_t) v : (uint64_t) v, 10);
			break;
		}
		case 'u':
		case 'x': {
			uint64_t v = is_long ? va_arg(args, unsigned long) : va_arg(args, unsigned int);

			put_number(buffer, size, &n, v, *format == 'x' ? 16 : 10);
			break;
		}
		default:
			put_char(buffer, size, &n, *format);
		}
	}
	if (size)
		buffer[n < size ? n : size - 1] = 0;
	return (int) n;
}

SPI_EXPORT int spi_format(char *buffer, size_t size, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = spi_vformat(buffer, size, format, args);
	va_end(args);
	return n;
}

static void debug_line(const char *line, size_t size)
{
	long fd;

	if (!spi_env.debug)
		return;
	fd = spi_sys(SYS_openat, AT_FDCWD, spi_env.debug, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600L);
	if (fd < 0)
		return;
	spi_sys(SYS_write, fd, line, size);
	spi_sys(SYS_close, fd);
}

void (*spi_note_sink)(const char *line, size_t size);
void (*spi_note_copy)(const char *line);
int spi_output_fd = -1;

/* Control side only. */
void spi_note(const char *format, ...)
{
	char line[1024];
	va_list args;
	size_t n;

	va_start(args, format);
	spi_vformat(line, sizeof(line) - 1, format, args);
	va_end(args);
	n = strlen(line);
	if (spi_note_copy)
		spi_note_copy(line);
	if (spi_note_sink)
		spi_note_sink(line, n + 1);
	line[n] = '\n';
	debug_line(line, n + 1);
}
