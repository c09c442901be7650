/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Names that were chosen by others (programs, their functions, who typed a rule) and come to a terminal: whatever it
 * would obey becomes '?'. Beside the controls below 0x20 and DEL these are the C1 controls, U+0080 to U+009F, of
 * which U+009B begins what ESC [ does; and what is not UTF-8, as one of these bytes by itself may be a control, too.
 *
 * In a header of its own: the command through which all of lttng passes is linked with libc alone.
 */
#ifndef SPI_RULES_HARMLESS_H
#define SPI_RULES_HARMLESS_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Of how many bytes is the character at `text`, `size` of them at most? 0: its first byte is to be replaced. */
static inline size_t spi_harmless(const char *text, size_t size)
{
	const unsigned char *c = (const unsigned char *) text;
	size_t n = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;

	if (n == 1)
		return c[0] >= 0x20 && c[0] != 0x7f;
	if (n > size)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	/* C1 controls; written longer than need be; surrogates; beyond the last one. */
	if ((c[0] == 0xc2 && c[1] < 0xa0) || (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] >= 0xa0) ||
	    (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] >= 0x90))
		return 0;
	return n;
}

static inline void spi_put_harmless(const char *text, size_t size, FILE *out)
{
	for (size_t i = 0, n; i < size; i += n ? n : 1) {
		n = spi_harmless(text + i, size - i);
		fwrite(n ? text + i : "?", n ? n : 1, 1, out);
	}
}

/* In place, but for the bytes that `but` names. */
static inline void spi_make_harmless(char *text, size_t size, const char *but)
{
	for (size_t i = 0, n; i < size; i += n ? n : 1) {
		n = spi_harmless(text + i, size - i);
		if (!n && (!text[i] || !strchr(but, text[i])))
			text[i] = '?';
	}
}

#endif /* SPI_RULES_HARMLESS_H */
