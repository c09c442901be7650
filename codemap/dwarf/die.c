/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Debugging information entries (DIEs) and their attributes. Listing a large program steps over
 * tens of millions of entries to find the few that are functions. So each abbreviation is turned
 * once into a short program that steps over the attributes, with runs of fixed-size ones joined.
 */
#include <stdlib.h>
#include "codemap/dwarf/dwarf.h"

enum { STEP_FIXED, STEP_ULEB, STEP_STRING, STEP_BLOCK1, STEP_BLOCK2, STEP_BLOCK4, STEP_BLOCK, STEP_INDIRECT };

#define ABBREVS_MAX	1000000u

/* How many bytes does a form have? Fixed: the size, and *how = STEP_FIXED. -1: unknown form. */
static int form_step(uint16_t form, const struct dw_unit *unit, uint8_t *how)
{
	*how = STEP_FIXED;
	switch (form) {
	case DW_FORM_flag_present: case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1: case DW_FORM_ref1: case DW_FORM_flag: case DW_FORM_strx1: case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2: case DW_FORM_ref2: case DW_FORM_strx2: case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3: case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4: case DW_FORM_ref4: case DW_FORM_strx4: case DW_FORM_addrx4: case DW_FORM_ref_sup4:
		return 4;
	case DW_FORM_addr: case DW_FORM_data8: case DW_FORM_ref8: case DW_FORM_ref_sig8: case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_ref_addr:
		return unit->version <= 2 ? 8 : unit->offset_size;
	case DW_FORM_strp: case DW_FORM_sec_offset: case DW_FORM_strp_sup: case DW_FORM_line_strp:
	case DW_FORM_GNU_ref_alt: case DW_FORM_GNU_strp_alt:
		return unit->offset_size;
	case DW_FORM_sdata: case DW_FORM_udata: case DW_FORM_ref_udata: case DW_FORM_strx: case DW_FORM_addrx:
	case DW_FORM_loclistx: case DW_FORM_rnglistx: case DW_FORM_GNU_addr_index: case DW_FORM_GNU_str_index:
		*how = STEP_ULEB;
		return 0;
	case DW_FORM_string:
		*how = STEP_STRING;
		return 0;
	case DW_FORM_block1:
		*how = STEP_BLOCK1;
		return 0;
	case DW_FORM_block2:
		*how = STEP_BLOCK2;
		return 0;
	case DW_FORM_block4:
		*how = STEP_BLOCK4;
		return 0;
	case DW_FORM_block: case DW_FORM_exprloc:
		*how = STEP_BLOCK;
		return 0;
	case DW_FORM_indirect:
		*how = STEP_INDIRECT;
		return 0;
	}
	return -1;
}

static void steps_add(struct dw_abbrevs *table, struct dw_abbrev *abbrev, uint8_t how, uint32_t fixed)
{
	struct dw_step *last = abbrev->step_count ? &table->steps.at[table->steps.count - 1] : NULL;

	if (how == STEP_FIXED && (!fixed || (last && last->how == STEP_FIXED))) {
		if (last && fixed)
			last->fixed += fixed;
		if (last || !fixed)
			return;
	}
	last = vec_push(&table->steps);
	last->how = how;
	last->fixed = fixed;
	abbrev->step_count++;
}

static int tag_is_scope(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_class_type: case DW_TAG_structure_type: case DW_TAG_union_type: case DW_TAG_interface_type:
	case DW_TAG_enumeration_type: case DW_TAG_typedef: case DW_TAG_namespace: case DW_TAG_subprogram:
		return 1;
	}
	return 0;
}

struct dw_abbrevs *abbrevs_read(struct dw_file *file, const struct dw_unit *unit, uint64_t offset)
{
	struct dw_abbrevs *table;
	struct cursor c;
	uint64_t have;
	size_t i;

	for (i = file->tables.count; i > 0 && i + 16 > file->tables.count; i--)
		if (file->tables.at[i - 1]->offset == offset)
			return file->tables.at[i - 1];
	have = bytes_run(&file->abbrev, offset, UINT64_MAX);
	if (!have)
		return NULL;
	c = (struct cursor) { file->abbrev.data + offset, file->abbrev.data + offset + have, 0 };
	table = mem_alloc(sizeof(*table));
	table->offset = offset;
	for (;;) {
		uint64_t code = cursor_uleb(&c);
		struct dw_abbrev *abbrev;

		if (!code)
			break;
		if (c.bad || code > ABBREVS_MAX || table->list.count > ABBREVS_MAX)
			return NULL;
		abbrev = vec_push(&table->list);
		memset(abbrev, 0, sizeof(*abbrev));
		while (table->index.count <= code)
			*vec_push(&table->index) = 0;
		table->index.at[code] = (uint32_t) table->list.count;
		abbrev->tag = (uint16_t) cursor_uleb(&c);
		abbrev->has_children = cursor_uint(&c, 1) != 0;
		abbrev->is_scope = (uint8_t) tag_is_scope(abbrev->tag);
		abbrev->attr_first = (uint32_t) table->attrs.count;
		abbrev->step_first = (uint32_t) table->steps.count;
		for (;;) {
			uint64_t name = cursor_uleb(&c), form = cursor_uleb(&c);
			struct dw_attr *attr;
			uint8_t how;
			int fixed;

			if (c.bad)
				return NULL;
			if (!name && !form)
				break;
			attr = vec_push(&table->attrs);
			attr->name = (uint16_t) name;
			attr->form = (uint16_t) form;
			attr->constant = form == DW_FORM_implicit_const ? cursor_sleb(&c) : 0;
			fixed = form > UINT16_MAX ? -1 : form_step((uint16_t) form, unit, &how);
			if (fixed < 0 || abbrev->attr_count == UINT16_MAX)
				return NULL;
			abbrev->attr_count++;
			steps_add(table, abbrev, how, (uint32_t) fixed);
			if (abbrev->tag == DW_TAG_subprogram &&
			    (name == DW_AT_low_pc || name == DW_AT_ranges || name == DW_AT_entry_pc))
				abbrev->is_code = 1;
		}
	}
	if (c.bad)
		return NULL;
	*vec_push(&file->tables) = table;
	return table;
}

/* A unit that had used it is gone; with the last one, the table goes. */
void abbrevs_release(struct dw_file *file, struct dw_abbrevs *table)
{
	size_t i;

	if (!table || --table->users)
		return;
	for (i = file->tables.count; i-- > 0;)
		if (file->tables.at[i] == table) {
			file->tables.at[i] = file->tables.at[--file->tables.count];
			break;
		}
	free(table->list.at);
	free(table->attrs.at);
	free(table->steps.at);
	free(table->index.at);
}

static inline void step_over(struct cursor *c, uint8_t how, uint32_t fixed, const struct dw_unit *unit)
{
	uint16_t form;
	uint8_t inner;
	int size;

	switch (how) {
	case STEP_FIXED: cursor_skip(c, fixed); break;
	case STEP_ULEB:
		while (c->p < c->end && (*c->p & 0x80))
			c->p++;
		cursor_skip(c, 1);
		break;
	case STEP_STRING: cursor_string(c); break;
	case STEP_BLOCK1: cursor_skip(c, cursor_uint(c, 1)); break;
	case STEP_BLOCK2: cursor_skip(c, cursor_uint(c, 2)); break;
	case STEP_BLOCK4: cursor_skip(c, cursor_uint(c, 4)); break;
	case STEP_BLOCK: cursor_skip(c, cursor_uleb(c)); break;
	case STEP_INDIRECT:
		form = (uint16_t) cursor_uleb(c);
		size = form == DW_FORM_indirect || form == DW_FORM_implicit_const ? -1 : form_step(form, unit, &inner);
		if (size < 0)
			c->bad = 1;
		else
			step_over(c, inner, (uint32_t) size, unit);
		break;
	}
}

static inline const struct dw_abbrev *abbrev_find(const struct dw_abbrevs *table, uint64_t code)
{
	if (code >= table->index.count || !table->index.at[code])
		return NULL;
	return &table->list.at[table->index.at[code] - 1];
}

int die_read(struct dw_unit *unit, struct cursor *c, struct dw_die *die, int skip)
{
	const struct dw_step *step;
	uint64_t code;
	unsigned int i;

	die->unit = unit;
	die->entry = c->p;
	code = cursor_uleb(c);
	if (c->bad || !code)
		return 0;
	die->abbrev = abbrev_find(unit->abbrevs, code);
	if (!die->abbrev) {
		c->bad = 1;
		return 0;
	}
	die->attrs = c->p;
	if (!skip)
		return 1;
	step = unit->abbrevs->steps.at + die->abbrev->step_first;
	for (i = die->abbrev->step_count; i; i--, step++)
		step_over(c, step->how, step->fixed, unit);
	return !c->bad;
}

int die_at(struct dw_unit *unit, uint64_t unit_offset, struct dw_die *die)
{
	struct cursor c = { unit->data + unit_offset, unit->data + unit->size, 0 };

	if (unit_offset < unit->header_size || unit_offset >= unit->size || unit->is_dropped || !unit_open(unit))
		return 0;
	return die_read(unit, &c, die, 0);
}

int die_root(struct dw_unit *unit, struct dw_die *die)
{
	return die_at(unit, unit->header_size, die);
}

int die_child(const struct dw_die *die, struct dw_die *child, struct cursor *c)
{
	struct dw_die self;

	*c = (struct cursor) { die->entry, die->unit->data + die->unit->size, 0 };
	if (!die->abbrev->has_children || !die_read(die->unit, c, &self, 1))
		return 0;
	return die_read(die->unit, c, child, 0);
}

int die_sibling(struct dw_die *die, struct cursor *c)
{
	struct dw_unit *unit = die->unit;
	struct dw_value sibling;
	unsigned int depth = 0;

	c->p = die->entry;
	if (die->abbrev->has_children && die_attr(die, DW_AT_sibling, &sibling) && sibling.number > die_offset(die) &&
	    sibling.number < unit->size && sibling.form != DW_FORM_ref_addr) {
		c->p = unit->data + sibling.number;
		return die_read(unit, c, die, 0);
	}
	if (!die_read(unit, c, die, 1))
		return 0;
	if (die->abbrev->has_children)
		depth = 1;
	while (depth) {
		struct dw_die skipped;

		if (die_read(unit, c, &skipped, 1)) {
			if (skipped.abbrev->has_children)
				depth++;
		} else {
			if (c->bad)
				return 0;
			depth--;
		}
	}
	return die_read(unit, c, die, 0);
}

static void value_read(struct cursor *c, uint16_t form, int64_t constant, struct dw_unit *unit, struct dw_value *value)
{
	uint8_t how;
	int size;

	value->form = form;
	value->unit = unit;
	value->number = 0;
	value->block = NULL;
	value->size = 0;
	if (form == DW_FORM_indirect) {
		form = (uint16_t) cursor_uleb(c);
		if (form == DW_FORM_indirect || form == DW_FORM_implicit_const) {
			c->bad = 1;
			return;
		}
		value_read(c, form, 0, unit, value);
		return;
	}
	size = form_step(form, unit, &how);
	switch (how) {
	case STEP_FIXED:
		if (form == DW_FORM_flag_present) {
			value->number = 1;
		} else if (form == DW_FORM_implicit_const) {
			value->number = (uint64_t) constant;
		} else if (size == 16 || size < 0) {
			value->block = c->p;
			value->size = 16;
			cursor_skip(c, 16);
		} else {
			value->number = cursor_uint(c, (unsigned int) size);
		}
		break;
	case STEP_ULEB:
		value->number = form == DW_FORM_sdata ? (uint64_t) cursor_sleb(c) : cursor_uleb(c);
		break;
	case STEP_STRING:
		value->block = (const uint8_t *) cursor_string(c);
		break;
	default:
		value->size = how == STEP_BLOCK1 ? cursor_uint(c, 1) : how == STEP_BLOCK2 ? cursor_uint(c, 2) :
			      how == STEP_BLOCK4 ? cursor_uint(c, 4) : cursor_uleb(c);
		value->block = c->p;
		cursor_skip(c, value->size);
	}
}

int die_attr(const struct dw_die *die, uint16_t name, struct dw_value *value)
{
	const struct dw_attr *attr = die->unit->abbrevs->attrs.at + die->abbrev->attr_first;
	struct cursor c = { die->attrs, die->unit->data + die->unit->size, 0 };
	unsigned int i;
	uint8_t how;
	int size;

	for (i = 0; i < die->abbrev->attr_count; i++)
		if (attr[i].name == name)
			break;
	if (i == die->abbrev->attr_count)
		return 0;
	for (; attr->name != name; attr++) {
		size = form_step(attr->form, die->unit, &how);
		step_over(&c, how, (uint32_t) size, die->unit);
	}
	value_read(&c, attr->form, attr->constant, die->unit, value);
	return !c.bad;
}

void unit_walk(struct dw_unit *unit)
{
	struct cursor c = { unit->data + unit->header_size, unit->data + unit->size, 0 };
	struct { uint32_t node; } stack[256];
	unsigned int depth = 0, beyond = 0;
	struct dw_die die;

	if (unit->is_walked || unit->is_dropped || !unit_open(unit))
		return;
	unit->is_walked = 1;
	stack[0].node = UINT32_MAX;
	while (c.p < c.end) {
		uint32_t node;

		if (!die_read(unit, &c, &die, 1)) {
			if (c.bad || (!depth && !beyond))
				return;
			if (beyond)
				beyond--;
			else
				depth--;
			if (!depth && !beyond)
				return;
			continue;
		}
		node = stack[depth].node;
		if (die.abbrev->is_scope && (die.abbrev->tag != DW_TAG_subprogram || die.abbrev->is_code ||
					     die.abbrev->has_children)) {
			struct dw_node *n = vec_push(&unit->nodes);

			n->offset = (uint32_t) die_offset(&die);
			n->parent = node;
			n->tag = die.abbrev->tag;
			n->is_code = die.abbrev->is_code;
			node = (uint32_t) unit->nodes.count - 1;
		}
		if (!die.abbrev->has_children) {
			if (!depth && !beyond)
				return;
			continue;
		}
		if (beyond || depth + 1 == sizeof(stack) / sizeof(*stack))
			beyond++;
		else
			stack[++depth].node = node;
	}
}

uint32_t unit_node(struct dw_unit *unit, uint64_t unit_offset)
{
	size_t low = 0, high;

	unit_walk(unit);
	high = unit->nodes.count;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (unit->nodes.at[middle].offset < unit_offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < unit->nodes.count && unit->nodes.at[low].offset == unit_offset ? (uint32_t) low : UINT32_MAX;
}
