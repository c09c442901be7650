/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the analysing process does first with the files of an object: it reads their headers,
 * compares the debug file's checksum, unpacks minidebuginfo, and keeps a line of text about
 * debug info that cannot be read. A map carries that text to the user.
 */
#include <lzma.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include "codemap/elf/object.h"

#define MINI_MAX	(UINT64_C(256) << 20)	/* bytes of minidebuginfo, unpacked */
#define LOST_MAX	400	/* bytes of text about what cannot be read */

void debug_lose(struct object *object, const char *what, const char *format, ...)
{
	char reason[256], *line;
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	line = mem_format("%s: %s", what, reason);
	if (object->debug_lost.count + strlen(line) > LOST_MAX || strstr(text_end(&object->debug_lost), line))
		return;
	if (object->debug_lost.count)
		text_add(&object->debug_lost, "; ");
	text_add(&object->debug_lost, line);
}

static void read_or_fail(struct image *image, int main_object)
{
	const char *why;

	if (image && !image_read(image, main_object, &why))
		fail("%s", why);
}

void object_read(struct object *object)
{
	read_or_fail(object->image, 1);
	read_or_fail(object->debug, 0);
	read_or_fail(object->alt, 0);
}

struct image *minidebuginfo_read(const struct image *image)
{
	struct bytes packed = image_raw(image, image_section(image, ".gnu_debugdata"));
	uint64_t memory = MINI_MAX, room = packed.size * 8 + 65536;
	size_t in = 0, out = 0;
	lzma_ret rc = LZMA_BUF_ERROR;
	uint8_t *data = NULL;

	if (!packed.size)
		return NULL;
	for (; rc == LZMA_BUF_ERROR && room <= MINI_MAX; room *= 4) {
		data = heap_grow(data, room);
		in = out = 0;
		rc = lzma_stream_buffer_decode(&memory, 0, NULL, packed.data, &in, packed.size, data, &out, room);
	}
	if (rc != LZMA_OK)
		return NULL;
	return image_memory(data, out, "minidebuginfo");
}

static uint32_t file_crc(const struct image *image)
{
	uint64_t at = 0, step = UINT64_C(1) << 20;
	uLong crc = crc32(0, NULL, 0);

	for (; at < image->size; at += step) {
		struct bytes all = { .data = image->data, .size = image->size, .ready = image->size };

		crc = crc32(crc, image->data + at, (uInt) (image->size - at < step ? image->size - at : step));
		bytes_drop(&all, at, at + step);
	}
	return (uint32_t) crc;
}

void object_debug_verify(struct object *object)
{
	if (object->debug_by_link && file_crc(object->debug) != object->debug_crc) {
		debug_lose(object, "no types", "%s is of another build: its checksum differs", object->debug_name);
		object->debug = NULL;
		object->debug_name = "";
	}
}
