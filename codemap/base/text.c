/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Text that grows, and a table that keeps each string once. */
#include <stdlib.h>
#include <string.h>
#include "codemap/base/base.h"
#include "codemap/base/hash.h"

#define STRINGS_MAX	(UINT32_C(1) << 31)

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

