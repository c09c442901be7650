/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Verification of code maps: one pass over each table, in the order in which the tables refer to
 * each other, so every test may rely on the ones before. A map may come from a file that another
 * user wrote. This file is compiled into the agent as well: it makes no libc call and allocates
 * nothing.
 *
 * The map of a call tree can be checked in parts: its header, and each function with its sites when
 * the function is first needed. So a program waits only for what it uses.
 */
#include <errno.h>
#include <stddef.h>
#include "codemap/map/check.h"
#include "codemap/map/check-view.h"

#define FIELD_BYTES_MAX	65536u		/* of one TEXT or INT_ARRAY */
#define PLACE_REACH	(1 << 24)	/* how far from its base a stack or memory place may be, bytes */

static const char *header_check(struct map_view *view)
{
	const struct spi_map_header *head = (const struct spi_map_header *) view->base;

	if (view->size < sizeof(*head) || (uintptr_t) view->base % 8)
		return "shorter than its header";
	if (head->magic != SPI_MAP_MAGIC)
		return "not a code map";
	if (head->version != SPI_MAP_VERSION || head->header_size != sizeof(*head))
		return "a code map of another version";
	if (head->file_size != view->size)
		return "its size is not the one it was written with";
	if (head->build_id_size > sizeof(head->build_id) || head->load_low > head->load_high)
		return "bad header";
	view->head = head;
	if (!span_is_valid(view, &head->strings, 1) ||
	    !span_is_valid(view, &head->funcs, sizeof(struct spi_map_func)) ||
	    !span_is_valid(view, &head->fields, sizeof(struct spi_map_field)) ||
	    !span_is_valid(view, &head->insns, sizeof(struct spi_map_insn)) ||
	    !span_is_valid(view, &head->enums, sizeof(struct spi_map_enum)) ||
	    !span_is_valid(view, &head->labels, sizeof(struct spi_map_label)) ||
	    !span_is_valid(view, &head->skipped, sizeof(struct spi_map_skip)) ||
	    !span_is_valid(view, &head->sites, sizeof(struct spi_map_site)))
		return "a table reaches outside the file";
	return NULL;
}

static const char *strings_check(const struct map_view *view)
{
	const struct spi_map_span *span = &view->head->strings;
	const uint8_t *bytes = view->base + span->offset;

	if (!span->count || bytes[0] || bytes[span->count - 1])
		return "strings do not begin and end with NUL";
	if (!string_is_valid(view, view->head->object_name) || !string_is_valid(view, view->head->debug_name) ||
	    !string_is_valid(view, view->head->debug_lost))
		return "a string outside the strings";
	return NULL;
}

static const char *labels_check(const struct map_view *view)
{
	const struct spi_map_label *label = VIEW_TABLE(view, labels, struct spi_map_label);
	const struct spi_map_enum *type = VIEW_TABLE(view, enums, struct spi_map_enum);
	uint32_t i;

	for (i = 0; i < view->head->labels.count; i++)
		if (!string_is_valid(view, label[i].name))
			return "a label's name outside the strings";
	for (i = 0; i < view->head->enums.count; i++)
		if (!string_is_valid(view, type[i].name) || type[i].label_first > view->head->labels.count ||
		    type[i].label_count > view->head->labels.count - type[i].label_first)
			return "an enumeration's labels outside their table";
	return NULL;
}

static int size_is_integer(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* Does the size fit the kind? */
static int field_kind_is_valid(const struct spi_map_field *field)
{
	switch (field->kind) {
	case SPI_KIND_INT:
		return size_is_integer(field->size) || field->size == 16;
	case SPI_KIND_ENUM:
	case SPI_KIND_INT_ARRAY:
		return size_is_integer(field->size);
	case SPI_KIND_POINTER:
	case SPI_KIND_STRING:
	case SPI_KIND_COUNTED:
	case SPI_KIND_DIFFERENCE:
		return field->size == 8;
	case SPI_KIND_BOOL:
	case SPI_KIND_CHAR:
	case SPI_KIND_TEXT:
		return field->size == 1;
	case SPI_KIND_FLOAT:
		return field->size == 4 || field->size == 8;
	case SPI_KIND_LONG_DOUBLE:
		return field->size == 16;
	}
	return 0;
}

/* Does the place hold all of the field's bytes? */
static int field_place_is_valid(const struct spi_map_field *field, uint64_t bytes)
{
	int64_t offset = field->offset;

	if (field->kind == SPI_KIND_INT && bytes == 16)
		bytes = 8;	/* the low half is what is recorded */
	switch (field->place) {
	case SPI_PLACE_NONE:
	case SPI_PLACE_OPTIMISED_OUT:
		return 1;
	case SPI_PLACE_CONSTANT:
		return field->kind != SPI_KIND_TEXT && field->kind != SPI_KIND_INT_ARRAY && bytes <= 8;
	case SPI_PLACE_GPR:
		return field->reg < 16 && offset >= 0 && offset + (int64_t) bytes <= 8;
	case SPI_PLACE_XMM:
		return field->reg < 16 && offset >= 0 && offset + (int64_t) bytes <= 64;
	case SPI_PLACE_STACK_MEMORY:
		return offset >= -PLACE_REACH && offset <= PLACE_REACH;
	case SPI_PLACE_STACK:
	case SPI_PLACE_MEMORY:
		return field->reg < 16 && offset >= -PLACE_REACH && offset <= PLACE_REACH;
	case SPI_PLACE_X87:
		return field->kind == SPI_KIND_LONG_DOUBLE;
	}
	return 0;
}

/* Where the second value of a field is, of the kinds that have one. */
static int field_other_is_valid(const struct spi_map_field *field)
{
	const struct spi_map_other *other = &field->other;

	if (field->kind != SPI_KIND_COUNTED && field->kind != SPI_KIND_DIFFERENCE)
		return 1;
	if (other->place == SPI_PLACE_GPR)
		return other->reg < 16 && !other->offset;
	if (other->place == SPI_PLACE_MEMORY)
		return other->reg < 16;
	return other->place == SPI_PLACE_NONE || other->place == SPI_PLACE_STACK ||
	       other->place == SPI_PLACE_STACK_MEMORY;
}

static const char *field_check(const struct map_view *view, const struct spi_map_field *field)
{
	int array = field->kind == SPI_KIND_TEXT || field->kind == SPI_KIND_INT_ARRAY;
	uint64_t bytes = array ? (uint64_t) field->size * field->length : field->size;

	if (!string_is_valid(view, field->name) || !string_is_valid(view, field->type_name))
		return "a field's name outside the strings";
	if (!field_kind_is_valid(field) || (field->base != 10 && field->base != 16) || field->is_signed > 1)
		return "a field of unknown kind";
	if (array && (!bytes || bytes > FIELD_BYTES_MAX))
		return "a field of impossible length";
	if (!field_place_is_valid(field, bytes) || !field_other_is_valid(field))
		return "a field at an impossible place";
	if (field->bit_size && (array || field->size > 8 || field->bit_offset + field->bit_size > 8 * field->size))
		return "a bit field outside its integer";
	if (field->kind == SPI_KIND_ENUM ? field->enum_index >= view->head->enums.count :
					   field->enum_index != SPI_MAP_NONE)
		return "a field's enumeration outside its table";
	return NULL;
}

static const char *fields_check(const struct map_view *view, uint64_t first, uint64_t count)
{
	const struct spi_map_field *field = VIEW_TABLE(view, fields, struct spi_map_field) + first;
	const char *why = NULL;

	for (; count && !why; count--, field++)
		why = field_check(view, field);
	return why;
}

static const char *insns_check(const struct map_view *view, const struct spi_map_func *func)
{
	const struct spi_map_insn *insn = VIEW_TABLE(view, insns, struct spi_map_insn) + func->insn_first;
	uint32_t i, offset = 0;

	for (i = 0; i < func->insn_count; i++, insn++) {
		if (insn->offset != offset || !insn->size || insn->size > 15 ||
		    insn->offset + insn->size > func->entry_size)
			return "instructions that do not follow each other";
		offset += insn->size;
		if (insn->kind > SPI_INSN_UNMOVABLE || insn->cond > 15 || insn->is_target > 1)
			return "an instruction of unknown kind";
		if (insn->kind == SPI_INSN_RIP ? !insn->fix_offset || insn->fix_offset + 4 > insn->size :
						 insn->fix_offset && insn->fix_offset + 4 > insn->size)
			return "a displacement outside its instruction";
	}
	return NULL;
}

/* Pieces follow each other upwards, so that a list of them has an end. */
static int piece_is_valid(const struct map_view *view, uint32_t index)
{
	const struct spi_map_func *funcs = VIEW_TABLE(view, funcs, struct spi_map_func), *func = funcs + index;

	if (func->piece == SPI_MAP_NONE)
		return 1;
	if (func->piece >= view->head->funcs.count || funcs[func->piece].reason != SPI_REASON_PART)
		return 0;
	return func->reason != SPI_REASON_PART || func->piece > index;
}

/* One function, without its sites. */
static const char *func_check(const struct map_view *view, uint32_t i)
{
	const struct spi_map_header *head = view->head;
	const struct spi_map_func *func = VIEW_TABLE(view, funcs, struct spi_map_func) + i;

	if (i && func->vaddr <= func[-1].vaddr)
		return "functions out of order";
	if (!string_is_valid(view, func->name) || !string_is_valid(view, func->pretty) ||
	    !string_is_valid(view, func->event) || !string_is_valid(view, func->source))
		return "a function's name outside the strings";
	if ((head->flags & SPI_MAP_IS_TREE) ? func->field_count || func->ret_count :
	    (uint64_t) func->field_first + func->field_count + func->ret_count > head->fields.count)
		return "a function's fields outside their table";
	if (func->reason >= SPI_REASON_COUNT_ || (func->reason && !(head->flags & SPI_MAP_IS_TREE)))
		return "a function with an unknown reason";
	if ((uint64_t) func->site_first + func->site_count > head->sites.count)
		return "a function's call sites outside their table";
	if ((head->flags & SPI_MAP_IS_TREE) && !piece_is_valid(view, i))
		return "a function's piece that is none";
	if (func->insn_count > SPI_MAP_ENTRY_INSNS || func->entry_size > SPI_MAP_ENTRY_BYTES ||
	    (uint64_t) func->insn_first + func->insn_count > head->insns.count)
		return "a function's instructions outside their table";
	return insns_check(view, func);
}

static const char *funcs_check(const struct map_view *view)
{
	const char *why = NULL;

	for (uint32_t i = 0; i < view->head->funcs.count && !why; i++)
		why = func_check(view, i);
	return why;
}

static const char *skipped_check(const struct map_view *view)
{
	const struct spi_map_skip *skip = VIEW_TABLE(view, skipped, struct spi_map_skip);
	uint32_t i;

	for (i = 0; i < view->head->skipped.count; i++)
		if (!string_is_valid(view, skip[i].name) || skip[i].reason >= SPI_REASON_COUNT_)
			return "a skipped function without a known reason";
	return NULL;
}

/* Bytes of the file that a relocated displacement and what follows it in its instruction take. */
static int fix_is_valid(const struct spi_map_site *site, unsigned int i)
{
	if (site->fix[i] == SPI_SITE_NO_FIX)
		return 1;
	return site->fix[i] + 4 + site->fix_after[i] <= site->code_size;
}

/* Each moved instruction has bytes and a copy, one behind the other. */
static int moved_is_valid(const struct spi_map_site *site)
{
	unsigned int i, size = 0, at = 0;

	if (site->insn_count > SPI_SITE_INSNS || site->own > site->code_size)
		return 0;
	for (i = 0; i < site->insn_count; i++) {
		unsigned int next = i + 1 < site->insn_count ? site->insn[i + 1].at : site->own;

		if (!site->insn[i].size || site->insn[i].at != at || next <= at)
			return 0;
		size += site->insn[i].size;
		at = next;
	}
	return size == site->before && (site->insn_count || !site->own);
}

static const char *site_check(const struct map_view *view, uint32_t i)
{
	const struct spi_map_site *site = VIEW_TABLE(view, sites, struct spi_map_site) + i;
	int is_jcc = site->kind == SPI_SITE_JCC || site->kind == SPI_SITE_JCC_SLOT;

	if (i && site->vaddr <= site[-1].vaddr)
		return "call sites out of order";
	if (!string_is_valid(view, site->import) || !string_is_valid(view, site->version))
		return "a call site's name outside the strings";
	if (!site->kind || site->kind >= SPI_SITE_COUNT_ || site->condition > 15)
		return "a call site of unknown kind";
	if (site->size < 2 || site->size > 15 || site->before + site->size > SPI_SITE_BYTES ||
	    site->before > site->vaddr)
		return "a call site of impossible size";
	if (site->code_size > SPI_SITE_CODE || !fix_is_valid(site, 0) || !fix_is_valid(site, 1))
		return "a call site's code outside its record";
	if (!moved_is_valid(site) || site->after > SPI_SITE_AFTER || ((is_jcc || site->solid) && (site->before || site->after)))
		return "a call site with impossible room";
	if (site->pad_size && site->pad_size < 5)
		return "a call site with too little padding";
	return NULL;
}

static const char *sites_check(const struct map_view *view)
{
	const char *why = NULL;

	if (view->head->sites.count && !(view->head->flags & SPI_MAP_IS_TREE))
		return "call sites in a map that is not a tree's";
	for (uint32_t i = 0; i < view->head->sites.count && !why; i++)
		why = site_check(view, i);
	return why;
}

static int result(const char *text, const char **why)
{
	if (text && why)
		*why = text;
	return text ? -EINVAL : 0;
}

int spi_map_check(const void *map, uint64_t size, const char **why)
{
	struct map_view view = { map, size, NULL };
	const char *text = header_check(&view);

	if (!text)
		text = strings_check(&view);
	if (!text)
		text = labels_check(&view);
	if (!text)
		text = fields_check(&view, 0, view.head->fields.count);
	if (!text)
		text = funcs_check(&view);
	if (!text)
		text = skipped_check(&view);
	if (!text)
		text = sites_check(&view);
	if (!text)
		text = spi_map_detail_check(&view);
	return result(text, why);
}

int spi_map_check_head(const void *map, uint64_t size, const char **why)
{
	struct map_view view = { map, size, NULL };

	return result(header_check(&view), why);
}

int spi_map_check_func(const void *map, uint64_t size, uint32_t index, const char **why)
{
	struct map_view view = { map, size, map };
	const struct spi_map_func *func = VIEW_TABLE(&view, funcs, struct spi_map_func) + index;
	const char *text = func_check(&view, index);

	for (uint32_t i = 0; !text && i < func->site_count; i++)
		text = site_check(&view, func->site_first + i);
	return result(text, why);
}

int spi_map_check_func_fields(const void *map, uint64_t size, uint32_t index)
{
	struct map_view view = { map, size, map };
	const struct spi_map_func *func = VIEW_TABLE(&view, funcs, struct spi_map_func) + index;
	const char *text = func_check(&view, index);

	if (!text)
		text = fields_check(&view, func->field_first, (uint64_t) func->field_count + func->ret_count);
	return result(text, NULL);
}

const char *spi_map_reason_name(enum spi_map_reason reason)
{
	static const char text[][64] = {
		[SPI_REASON_NONE] = "no reason",
		[SPI_REASON_RETURNS_TWICE] = "returns twice",
		[SPI_REASON_PROCESS_ENTRY] = "the process's first code, never called",
		[SPI_REASON_SIGNAL_RETURN] = "the way back from signal handlers, never called",
		[SPI_REASON_UNDECODED] = "unknown instruction at its entry",
		[SPI_REASON_UNMOVABLE] = "an instruction at its entry cannot be moved",
		[SPI_REASON_PART] = "a part of another function, jumped into",
		[SPI_REASON_PLT] = "a linkage stub, not a function",
		[SPI_REASON_NO_CODE] = "no code at its address",
		[SPI_REASON_OTHER_ABI] = "has a calling convention of its own",
		[SPI_REASON_LIMIT] = "beyond the limit on the number of functions",
		[SPI_REASON_NONSENSE] = "its debug info makes no sense",
		[SPI_REASON_MANAGED] = "its runtime looks up return addresses, or copies stacks",
	};

	return (unsigned int) reason < SPI_REASON_COUNT_ ? text[reason] : "unknown reason";
}
