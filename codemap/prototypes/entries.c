/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A unit of debug info, written entry by entry. An entry refers to entries written before it, and never to one behind
 * it, but for a struct's pointers to itself, which lead to the entry of its declaration.
 */
#include "codemap/prototypes/internal.h"

#define DWARF_VERSION	4
#define HEADER_BYTES	11
#define DW_LANG_C99	0x0c

static void add_uleb(struct text *to, uint64_t value)
{
	do {
		text_add_char(to, (char) ((value & 0x7f) | (value > 0x7f ? 0x80 : 0)));
		value >>= 7;
	} while (value);
}

static void add_sleb(struct text *to, int64_t value)
{
	int more;

	do {
		uint8_t byte = (uint8_t) value & 0x7f;

		value >>= 7;
		more = !((value == 0 && !(byte & 0x40)) || (value == -1 && (byte & 0x40)));
		text_add_char(to, (char) (more ? byte | 0x80 : byte));
	} while (more);
}

/* Is the attribute there? */
static int attr_is_there(const struct entry_attr *a)
{
	if (a->form == DW_FORM_string)
		return a->text != NULL;
	return a->form == DW_FORM_ref4 ? a->number != 0 : !a->is_absent;
}

/* The code of the abbreviation with this tag and these attributes; they are few. */
static uint64_t abbrev_code(struct unit_writer *w, uint16_t tag, int has_children, const struct entry_attr *attrs,
			    unsigned int count)
{
	struct text *shape = &w->shape;
	size_t i;

	shape->count = 0;
	add_uleb(shape, tag);
	text_add_char(shape, (char) has_children);
	for (i = 0; i < count; i++)
		if (attr_is_there(&attrs[i])) {
			add_uleb(shape, attrs[i].name);
			add_uleb(shape, attrs[i].form);
		}
	for (i = 0; i < w->shapes.count; i++)
		if (w->shapes.at[i].count == shape->count && !memcmp(w->shapes.at[i].at, shape->at, shape->count))
			return i + 1;
	add_uleb(&w->abbrevs, w->shapes.count + 1);
	text_add_bytes(&w->abbrevs, shape->at, shape->count);
	text_add_bytes(&w->abbrevs, "\0\0", 2);
	*vec_push(&w->shapes) = *shape;
	*shape = (struct text) { 0 };
	return w->shapes.count;
}

uint32_t unit_entry(struct unit_writer *w, uint16_t tag, int has_children, const struct entry_attr *attrs, unsigned int count)
{
	uint32_t at = (uint32_t) w->info.count;
	unsigned int i;

	add_uleb(&w->info, abbrev_code(w, tag, has_children, attrs, count));
	for (i = 0; i < count; i++) {
		const struct entry_attr *a = &attrs[i];
		uint32_t entry = (uint32_t) a->number;

		if (!attr_is_there(a))
			continue;
		if (a->form == DW_FORM_string)
			text_add_bytes(&w->info, a->text, strlen(a->text) + 1);
		else if (a->form == DW_FORM_ref4)
			text_add_bytes(&w->info, (const char *) &entry, sizeof(entry));
		else if (a->form == DW_FORM_udata)
			add_uleb(&w->info, a->number);
		else if (a->form == DW_FORM_sdata)
			add_sleb(&w->info, (int64_t) a->number);
	}
	return at;
}

void unit_children_end(struct unit_writer *w)
{
	text_add_char(&w->info, 0);
}

void unit_begin(struct unit_writer *w)
{
	static const char header[HEADER_BYTES] = { [4] = DWARF_VERSION, [10] = 8 };

	memset(w, 0, sizeof(*w));
	text_add_bytes(&w->info, header, sizeof(header));
	UNIT_ENTRY(w, DW_TAG_compile_unit, 1, ATTR_NUMBER(DW_AT_language, DW_LANG_C99));
}

struct dw_unit *unit_finish(struct unit_writer *w)
{
	uint32_t length;

	unit_children_end(w);
	text_add_char(&w->abbrevs, 0);
	length = (uint32_t) w->info.count - 4;
	memcpy(w->info.at, &length, sizeof(length));
	return dwarf_next_unit(dwarf_made((const uint8_t *) w->info.at, w->info.count,
					  (const uint8_t *) w->abbrevs.at, w->abbrevs.count));
}
