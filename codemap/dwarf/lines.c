/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Source file names, from the headers of line tables. */
#include "codemap/dwarf/dwarf.h"

#define FILES_MAX	100000u

struct line_files {
	uint64_t count;
	const char **name;
};

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

	if (!unit->file->is_whole && line->inflater && unit->stmt_list < line->size && unit->stmt_list > line->gone) {
		line->dropped = bytes_skip(line, line->dropped, unit->stmt_list);
		line->gone = unit->stmt_list;
	}
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
