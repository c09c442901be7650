/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Range lists, location lists, .debug_addr and .debug_aranges: what debug info says about addresses. */
#include <stdlib.h>
#include "codemap/dwarf/dwarf.h"

#define LIST_MAX	100000u		/* entries of one list */

int unit_address(struct dw_unit *unit, uint64_t index, uint64_t *address)
{
	struct bytes *addr = &unit->file->addr;
	uint64_t at = unit->addr_base + index * 8;

	if (index > UINT32_MAX || !bytes_have(addr, at, 8))
		return 0;
	memcpy(address, addr->data + at, 8);
	return 1;
}

/* Where the list of an offset or index value begins in `section`; 0: nowhere. */
static int list_offset(
	const struct dw_value *value, struct bytes *section, uint64_t base, uint16_t index_form, uint64_t *at)
{
	const struct dw_unit *unit = value->unit;
	uint64_t relative = 0, slot;

	if (value->form != index_form) {
		*at = value->number;
		return value->form == DW_FORM_sec_offset || value->form == DW_FORM_data4 ||
		       value->form == DW_FORM_data8;
	}
	if (value->number > UINT32_MAX)
		return 0;
	slot = base + value->number * unit->offset_size;
	if (!bytes_have(section, slot, unit->offset_size))
		return 0;
	memcpy(&relative, section->data + slot, unit->offset_size);
	*at = base + relative;
	return 1;
}

static int list_cursor(struct dw_file *file, struct bytes *section, uint64_t at, struct cursor *c)
{
	uint64_t have;

	if (!bytes_have(section, at, 1))
		return 0;
	have = bytes_run(section, at, 1u << 16);	/* lists are short: this holds any that is looked at here */
	*c = (struct cursor) { section->data + at, section->data + at + have, 0 };
	if (section == &file->loclists && at > file->lists_read)
		file->lists_read = at;
	return 1;
}

static void range_add(struct dw_ranges *ranges, struct dw_unit *unit, uint64_t low, uint64_t high)
{
	struct dw_range *range;

	if (low >= high)
		return;
	range = vec_push(ranges);
	range->low = low;
	range->high = high;
	range->unit = unit;
}

/* Kinds of version 5 list entries. Location lists have one more in the middle; see list_kind(). */
enum {
	LIST_end, LIST_base_addressx, LIST_startx_endx, LIST_startx_length, LIST_offset_pair, LIST_base_address,
	LIST_start_end, LIST_start_length, LIST_default, LIST_view_pair,
};

/* The next entry's kind, whichever of the two lists it is in. */
static uint8_t list_kind(struct cursor *c, int is_location)
{
	uint8_t kind = (uint8_t) cursor_uint(c, 1);

	if (!is_location)
		return kind <= LIST_start_length ? kind : LIST_end;
	switch (kind) {
	case 5: return LIST_default;
	case 6: case 7: case 8: return (uint8_t) (kind - 1);
	case 9: return LIST_view_pair;		/* a GNU addition */
	}
	return kind <= LIST_offset_pair ? kind : LIST_end;
}

/* One entry. 0: the end. 1: a range, low >= high when it is an empty one. 2: something else. */
static int list_entry_5(
	struct cursor *c, struct dw_unit *unit, uint64_t *base, int is_location, uint64_t *low, uint64_t *high)
{
	uint64_t first, second;
	uint8_t kind = list_kind(c, is_location);

	*low = *high = 0;
	switch (kind) {
	case LIST_base_addressx:
		first = cursor_uleb(c);
		unit_address(unit, first, base);
		return c->bad ? 0 : 2;
	case LIST_base_address:
		*base = cursor_uint(c, 8);
		return c->bad ? 0 : 2;
	case LIST_view_pair:
		cursor_uleb(c);
		cursor_uleb(c);
		return c->bad ? 0 : 2;
	case LIST_default:
		*high = UINT64_MAX;
		return !c->bad;
	case LIST_startx_endx: case LIST_startx_length:
		first = cursor_uleb(c);
		second = cursor_uleb(c);
		if (!unit_address(unit, first, low))
			return !c->bad;
		if (kind == LIST_startx_length)
			*high = *low + second;
		else
			unit_address(unit, second, high);
		return !c->bad;
	case LIST_offset_pair:
		*low = *base + cursor_uleb(c);
		*high = *base + cursor_uleb(c);
		return !c->bad;
	case LIST_start_end:
		*low = cursor_uint(c, 8);
		*high = cursor_uint(c, 8);
		return !c->bad;
	case LIST_start_length:
		*low = cursor_uint(c, 8);
		*high = *low + cursor_uleb(c);
		return !c->bad;
	}
	return 0;
}

void ranges_read(const struct dw_value *value, struct dw_ranges *ranges)
{
	struct dw_unit *unit = value->unit;
	struct dw_file *file = unit->file;
	uint64_t base = unit->low_pc, low, high, at;
	struct cursor c;
	unsigned int n;

	if (unit->version >= 5) {
		if (!list_offset(value, &file->rnglists, unit->rnglists_base, DW_FORM_rnglistx, &at) ||
		    !list_cursor(file, &file->rnglists, at, &c))
			return;
		for (n = 0; n < LIST_MAX && list_entry_5(&c, unit, &base, 0, &low, &high); n++)
			range_add(ranges, unit, low, high);
		return;
	}
	if (!list_offset(value, &file->ranges, 0, 0, &at) ||
		!list_cursor(file, &file->ranges, at + unit->ranges_base, &c))
		return;
	for (n = 0; n < LIST_MAX; n++) {
		low = cursor_uint(&c, 8);
		high = cursor_uint(&c, 8);
		if (c.bad || (!low && !high))
			return;
		if (low == UINT64_MAX)
			base = high;
		else
			range_add(ranges, unit, base + low, base + high);
	}
}

static int location_find_5(struct cursor *c, struct dw_unit *unit, uint64_t pc, struct cursor *expression)
{
	uint64_t base = unit->low_pc, low, high, size;
	unsigned int n;
	int entry;

	for (n = 0; n < LIST_MAX && (entry = list_entry_5(c, unit, &base, 1, &low, &high)); n++) {
		if (entry == 2)
			continue;
		size = cursor_uleb(c);
		*expression = (struct cursor) { c->p, c->p, 0 };
		cursor_skip(c, size);
		if (c->bad)
			return 0;
		expression->end = c->p;
		if (low <= pc && pc < high)
			return 1;
	}
	return 0;
}

static int location_find_4(struct cursor *c, struct dw_unit *unit, uint64_t pc, struct cursor *expression)
{
	uint64_t base = unit->low_pc, low, high, size;
	unsigned int n;

	for (n = 0; n < LIST_MAX; n++) {
		low = cursor_uint(c, 8);
		high = cursor_uint(c, 8);
		if (c->bad || (!low && !high))
			return 0;
		if (low == UINT64_MAX) {
			base = high;
			continue;
		}
		size = cursor_uint(c, 2);
		*expression = (struct cursor) { c->p, c->p, 0 };
		cursor_skip(c, size);
		if (c->bad)
			return 0;
		expression->end = c->p;
		if (base + low <= pc && pc < base + high)
			return 1;
	}
	return 0;
}

int location_at(const struct dw_value *value, uint64_t pc, struct cursor *expression, int *always)
{
	struct dw_unit *unit = value->unit;
	struct dw_file *file = unit->file;
	struct cursor c;
	uint64_t at;

	*always = 0;
	if (value->form == DW_FORM_exprloc || value->form == DW_FORM_block || value->form == DW_FORM_block1 ||
	    value->form == DW_FORM_block2 || value->form == DW_FORM_block4) {
		*expression = (struct cursor) { value->block, value->block + value->size, 0 };
		*always = 1;
		return 1;
	}
	if (unit->version >= 5) {
		if (!list_offset(value, &file->loclists, unit->loclists_base, DW_FORM_loclistx, &at) ||
		    !list_cursor(file, &file->loclists, at, &c))
			return -1;
		return location_find_5(&c, unit, pc, expression);
	}
	if (!list_offset(value, &file->loc, 0, 0, &at) || !list_cursor(file, &file->loc, at, &c))
		return -1;
	return location_find_4(&c, unit, pc, expression);
}

static int arange_compare(const void *x, const void *y)
{
	const struct dw_arange *a = x, *b = y;

	return a->low < b->low ? -1 : a->low > b->low;
}

int aranges_read(struct dw_file *file, struct dw_aranges *aranges)
{
	struct bytes *bytes = &file->aranges;
	struct cursor c;

	c = (struct cursor) { bytes->data, bytes->data, 0 };
	if (bytes->size)
		c.end += bytes_run(bytes, 0, bytes->size);
	while (c.p < c.end && !c.bad) {
		const uint8_t *begin = c.p, *next;
		uint64_t length = cursor_uint(&c, 4), unit, low, size;
		unsigned int offset_size = length == UINT32_MAX ? 8 : 4;

		if (offset_size == 8)
			length = cursor_uint(&c, 8);
		if (c.bad || length > (uint64_t) (c.end - c.p))
			break;
		next = c.p + length;
		cursor_skip(&c, 2);
		unit = cursor_uint(&c, offset_size);
		if (cursor_uint(&c, 1) != 8 || cursor_uint(&c, 1)) {
			c.p = next;
			continue;
		}
		while ((c.p - begin) % 16)
			cursor_skip(&c, 1);
		while (c.p + 16 <= next) {
			low = cursor_uint(&c, 8);
			size = cursor_uint(&c, 8);
			if (!low && !size)
				break;
			if (size && low + size > low) {
				struct dw_arange *a = vec_push(aranges);

				a->low = low;
				a->high = low + size;
				a->unit_offset = unit;
			}
		}
		c.p = next;
	}
	if (aranges->count)
		qsort(aranges->at, aranges->count, sizeof(*aranges->at), arange_compare);
	return aranges->count != 0;
}
