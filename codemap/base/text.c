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

static void strings_rehash(struct strings *strings)
{
	uint32_t *old = strings->slot;
	size_t i, j, count = strings->slots;

	strings->slots = count ? count * 2 : 1024;
	strings->slot = heap_grow(NULL, strings->slots * sizeof(*strings->slot));
	memset(strings->slot, 0, strings->slots * sizeof(*strings->slot));
	for (i = 0; i < count; i++) {
		const char *text;

		if (!old[i])
			continue;
		text = strings->bytes.at + old[i] - 1;
		j = hash_bytes(0, text, strlen(text)) & (strings->slots - 1);
		while (strings->slot[j])
			j = (j + 1) & (strings->slots - 1);
		strings->slot[j] = old[i];
	}
	free(old);
}

uint32_t strings_add(struct strings *strings, const char *text)
{
	size_t size = strlen(text), j;
	uint32_t offset;

	if (!strings->bytes.count)
		text_add_bytes(&strings->bytes, "", 1);
	if (!size)
		return 0;
	if (strings->used * 2 >= strings->slots)
		strings_rehash(strings);
	j = hash_bytes(0, text, size) & (strings->slots - 1);
	while (strings->slot[j]) {
		if (!strcmp(strings->bytes.at + strings->slot[j] - 1, text))
			return strings->slot[j] - 1;
		j = (j + 1) & (strings->slots - 1);
	}
	if (strings->bytes.count + size + 1 > STRINGS_MAX)
		fail("its names need more than 2 GB: choose fewer functions");
	offset = (uint32_t) strings->bytes.count;
	text_add_bytes(&strings->bytes, text, size + 1);
	strings->slot[j] = offset + 1;
	strings->used++;
	return offset;
}
