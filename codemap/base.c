/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Messages, memory, arrays and strings: see base.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "codemap/base.h"
#include "codemap/cache-key.h"
#include "rules/harmless.h"

#define CHUNK_BYTES	(256u << 10)	/* what small allocations are cut from */
#define STRINGS_MAX	(UINT32_C(1) << 31)

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

void text_add_bytes(struct text *text, const char *more, size_t size)
{
	if (text->count + size + 1 > text->room) {
		text->room = (text->count + size + 1) * 2;
		text->at = heap_grow(text->at, text->room);
	}
	memcpy(text->at + text->count, more, size);
	text->count += size;
}

void text_add(struct text *text, const char *more)
{
	text_add_bytes(text, more, strlen(more));
}

void text_add_char(struct text *text, char c)
{
	text_add_bytes(text, &c, 1);
}

const char *text_end(struct text *text)
{
	text_add_bytes(text, "", 0);
	text->at[text->count] = 0;
	return text->at;
}

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
	return spi_hash_bytes(seed, bytes, size);
}

struct string {
	struct spi_hash_link link;
	uint32_t offset;
};

/* The former buckets are an arena's, as all that lives as long as the program. */
static void strings_grow(struct spi_hash *known)
{
	size_t size = known->size ? known->size * 2 : 1024;

	spi_hash_move(known, mem_alloc(size * sizeof(known->bucket[0])), size);
}

uint32_t strings_add(struct strings *strings, const char *text)
{
	uint64_t hash = hash_bytes(0, text, strlen(text));
	size_t size = strlen(text);
	struct string *string;

	if (!strings->bytes.count)
		text_add_bytes(&strings->bytes, "", 1);
	if (!size)
		return 0;
	for (string = spi_hash_find(&strings->known, hash); string; string = spi_hash_again(&string->link))
		if (!strcmp(strings->bytes.at + string->offset, text))
			return string->offset;
	if (strings->bytes.count + size + 1 > STRINGS_MAX)
		fail("its names need more than 2 GB: choose fewer functions");
	if (strings->known.count >= strings->known.size)
		strings_grow(&strings->known);
	string = mem_alloc(sizeof(*string));
	string->offset = (uint32_t) strings->bytes.count;
	text_add_bytes(&strings->bytes, text, size + 1);
	spi_hash_add(&strings->known, &string->link, hash);
	return string->offset;
}
