/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Memory and growing arrays. The process lives for one request, so memory is never freed
 * piece by piece. Small allocations are cut from chunks of the calling thread's own.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "codemap/base/base.h"

#define CHUNK_BYTES	(256u << 10)	/* what small allocations are cut from */

void *heap_grow(void *old, size_t bytes)
{
	void *p = realloc(old, bytes ? bytes : 1);

	if (!p)
		fail_memory();
	return p;
}

void *mem_alloc(size_t size)
{
	static __thread uint8_t *chunk;
	static __thread size_t left;
	void *p;

	if (size > SIZE_MAX - 15)
		fail_memory();
	size = (size + 15) & ~(size_t) 15;
	if (size > CHUNK_BYTES / 4) {
		p = calloc(1, size);
		if (!p)
			fail_memory();
		return p;
	}
	if (size > left) {
		chunk = calloc(1, CHUNK_BYTES);
		if (!chunk)
			fail_memory();
		left = CHUNK_BYTES;
	}
	p = chunk;
	chunk += size;
	left -= size;
	return p;
}

char *mem_string(const char *text, size_t length)
{
	char *copy = mem_alloc(length + 1);

	memcpy(copy, text, length);
	return copy;
}

char *mem_format(const char *format, ...)
{
	va_list args;
	char *copy;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	copy = mem_alloc((size_t) n + 1);
	va_start(args, format);
	vsnprintf(copy, (size_t) n + 1, format, args);
	va_end(args);
	return copy;
}

void *vec_grow(void *at, size_t count, size_t *room, size_t size)
{
	*room = count < 8 ? 16 : count * 2;
	return heap_grow(at, *room * size);
}
