/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Functions, as payloads see them. A function that was asked for once has a record for ever, found by its
 * address and its object; records are added without a lock, as any thread in any state may ask.
 */
#include <string.h>
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/tree.h"
#include "liblttng-spi/api/internal.h"

#define BUCKETS		4096u

struct spi_function {
	struct spi_function *next;
	struct spi_object *object;
	const struct spi_map *map;
	const struct spi_map_func *func;
	uint64_t address;
	const char *name;
	const char *reason;
};

static struct spi_function *functions[BUCKETS];

static struct spi_function **bucket(uint64_t address)
{
	return &functions[(address >> 4 ^ address >> 16) % BUCKETS];
}

/* A prototype ("name(int a)") without its parameters: a copy. */
static const char *name_of(const struct spi_map *map, const struct spi_map_func *func)
{
	const char *name = spi_map_string(map, func->pretty);
	size_t n = strlen(name), size;
	char *copy;

	if (!n)
		return spi_map_string(map, func->name);
	if (name[n - 1] != ')')
		return name;
	size = spi_tree_name_size(name);
	copy = spi_alloc(size + 1);
	if (!copy)
		return name;
	memcpy(copy, name, size);
	return copy;
}

/* is_whole: the map has all functions of the object, also those that are never instrumented. */
static struct spi_function *function_get(struct spi_object *object, const struct spi_map *map,
	const struct spi_map_func *func, int is_whole)
{
	uint64_t address = func->vaddr + object->bias;
	struct spi_function **first = bucket(address), *f, *old;

	for (f = __atomic_load_n(first, __ATOMIC_ACQUIRE); f; f = f->next)
		if (f->address == address && f->object == object)
			return f;
	f = spi_alloc(sizeof(*f));
	if (!f)
		return NULL;
	f->object = object;
	f->map = map;
	f->func = func;
	f->address = address;
	f->name = name_of(map, func);
	if (is_whole)
		f->reason = spi_map_func_unfit(map, (uint64_t) (func - SPI_MAP_AT(map, funcs, struct spi_map_func, 0)));
	old = __atomic_load_n(first, __ATOMIC_ACQUIRE);
	do
		f->next = old;
	while (!__atomic_compare_exchange_n(first, &old, f, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE));
	return f;
}

struct spi_function *spi_function_in_map(struct spi_object *object, const struct spi_map *map, uint64_t index)
{
	return function_get(object, map, SPI_MAP_AT(map, funcs, struct spi_map_func, index), 1);
}

static struct spi_function *function_in_tree(uint64_t address, int is_start)
{
	struct spi_tree_object *to = spi_tree_object_at(address);
	int64_t i = !to ? -1 : is_start ? spi_tree_func_at(to, address) : spi_tree_func_around(to, address);

	if (i < 0 || !spi_tree_func_is_good(to, (uint64_t) i))
		return NULL;
	return spi_function_in_map(to->object, &to->map, (uint64_t) i);
}

/* In an object that was asked for, and that no tree goes into. */
static struct spi_function *function_in_object(uint64_t address)
{
	struct spi_object *object = spi_object_at(address);
	const struct spi_map *map = object ? __atomic_load_n(&object->whole, __ATOMIC_ACQUIRE) : NULL;
	const int64_t i = map ? spi_map_func_below(map, address - object->bias) : -1;
	const struct spi_map_func *f = i < 0 ? NULL : SPI_MAP_AT(map, funcs, struct spi_map_func, i);

	if (!f || address - object->bias - f->vaddr >= (f->size ? f->size : 1))
		return NULL;
	return spi_function_in_map(object, map, (uint64_t) i);
}

struct spi_function *spi_function_of_point(const struct spi_point *point)
{
	if (point->flags & SPI_POINT_TREE)
		return function_in_tree(point->address, 1);
	return point->func && point->map ? function_get(point->object, point->map, point->func, 0) : NULL;
}

struct spi_function *spi_function_begins_at(uint64_t address)
{
	return function_in_tree(address, 1);
}

SPI_API struct spi_function *spi_function_at(uint64_t address)
{
	const struct spi_point *point;
	struct spi_function *f = function_in_tree(address, 0);

	if (f)
		return f;
	point = spi_point_find(address);
	if (point)
		return spi_function_of_point(point);
	return spi_tree_object_at(address) ? NULL : function_in_object(address);
}

SPI_API const char *spi_function_name(const struct spi_function *f)
{
	return f ? f->name : "";
}

SPI_API const char *spi_function_mangled_name(const struct spi_function *f)
{
	return f ? spi_map_string(f->map, f->func->name) : "";
}

SPI_API uint64_t spi_function_address(const struct spi_function *f)
{
	return f ? f->address : 0;
}

SPI_API uint64_t spi_function_size(const struct spi_function *f)
{
	return f ? f->func->size : 0;
}

const struct spi_map *spi_function_map(const struct spi_function *f, const struct spi_map_func **func)
{
	*func = f ? f->func : NULL;
	return f ? f->map : NULL;
}

SPI_API struct spi_object *spi_function_object(const struct spi_function *f)
{
	return f ? f->object : NULL;
}

SPI_API const char *spi_function_reason(const struct spi_function *f)
{
	return f ? f->reason : NULL;
}

SPI_API const char *spi_function_source(const struct spi_function *f)
{
	const struct spi_map *detail = f ? __atomic_load_n(&f->object->detail, __ATOMIC_ACQUIRE) : NULL;
	const char *own = f ? spi_map_string(f->map, f->func->source) : "";
	const int64_t i = detail && !*own ? spi_map_func_at(detail, f->func->vaddr) : -1;

	return i < 0 ? own : spi_map_string(detail, SPI_MAP_AT(detail, funcs, struct spi_map_func, i)->source);
}
