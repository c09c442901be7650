/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Objects, as payloads see them, and the functions in them. The objects of the dynamic linker come first, then the
 * regions that parsers have given.
 */
#include <errno.h>
#include <string.h>
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/tree/made.h"
#include "liblttng-spi/tree/tree.h"
#include "liblttng-spi/api/internal.h"

SPI_API const char *spi_object_name(const struct spi_object *object)
{
	return object ? object->name : "";
}

SPI_API const char *spi_object_path(const struct spi_object *object)
{
	return object ? object->path : "";
}

SPI_API uint64_t spi_object_base(const struct spi_object *object)
{
	return object ? object->bias : 0;
}

SPI_API int spi_object_text(const struct spi_object *object, uint64_t *low, uint64_t *high)
{
	*low = object ? object->code_low : 0;
	*high = object ? object->code_high : 0;
	return *high ? 0 : -ENOENT;
}

SPI_API struct spi_object *spi_object_executable(void)
{
	return spi_objects_list();
}

static struct spi_object *loaded(struct spi_object *object)
{
	while (object && !object->seen)
		object = object->next;
	return object;
}

SPI_API struct spi_object *spi_object_next(const struct spi_object *object)
{
	struct spi_object *next;

	if (object && object->is_made)
		return loaded(object->next);
	next = loaded(object ? object->next : spi_objects_list());
	return next ? next : loaded(__atomic_load_n(&spi_made_objects, __ATOMIC_ACQUIRE));
}

SPI_API struct spi_object *spi_object_at(uint64_t address)
{
	struct spi_object *object = NULL;

	while ((object = spi_object_next(object)) && (address < object->low || address >= object->high))
		;
	return object;
}

/* ---- their functions ---- */

static const struct spi_map *map_of(const struct spi_object *object)
{
	return __atomic_load_n(&object->whole, __ATOMIC_ACQUIRE);
}

struct parse {
	struct spi_object *object;
	char error[256];
};

/* Under the control lock. A rule that loads the payload's file has a controller, which is asked for the map. */
static int parse(void *data)
{
	struct parse *p = data;
	struct spi_link *link = spi_client_loading_arguments ? spi_link_current : NULL;
	struct spi_map *map;
	int r;

	if (map_of(p->object))
		return 0;
	map = spi_alloc(sizeof(*map));
	if (!map)
		return -ENOMEM;
	r = spi_map_fetch_tree(link, p->object, map, p->error, sizeof(p->error));
	if (r < 0)
		return -ENOTSUP;
	__atomic_store_n(&p->object->whole, map, __ATOMIC_RELEASE);
	return 0;
}

SPI_API int spi_object_parse(struct spi_object *object)
{
	struct parse p = { .object = object };
	int r;

	if (!object || !object->seen)
		return -EINVAL;
	r = map_of(object) ? 0 : spi_api_control(parse, &p);
	if (p.error[0])
		spi_note("%s is not analysed: %s", object->name, p.error);
	return r;
}

/* Linkage stubs, and parts of functions, are none. */
static int is_function(const struct spi_map *map, uint32_t index)
{
	const struct spi_map_func *f = SPI_MAP_AT(map, funcs, struct spi_map_func, index);

	return f->reason != SPI_REASON_PLT && f->reason != SPI_REASON_PART && f->reason != SPI_REASON_NO_CODE;
}

SPI_API int spi_object_functions(struct spi_object *object, int (*each)(struct spi_function *function, void *data),
	void *data)
{
	const struct spi_map *map = object ? map_of(object) : NULL;
	int r = map ? 0 : -ENODATA;

	for (uint32_t i = 0; map && r == 0 && i < map->head->funcs.count; i++) {
		struct spi_function *f = is_function(map, i) ? spi_function_in_map(object, map, i) : NULL;

		r = f ? each(f, data) : 0;
	}
	return r;
}

/* ---- by name ---- */

static struct spi_function *find_in(struct spi_object *object, const char *name)
{
	const struct spi_map *map = map_of(object);
	const struct spi_map_func *funcs = map ? SPI_MAP_AT(map, funcs, struct spi_map_func, 0) : NULL;
	uint64_t address;
	int64_t index;

	for (uint32_t i = 0; map && i < map->head->funcs.count; i++)
		if (is_function(map, i) && !strcmp(spi_map_string(map, funcs[i].name), name))
			return spi_function_in_map(object, map, i);
	address = map && !object->is_made ? (uint64_t) spi_symbol_beside(name, object->low) : 0;
	index = address ? spi_map_func_at(map, address - object->bias) : -1;
	return index < 0 ? NULL : spi_function_in_map(object, map, (uint64_t) index);
}

SPI_API struct spi_function *spi_function_find(struct spi_object *object, const char *linkage_name)
{
	struct spi_function *found = NULL;

	if (object || !linkage_name)
		return linkage_name ? find_in(object, linkage_name) : NULL;
	for (struct spi_object *o = spi_object_next(NULL); o && !found; o = spi_object_next(o))
		found = find_in(o, linkage_name);
	return found;
}

static long find_all_in(struct spi_object *object, const char *name, struct spi_function **functions, size_t room,
	long n)
{
	const struct spi_map *map = map_of(object);
	const size_t size = strlen(name);

	for (uint32_t i = 0; map && i < map->head->funcs.count; i++) {
		const struct spi_map_func *func = SPI_MAP_AT(map, funcs, struct spi_map_func, i);
		const char *shown = spi_map_string(map, func->pretty);
		struct spi_function *f;

		if (!*shown)
			shown = spi_map_string(map, func->name);
		if (!is_function(map, i) || strncmp(shown, name, size) ||
				(shown[size] && spi_tree_name_size(shown) != size))
			continue;
		f = spi_function_in_map(object, map, i);
		if (f && (size_t) n < room)
			functions[n] = f;
		n += f != NULL;
	}
	return n;
}

SPI_API long spi_functions_find(struct spi_object *object, const char *name, struct spi_function **functions,
	size_t room)
{
	long n = object ? find_all_in(object, name, functions, room, 0) : 0;

	for (struct spi_object *o = object ? NULL : spi_object_next(NULL); o; o = spi_object_next(o))
		n = find_all_in(o, name, functions, room, n);
	return n;
}
