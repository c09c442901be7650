/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Objects, and names of places in them.
 *
 * A function is known by its object and its place in that: a forked child has its parent's functions, and a library
 * has its own wherever it is loaded. Objects are the same when their build-ids are, or, without these, their paths.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reader/base/text.h"
#include "reader/trace/objects.h"

#define INLINED_MOST	8	/* functions within each other at one place */

/* ---- objects and their functions ---- */

struct object *object_get(struct merge *m, uint64_t build_id, const char *path)
{
	struct object *o = m->objects;

	while (o && (build_id ? o->build_id != build_id : o->build_id || strcmp(o->path, path)))
		o = o->next;
	if (o)
		return o;
	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->path = strdup(path);
	if (!o->path) {
		free(o);
		return NULL;
	}
	o->build_id = build_id;
	o->functions = (struct spi_hash) SPI_HASH_OVER(o->function_buckets);
	o->places = (struct spi_hash) SPI_HASH_OVER(o->place_buckets);
	o->next = m->objects;
	m->objects = o;
	return o;
}

uint64_t build_id_begin(const uint8_t *id, uint64_t n)
{
	uint64_t begin = 0;

	for (uint64_t i = 0; i < 8 && i < n; i++)
		begin |= (uint64_t) id[i] << (56 - 8 * i);
	return begin;
}

struct object *object_of_id(struct merge *m, const uint8_t *id, uint64_t n, const char *path)
{
	const uint64_t build_id = build_id_begin(id, n);
	struct object *o = object_get(m, build_id, path);

	if (o && build_id && n <= sizeof(o->id)) {
		memcpy(o->id, id, n);
		o->id_size = (uint32_t) n;
	}
	return o;
}

struct function *function_at(const struct object *o, uint64_t offset)
{
	struct function *f = spi_hash_find(&o->functions, spi_hash_number(offset));

	while (f && f->offset != offset)
		f = spi_hash_again(&f->link);
	return f;
}

int function_set(struct object *o, uint64_t offset, const char *name)
{
	const struct function *known = function_at(o, offset);
	struct function *f;

	if (known && !strcmp(known->name, name))
		return 0;
	f = calloc(1, sizeof(*f) + strlen(name) + 1);
	if (!f)
		return -1;
	f->object = o;
	f->offset = offset;
	strcpy(f->name, name);
	spi_hash_add(&o->functions, &f->link, spi_hash_number(offset));
	return 0;
}

/* ---- places in descriptions of events ---- */

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Bytes of two digits each: how many, `most` of them kept. */
static uint32_t hex_read(const char **at, uint8_t *bytes, uint32_t most)
{
	uint32_t n = 0;

	for (; hex_digit((*at)[0]) >= 0 && hex_digit((*at)[1]) >= 0; *at += 2, n++)
		if (n < most)
			bytes[n] = (uint8_t) (hex_digit((*at)[0]) << 4 | hex_digit((*at)[1]));
	return n;
}

static void path_read(const char *from, const char *end, char *path, size_t size)
{
	size_t n = 0;

	for (; from < end && n + 1 < size; from++) {
		const int high = *from == '%' && end - from > 2 ? hex_digit(from[1]) : -1;
		const int low = high < 0 ? -1 : hex_digit(from[2]);

		path[n++] = low < 0 ? *from : (char) (high << 4 | low);
		from += low < 0 ? 0 : 2;
	}
	path[n] = 0;
}

struct object *names_place_said(struct merge *m, const char *uri, uint64_t *offset)
{
	static const char scheme[] = "spi:", with_id[] = "?build_id=", with_offset[] = "&offset=0x";
	const char *end = uri ? strstr(uri, with_id) : NULL, *at;
	uint8_t id[BUILD_ID_MOST];
	char path[4200];
	uint32_t n;

	if (!end || strncmp(uri, scheme, sizeof(scheme) - 1))
		return NULL;
	at = end + sizeof(with_id) - 1;
	n = hex_read(&at, id, sizeof(id));
	if (strncmp(at, with_offset, sizeof(with_offset) - 1))
		return NULL;
	*offset = strtoull(at + sizeof(with_offset) - 1, NULL, 16);
	path_read(uri + sizeof(scheme) - 1, end, path, sizeof(path));
	return object_of_id(m, id, n, path);
}

/* ---- names by the object's file ---- */

struct object *names_objects(const struct merge *m)
{
	return m->objects;
}

struct symbols *names_symbols(struct object *o)
{
	if (!o->symbols)
		o->symbols = symbols_open(o);
	return o->symbols;
}

int object_name_here(struct object *o, uint64_t offset, const char *name, char *text, size_t size)
{
	uint64_t begin = offset;

	return !strncmp(name, "sub_", 4) && name[4] && !name[4 + strspn(name + 4, "0123456789abcdef")] &&
		symbols_function(names_symbols(o), &begin, text, size) && begin == offset;
}

void names_place_text(struct object *o, uint64_t offset, int is_call, char *text, size_t size)
{
	size_t n;

	if (!o) {
		snprintf(text, size, "0x%" PRIx64, offset);
		return;
	}
	symbols_name(names_symbols(o), offset, is_call, text, size);
	n = strlen(text);
	snprintf(text + n, size - n, " [%s]", last_part(o->path));
}

/* ---- source lines ---- */

static char *text_keep(char **at, const char *from)
{
	char *text = *at;

	*at = stpcpy(text, from) + 1;
	text_clean(text);
	return text;
}

/* Kept for as long as the object: calls come from the same places again and again. */
static const struct source_place *place_lines(struct object *o, uint64_t offset, int is_site)
{
	const uint64_t key = offset * 2 + (uint64_t) is_site, hash = spi_hash_number(key);
	struct source_place *p = spi_hash_find(&o->places, hash);
	struct source_line lines[INLINED_MOST + 1];
	size_t size = 0;
	char *at;
	int n;

	while (p && p->key != key)
		p = spi_hash_again(&p->link);
	if (p)
		return p->count ? p : NULL;
	n = symbols_lines(names_symbols(o), offset, is_site, lines, is_site ? INLINED_MOST + 1 : 1);
	for (int i = 0; i < n; i++)
		size += strlen(lines[i].file ? lines[i].file : "") + strlen(lines[i].inlined ? lines[i].inlined : "") + 2;
	p = calloc(1, sizeof(*p) + (size_t) n * sizeof(*p->lines) + size);
	if (!p)
		return NULL;
	at = (char *) &p->lines[n];
	p->key = key;
	p->count = n;
	for (int i = 0; i < n; i++) {
		p->lines[i].line = lines[i].line;
		p->lines[i].file = text_keep(&at, lines[i].file ? lines[i].file : "");
		p->lines[i].inlined = lines[i].inlined ? text_keep(&at, lines[i].inlined) : NULL;
	}
	spi_hash_add(&o->places, &p->link, hash);
	return n ? p : NULL;
}

const struct source_place *names_line(const struct object *o, uint64_t offset)
{
	return *o->path ? place_lines((struct object *) (uintptr_t) o, offset, 0) : NULL;
}

const struct source_place *names_place_lines(struct object *o, uint64_t offset)
{
	return o ? place_lines(o, offset, 1) : NULL;
}

void objects_free(struct merge *m)
{
	for (struct object *o = m->objects, *next; o; o = next) {
		next = o->next;
		for (struct function *f = spi_hash_next(&o->functions, NULL), *after; f; f = after) {
			after = spi_hash_next(&o->functions, &f->link);
			free(f);
		}
		for (struct source_place *p = spi_hash_next(&o->places, NULL), *after; p; p = after) {
			after = spi_hash_next(&o->places, &p->link);
			free(p);
		}
		symbols_close(o->symbols);
		free(o->path);
		free(o);
	}
}
