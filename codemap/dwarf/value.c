/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Values of attributes: constants, strings, addresses, and references to other entries, whatever their form. */
#include <stdlib.h>
#include "codemap/dwarf/dwarf.h"

#define ORIGIN_DEPTH	8

int die_attr_origin(const struct dw_die *die, uint16_t name, struct dw_value *value)
{
	struct dw_die at = *die, next;
	int depth;

	for (depth = 0; depth < ORIGIN_DEPTH; depth++) {
		if (die_attr(&at, name, value))
			return 1;
		if (!die_ref(&at, DW_AT_abstract_origin, &next) && !die_ref(&at, DW_AT_specification, &next))
			return 0;
		at = next;
	}
	return 0;
}

int value_constant(const struct dw_value *value, uint64_t *number)
{
	switch (value->form) {
	case DW_FORM_data1: case DW_FORM_data2: case DW_FORM_data4: case DW_FORM_data8: case DW_FORM_sdata:
	case DW_FORM_udata: case DW_FORM_implicit_const: case DW_FORM_flag: case DW_FORM_flag_present:
		*number = value->number;
		return 1;
	}
	return 0;
}

int die_flag(const struct dw_die *die, uint16_t name)
{
	struct dw_value value;

	return die_attr(die, name, &value) && value.number;
}

int die_constant(const struct dw_die *die, uint16_t name, uint64_t *number)
{
	struct dw_value value;

	return die_attr(die, name, &value) && value_constant(&value, number);
}

/* A string by its index in .debug_str_offsets. */
static const char *string_indexed(const struct dw_value *value)
{
	struct dw_unit *unit = value->unit;
	struct dw_file *file = unit->file;
	uint64_t at, offset = 0;

	if (value->number > UINT32_MAX)
		return NULL;
	at = unit->str_offsets_base + value->number * unit->offset_size;
	if (!bytes_have(&file->str_offsets, at, unit->offset_size))
		return NULL;
	memcpy(&offset, file->str_offsets.data + at, unit->offset_size);
	return bytes_string(&file->str, offset);
}

const char *value_string(const struct dw_value *value)
{
	struct dw_file *file = value->unit->file;

	switch (value->form) {
	case DW_FORM_string:
		return (const char *) value->block;
	case DW_FORM_strp:
		return bytes_string(&file->str, value->number);
	case DW_FORM_line_strp:
		return bytes_string(&file->line_str, value->number);
	case DW_FORM_strp_sup: case DW_FORM_GNU_strp_alt:
		return file->alt ? bytes_string(&file->alt->str, value->number) : NULL;
	case DW_FORM_strx: case DW_FORM_strx1: case DW_FORM_strx2: case DW_FORM_strx3: case DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
		return string_indexed(value);
	}
	return NULL;
}

const char *die_name(const struct dw_die *die)
{
	struct dw_value value;

	return die_attr(die, DW_AT_name, &value) ? value_string(&value) : NULL;
}

int value_address(const struct dw_value *value, uint64_t *address)
{
	switch (value->form) {
	case DW_FORM_addr:
		*address = value->number;
		return 1;
	case DW_FORM_addrx: case DW_FORM_addrx1: case DW_FORM_addrx2: case DW_FORM_addrx3: case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		return unit_address(value->unit, value->number, address);
	}
	return 0;
}

int value_die(const struct dw_value *value, struct dw_die *target)
{
	struct dw_unit *unit = value->unit;
	uint64_t offset = value->number;

	switch (value->form) {
	case DW_FORM_ref1: case DW_FORM_ref2: case DW_FORM_ref4: case DW_FORM_ref8: case DW_FORM_ref_udata:
		return die_at(unit, offset, target);
	case DW_FORM_ref_addr:
		unit = dwarf_unit_around(unit->file, offset);
		return unit && die_at(unit, offset - unit->offset, target);
	case DW_FORM_GNU_ref_alt: case DW_FORM_ref_sup4: case DW_FORM_ref_sup8:
		unit = unit->file->alt ? dwarf_unit_around(unit->file->alt, offset) : NULL;
		return unit && die_at(unit, offset - unit->offset, target);
	case DW_FORM_ref_sig8:
		unit = dwarf_unit_by_signature(unit->file, offset);
		return unit && die_at(unit, unit->type_offset, target);
	}
	return 0;
}

int die_ref(const struct dw_die *die, uint16_t name, struct dw_die *target)
{
	struct dw_value value;

	return die_attr(die, name, &value) && value_die(&value, target);
}

int die_entry_pc(const struct dw_die *die, uint64_t *low, uint64_t *size)
{
	struct dw_ranges ranges = { 0 };
	struct dw_value value;
	uint64_t high;

	*size = 0;
	if (die_attr(die, DW_AT_low_pc, &value)) {
		if (!value_address(&value, low))
			return 0;
		if (die_attr(die, DW_AT_high_pc, &value)) {
			if (value_constant(&value, &high))
				*size = high;
			else if (value_address(&value, &high) && high > *low)
				*size = high - *low;
		}
		return 1;
	}
	if (die_attr(die, DW_AT_entry_pc, &value) && value_address(&value, low))
		return 1;
	if (!die_attr(die, DW_AT_ranges, &value))
		return 0;
	ranges_read(&value, &ranges);
	if (ranges.count) {
		*low = ranges.at[0].low;
		*size = ranges.at[0].high - ranges.at[0].low;
	}
	high = ranges.count;
	free(ranges.at);
	return high != 0;
}
