/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The points, by address. They are never freed: threads may be in their stubs,
 * lttng-ust has pointers to their descriptors.
 *
 * A point of an object that was unloaded is put away. When the same object comes
 * back the point comes back too, with its events, which must
 * not be registered twice; it only has to be prepared again, as others may have
 * been at its address meanwhile. A program that loads and unloads one library for
 * ever so costs a stub a time, and no event types. To another address a point comes back if its
 * memory is in reach from there, and unless it is one of compact records, which have told the address.
 *
 * What a rule asks for (an event at each end, one event a call, compact records; by which of its names; how much of a string)
 * is the point's for good, as its events are. So a function that is traced in one form and later in another has a point of each; the one that is
 * called is in front.
 */
#include <errno.h>
#include <string.h>
#include "codemap/map/check.h"
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/calls/calls.h"

#define HASH_SIZE	16384u
#define FORM		(SPI_POINT_ONE_EVENT | SPI_POINT_COMPACT | SPI_POINT_GENERIC | SPI_POINT_CLIENTS | SPI_POINT_LIBCALLS)

static struct spi_point *hash[HASH_SIZE];
static struct spi_point *put_away;	/* by next_hash */

static struct spi_point **bucket(uint64_t address)
{
	return &hash[(address >> 4 ^ address >> 16) % HASH_SIZE];
}

struct spi_point *spi_point_find(uint64_t address)
{
	struct spi_point *p = *bucket(address);

	while (p && p->address != address)
		p = p->next_hash;
	return p;
}

static int is_same_function(const struct spi_point *p, const struct spi_object *object, uint64_t address, uint32_t flags)
{
	if (p->object == object)
		return p->address == address;
	return p->address - p->object->bias == address - object->bias && !(flags & SPI_POINT_COMPACT) &&
		spi_object_is_same_file(p->object, object) && spi_near_has(object, p);
}

/* Does it record as a rule of this form does that has the function by this name? Numbers of further functions do not count. */
static int has_events(const struct spi_point *p, uint32_t form, const char *event)
{
	size_t n = strcspn(event, "@");

	if (form & SPI_POINT_CLIENTS)
		return (p->flags & FORM) == form;
	return (p->flags & FORM) == form && n == strcspn(p->event_name, "@") && !strncmp(event, p->event_name, n);
}

/* Addresses have no strings. */
static uint16_t strings_of(uint32_t form)
{
	return form & (SPI_POINT_COMPACT | SPI_POINT_GENERIC | SPI_POINT_CLIENTS) ? 0 : (uint16_t) spi_string_max;
}

static int is_of_form(const struct spi_point *p, uint32_t form, const char *event)
{
	return has_events(p, form, event) && p->string_max == strings_of(form);
}

static struct spi_point *point_of_old(const struct spi_object *object, uint64_t address, uint32_t form, const char *event)
{
	for (struct spi_point **at = &put_away, *p; (p = *at); at = &p->next_hash)
		if (is_of_form(p, form, event) && is_same_function(p, object, address, form)) {
			*at = p->next_hash;
			p->patch = NULL;
			p->lent_to = NULL;
			p->tree_todo = 0;
			p->body = 0;
			return p;
		}
	return NULL;
}

/* How many bytes of a vector register the function's events look at. */
static uint32_t vector_bytes(const struct spi_point *p)
{
	const struct spi_map_field *field = SPI_MAP_AT(p->map, fields, struct spi_map_field, p->func->field_first);
	uint32_t most = 0;

	for (uint32_t i = 0; i < (uint32_t) p->func->field_count + p->func->ret_count; i++) {
		uint32_t many = field[i].kind == SPI_KIND_TEXT || field[i].kind == SPI_KIND_INT_ARRAY ? field[i].length : 1;
		uint32_t end = (uint32_t) field[i].offset + field[i].size * many;

		if (field[i].place == SPI_PLACE_XMM && end > most)
			most = end;
	}
	return most;
}

static struct spi_point *point_of_form(uint64_t address, uint32_t form, const char *event)
{
	struct spi_point *p = spi_point_find(address);

	while (p && (p->address != address || !is_of_form(p, form, event)))
		p = p->next_hash;
	return p;
}

static void point_place(struct spi_point *p, struct spi_object *object, uint64_t address, uint32_t form)
{
	const struct spi_map *map = p->map;
	uint32_t vectors = form & (SPI_POINT_COMPACT | SPI_POINT_CLIENTS) ? 0 : vector_bytes(p);
	struct spi_point **at = bucket(address);

	p->address = address;
	spi_thread_thunks(p, (map->head->flags & SPI_MAP_USES_YMM) || vectors > 16,
		(map->head->flags & SPI_MAP_USES_ZMM) || vectors > 32);
	if (form & (SPI_POINT_COMPACT | SPI_POINT_CLIENTS))
		spi_thread_thunks_words(p, SPI_WORDS_NO);
	p->string_max = strings_of(form);
	p->flags = form | (p->func->flags & SPI_FUNC_LOOPS_TO_ENTRY ? SPI_POINT_LOOPS : 0);
	p->object = object;
	while (*at)
		at = &(*at)->next_hash;
	p->next_hash = NULL;
	*at = p;
	object->points++;
}

struct spi_point *spi_point_generic(const struct spi_point *point)
{
	struct spi_point *p = point_of_form(point->address, SPI_POINT_GENERIC, point->event_name);

	if (p)
		return p;
	p = point_of_old(point->object, point->address, SPI_POINT_GENERIC, point->event_name);
	if (p)
		point_place(p, point->object, point->address, SPI_POINT_GENERIC);
	return p;
}

static struct spi_point *point_new(struct spi_object *object, const struct spi_map *map, const struct spi_map_func *func,
	uint32_t form, const char *event)
{
	uint64_t address = func->vaddr + object->bias;
	struct spi_point *p;

	spi_near_reserve(object, 0, 0);		/* what is in reach is known then */
	p = point_of_old(object, address, form, event);
	if (!p) {
		p = spi_near_alloc(object, sizeof(*p), 64);
		if (!p)
			return NULL;
		p->event_name = event;
		p->func = func;
		p->map = map;
		p->events_of = form & SPI_POINT_CLIENTS ? NULL : spi_point_find(address);
		while (p->events_of && !(p->events_of->address == address && p->events_of->payload && has_events(p->events_of, form, event)))
			p->events_of = p->events_of->next_hash;
	}
	point_place(p, object, address, form);
	return p;
}

struct spi_point *spi_point_for(struct spi_object *object, const struct spi_map *map, const struct spi_map_func *func,
	uint32_t flags, const char *event)
{
	uint64_t address = func->vaddr + object->bias;
	uint32_t form = flags & SPI_POINT_FOR_CLIENTS ? SPI_POINT_CLIENTS :
		(flags & SPI_RULE_ONE_EVENT ? SPI_POINT_ONE_EVENT : 0) | (flags & SPI_RULE_COMPACT ? SPI_POINT_COMPACT : 0) |
		(flags & SPI_POINT_LIBCALLS);
	struct spi_point *p = spi_point_find(address);

	if (p && (p->flags & SPI_POINT_CLIENTS) && !(form & SPI_POINT_CLIENTS) && spi_point_behind)
		p = spi_point_behind(p);

	/* As long as a rule is in force others record what it does: by the name that it has, or by addresses where it has very many. */
	if (p && p->users && (p->flags & SPI_POINT_GENERIC ? !(form & (SPI_POINT_COMPACT | SPI_POINT_CLIENTS)) : (p->flags & FORM) == form))
		return p;
	p = point_of_form(address, form, event);
	return p ? p : point_new(object, map, func, form, event);
}

struct spi_point *(*spi_point_behind)(const struct spi_point *clients);

void spi_point_to_front(struct spi_point *point)
{
	struct spi_point *called = spi_point_find(point->address), **at = bucket(point->address);
	uint64_t before;

	if (called == point)
		return;
	before = spi_patch_lock();		/* threads of the program look for points under it */
	spi_patch_pass(called, point);
	while (*at != point)
		at = &(*at)->next_hash;
	*at = point->next_hash;
	at = bucket(point->address);
	point->next_hash = *at;
	*at = point;
	spi_patch_unlock(before);
}

void spi_points_forget(struct spi_object *object)
{
	object->points = 0;
	for (uint32_t i = 0; i < HASH_SIZE; i++)
		for (struct spi_point **at = &hash[i], *p; (p = *at);) {
			if (p->object != object) {
				at = &p->next_hash;
				continue;
			}
			*at = p->next_hash;
			p->users = p->installed = 0;
			p->next_hash = put_away;
			put_away = p;
		}
}

struct spi_point *spi_points_next(const struct spi_object *object, struct spi_point *after)
{
	struct spi_point *p = after ? after->next_hash : NULL;
	uint32_t i = after ? (uint32_t) (bucket(after->address) - hash) : UINT32_MAX;

	if (!object->points)	/* as most of those have that were unloaded, of which there may be hundreds */
		return NULL;
	for (;;) {
		for (; p; p = p->next_hash)
			if (p->object == object)
				return p;
		if (++i == HASH_SIZE)
			return NULL;
		p = hash[i];
	}
}

uint32_t spi_points_write(struct spi_point **points, uint32_t n, const char **errors, int install)
{
	for (int tries = 0; n && tries < 100; tries++) {
		uint32_t kept = 0;

		if ((install ? spi_patch_install : spi_patch_remove)(points, n, errors) != -EAGAIN)
			break;
		spi_participants_run(objects_gone);
		for (uint32_t i = 0; i < n; i++)
			if ((points[i]->flags & SPI_POINT_APART) || spi_point_find(points[i]->address) == points[i])
				points[kept++] = points[i];
		n = kept;
	}
	return n;
}
