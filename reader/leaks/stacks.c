/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Stacks of callers, each kept once, of frames that are kept once: a frame is a place in an object. */
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/leaks/leaks.h"

static struct leak_frame *frame_get(struct leaks *l, struct space *space, uint64_t address)
{
	uint64_t offset, hash;
	struct object *object = names_place(space, address, 1, &offset);
	struct leak_frame *f;

	hash = spi_hash_number((uintptr_t) object ^ offset);
	f = spi_hash_find(&l->frames, hash);
	while (f && (f->object != object || f->offset != offset))
		f = spi_hash_again(&f->link);
	if (f)
		return f;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->object = object;
	f->offset = offset;
	f->number = l->frame_count++;
	spi_hash_add(&l->frames, &f->link, hash);
	return f;
}

const struct leak_stack *leak_stack_get(struct leaks *l, struct space *space, const uint64_t *addresses, uint32_t count)
{
	struct leak_frame *frames[LEAK_FRAMES_MOST];
	uint64_t hash = SPI_HASH_SEED;
	struct leak_stack *s;

	for (uint32_t i = 0; i < count; i++) {
		frames[i] = frame_get(l, space, addresses[i]);
		if (!frames[i])
			return NULL;
		hash = spi_hash_number(hash ^ (uintptr_t) frames[i]) + i;
	}
	s = spi_hash_find(&l->stacks, hash);
	while (s && (s->count != count || memcmp(s->frames, frames, count * sizeof(frames[0]))))
		s = spi_hash_again(&s->link);
	if (s)
		return s;
	s = calloc(1, sizeof(*s) + count * sizeof(frames[0]));
	if (!s)
		return NULL;
	s->count = count;
	memcpy(s->frames, frames, count * sizeof(frames[0]));
	spi_hash_add(&l->stacks, &s->link, hash);
	return s;
}

const char *leak_frame_text(struct leak_frame *f)
{
	char text[1600];

	if (!f->text) {
		names_place_text(f->object, f->offset, 1, text, sizeof(text));
		text_clean(text);
		f->text = strdup(text);
	}
	return f->text ? f->text : "?";
}

void leak_frame_function(struct leak_frame *f, char *text, size_t size)
{
	char *end;

	snprintf(text, size, "%s", leak_frame_text(f));
	end = f->object ? strrchr(text, '+') : NULL;	/* a name may have one, too */
	if (end && end != text && !strncmp(end, "+0x", 3))
		*end = 0;
	else if ((end = strstr(text, " [")))
		*end = 0;
}

const char *leak_frame_object(const struct leak_frame *f)
{
	return f->object ? last_part(f->object->path) : "";
}

void leak_stacks_free(struct leaks *l)
{
	for (struct leak_frame *f = spi_hash_next(&l->frames, NULL), *after; f; f = after) {
		after = spi_hash_next(&l->frames, &f->link);
		free(f->text);
		free(f);
	}
	for (struct leak_stack *s = spi_hash_next(&l->stacks, NULL), *after; s; s = after) {
		after = spi_hash_next(&l->stacks, &s->link);
		free(s);
	}
}
