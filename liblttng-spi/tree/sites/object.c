/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What a call tree knows of an object: its map, complete before the first of its
 * sites is changed (a signal handler cannot wait for one), where its code is, and
 * for each function and site what has been made of it. Tables of pointers, whose
 * pages come as they are touched.
 *
 * Objects are found by address from any thread, without a lock: the list only
 * grows at its head, and one that was unloaded stays in it, marked.
 */
#include "codemap/map/check.h"
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/tree/sites/internal.h"

struct spi_tree_object *spi_tree_objects;
const struct spi_tree_calls *spi_tree_calls;

struct spi_tree_object *spi_tree_object_at(uint64_t address)
{
	struct spi_tree_object *to = __atomic_load_n(&spi_tree_objects, __ATOMIC_ACQUIRE);

	while (to && (address < to->low || address >= to->high || to->gone))
		to = to->next;
	return to;
}

int64_t spi_tree_func_at(const struct spi_tree_object *to, uint64_t address)
{
	return spi_map_func_at(&to->map, address - to->object->bias);
}

int64_t spi_tree_func_around(const struct spi_tree_object *to, uint64_t address)
{
	uint64_t vaddr = address - to->object->bias;
	int64_t i = spi_map_func_below(&to->map, vaddr);
	const struct spi_map_func *func = i >= 0 ? spi_tree_map_func(to, (uint64_t) i) : NULL;

	return func && vaddr - func->vaddr < (func->size ? func->size : 1) ? i : -1;
}

int spi_tree_func_is_good(struct spi_tree_object *to, uint64_t index)
{
	struct spi_tree_func *func = &to->funcs[index];

	if (!func->look)
		func->look = spi_map_func_is_good(&to->map, index) ? 1 : 2;
	return func->look == 1;
}

const struct spi_tree_text *spi_tree_text_at(const struct spi_tree_object *to, uint64_t address)
{
	for (uint32_t i = 0; i < to->text_count; i++)
		if (address >= to->text[i].low && address < to->text[i].high)
			return &to->text[i];
	return NULL;
}

const char *spi_tree_func_name(const struct spi_tree_object *to, uint64_t index)
{
	const struct spi_map_func *func = spi_tree_map_func(to, index);

	return spi_map_string(&to->map, func->name);
}

const char *spi_tree_func_shown(const struct spi_tree_object *to, uint64_t index)
{
	return spi_map_string(&to->map, spi_tree_map_func(to, index)->pretty);
}

const char *spi_map_func_unfit(const struct spi_map *map, uint64_t index)
{
	const struct spi_map_func *func = SPI_MAP_AT(map, funcs, struct spi_map_func, index);

	switch (func->reason) {
	case SPI_REASON_RETURNS_TWICE:
	case SPI_REASON_PROCESS_ENTRY:
	case SPI_REASON_SIGNAL_RETURN:
	case SPI_REASON_PART:
	case SPI_REASON_PLT:
	case SPI_REASON_NO_CODE:
	case SPI_REASON_OTHER_ABI:
	case SPI_REASON_MANAGED:
		return spi_map_reason_name(func->reason);
	default:		/* what keeps a point from its entry does not matter to calls of it */
		return spi_map_func_asks_caller(map, func);
	}
}

/* Asked of each call that leads to the function: the answer is remembered when it is the usual one. */
const char *spi_tree_func_unfit(const struct spi_tree_object *to, uint64_t index)
{
	const char *why = to->funcs[index].is_fit == SPI_FIT_YES ? NULL : spi_map_func_unfit(&to->map, index);

	if (!why)
		to->funcs[index].is_fit = SPI_FIT_YES;
	return why;
}

/* What the compiler puts into every object, and has nothing to tell. */
int spi_tree_func_is_usual(const struct spi_tree_object *to, int64_t func)
{
	static const char *const usual[] = { "_init", "_fini", "frame_dummy", "__do_global_dtors_aux", NULL };

	return func < 0 || spi_text_is_of(spi_tree_func_name(to, (uint64_t) func), usual, 1);
}
