/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Where a parameter is at a function's first instruction, as debug info tells it.
 *
 * The psABI's answer is right for every function that can be called from outside
 * its file. Compilers change the signature of those that cannot: gcc makes clones
 * (.isra, .constprop) without the parameters it could do away with, clang changes
 * the function itself. Only location lists know; an expression that holds for the
 * whole function is not believed unless it names a register or the caller's stack,
 * because without optimisation it tells where the prologue will *put* a parameter.
 */
#include "codemap/prototype.h"

enum {
	DW_OP_deref = 0x06, DW_OP_plus_uconst = 0x23, DW_OP_lit0 = 0x30, DW_OP_reg0 = 0x50, DW_OP_breg0 = 0x70,
	DW_OP_regx = 0x90, DW_OP_fbreg = 0x91, DW_OP_bregx = 0x92, DW_OP_piece = 0x93, DW_OP_call_frame_cfa = 0x9c,
	DW_OP_stack_value = 0x9f, DW_OP_entry_value = 0xa3, DW_OP_GNU_entry_value = 0xf3,
};

enum told { TOLD_NOTHING, TOLD_PLACE, TOLD_ABSENT };

#define REG_RSP	7u

struct place_reader {
	int cfa_frame_base;	/* DW_OP_fbreg counts from the CFA */
	int always;		/* the expression is not only for the first instruction */
};

static int register_piece(uint64_t reg, struct piece *piece)
{
	if (reg < 16) {
		piece->place = SPI_PLACE_GPR;
		piece->reg = (uint8_t) reg;
		return 1;
	}
	if (reg >= 17 && reg < 33) {
		piece->place = SPI_PLACE_XMM;
		piece->reg = (uint8_t) (reg - 17);
		return 1;
	}
	return 0;
}

static int stack_piece(int64_t offset, struct piece *piece)
{
	if (offset < 0 || offset > (1 << 20))
		return 0;
	piece->place = SPI_PLACE_STACK;
	piece->offset = (int32_t) offset;
	return 1;
}

static int based_piece(const struct place_reader *reader, uint64_t reg, int64_t offset, struct piece *piece)
{
	if (reader->always || offset < -(1 << 20) || offset > (1 << 20))
		return 0;
	if (reg == REG_RSP)
		return stack_piece(offset - 8, piece);
	if (reg >= 16 || reg == 6)
		return 0;
	piece->place = SPI_PLACE_MEMORY;
	piece->reg = (uint8_t) reg;
	piece->offset = (int32_t) offset;
	return 1;
}

/* One simple location, up to a DW_OP_piece or the end. An empty one is a part that does not exist. */
static enum told piece_read(const struct place_reader *reader, struct cursor *c, struct piece *piece)
{
	struct cursor inner;
	uint64_t size;
	int64_t offset;
	uint8_t op;
	int ok = 0;

	memset(piece, 0, sizeof(*piece));
	if (c->p == c->end || *c->p == DW_OP_piece)
		return TOLD_ABSENT;
	op = (uint8_t) cursor_uint(c, 1);
	if (op >= DW_OP_reg0 && op < DW_OP_reg0 + 32) {
		ok = register_piece(op - DW_OP_reg0, piece);
	} else if (op == DW_OP_regx) {
		ok = register_piece(cursor_uleb(c), piece);
	} else if (op == DW_OP_fbreg) {
		offset = cursor_sleb(c);
		ok = reader->cfa_frame_base && stack_piece(offset, piece);
	} else if (op >= DW_OP_breg0 && op < DW_OP_breg0 + 32) {
		offset = cursor_sleb(c);
		ok = based_piece(reader, op - DW_OP_breg0, offset, piece);
	} else if (op == DW_OP_bregx) {
		size = cursor_uleb(c);
		ok = based_piece(reader, size, cursor_sleb(c), piece);
	} else if (op == DW_OP_call_frame_cfa) {
		offset = 0;
		if (c->p < c->end && *c->p == DW_OP_plus_uconst) {
			cursor_skip(c, 1);
			offset = (int64_t) cursor_uleb(c);
		}
		ok = stack_piece(offset, piece);
	} else if (op == DW_OP_entry_value || op == DW_OP_GNU_entry_value) {
		size = cursor_uleb(c);
		inner = *c;
		cursor_skip(c, size);
		if (c->bad || cursor_uint(c, 1) != DW_OP_stack_value)
			return TOLD_NOTHING;
		inner.end = inner.p + size;
		op = (uint8_t) cursor_uint(&inner, 1);
		ok = op >= DW_OP_reg0 && op < DW_OP_reg0 + 32 && inner.p == inner.end &&
		     register_piece(op - DW_OP_reg0, piece);
	} else {
		/* A constant, or computed from one: the value is known, and nobody passes it. */
		return c->end[-1] == DW_OP_stack_value ? TOLD_ABSENT : TOLD_NOTHING;
	}
	if (!ok || c->bad || (c->p < c->end && *c->p != DW_OP_piece))
		return TOLD_NOTHING;
	return TOLD_PLACE;
}

static enum told location_read(const struct place_reader *reader, struct cursor c, const struct type *type,
			       struct passing *passing)
{
	enum told told = TOLD_NOTHING;
	struct piece piece;
	uint64_t from = 0;

	passing->count = 0;
	if (c.p == c.end)
		return TOLD_ABSENT;
	while (c.p < c.end && passing->count < PIECES_MAX) {
		enum told one = piece_read(reader, &c, &piece);
		uint64_t size = type->size;

		if (one == TOLD_NOTHING)
			return TOLD_NOTHING;
		if (one == TOLD_ABSENT && (c.p == c.end || *c.p != DW_OP_piece))
			return TOLD_ABSENT;
		if (c.p < c.end) {
			cursor_skip(&c, 1);
			size = cursor_uleb(&c);
		} else if (size > (piece.place == SPI_PLACE_GPR ? 8 : piece.place == SPI_PLACE_XMM ? 64 : 1 << 20)) {
			return TOLD_NOTHING;
		}
		if (c.bad || size > (1 << 20))
			return TOLD_NOTHING;
		if (one == TOLD_PLACE) {
			piece.from = from;
			piece.size = piece.place == SPI_PLACE_GPR ? 8 : size;
			passing->piece[passing->count++] = piece;
			told = TOLD_PLACE;
		}
		from += size;
	}
	return told;
}

static int registers_clash(const struct passing *a, const struct passing *b)
{
	unsigned int i, k;

	for (i = 0; i < a->count; i++)
		for (k = 0; k < b->count; k++)
			if (a->piece[i].place == b->piece[k].place && a->piece[i].reg == b->piece[k].reg &&
			    (a->piece[i].place == SPI_PLACE_GPR || a->piece[i].place == SPI_PLACE_XMM))
				return 1;
	return 0;
}

/*
 * Pieces that debug info has no place for: clang leaves those out that it could not
 * follow, though they are passed. Take the psABI's word for them.
 */
static void pieces_complete(struct passing *told, const struct passing *abi)
{
	unsigned int i, k, count = told->count;

	for (i = 0; i < abi->count; i++) {
		const struct piece *a = &abi->piece[i];

		for (k = 0; k < count; k++)
			if (told->piece[k].from < a->from + a->size &&
				a->from < told->piece[k].from + told->piece[k].size)
				break;
		if (k == count && told->count < PIECES_MAX)
			told->piece[told->count++] = *a;
	}
}

void parameters_place(const struct dw_die *function, uint64_t pc, struct parameter *list, size_t count, int is_clone)
{
	struct place_reader reader = { 0 };
	struct dw_value value;
	size_t i, k;

	reader.cfa_frame_base = die_attr(function, DW_AT_frame_base, &value) && value.block && value.size == 1 &&
				value.block[0] == DW_OP_call_frame_cfa;
	for (i = 0; i < count; i++) {
		struct passing passing;
		struct cursor expression;
		enum told told;
		int found = -1;

		if (die_attr(&list[i].die, DW_AT_location, &value))
			found = location_at(&value, pc, &expression, &reader.always);
		told = found == 1 ? location_read(&reader, expression, &list[i].type, &passing) : TOLD_NOTHING;
		if (told == TOLD_PLACE) {
			if (!is_clone)
				pieces_complete(&passing, &list[i].passing);
			list[i].passing = passing;
			list[i].is_told = 1;
		} else if (is_clone) {
			list[i].passing.count = 0;
		}
	}
	for (i = 0; i < count; i++)
		for (k = 0; k < count && !list[i].is_told; k++)
			if (list[k].is_told && registers_clash(&list[i].passing, &list[k].passing))
				list[i].passing.count = 0;
}
