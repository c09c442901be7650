/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Finds the debug info of wanted functions. .debug_aranges tells which units must be read, where
 * there is one; else each unit's own ranges do. Units without a wanted function are passed over,
 * and the search ends with the last wanted function.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "codemap/types/search.h"
#include "codemap/types/unused-result.h"

#define JUMP_MIN	(UINT64_C(32) << 20)
#define AHEAD_MIN	(UINT64_C(1) << 20)	/* less is not worth a thread */
#define AHEAD_INFO	(UINT64_C(16) << 20)
#define AHEAD_OTHER	(UINT64_C(4) << 20)

struct search {
	struct dw_file *file;
	struct functions *functions;
	struct tables *tables;
	uint64_t open;			/* wanted functions that have no prototype yet */
	struct dw_aranges aranges;
	struct vec_of(uint64_t) needed;	/* unit offsets, ascending: they hold wanted functions */
	struct vec_of(uint64_t) listed;	/* unit offsets that .debug_aranges knows, ascending */
	int all_listed;			/* all wanted functions are in `needed` units */
	uint64_t last;			/* no unit behind this offset is needed */
};

static int is_open(const struct function *f)
{
	return f->wanted && !f->reason && !f->type;
}

static int offset_compare(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *) x, b = *(const uint64_t *) y;

	return a < b ? -1 : a > b;
}

static int offsets_have(const uint64_t *list, size_t count, uint64_t offset)
{
	return count && bsearch(&offset, list, count, sizeof(*list), offset_compare) != NULL;
}

static void needed_find(struct search *search)
{
	struct dw_aranges *ranges = &search->aranges;
	size_t i, k = 0;

	if (!aranges_read(search->file, ranges))
		return;
	search->all_listed = 1;
	for (i = 0; i < ranges->count; i++)
		*vec_push(&search->listed) = ranges->at[i].unit_offset;
	for (i = 0; i < search->functions->list.count; i++) {
		const struct function *f = &search->functions->list.at[i];

		if (!is_open(f))
			continue;
		while (k < ranges->count && ranges->at[k].low <= f->vaddr)
			k++;
		if (k && ranges->at[k - 1].high > f->vaddr)
			*vec_push(&search->needed) = ranges->at[k - 1].unit_offset;
		else
			search->all_listed = 0;
	}
	qsort(search->listed.at, search->listed.count, sizeof(uint64_t), offset_compare);
	if (search->needed.count)
		qsort(search->needed.at, search->needed.count, sizeof(uint64_t), offset_compare);
}

static int range_has_open(const struct search *search, uint64_t low, uint64_t high)
{
	const struct function *f, *end = search->functions->list.at + search->functions->list.count;

	if (low >= high)
		return 0;
	f = functions_around(search->functions, high - 1);
	for (; f && f >= search->functions->list.at && f < end && f->vaddr >= low; f--)
		if (is_open(f))
			return 1;
	return 0;
}

/* By the unit's own root entry. Units that say nothing of their addresses may hold anything. */
static int unit_may_hold(const struct search *search, struct dw_unit *unit)
{
	struct dw_ranges ranges = { 0 };
	struct dw_value value;
	struct dw_die root;
	uint64_t low, size;
	size_t i;
	int hit = 0;

	if (!unit_open(unit) || !die_root(unit, &root))
		return 0;
	if (root.abbrev->tag != DW_TAG_compile_unit && root.abbrev->tag != DW_TAG_skeleton_unit)
		return 0;
	if (die_attr(&root, DW_AT_ranges, &value)) {
		ranges_read(&value, &ranges);
		for (i = 0; i < ranges.count && !hit; i++)
			hit = range_has_open(search, ranges.at[i].low, ranges.at[i].high);
		free(ranges.at);
		return hit;
	}
	if (die_entry_pc(&root, &low, &size) && size)
		return range_has_open(search, low, low + size);
	return root.abbrev->has_children;
}

static int unit_is_needed(const struct search *search, struct dw_unit *unit)
{
	if (!search->listed.count)
		return unit_may_hold(search, unit);
	if (offsets_have(search->needed.at, search->needed.count, unit->offset))
		return 1;
	return !search->all_listed && !offsets_have(search->listed.at, search->listed.count, unit->offset) &&
	       unit_may_hold(search, unit);
}

static void unit_collect(struct search *search, struct dw_unit *unit)
{
	size_t i;

	unit_walk(unit);
	if (unit->split_name && unit_may_hold(search, unit) && !search->file->split_count++)
		search->file->split_name = unit->split_name;
	for (i = 0; i < unit->nodes.count; i++) {
		struct function *f;
		struct dw_die die;
		uint64_t low, size;

		if (!unit->nodes.at[i].is_code || !die_at(unit, unit->nodes.at[i].offset, &die) ||
		    !die_entry_pc(&die, &low, &size))
			continue;
		f = functions_at(search->functions, low);
		if (!f || !is_open(f))
			continue;
		f->type = prototype_read(&die, search->functions, f, search->tables);
		if (!f->size)
			f->size = size;
		search->open--;
	}
	results_check(unit, search->functions, search->tables);
}

/* Wanted units are known, and so large a distance apart that looking at all headers between them costs something. */
static int units_can_jump(const struct search *search)
{
	const struct dw_file *file = search->file;

	return search->all_listed && search->needed.count && file->info.inflater && file->info.size > JUMP_MIN &&
	       !file->walk_only;
}

static void units_jump(struct search *search)
{
	struct dw_file *file = search->file;
	size_t i;

	dwarf_jump(file, search->listed.at, search->listed.count);
	for (i = 0; i < search->needed.count && search->open; i++) {
		struct dw_unit *unit;

		if (i && search->needed.at[i] == search->needed.at[i - 1])
			continue;
		unit = dwarf_unit_at(file, search->needed.at[i]);
		if (!unit)
			_exit(EXIT_WALK);
		if (!unit->is_broken)
			unit_collect(search, unit);
		unit_drop(unit);
	}
	if (file->missed)
		_exit(EXIT_WALK);
}

/*
 * What will be asked for is inflated by other threads while this one waits for debug
 * info or reads it. Units' strings and lists lie in the order of the units.
 */
static void read_ahead(struct dw_file *file, uint64_t last)
{
	uint64_t size = file->info.size, part;
	struct bytes *others[] = { &file->str, &file->loclists };
	int few = last < size;
	size_t i;

	if (last < AHEAD_MIN)
		return;
	if (last >= file->info.start)	/* else marks lead there */
		bytes_read_ahead(&file->info, 0, last < AHEAD_INFO ? AHEAD_OTHER : AHEAD_INFO);
	for (i = 0; i < sizeof(others) / sizeof(*others); i++) {
		/* A single unit's place in the others is guessed; units read one after the other lead their threads. */
		part = few ? (uint64_t) ((double) others[i]->size * ((double) last / (double) size)) : AHEAD_OTHER;
		if (others[i]->size > AHEAD_MIN && part > others[i]->start + AHEAD_MIN)
			bytes_read_ahead(others[i], part, AHEAD_OTHER);
	}
}

struct search *collect_begin(struct dw_file *file, struct functions *functions, struct tables *tables)
{
	struct search *search = mem_alloc(sizeof(*search));
	size_t i;

	search->file = file;
	search->functions = functions;
	search->tables = tables;
	search->last = UINT64_MAX;
	for (i = 0; i < functions->list.count; i++)
		search->open += is_open(&functions->list.at[i]);
	if (!search->open)
		return search;
	needed_find(search);
	if (search->all_listed && search->needed.count)
		search->last = search->needed.at[search->needed.count - 1];
	read_ahead(file, search->last);
	return search;
}

void collect_finish(struct search *search)
{
	struct dw_file *file = search->file;
	size_t i;

	if (search->open && units_can_jump(search)) {
		units_jump(search);
		return;
	}
	for (i = 0; search->open; i++) {
		struct dw_unit *unit = i < file->units.count ? file->units.at[i] : dwarf_next_unit(file);

		if (!unit || unit->offset > search->last)
			break;
		if (!unit->is_broken && unit_is_needed(search, unit))
			unit_collect(search, unit);
		unit_drop(unit);
	}
}

static uint32_t string_copy(const struct spi_map_header *from, uint32_t offset, struct tables *to)
{
	return strings_add(&to->strings, (const char *) from + from->strings.offset + offset);
}

static uint32_t enum_copy(const struct spi_map_header *from, uint32_t index, struct tables *to, uint32_t *known)
{
	const struct spi_map_enum *e =
		(const struct spi_map_enum *) ((const uint8_t *) from + from->enums.offset) + index;
	const struct spi_map_label *label =
		(const struct spi_map_label *) ((const uint8_t *) from + from->labels.offset) + e->label_first;
	struct spi_map_enum *copy;
	uint32_t i;

	if (known[index])
		return known[index] - 1;
	copy = vec_push(&to->enums);
	*copy = *e;
	copy->name = string_copy(from, e->name, to);
	copy->label_first = (uint32_t) to->labels.count;
	for (i = 0; i < e->label_count; i++) {
		struct spi_map_label *l = vec_push(&to->labels);

		*l = label[i];
		l->name = string_copy(from, label[i].name, to);
	}
	known[index] = (uint32_t) to->enums.count;
	return known[index] - 1;
}

static void prototype_copy(const struct spi_map_header *from, const struct spi_map_func *func,
			   const struct functions *functions, struct function *f, struct tables *to, uint32_t *known)
{
	const struct spi_map_field *field =
		(const struct spi_map_field *) ((const uint8_t *) from + from->fields.offset) + func->field_first;
	struct prototype *prototype = mem_alloc(sizeof(*prototype));
	const char *pretty = (const char *) from + from->strings.offset + func->pretty;
	struct function listed = { .name = functions->aliases.at[f->alias_first].name };
	size_t size;
	uint32_t i;

	/* It was printed under the function's best name, which need not be the one asked for; parameters follow that.
	 */
	function_name(&listed);
	size = strlen(listed.base);
	if (!strncmp(pretty, listed.base, size) && pretty[size] == '(') {
		const char *end = strrchr(pretty, ')');	/* a mark of the result's may follow, which has none */

		if (end > pretty + size)
			prototype->parameters = mem_string(pretty + size + 1, (size_t) (end - pretty) - size - 1);
	}
	prototype->flags = func->flags & ~(uint32_t) (SPI_FUNC_IFUNC | SPI_FUNC_NO_SYMBOL);
	prototype->field_first = (uint32_t) to->fields.count;
	prototype->field_count = func->field_count;
	prototype->ret_count = func->ret_count;
	prototype->source = string_copy(from, func->source, to);
	for (i = 0; i < (uint32_t) func->field_count + func->ret_count; i++) {
		struct spi_map_field copy = field[i];

		copy.name = string_copy(from, copy.name, to);
		copy.type_name = string_copy(from, copy.type_name, to);
		if (copy.enum_index != SPI_MAP_NONE)
			copy.enum_index = enum_copy(from, copy.enum_index, to, known);
		*vec_push(&to->fields) = copy;
	}
	f->type = prototype;
}

void collect_cached(const struct spi_map_header *types, struct functions *functions, struct tables *tables)
{
	const struct spi_map_func *func = (const struct spi_map_func *) ((const uint8_t *) types + types->funcs.offset);
	uint32_t *known = mem_alloc((types->enums.count + 1) * sizeof(*known)), i;

	for (i = 0; i < types->funcs.count; i++) {
		struct function *f = functions_at(functions, func[i].vaddr);

		if (f && is_open(f) && f->alias_count && (func[i].flags & SPI_FUNC_HAS_DWARF))
			prototype_copy(types, &func[i], functions, f, tables, known);
	}
}
