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
 */
#include "codemap/map-check.h"
#include "liblttng-spi/instrument.h"
#include "liblttng-spi/patch-internal.h"

#define HASH_SIZE	16384u

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

static struct spi_point *point_of_old(const struct spi_object *object, uint64_t address, uint32_t flags)
{
	for (struct spi_point **at = &put_away, *p; (p = *at); at = &p->next_hash)
		if (!((p->flags ^ flags) & (SPI_POINT_ONE_EVENT | SPI_POINT_COMPACT)) && is_same_function(p, object, address, flags)) {
			*at = p->next_hash;
			p->patch = NULL;
			p->lent_to = NULL;
			p->tree_todo = 0;
			p->body = 0;
			return p;
		}
	return NULL;
}

struct spi_point *spi_point_new(struct spi_object *object, const struct spi_map *map, const struct spi_map_func *func,
	uint32_t flags, const char *event)
{
	uint64_t address = func->vaddr + object->bias;
	uint32_t point_flags = func->flags & SPI_FUNC_LOOPS_TO_ENTRY ? SPI_POINT_LOOPS : 0;
	struct spi_point *p, **at;

	point_flags |= flags & SPI_RULE_ONE_EVENT ? SPI_POINT_ONE_EVENT : 0;
	point_flags |= flags & SPI_RULE_COMPACT ? SPI_POINT_COMPACT : 0;
	spi_near_reserve(object, 0, 0);		/* what is in reach is known then */
	p = point_of_old(object, address, point_flags);
	if (!p) {
		p = spi_near_alloc(object, sizeof(*p), 64);
		if (!p)
			return NULL;
		p->event_name = event;
		p->func = func;
		p->map = map;
	}
	p->address = address;
	spi_thread_thunks(p, map->head->flags & SPI_MAP_USES_YMM, map->head->flags & SPI_MAP_USES_ZMM);
	if (point_flags & SPI_POINT_COMPACT)
		spi_thread_thunks_words(p, SPI_WORDS_NO);
	p->flags = point_flags;
	p->object = object;
	at = bucket(address);
	p->next_hash = *at;
	*at = p;
	object->points++;
	return p;
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
