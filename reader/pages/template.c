/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The pages, as pages/assemble has made them. The line @data@ stands where a trace's data belongs. */
#include <errno.h>
#include <string.h>
#include "reader/pages/pages.h"

#define EMBED(name) \
	__asm__(".pushsection .rodata\n" \
		"page_" #name ":\n.incbin \"pages/" #name ".html\"\n" \
		"page_" #name "_end:\n.byte 0\n.popsection\n"); \
	extern const char page_##name[] __attribute__((visibility("hidden"))); \
	extern const char page_##name##_end[] __attribute__((visibility("hidden")))

EMBED(timeline);
EMBED(flame);
EMBED(flow);

static const char mark[] = "\n@data@\n";

static const char *text_of(enum page_kind kind, size_t *size)
{
	static const char *const begins[PAGES] = { page_timeline, page_flame, page_flow };
	static const char *const ends[PAGES] = { page_timeline_end, page_flame_end, page_flow_end };

	*size = (size_t) (ends[kind] - begins[kind]);
	return begins[kind];
}

int page_is_built(enum page_kind kind)
{
	size_t size;
	const char *text = text_of(kind, &size);

	return memmem(text, size, mark, sizeof(mark) - 1) != NULL;
}

int page_begin(enum page_kind kind, FILE *out)
{
	size_t size;
	const char *text = text_of(kind, &size), *at = memmem(text, size, mark, sizeof(mark) - 1);

	if (at)
		fwrite(text, 1, (size_t) (at + 1 - text), out);
	return at && !ferror(out) ? 0 : -EPIPE;
}

int page_end(enum page_kind kind, FILE *out)
{
	size_t size;
	const char *text = text_of(kind, &size), *at = memmem(text, size, mark, sizeof(mark) - 1);

	if (at)
		fwrite(at + sizeof(mark) - 2, 1, size - (size_t) (at + sizeof(mark) - 2 - text), out);
	return at && !ferror(out) ? 0 : -EPIPE;
}
