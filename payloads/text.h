/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* A line of text, put together without libc: payloads that use this may run in any state of a thread. */
#ifndef PAYLOADS_TEXT_H
#define PAYLOADS_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text {
	char line[1024];
	size_t size;
};

static inline void text_byte(struct text *t, char c)
{
	if (t->size < sizeof(t->line) - 1)
		t->line[t->size++] = c;
}

static inline void text_put(struct text *t, const char *s)
{
	while (*s)
		text_byte(t, *s++);
}

/* In decimal, right-aligned in `width` columns. */
static inline void text_number(struct text *t, uint64_t number, unsigned int width)
{
	char digits[24];
	unsigned int n = 0;

	do
		digits[n++] = (char) ('0' + number % 10);
	while (number /= 10);
	for (unsigned int i = n; i < width; i++)
		text_byte(t, ' ');
	while (n)
		text_byte(t, digits[--n]);
}

static inline void text_hex(struct text *t, uint64_t number)
{
	int shift = 60;

	text_put(t, "0x");
	while (shift && !(number >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		text_byte(t, "0123456789abcdef"[number >> shift & 15]);
}

#endif /* PAYLOADS_TEXT_H */
