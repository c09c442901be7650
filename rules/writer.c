/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "rules/rule.h"
#include "rules/writer.h"

#define SHOWN_MAX	80u	/* bytes of a value that a reason shows */

void spi_put_some(struct spi_writer *w, const char *text, size_t most)
{
	for (; *text && most; text++, most--, w->at++)
		if (w->at + 1 < w->size)
			w->text[w->at] = *text;
}

void spi_put(struct spi_writer *w, const char *text)
{
	spi_put_some(w, text, SIZE_MAX);
}

void spi_put_number(struct spi_writer *w, uint64_t number)
{
	char digits[21];
	unsigned int at = sizeof(digits) - 1;

	digits[at] = 0;
	do
		digits[--at] = (char) ('0' + number % 10);
	while (number /= 10);
	spi_put(w, digits + at);
}

void spi_put_decimal(struct spi_writer *w, uint64_t value, uint32_t scale)
{
	uint32_t part = (uint32_t) (value % scale);

	spi_put_number(w, value / scale);
	if (part)
		spi_put(w, ".");
	while (part) {
		scale /= 10;
		spi_put_number(w, part / scale);
		part %= scale;
	}
}

void spi_put_byte(struct spi_writer *w, unsigned char byte)
{
	const char text[] = { '%', "0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15], 0 };

	spi_put(w, text);
}

int spi_put_end(struct spi_writer *w)
{
	int fits = w->at < w->size;

	if (w->size)
		w->text[fits ? w->at : w->size - 1] = 0;
	return fits ? 0 : -E2BIG;
}

int spi_refuse(char *why, const char *format, ...)
{
	struct spi_writer w = { why, SPI_RULE_WHY, 0 };
	va_list args;

	va_start(args, format);
	for (; *format; format++) {
		if (*format != '%') {
			spi_put_some(&w, format, 1);
			continue;
		}
		format++;
		if (*format == 's')
			spi_put_some(&w, va_arg(args, const char *), SHOWN_MAX);
		else if (*format == 'u')
			spi_put_number(&w, va_arg(args, unsigned int));
		else
			spi_put(&w, "%");
	}
	va_end(args);
	spi_put_end(&w);
	return -EINVAL;
}
