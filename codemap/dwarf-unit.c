/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Units of debug info, met one after the other; their headers, bases and source files. */
#include <stdlib.h>
#include "codemap/dwarf.h"

#define WHOLE_MAX	(UINT64_C(128) << 20)	/* debug info up to this size stays in memory, inflated */
#define FORWARD_MAX	(UINT64_C(64) << 20)	/* how far behind the current unit a reference may lead otherwise */
#define FILES_MAX	100000u

enum { DW_UT_compile = 1, DW_UT_type, DW_UT_partial, DW_UT_skeleton, DW_UT_split_compile, DW_UT_split_type };

struct line_files {
	uint64_t count;
	const char **name;
};

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

		unit->has_small_int128 = clang && strtoul(clang + 14, NULL, 10) < 18;
	}
	if (die_attr(&root, DW_AT_low_pc, &value))
		value_address(&value, &unit->low_pc);
	if (die_attr(&root, DW_AT_comp_dir, &value))
		unit->comp_dir = value_string(&value);
	return 1;
}

struct dw_unit *dwarf_unit_around(struct dw_file *file, uint64_t offset)
{
	size_t low = 0, high;
	struct dw_unit *unit;

	if (!file->is_whole && offset > file->next_unit && offset - file->next_unit > FORWARD_MAX)
		return NULL;
	while (offset >= file->next_unit)
		if (!dwarf_next_unit(file))
			return NULL;
	high = file->units.count;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (file->units.at[middle]->offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	unit = low ? file->units.at[low - 1] : NULL;
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
		if (!file->is_whole || !dwarf_next_unit(file))
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

/* ---- source files ---- */

/* One entry of a version 5 directory or file list, of which only the path and the directory's number matter. */
struct line_format {
	uint64_t type, form;
};

static const char *line_form_read(struct cursor *c, struct dw_unit *unit, uint64_t form, uint64_t *number)
{
	*number = 0;
	switch (form) {
	case DW_FORM_string: return cursor_string(c);
	case DW_FORM_line_strp: return bytes_string(&unit->file->line_str, cursor_uint(c, unit->offset_size));
	case DW_FORM_strp: return bytes_string(&unit->file->str, cursor_uint(c, unit->offset_size));
	case DW_FORM_udata: *number = cursor_uleb(c); break;
	case DW_FORM_data1: *number = cursor_uint(c, 1); break;
	case DW_FORM_data2: *number = cursor_uint(c, 2); break;
	case DW_FORM_data4: *number = cursor_uint(c, 4); break;
	case DW_FORM_data8: *number = cursor_uint(c, 8); break;
	case DW_FORM_data16: cursor_skip(c, 16); break;
	case DW_FORM_block: cursor_skip(c, cursor_uleb(c)); break;
	default: c->bad = 1;
	}
	return NULL;
}

static uint64_t line_list_read(struct cursor *c, struct dw_unit *unit, const char ***names, uint64_t **numbers)
{
	struct line_format format[16];
	uint64_t formats = cursor_uint(c, 1), count, i, k;

	for (i = 0; i < formats; i++) {
		struct line_format one = { cursor_uleb(c), cursor_uleb(c) };

		if (i < 16)
			format[i] = one;
	}
	count = cursor_uleb(c);
	if (c->bad || formats > 16 || count > FILES_MAX || count > (uint64_t) (c->end - c->p)) {
		c->bad = 1;
		return 0;
	}
	*names = mem_alloc((count + 1) * sizeof(**names));
	*numbers = mem_alloc((count + 1) * sizeof(**numbers));
	for (i = 0; i < count && !c->bad; i++)
		for (k = 0; k < formats; k++) {
			uint64_t number;
			const char *text = line_form_read(c, unit, format[k].form, &number);

			if (format[k].type == 1)	/* DW_LNCT_path */
				(*names)[i] = text;
			else if (format[k].type == 2)	/* DW_LNCT_directory_index */
				(*numbers)[i] = number;
		}
	return count;
}

static const char *path_join(const char *dir, const char *name)
{
	if (!name)
		return NULL;
	if (name[0] == '/' || !dir || !dir[0])
		return name;
	return mem_format("%s/%s", dir, name);
}

static void lines_read_5(struct cursor *c, struct dw_unit *unit, struct line_files *files)
{
	const char **dirs = NULL, **names = NULL;
	uint64_t *unused = NULL, *dir = NULL, dir_count, count, i;

	dir_count = line_list_read(c, unit, &dirs, &unused);
	count = c->bad ? 0 : line_list_read(c, unit, &names, &dir);
	files->name = mem_alloc((count + 1) * sizeof(*files->name));
	files->count = count;
	for (i = 0; i < count; i++)
		files->name[i] = path_join(dir[i] && dir[i] < dir_count ? dirs[dir[i]] : NULL, names[i]);
}

static void lines_read_4(struct cursor *c, struct line_files *files)
{
	struct vec_of(const char *) dirs = { 0 }, names = { 0 };
	const char *text;

	*vec_push(&dirs) = NULL;
	while (*(text = cursor_string(c)) && dirs.count < FILES_MAX)
		*vec_push(&dirs) = text;
	*vec_push(&names) = NULL;
	while (*(text = cursor_string(c)) && names.count < FILES_MAX) {
		uint64_t dir = cursor_uleb(c);

		cursor_uleb(c);
		cursor_uleb(c);
		*vec_push(&names) = path_join(dir < dirs.count ? dirs.at[dir] : NULL, text);
	}
	files->name = names.at;
	files->count = names.count;
}

static struct line_files *lines_read(struct dw_unit *unit)
{
	struct line_files *files = mem_alloc(sizeof(*files));
	struct bytes *line = &unit->file->line;
	struct dw_unit reader = *unit;
	struct cursor c;
	uint64_t length;
	uint8_t opcodes;

	if (!bytes_have(line, unit->stmt_list, 16))
		return files;
	if (unit->stmt_list > unit->file->lines_read)
		unit->file->lines_read = unit->stmt_list;
	c = (struct cursor) { line->data + unit->stmt_list, line->data + line->size, 0 };
	c.end = c.p + 12;
	length = cursor_uint(&c, 4);
	reader.offset_size = length == UINT32_MAX ? 8 : 4;
	if (length == UINT32_MAX)
		length = cursor_uint(&c, 8);
	if (!bytes_have(line, (uint64_t) (c.p - line->data), length))
		return files;
	c.end = c.p + length;
	reader.version = (uint8_t) cursor_uint(&c, 2);
	if (reader.version >= 5)
		cursor_skip(&c, 2);
	length = cursor_uint(&c, reader.offset_size);
	if (length < (uint64_t) (c.end - c.p))
		c.end = c.p + length;
	cursor_skip(&c, reader.version >= 4 ? 5 : 4);
	opcodes = (uint8_t) cursor_uint(&c, 1);
	cursor_skip(&c, opcodes ? opcodes - 1u : 0);
	if (c.bad || reader.version < 2 || reader.version > 5)
		return files;
	if (reader.version == 5)
		lines_read_5(&c, &reader, files);
	else
		lines_read_4(&c, files);
	return files;
}

const char *unit_file_name(struct dw_unit *unit, uint64_t file)
{
	if (!unit->lines)
		unit->lines = lines_read(unit);
	return file < unit->lines->count ? unit->lines->name[file] : NULL;
}
