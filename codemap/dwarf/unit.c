/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Units of debug info: their headers and bases. Units are read one after the other or, where
 * .debug_aranges tells their places, only the wanted ones.
 */
#include <stdlib.h>
#include "codemap/dwarf/dwarf.h"

#define WHOLE_MAX	(UINT64_C(128) << 20)	/* debug info up to this size stays in memory, inflated */
#define FORWARD_MAX	(UINT64_C(64) << 20)	/* how far behind the current unit a reference may lead otherwise */

enum { DW_UT_compile = 1, DW_UT_type, DW_UT_partial, DW_UT_skeleton, DW_UT_split_compile, DW_UT_split_type };

struct dw_file *dwarf_open(const struct image *image, struct dw_file *alt)
{
	struct dw_file *file = mem_alloc(sizeof(*file));

	file->image = image;
	file->alt = alt;
	file->info = image_bytes(image, ".debug_info");
	file->abbrev = image_bytes(image, ".debug_abbrev");
	if (!file->info.size || !file->abbrev.size)
		return NULL;
	file->types = image_bytes(image, ".debug_types");
	file->str = image_bytes(image, ".debug_str");
	file->line_str = image_bytes(image, ".debug_line_str");
	file->str_offsets = image_bytes(image, ".debug_str_offsets");
	file->addr = image_bytes(image, ".debug_addr");
	file->rnglists = image_bytes(image, ".debug_rnglists");
	file->ranges = image_bytes(image, ".debug_ranges");
	file->loclists = image_bytes(image, ".debug_loclists");
	file->loc = image_bytes(image, ".debug_loc");
	file->line = image_bytes(image, ".debug_line");
	file->aranges = image_bytes(image, ".debug_aranges");
	file->is_whole = !file->info.inflater || file->info.size <= WHOLE_MAX;
	return file;
}

struct dw_file *dwarf_made(const uint8_t *info, uint64_t info_size, const uint8_t *abbrev, uint64_t abbrev_size)
{
	struct dw_file *file = mem_alloc(sizeof(*file));

	file->info = (struct bytes) { .data = info, .size = info_size, .ready = info_size };
	file->abbrev = (struct bytes) { .data = abbrev, .size = abbrev_size, .ready = abbrev_size };
	file->is_whole = 1;
	return file;
}

/* Read the unit header at `offset` of `section`; NULL when it is none. */
static struct dw_unit *unit_head(struct dw_file *file, struct bytes *section, uint64_t offset)
{
	struct dw_unit *unit;
	struct cursor c;
	uint64_t length;
	uint64_t room = section->size - offset < 64 ? section->size - offset : 64;

	if (offset >= section->size || room < 12 || !bytes_have(section, offset, room))
		return NULL;
	c = (struct cursor) { section->data + offset, section->data + offset + room, 0 };
	unit = mem_alloc(sizeof(*unit));
	unit->file = file;
	unit->section = section;
	unit->offset = offset;
	unit->data = section->data + offset;
	unit->offset_size = 4;
	length = cursor_uint(&c, 4);
	if (length == UINT32_MAX) {
		length = cursor_uint(&c, 8);
		unit->offset_size = 8;
	}
	if (c.bad || length > section->size - offset - (uint64_t) (c.p - unit->data) || length > UINT32_MAX)
		return NULL;
	unit->size = length + (uint64_t) (c.p - unit->data);
	unit->version = (uint8_t) cursor_uint(&c, 2);
	if (unit->version >= 5) {
		unit->type = (uint8_t) cursor_uint(&c, 1);
		unit->is_broken = cursor_uint(&c, 1) != 8;
		unit->abbrev_offset = cursor_uint(&c, unit->offset_size);
		if (unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile)
			cursor_skip(&c, 8);
	} else {
		unit->type = section == &file->types ? DW_UT_type : DW_UT_compile;
		unit->abbrev_offset = cursor_uint(&c, unit->offset_size);
		unit->is_broken = cursor_uint(&c, 1) != 8;
	}
	if (unit->type == DW_UT_type || unit->type == DW_UT_split_type) {
		unit->signature = cursor_uint(&c, 8);
		unit->type_offset = cursor_uint(&c, unit->offset_size);
	}
	unit->header_size = (uint32_t) (c.p - unit->data);
	if (!c.bad && (unit->version < 2 || unit->version > 5))
		file->odd_version = unit->version;
	if (c.bad || unit->version < 2 || unit->version > 5 || unit->header_size > unit->size)
		unit->is_broken = 1;
	return unit;
}

struct dw_unit *dwarf_next_unit(struct dw_file *file)
{
	struct dw_unit *unit = unit_head(file, &file->info, file->next_unit);

	if (!unit)
		return NULL;
	file->next_unit = unit->offset + unit->size;
	*vec_push(&file->units) = unit;
	if (unit->type == DW_UT_type)
		*vec_push(&file->type_units) = unit;
	return unit;
}

static uint64_t root_number(const struct dw_die *root, uint16_t name, uint64_t otherwise)
{
	struct dw_value value;

	return die_attr(root, name, &value) ? value.number : otherwise;
}

int unit_open(struct dw_unit *unit)
{
	struct dw_value value;
	struct dw_die root;
	struct cursor c;
	uint64_t number;

	if (unit->is_open)
		return !unit->is_broken;
	unit->is_open = 1;
	if (unit->is_broken || unit->is_dropped || !bytes_have(unit->section, unit->offset, unit->size)) {
		unit->is_broken = 1;
		return 0;
	}
	unit->abbrevs = abbrevs_read(unit->file, unit, unit->abbrev_offset);
	c = (struct cursor) { unit->data + unit->header_size, unit->data + unit->size, 0 };
	if (unit->abbrevs)
		unit->abbrevs->users++;
	if (!unit->abbrevs || !die_read(unit, &c, &root, 0)) {
		unit->is_broken = 1;
		return 0;
	}
	unit->type = root.abbrev->tag == DW_TAG_partial_unit ? DW_UT_partial : unit->type;
	unit->str_offsets_base = root_number(&root, DW_AT_str_offsets_base, unit->offset_size == 8 ? 16 : 8);
	unit->addr_base = root_number(&root, DW_AT_addr_base, root_number(&root, DW_AT_GNU_addr_base, 8));
	unit->rnglists_base = root_number(&root, DW_AT_rnglists_base, unit->offset_size == 8 ? 20 : 12);
	unit->loclists_base = root_number(&root, DW_AT_loclists_base, unit->offset_size == 8 ? 20 : 12);
	unit->ranges_base = root_number(&root, DW_AT_GNU_ranges_base, 0);
	unit->stmt_list = root_number(&root, DW_AT_stmt_list, UINT64_MAX);
	if (die_constant(&root, DW_AT_language, &number))
		unit->language = (uint16_t) number;
	if (die_attr(&root, DW_AT_producer, &value) && value_string(&value)) {
		const char *clang = strstr(value_string(&value), "clang version ");
		const char *rustc = strstr(value_string(&value), "rustc version 1.");

		unit->clang = clang ? (uint16_t) strtoul(clang + 14, NULL, 10) : 0;
		unit->rust_release = (uint16_t) (rustc ? strtoul(rustc + 16, NULL, 10) : 0);
	}
	if (die_attr(&root, DW_AT_low_pc, &value))
		value_address(&value, &unit->low_pc);
	if (die_attr(&root, DW_AT_comp_dir, &value))
		unit->comp_dir = value_string(&value);
	if (die_attr(&root, DW_AT_dwo_name, &value) || die_attr(&root, DW_AT_GNU_dwo_name, &value)) {
		unit->split_name = value_string(&value);
		if (!unit->split_name)
			unit->split_name = "a .dwo file";
	}
	return 1;
}

/* How many of the units met begin at or before `offset`? */
static size_t units_before(const struct dw_file *file, uint64_t offset)
{
	size_t low = 0, high = file->units.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (file->units.at[middle]->offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void dwarf_jump(struct dw_file *file, const uint64_t *starts, size_t count)
{
	file->starts = starts;
	file->start_count = count;
}

/* Meet the unit that begins at `offset`, wherever that is. */
static struct dw_unit *unit_meet(struct dw_file *file, uint64_t offset)
{
	size_t place = units_before(file, offset);
	struct dw_unit *unit;

	if (place && file->units.at[place - 1]->offset == offset)
		return file->units.at[place - 1];
	unit = unit_head(file, &file->info, offset);
	if (!unit)
		return NULL;
	(void) vec_push(&file->units);
	memmove(file->units.at + place + 1, file->units.at + place,
		(file->units.count - 1 - place) * sizeof(*file->units.at));
	file->units.at[place] = unit;
	if (offset + unit->size > file->next_unit)
		file->next_unit = offset + unit->size;
	return unit;
}

struct dw_unit *dwarf_unit_at(struct dw_file *file, uint64_t offset)
{
	uint64_t from = file->next_unit;

	if (offset > from && !file->is_whole) {
		file->drop_from = bytes_skip(&file->info, file->drop_to == from ? file->drop_from : from, offset);
		file->drop_to = offset;
	}
	return unit_meet(file, offset);
}

/* The unit around `offset` that was not met, as units were jumped over. */
static struct dw_unit *unit_seek(struct dw_file *file, uint64_t offset)
{
	size_t before = units_before(file, offset), low = 0, high = file->start_count;
	uint64_t at = before ? file->units.at[before - 1]->offset + file->units.at[before - 1]->size : 0;
	struct dw_unit *unit;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (file->starts[middle] <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && file->starts[low - 1] > at)
		at = file->starts[low - 1];
	if (!file->is_whole && at < file->next_unit) {
		file->missed = 1;	/* maybe a partial unit, which walking would have kept */
		return NULL;
	}
	for (; at <= offset; at = unit->offset + unit->size) {
		unit = unit_meet(file, at);
		if (!unit || offset < unit->offset + unit->size)
			return unit;
	}
	return NULL;
}

struct dw_unit *dwarf_unit_around(struct dw_file *file, uint64_t offset)
{
	struct dw_unit *unit;
	size_t before;

	if (!file->is_whole && offset > file->next_unit && offset - file->next_unit > FORWARD_MAX)
		return NULL;
	while (offset >= file->next_unit && !file->starts)
		if (!dwarf_next_unit(file))
			return NULL;
	before = units_before(file, offset);
	unit = before ? file->units.at[before - 1] : NULL;
	if (file->starts && (!unit || offset - unit->offset >= unit->size))
		unit = unit_seek(file, offset);
	if (!unit || offset - unit->offset >= unit->size || unit->is_dropped)
		return NULL;
	return unit;
}

struct dw_unit *dwarf_unit_by_signature(struct dw_file *file, uint64_t signature)
{
	struct dw_unit *unit;
	uint64_t offset = 0;
	size_t i;

	if (file->types.size && !file->types.inflater && !file->type_units.count)
		while ((unit = unit_head(file, &file->types, offset))) {
			*vec_push(&file->type_units) = unit;
			offset += unit->size;
		}
	for (;;) {
		for (i = 0; i < file->type_units.count; i++)
			if (file->type_units.at[i]->signature == signature && !file->type_units.at[i]->is_dropped)
				return file->type_units.at[i];
		file->missed |= file->starts != NULL;
		if (!file->is_whole || file->starts || !dwarf_next_unit(file))
			return NULL;
	}
}

static void units_give_back(struct dw_file *file, const struct dw_unit *unit)
{
	uint64_t from = file->drop_to == unit->offset && unit->offset ? file->drop_from : unit->offset;

	file->drop_to = unit->offset + unit->size;
	file->drop_from = bytes_drop(&file->info, from, file->drop_to);
}

void unit_drop(struct dw_unit *unit)
{
	struct dw_file *file = unit->file;

	free(unit->nodes.at);
	memset(&unit->nodes, 0, sizeof(unit->nodes));
	unit->is_walked = 0;
	if (unit->section == &file->info)
		bytes_reached(&file->info, unit->offset + unit->size);
	if (unit->section != &file->info || unit->type == DW_UT_partial || unit->type == DW_UT_type)
		return;
	if (!file->is_whole) {
		unit->is_dropped = 1;
		/* What belongs to this unit in other sections lies in the same order there. */
		bytes_forget(&file->loclists, file->lists_read);
		bytes_forget(&file->line, file->lines_read);
		abbrevs_release(file, unit->abbrevs);
		unit->abbrevs = NULL;
	}
	if (!file->is_whole || !file->info.inflater)
		units_give_back(file, unit);
}
