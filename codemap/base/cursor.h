/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Reading little-endian values from bytes that are not trusted. A cursor that would pass its end
 * stays there and becomes `bad`; reads then give 0. So a reader tests once, after a whole record.
 */
#ifndef CODEMAP_BASE_CURSOR_H
#define CODEMAP_BASE_CURSOR_H

#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *p, *end;
	int bad;
};

static inline int cursor_take(struct cursor *c, uint64_t size)
{
	if (size > (uint64_t) (c->end - c->p)) {
		c->p = c->end;
		c->bad = 1;
		return 0;
	}
	return 1;
}

static inline void cursor_skip(struct cursor *c, uint64_t size)
{
	if (cursor_take(c, size))
		c->p += size;
}

static inline uint64_t cursor_uint(struct cursor *c, unsigned int size)
{
	uint64_t value = 0;

	if (!cursor_take(c, size))
		return 0;
	memcpy(&value, c->p, size);
	c->p += size;
	return value;
}

static inline int64_t cursor_sint(struct cursor *c, unsigned int size)
{
	uint64_t value = cursor_uint(c, size);
	unsigned int shift = 64 - 8 * size;

	return (int64_t) (value << shift) >> shift;
}

static inline uint64_t cursor_uleb(struct cursor *c)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	while (c->p < c->end) {
		uint8_t byte = *c->p++;

		if (shift < 64)
			value |= (uint64_t) (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
		shift += 7;
	}
	c->bad = 1;
	return 0;
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	while (c->p < c->end) {
		uint8_t byte = *c->p++;

		if (shift < 64)
			value |= (uint64_t) (byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80)) {
			if ((byte & 0x40) && shift < 64)
				value |= ~UINT64_C(0) << shift;
			return (int64_t) value;
		}
	}
	c->bad = 1;
	return 0;
}

/* A NUL-terminated string; "" and bad when it has no end. */
static inline const char *cursor_string(struct cursor *c)
{
	const uint8_t *nul = memchr(c->p, 0, (size_t) (c->end - c->p)), *text = c->p;

	if (!nul) {
		c->p = c->end;
		c->bad = 1;
		return "";
	}
	c->p = nul + 1;
	return (const char *) text;
}

#endif /* CODEMAP_BASE_CURSOR_H */
