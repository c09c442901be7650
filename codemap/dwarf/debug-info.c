/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The debug info of one object: opening it, and telling what of it cannot be read, and why. That
 * there is none at all is not told here.
 */
#include "codemap/dwarf/debug-info.h"
#include "codemap/map/marks.h"

struct dw_file *debug_open(const struct object *object)
{
	struct dw_file *alt, *file;

	if (object->wants_marks)
		marks_begin(object->marks_in, object->marks_key);
	alt = object->alt ? dwarf_open(object->alt, NULL) : NULL;

	if (alt)
		alt->is_whole = 1;
	file = dwarf_open(object->debug ? object->debug : object->image, alt);
	if (file)
		file->walk_only = object->walk_only;
	return file;
}

static void section_judge(struct object *object, const char *what, const struct image *image, struct bytes *bytes,
			  const char *name)
{
	const char *why = image_bytes_refusal(image, name);

	if (!why && bytes && bytes_are_cut(bytes))
		why = "its compressed contents are broken";
	if (why)
		debug_lose(object, what, "%s%s%s: %s", image == object->image ? "" : image->name,
			   image == object->image ? "" : ": ", name, why);
}

void debug_judge(struct object *object, struct dw_file *file, int none)
{
	const struct image *image = object->debug ? object->debug : object->image;
	const char *what = none ? "no types" : "not all types";
	struct {
		const char *name;
		struct bytes *bytes;
	} list[] = {
		{ ".debug_info", file ? &file->info : NULL }, { ".debug_abbrev", file ? &file->abbrev : NULL },
		{ ".debug_str", file ? &file->str : NULL }, { ".debug_line_str", file ? &file->line_str : NULL },
		{ ".debug_str_offsets", file ? &file->str_offsets : NULL }, { ".debug_addr", file ? &file->addr : NULL },
		{ ".debug_loclists", file ? &file->loclists : NULL }, { ".debug_loc", file ? &file->loc : NULL },
		{ ".debug_rnglists", file ? &file->rnglists : NULL }, { ".debug_ranges", file ? &file->ranges : NULL },
		{ ".debug_types", file ? &file->types : NULL },
	};
	size_t i;

	if (!object->debug && image_section(image, ".stab") && !file)
		debug_lose(object, what, "debug info in the format stabs, not DWARF");
	for (i = 0; i < sizeof(list) / sizeof(*list); i++)
		section_judge(object, what, image, list[i].bytes, list[i].name);
	if (!file)
		return;
	if (file->split_count == 1)
		debug_lose(object, what, "split debug info, %s", file->split_name);
	else if (file->split_count)
		debug_lose(object, what, "split debug info, %s and %u more", file->split_name, file->split_count - 1);
	if (file->odd_version)
		debug_lose(object, what, "DWARF of version %u", file->odd_version);
}
