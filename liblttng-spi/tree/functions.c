/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the trace is told of the functions whose calls are recorded as addresses: name, size and object, as the code map
 * has them. A reader that has only the file may find less there: no name in a stripped one, one without its scope in debug info.
 *
 * The event module says it of a function as its first call is recorded (tp/describe/function.c), and notes that in the function's record.
 * For a channel that begins to listen later, whoever is told of that first, in the middle of a call, asks the control thread,
 * which goes through the records here.
 */
#include <string.h>
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/internal.h"

static void function_fill(const struct spi_object *object, const struct spi_map *map, const struct spi_map_func *func,
	uint8_t *said, struct spi_function_told *f)
{
	*f = (struct spi_function_told) { .base = object->low, .path = object->path, .address = func->vaddr + object->bias,
		.size = func->size, .name = spi_map_string(map, func->pretty), .said = said };
	f->name_size = (uint32_t) strlen(f->name);
	for (uint32_t i = 0; i < 8 && i < object->build_id_size; i++)
		f->build_id |= (uint64_t) object->build_id[i] << (56 - 8 * i);
}

static void tree_function_fill(struct spi_tree_object *to, uint64_t index, struct spi_function_told *f)
{
	function_fill(to->object, &to->map, spi_tree_map_func(to, index), &to->funcs[index].said, f);
	f->is_tree = 1;
}

static void point_function_fill(const struct spi_point *point, struct spi_function_told *f)
{
	function_fill(point->object, point->map, point->func, (uint8_t *) &point->said, f);
	if (f->name_size && f->name[f->name_size - 1] == ')')	/* else it is no prototype */
		f->name_size = (uint32_t) spi_tree_name_size(f->name);
}

/* spi_core_ops.function_of: any thread, any state */
int spi_function_of(const struct spi_point *point, struct spi_function_told *f)
{
	struct spi_tree_object *to;
	int64_t index;

	if (!(point->flags & SPI_POINT_TREE)) {
		if (!point->func || !point->map)
			return -1;
		point_function_fill(point, f);
		return 0;
	}
	to = spi_tree_object_at(point->address);
	index = to ? spi_tree_func_at(to, point->address) : -1;
	if (index < 0 || !spi_tree_func_is_good(to, (uint64_t) index))
		return -1;
	tree_function_fill(to, (uint64_t) index, f);
	return 0;
}

static uint32_t asked;

/* spi_core_ops.functions_ask: any thread of the program */
void spi_functions_ask(void)
{
	if (!__atomic_exchange_n(&asked, 1, __ATOMIC_ACQ_REL))
		spi_control_ring();
}

void spi_functions_say(void)
{
	struct spi_function_told f;

	if (!__atomic_exchange_n(&asked, 0, __ATOMIC_ACQ_REL) || !spi_payload || !spi_payload->function_say)
		return;
	for (struct spi_tree_object *to = spi_tree_objects; to; to = to->next)
		for (uint32_t i = 0; !to->gone && i < to->map.head->funcs.count; i++)
			if (to->funcs[i].said) {
				tree_function_fill(to, i, &f);
				spi_payload->function_say(&f);
			}
	for (const struct spi_object *o = spi_objects_list(); o; o = o->next)
		for (struct spi_point *p = NULL; o->seen && (p = spi_points_next(o, p));)
			if (p->said) {
				point_function_fill(p, &f);
				spi_payload->function_say(&f);
			}
}

void spi_functions_child_begins(void)
{
	asked = 0;
}
