/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Where a parameter is at the function's first instruction, when debug info says only where it is a
 * few instructions later. The code between the two tells what was put there (prologue.h). No
 * calling convention is assumed.
 */
#include <stdlib.h>
#include "codemap/code/x86.h"
#include "codemap/types/prologue.h"
#include "codemap/types/prototype.h"

enum {
	DW_OP_deref = 0x06, DW_OP_plus_uconst = 0x23, DW_OP_reg0 = 0x50, DW_OP_breg0 = 0x70, DW_OP_fbreg = 0x91,
	DW_OP_piece = 0x93, DW_OP_call_frame_cfa = 0x9c,
};

#define OFFSET_MAX	(1 << 24)

/* The register that DW_OP_fbreg counts from; 16: the CFA; -1: another thing. */
static int frame_base(const struct dw_die *function)
{
	struct dw_value value;

	if (!die_attr(function, DW_AT_frame_base, &value) || !value.block || value.size != 1)
		return -1;
	if (value.block[0] == DW_OP_call_frame_cfa)
		return 16;
	return value.block[0] >= DW_OP_reg0 && value.block[0] < DW_OP_reg0 + 16 ? value.block[0] - DW_OP_reg0 : -1;
}

/* A slot with a pointer to the value: the register that the pointer came in. */
static int pointer_slot(const struct prologue *p, int32_t at, int64_t offset, uint64_t size, struct passing *passing)
{
	struct piece *piece = &passing->piece[0];

	prologue_first(p, at, 8, passing);
	if (passing->count != 1 || piece->size != 8 || piece->from)
		return 0;
	if (piece->place == SPI_PLACE_STACK && piece->offset >= 0 && piece->offset % 8 == 0 && piece->offset / 8 < 256) {
		piece->place = SPI_PLACE_STACK_MEMORY;
		piece->reg = (uint8_t) (piece->offset / 8);
	} else if (piece->place == SPI_PLACE_GPR && !piece->offset) {
		piece->place = SPI_PLACE_MEMORY;
	} else {
		return 0;
	}
	passing->piece[0].offset = (int32_t) offset;
	passing->piece[0].size = size;
	return 1;
}

/* One location in memory, up to a DW_OP_piece or the end. 0: not known. */
static int memory_read(const struct prologue *p, int base, struct cursor *c, uint64_t type_size, struct passing *passing,
		       uint64_t *size)
{
	const struct origin cfa = { .is_cfa = 1 }, *from;
	uint8_t op = (uint8_t) cursor_uint(c, 1);
	int64_t offset, behind = 0;
	int is_pointer = 0;

	if (op >= DW_OP_breg0 && op < DW_OP_breg0 + 16)
		base = op - DW_OP_breg0;
	else if (op != DW_OP_fbreg)
		return 0;
	if (base < 0)
		return 0;
	offset = cursor_sleb(c);
	if (c->p < c->end && *c->p == DW_OP_deref) {
		cursor_skip(c, 1);
		is_pointer = 1;
		if (c->p < c->end && *c->p == DW_OP_plus_uconst) {
			cursor_skip(c, 1);
			behind = (int64_t) cursor_uleb(c);
		}
	}
	*size = type_size;
	if (c->p < c->end) {
		if (cursor_uint(c, 1) != DW_OP_piece)
			return 0;
		*size = cursor_uleb(c);
	}
	from = base == 16 ? &cfa : &p->gpr[base];
	if (c->bad || offset < -OFFSET_MAX || offset > OFFSET_MAX || behind < 0 || behind > OFFSET_MAX ||
	    *size > OFFSET_MAX)
		return 0;
	if (from->is_cfa && is_pointer)
		return pointer_slot(p, (int32_t) (from->offset + offset), behind, *size, passing);
	if (from->is_cfa) {
		prologue_first(p, (int32_t) (from->offset + offset), *size, passing);
		return passing->count != 0;
	}
	if (from->place != SPI_PLACE_GPR || from->offset || from->size != 8 || is_pointer)
		return 0;
	passing->count = 1;
	passing->piece[0] = (struct piece) { .size = *size, .place = SPI_PLACE_MEMORY, .reg = from->reg,
		.offset = (int32_t) offset };
	return 1;
}

static int location_trace(const struct prologue *p, int base, struct cursor c, uint64_t type_size,
			  struct passing *passing)
{
	uint64_t from = 0, size;
	unsigned int i;

	passing->count = 0;
	while (c.p < c.end) {
		struct passing one = { .count = 0 };

		if (!memory_read(p, base, &c, type_size, &one, &size))
			return 0;
		for (i = 0; i < one.count && passing->count < PIECES_MAX; i++) {
			passing->piece[passing->count] = one.piece[i];
			passing->piece[passing->count++].from += from;
		}
		from += size;
	}
	return passing->count != 0;
}

/* add to the stack pointer, leave, and pop, but not into rax */
static int frame_ends(const struct x86_decoded *insn)
{
	return x86_is_epilogue(insn) && (insn->opcode != 0x58 || (insn->rex & 1));
}

int code_returns_argument(const struct code_bytes *code)
{
	struct prologue entered, left;
	struct x86_decoded insn;
	uint64_t at, load = UINT64_MAX;
	unsigned int returns = 0;

	if (!code->at)
		return 0;
	prologue_begin(&entered, code->at, code->size, code->pc);
	while (prologue_step(&entered))
		;
	if (!entered.has_stored || entered.has_moved)
		return 0;
	for (at = 0; at < code->size; at += insn.size) {
		if (!x86_decode(code->at + at, code->size - at, code->pc + at, &insn))
			return 0;
		if (insn.map == 0 && insn.opcode == 0xc3) {
			if (load == UINT64_MAX)
				return 0;
			left = entered;
			left.code = code->at + load;
			left.left = code->size - load;
			if (!prologue_step(&left) || left.gpr[0].place != SPI_PLACE_GPR ||
			    left.gpr[0].reg != abi_gpr[0] || left.gpr[0].size != 8)
				return 0;
			returns++;
		}
		if (insn.map == 0 && insn.opcode == 0x8b && (insn.rex & 12) == 8 && !(insn.modrm >> 3 & 7))
			load = at;
		else if ((insn.flags & X86_IS_CALL) || (x86_writes(&insn, 0) && !frame_ends(&insn)))
			load = UINT64_MAX;
	}
	return returns != 0;
}

/* Do two values come in one register? Then one of them took the other's place: debug info does not say which. */
static int registers_shared(const struct passing *a, const struct passing *b)
{
	unsigned int i, k;

	for (i = 0; i < a->count; i++)
		for (k = 0; k < b->count; k++) {
			const struct piece *x = &a->piece[i], *y = &b->piece[k];
			int x_is_general = x->place == SPI_PLACE_GPR || x->place == SPI_PLACE_MEMORY;
			int y_is_general = y->place == SPI_PLACE_GPR || y->place == SPI_PLACE_MEMORY;

			if (x->reg == y->reg && ((x_is_general && y_is_general) ||
						 (x->place == SPI_PLACE_XMM && y->place == SPI_PLACE_XMM)))
				return 1;
			if (x->place == SPI_PLACE_STACK && y->place == SPI_PLACE_STACK &&
			    x->offset < y->offset + (int64_t) y->size && y->offset < x->offset + (int64_t) x->size)
				return 1;
		}
	return 0;
}

/* In the state that p has: what holds from here on (is_end: what holds everywhere), and was not known before. */
static void parameters_try(const struct prologue *p, int base, struct parameter *list, size_t count, int is_end,
			   struct passing *found)
{
	struct cursor expression;
	struct dw_value value;
	size_t i;
	int always;

	for (i = 0; i < count; i++)
		if (!list[i].is_told && !found[i].count && list[i].type.size &&
		    die_attr(&list[i].die, DW_AT_location, &value) &&
		    location_at(&value, p->pc, &expression, &always) == 1 && always == is_end &&
		    !location_trace(p, base, expression, list[i].type.size, &found[i]))
			found[i].count = 0;
}

void parameters_trace(const struct dw_die *function, const struct code_bytes *code, struct parameter *list,
		      size_t count)
{
	struct passing *found = heap_grow(NULL, (count + 1) * sizeof(*found));
	struct prologue prologue;
	struct dw_value value;
	int base = frame_base(function);
	size_t i, k;

	memset(found, 0, count * sizeof(*found));
	prologue_begin(&prologue, code->at, code->size, code->pc);
	do
		parameters_try(&prologue, base, list, count, 0, found);
	while (prologue_step(&prologue));
	if (prologue.has_stored && !prologue.has_moved)
		parameters_try(&prologue, base, list, count, 1, found);
	for (i = 0; i < count; i++)
		for (k = 0; k < count && found[i].count; k++)
			if (k != i && (registers_shared(&found[i], &found[k]) ||
				       (list[k].is_told && registers_shared(&found[i], &list[k].passing))))
				found[i].count = found[k].count = 0;
	for (i = 0; i < count; i++)
		if (found[i].count) {
			list[i].passing = found[i];
			list[i].is_told = 1;
		} else if (!list[i].is_told && die_attr(&list[i].die, DW_AT_location, &value)) {
			list[i].passing.otherwise = SPI_PLACE_NONE;	/* it is passed, and this does not see how */
		}
	free(found);
}
