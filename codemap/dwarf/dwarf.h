/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A small DWARF 4 and 5 reader that passes over debug info once, from front to
 * back, a unit at a time (unit.c), and the entries of a unit (die.c).
 *
 * Why not libdw: it inflates every section as a whole and keeps all it has seen.
 * The debug info of one Debian program is 380 MB; listing its functions must not
 * take 300.
 */
#ifndef CODEMAP_DWARF_H
#define CODEMAP_DWARF_H

#include "codemap/base/cursor.h"
#include "codemap/elf/image.h"

enum {
	DW_TAG_array_type = 0x01,
	DW_TAG_class_type = 0x02,
	DW_TAG_enumeration_type = 0x04,
	DW_TAG_formal_parameter = 0x05,
	DW_TAG_member = 0x0d,
	DW_TAG_pointer_type = 0x0f,
	DW_TAG_reference_type = 0x10,
	DW_TAG_compile_unit = 0x11,
	DW_TAG_structure_type = 0x13,
	DW_TAG_subroutine_type = 0x15,
	DW_TAG_typedef = 0x16,
	DW_TAG_string_type = 0x12,
	DW_TAG_union_type = 0x17,
	DW_TAG_unspecified_parameters = 0x18,
	DW_TAG_inheritance = 0x1c,
	DW_TAG_ptr_to_member_type = 0x1f,
	DW_TAG_subrange_type = 0x21,
	DW_TAG_base_type = 0x24,
	DW_TAG_const_type = 0x26,
	DW_TAG_enumerator = 0x28,
	DW_TAG_subprogram = 0x2e,
	DW_TAG_variant_part = 0x33,
	DW_TAG_volatile_type = 0x35,
	DW_TAG_restrict_type = 0x37,
	DW_TAG_interface_type = 0x38,
	DW_TAG_namespace = 0x39,
	DW_TAG_unspecified_type = 0x3b,
	DW_TAG_partial_unit = 0x3c,
	DW_TAG_type_unit = 0x41,
	DW_TAG_rvalue_reference_type = 0x42,
	DW_TAG_atomic_type = 0x47,
	DW_TAG_skeleton_unit = 0x4a,
	DW_TAG_immutable_type = 0x4b,
	DW_TAG_lexical_block = 0x0b,
	DW_TAG_inlined_subroutine = 0x1d,
};
enum {
	DW_AT_sibling = 0x01,
	DW_AT_location = 0x02,
	DW_AT_name = 0x03,
	DW_AT_byte_size = 0x0b,
	DW_AT_bit_offset = 0x0c,
	DW_AT_bit_size = 0x0d,
	DW_AT_stmt_list = 0x10,
	DW_AT_low_pc = 0x11,
	DW_AT_high_pc = 0x12,
	DW_AT_language = 0x13,
	DW_AT_string_length = 0x19,
	DW_AT_comp_dir = 0x1b,
	DW_AT_const_value = 0x1c,
	DW_AT_inline = 0x20,
	DW_AT_lower_bound = 0x22,
	DW_AT_upper_bound = 0x2f,
	DW_AT_abstract_origin = 0x31,
	DW_AT_artificial = 0x34,
	DW_AT_calling_convention = 0x36,
	DW_AT_producer = 0x25,
	DW_AT_count = 0x37,
	DW_AT_data_member_location = 0x38,
	DW_AT_decl_file = 0x3a,
	DW_AT_decl_line = 0x3b,
	DW_AT_declaration = 0x3c,
	DW_AT_encoding = 0x3e,
	DW_AT_external = 0x3f,
	DW_AT_frame_base = 0x40,
	DW_AT_specification = 0x47,
	DW_AT_type = 0x49,
	DW_AT_virtuality = 0x4c,
	DW_AT_data_location = 0x50,
	DW_AT_entry_pc = 0x52,
	DW_AT_ranges = 0x55,
	DW_AT_data_bit_offset = 0x6b,
	DW_AT_dwo_name = 0x76,
	DW_AT_linkage_name = 0x6e,
	DW_AT_str_offsets_base = 0x72,
	DW_AT_addr_base = 0x73,
	DW_AT_rnglists_base = 0x74,
	DW_AT_call_all_calls = 0x7a,
	DW_AT_noreturn = 0x87,
	DW_AT_alignment = 0x88,
	DW_AT_signature = 0x69,
	DW_AT_containing_type = 0x1d,
	DW_AT_defaulted = 0x8b,
	DW_AT_loclists_base = 0x8c,
	DW_AT_MIPS_linkage_name = 0x2007,
	DW_AT_GNU_vector = 0x2107,
	DW_AT_GNU_all_call_sites = 0x2117,
	DW_AT_GNU_dwo_name = 0x2130,
	DW_AT_GNU_ranges_base = 0x2132,
	DW_AT_GNU_addr_base = 0x2133,
};
#define DW_LANG_Mips_Assembler 0x8001
enum {
	DW_FORM_addr = 0x01,
	DW_FORM_block2 = 0x03,
	DW_FORM_block4 = 0x04,
	DW_FORM_data2 = 0x05,
	DW_FORM_data4 = 0x06,
	DW_FORM_data8 = 0x07,
	DW_FORM_string = 0x08,
	DW_FORM_block = 0x09,
	DW_FORM_block1 = 0x0a,
	DW_FORM_data1 = 0x0b,
	DW_FORM_flag = 0x0c,
	DW_FORM_sdata = 0x0d,
	DW_FORM_strp = 0x0e,
	DW_FORM_udata = 0x0f,
	DW_FORM_ref_addr = 0x10,
	DW_FORM_ref1 = 0x11,
	DW_FORM_ref2 = 0x12,
	DW_FORM_ref4 = 0x13,
	DW_FORM_ref8 = 0x14,
	DW_FORM_ref_udata = 0x15,
	DW_FORM_indirect = 0x16,
	DW_FORM_sec_offset = 0x17,
	DW_FORM_exprloc = 0x18,
	DW_FORM_flag_present = 0x19,
	DW_FORM_strx = 0x1a,
	DW_FORM_addrx = 0x1b,
	DW_FORM_ref_sup4 = 0x1c,
	DW_FORM_strp_sup = 0x1d,
	DW_FORM_data16 = 0x1e,
	DW_FORM_line_strp = 0x1f,
	DW_FORM_ref_sig8 = 0x20,
	DW_FORM_implicit_const = 0x21,
	DW_FORM_loclistx = 0x22,
	DW_FORM_rnglistx = 0x23,
	DW_FORM_ref_sup8 = 0x24,
	DW_FORM_strx1 = 0x25,
	DW_FORM_strx2 = 0x26,
	DW_FORM_strx3 = 0x27,
	DW_FORM_strx4 = 0x28,
	DW_FORM_addrx1 = 0x29,
	DW_FORM_addrx2 = 0x2a,
	DW_FORM_addrx3 = 0x2b,
	DW_FORM_addrx4 = 0x2c,
	DW_FORM_GNU_addr_index = 0x1f01,
	DW_FORM_GNU_str_index = 0x1f02,
	DW_FORM_GNU_ref_alt = 0x1f20,
	DW_FORM_GNU_strp_alt = 0x1f21,
};

struct dw_attr {
	uint16_t name, form;
	int64_t constant;	/* DW_FORM_implicit_const */
};

/* How to step over an entry's attributes: runs of fixed size, and what has to be looked at. */
struct dw_step {
	uint8_t how;		/* enum in die.c */
	uint32_t fixed;
};

struct dw_abbrev {
	uint16_t tag, attr_count, step_count;
	uint8_t has_children;
	uint8_t is_scope;	/* walks keep it: types, namespaces, functions */
	uint8_t is_code;	/* a function with an address */
	uint32_t attr_first, step_first;
};

/* One unit's abbreviations; units that share an offset share the table. */
struct dw_abbrevs {
	uint64_t offset;
	unsigned int users;	/* units */
	struct vec_of(struct dw_abbrev) list;
	struct vec_of(struct dw_attr) attrs;
	struct vec_of(struct dw_step) steps;
	struct vec_of(uint32_t) index;	/* code to list position + 1 */
};

/* A node of a unit's tree that names are qualified with: see unit_walk(). */
struct dw_node {
	uint32_t offset;	/* of the entry, from the unit's start */
	uint32_t parent;	/* index, UINT32_MAX at the top */
	uint16_t tag;
	uint16_t is_code;
};

struct dw_unit {
	struct dw_file *file;
	struct bytes *section;	/* .debug_info or .debug_types */
	uint64_t offset;	/* of the unit in its section */
	uint64_t size;		/* with its header */
	const uint8_t *data;	/* its first byte */
	uint64_t abbrev_offset, signature, type_offset;
	uint32_t header_size;
	uint8_t version, offset_size, type;
	uint8_t is_open;	/* the root entry's bases below are known */
	uint8_t is_broken;
	uint8_t is_dropped;	/* its bytes are gone */
	uint8_t is_walked;
	uint16_t clang;			/* its version, when it made this unit; 0: another compiler */
	uint16_t language;
	uint16_t rust_release;	/* the compiler's: 95 of rustc 1.95.0; 0: another compiler */
	uint64_t str_offsets_base, addr_base, rnglists_base, loclists_base, ranges_base, low_pc, stmt_list;
	const char *comp_dir;
	const char *split_name;	/* the file that has its entries; NULL: it has them itself */
	struct dw_abbrevs *abbrevs;
	struct vec_of(struct dw_node) nodes;
	struct line_files *lines;
};

struct dw_file {
	const struct image *image;
	struct bytes info, types, abbrev, str, line_str, str_offsets, addr, rnglists, ranges, loclists, loc, line,
		aranges;
	struct dw_file *alt;	/* dwz's supplementary file */
	struct vec_of(struct dw_unit *) units;		/* met so far, of .debug_info, ascending */
	const uint64_t *starts;	/* dwarf_jump(): where units begin, ascending */
	size_t start_count;
	int walk_only;		/* no jumps */
	const char *split_name;	/* of units that were wanted: the first that lies in another file, and how many do */
	unsigned int split_count;
	unsigned int odd_version;	/* of a unit that cannot be read for it; 0: none */
	int missed;		/* a jump passed over what was then asked for */
	struct vec_of(struct dw_unit *) type_units;
	uint64_t next_unit;	/* offset behind the last unit met */
	uint64_t drop_from, drop_to;	/* read, but not given back yet: ends with the unit dropped last */
	uint64_t lists_read, lines_read;	/* location lists, line tables: how far they were read */
	int is_whole;		/* units stay readable; else only the current and partial ones */
	struct vec_of(struct dw_abbrevs *) tables;
};

struct dw_die {
	struct dw_unit *unit;
	const struct dw_abbrev *abbrev;
	const uint8_t *entry;	/* its abbreviation code */
	const uint8_t *attrs;
};

struct dw_value {
	uint16_t form;
	struct dw_unit *unit;
	uint64_t number;	/* constants, references, offsets, indices, addresses */
	const uint8_t *block;
	uint64_t size;		/* of block */
};

/* ---- unit.c ---- */
/* NULL when the image has no debug info. */
struct dw_file *dwarf_open(const struct image *image, struct dw_file *alt);
/* Debug info that was made in memory. */
struct dw_file *dwarf_made(const uint8_t *info, uint64_t info_size, const uint8_t *abbrev, uint64_t abbrev_size);
/* The next unit of .debug_info, or NULL at its end. Only its header is read. */
struct dw_unit *dwarf_next_unit(struct dw_file *file);
/*
 * From now on units can be met in any order: these are the offsets at which (some)
 * begin. What is passed over is not read, and `missed` says when that was wrong.
 */
void dwarf_jump(struct dw_file *file, const uint64_t *starts, size_t count);
/* The unit that begins at this offset, which is not before those met already; NULL: there is none. */
struct dw_unit *dwarf_unit_at(struct dw_file *file, uint64_t offset);
/* Make entries of the unit readable; 0 when it cannot be used. */
int unit_open(struct dw_unit *unit);
/* The unit that holds section offset `offset`; NULL when none does or it was dropped. */
struct dw_unit *dwarf_unit_around(struct dw_file *file, uint64_t offset);
struct dw_unit *dwarf_unit_by_signature(struct dw_file *file, uint64_t signature);
/* Give back the memory of a unit that was read through; unless others may refer to it. */
void unit_drop(struct dw_unit *unit);
/* "dir/file.c", or NULL. */
const char *unit_file_name(struct dw_unit *unit, uint64_t file);

/* ---- die.c ---- */
struct dw_abbrevs *abbrevs_read(struct dw_file *file, const struct dw_unit *unit, uint64_t offset);
void abbrevs_release(struct dw_file *file, struct dw_abbrevs *table);
/* The entry at c->p; c moves behind its attributes when `skip`. 0: a null entry, or the end. */
int die_read(struct dw_unit *unit, struct cursor *c, struct dw_die *die, int skip);
int die_at(struct dw_unit *unit, uint64_t unit_offset, struct dw_die *die);
int die_root(struct dw_unit *unit, struct dw_die *die);
static inline uint64_t die_offset(const struct dw_die *die)
{
	return (uint64_t) (die->entry - die->unit->data);
}
/* First child and next sibling; 0 when there is none. */
int die_child(const struct dw_die *die, struct dw_die *child, struct cursor *c);
int die_sibling(struct dw_die *die, struct cursor *c);

int die_attr(const struct dw_die *die, uint16_t name, struct dw_value *value);
/* Walk all entries of the unit and keep scopes, types and functions as unit->nodes. */
void unit_walk(struct dw_unit *unit);
/* Index in unit->nodes of the entry at unit_offset, or UINT32_MAX. */
uint32_t unit_node(struct dw_unit *unit, uint64_t unit_offset);

/* ---- value.c ---- */
/* Through DW_AT_abstract_origin and DW_AT_specification as well. */
int die_attr_origin(const struct dw_die *die, uint16_t name, struct dw_value *value);
int die_flag(const struct dw_die *die, uint16_t name);
int die_constant(const struct dw_die *die, uint16_t name, uint64_t *number);
const char *die_name(const struct dw_die *die);		/* own DW_AT_name, or NULL */
int die_ref(const struct dw_die *die, uint16_t name, struct dw_die *target);

int value_constant(const struct dw_value *value, uint64_t *number);
const char *value_string(const struct dw_value *value);
int value_die(const struct dw_value *value, struct dw_die *target);
int value_address(const struct dw_value *value, uint64_t *address);

/* Where the function's first byte is, and its extent when that is one range. */
int die_entry_pc(const struct dw_die *die, uint64_t *low, uint64_t *size);

/* ---- ranges.c ---- */
struct dw_range {
	uint64_t low, high;
	struct dw_unit *unit;
};
struct dw_ranges vec_of(struct dw_range);
/* The ranges of DW_AT_ranges. */
void ranges_read(const struct dw_value *value, struct dw_ranges *ranges);
/*
 * The location expression in force at pc (DW_AT_location of any form). 1: found;
 * 0: there is a list, and it has none for pc; -1: no location at all.
 * *always: valid everywhere, not only at pc.
 */
int location_at(const struct dw_value *value, uint64_t pc, struct cursor *expression, int *always);
/* .debug_aranges: which unit (by its section offset) covers what. 0 when there is none. */
struct dw_arange {
	uint64_t low, high, unit_offset;
};
struct dw_aranges vec_of(struct dw_arange);
int aranges_read(struct dw_file *file, struct dw_aranges *aranges);
int unit_address(struct dw_unit *unit, uint64_t index, uint64_t *address);

#endif /* CODEMAP_DWARF_H */
