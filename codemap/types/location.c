/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Where a parameter is at a function's first instruction, as debug info tells it.
 *
 * The psABI's answer is right for every function that can be called from outside its file.
 * Compilers change the signature of the others: gcc makes clones (.isra, .constprop) without
 * parameters that it could remove, clang changes the function itself. Only location lists tell
 * that. An expression that holds for the whole function is believed only when it names a register
 * or the caller's stack: without optimisation it tells where the prologue will *put* a parameter.
 */
#include "codemap/types/prototype.h"

enum {
	DW_OP_deref = 0x06, DW_OP_const1u = 0x08, DW_OP_const1s = 0x09, DW_OP_const2u = 0x0a, DW_OP_const2s = 0x0b,
	DW_OP_const4u = 0x0c, DW_OP_const4s = 0x0d, DW_OP_const8u = 0x0e, DW_OP_const8s = 0x0f, DW_OP_constu = 0x10,
	DW_OP_consts = 0x11, DW_OP_plus_uconst = 0x23, DW_OP_lit0 = 0x30, DW_OP_reg0 = 0x50, DW_OP_breg0 = 0x70,
	DW_OP_regx = 0x90, DW_OP_fbreg = 0x91, DW_OP_bregx = 0x92, DW_OP_piece = 0x93, DW_OP_call_frame_cfa = 0x9c,
	DW_OP_implicit_value = 0x9e, DW_OP_stack_value = 0x9f, DW_OP_entry_value = 0xa3, DW_OP_GNU_entry_value = 0xf3,
};

enum told { TOLD_NOTHING, TOLD_PLACE, TOLD_ABSENT };

#define REG_RSP	7u

struct place_reader {
	int cfa_frame_base;	/* DW_OP_fbreg counts from the CFA */
	int always;		/* the expression is not only for the first instruction */
};

/* A tracer has the registers that a call may change; a parameter in another one (regcall) is not known. */
#define GPRS_KNOWN	0x0f77u	/* all but rbx, rsp and r12 to r15 */

static int register_piece(uint64_t reg, struct piece *piece)
{
	if (reg < 16) {
		piece->place = GPRS_KNOWN >> reg & 1 ? SPI_PLACE_GPR : SPI_PLACE_NONE;
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

/* What holds in it for the whole function does so at its first instruction: no prologue puts anything there. */
static int register_has_parameter(uint64_t reg)
{
	unsigned int i;

	for (i = 0; i < 6; i++)
		if (abi_gpr[i] == reg)
			return 1;
	return 0;
}

static int based_piece(const struct place_reader *reader, uint64_t reg, int64_t offset, struct piece *piece)
{
	if (offset < -(1 << 20) || offset > (1 << 20) || (reader->always && !register_has_parameter(reg)))
		return 0;
	if (reg == REG_RSP)
		return stack_piece(offset - 8, piece);
	if (reg >= 16 || !(GPRS_KNOWN >> reg & 1) || reg == 6)
		return 0;
	piece->place = SPI_PLACE_MEMORY;
	piece->reg = (uint8_t) reg;
	piece->offset = (int32_t) offset;
	return 1;
}

/* A constant of which every byte is known; *size: as wide as it is at least. 0: the operator makes none. */
static int constant_read(uint8_t op, struct cursor *c, uint64_t *value)
{
	uint64_t size;

	*value = 0;
	if (op >= DW_OP_lit0 && op < DW_OP_lit0 + 32) {
		*value = op - DW_OP_lit0;
	} else if (op >= DW_OP_const1u && op <= DW_OP_const8s) {
		unsigned int bytes = 1u << (op - DW_OP_const1u) / 2, unused = 64 - 8 * bytes;

		*value = cursor_uint(c, bytes);
		if ((op - DW_OP_const1u) % 2)
			*value = (uint64_t) ((int64_t) (*value << unused) >> unused);
	} else if (op == DW_OP_constu) {
		*value = cursor_uleb(c);
	} else if (op == DW_OP_consts) {
		*value = (uint64_t) cursor_sleb(c);
	} else if (op == DW_OP_implicit_value) {
		size = cursor_uleb(c);
		if (c->bad || !size || size > 8 || size > (uint64_t) (c->end - c->p))
			return 0;
		memcpy(value, c->p, size);
		cursor_skip(c, size);
		return !c->bad;
	} else {
		return 0;
	}
	return cursor_uint(c, 1) == DW_OP_stack_value && !c->bad;
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
		if (ok && c->p < c->end && *c->p == DW_OP_deref) {
			cursor_skip(c, 1);
			ok = offset % 8 == 0 && offset < 8 * 256;
			piece->place = SPI_PLACE_STACK_MEMORY;
			piece->reg = (uint8_t) (offset / 8);
			piece->offset = 0;
		}
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
		if (c->bad)
			return TOLD_NOTHING;
		inner.end = inner.p + size;
		op = (uint8_t) cursor_uint(&inner, 1);
		ok = op >= DW_OP_reg0 && op < DW_OP_reg0 + 32 && inner.p == inner.end;
		if (ok && c->p < c->end && *c->p == DW_OP_stack_value) {
			cursor_skip(c, 1);
			ok = register_piece(op - DW_OP_reg0, piece);
		} else if (ok) {	/* the address that the register had */
			ok = based_piece(reader, op - DW_OP_reg0, 0, piece);
		}
	} else {
		inner = *c;
		ok = constant_read(op, &inner, &piece->value);
		if (!ok)	/* computed from something: nobody passes it */
			return c->end[-1] == DW_OP_stack_value ? TOLD_ABSENT : TOLD_NOTHING;
		*c = inner;
		piece->place = SPI_PLACE_CONSTANT;
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
		} else if (size > (piece.place == SPI_PLACE_GPR || piece.place == SPI_PLACE_NONE ? 8 : piece.place == SPI_PLACE_XMM ? 64 : 1 << 20)) {
			return TOLD_NOTHING;
		}
		if (piece.place == SPI_PLACE_CONSTANT && size > 8)
			return TOLD_ABSENT;
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

int location_place(const struct dw_value *location, uint64_t pc, const struct type *type, struct passing *passing)
{
	struct place_reader reader = { 0 };
	struct cursor expression;

	return location_at(location, pc, &expression, &reader.always) == 1 &&
	       location_read(&reader, expression, type, passing) == TOLD_PLACE;
}

int parameter_is_behind(const struct dw_die *parameter, uint64_t pc)
{
	struct dw_value value;
	struct cursor c;
	int always;
	uint8_t op;

	if (!die_attr(parameter, DW_AT_location, &value) || location_at(&value, pc, &c, &always) != 1 || c.p == c.end)
		return -1;
	op = (uint8_t) cursor_uint(&c, 1);
	if (op == DW_OP_entry_value || op == DW_OP_GNU_entry_value) {
		cursor_skip(&c, cursor_uleb(&c));
		return c.p == c.end;
	}
	if (op == DW_OP_bregx)
		cursor_uleb(&c);
	else if (op != DW_OP_fbreg && (op < DW_OP_breg0 || op >= DW_OP_breg0 + 32))
		return 0;
	cursor_sleb(&c);
	/* On the frame is a variable, which may be the pointer; elsewhere a register points to it. */
	if (op == DW_OP_fbreg || op == DW_OP_breg0 + 6 || op == DW_OP_breg0 + REG_RSP)
		return c.p < c.end && *c.p == DW_OP_deref;
	return c.p == c.end;
}

/* The pointer whose place is known from where it leads. */
static void pointer_tell(struct parameter *p)
{
	struct piece *piece = p->passing.piece;

	piece->size = BEHIND_REACH;
	if (piece->offset || (piece->place != SPI_PLACE_MEMORY && piece->place != SPI_PLACE_STACK_MEMORY))
		return;
	p->pointer.count = 1;
	p->pointer.piece[0] = *piece;
	p->pointer.piece[0].size = 8;
	p->pointer.piece[0].place = piece->place == SPI_PLACE_MEMORY ? SPI_PLACE_GPR : SPI_PLACE_STACK;
	if (piece->place == SPI_PLACE_STACK_MEMORY)
		p->pointer.piece[0].offset = 8 * piece->reg;
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

/* DW_AT_const_value of a parameter: the same in every call. */
static enum told constant_told(const struct dw_value *value, const struct type *type, struct passing *passing)
{
	struct piece piece = { .place = SPI_PLACE_CONSTANT, .size = type->size };

	if (!value_constant(value, &piece.value)) {
		if (!value->block || value->size != type->size || value->size > 8)
			return TOLD_ABSENT;
		memcpy(&piece.value, value->block, value->size);
	}
	if (!type->size || type->size > 8)
		return TOLD_ABSENT;
	memset(passing, 0, sizeof(*passing));
	passing->piece[passing->count++] = piece;
	return TOLD_PLACE;
}

/* What debug info says of the parameter at pc. TOLD_NOTHING: its location cannot be one of the first instruction. */
static enum told parameter_told(const struct parameter *parameter, struct place_reader *reader, uint64_t pc,
				struct passing *passing)
{
	struct cursor expression;
	struct dw_value value;

	if (die_attr(&parameter->die, DW_AT_const_value, &value))
		return constant_told(&value, &parameter->type, passing);
	if (!die_attr(&parameter->die, DW_AT_location, &value))
		return TOLD_ABSENT;
	switch (location_at(&value, pc, &expression, &reader->always)) {
	case 0: return TOLD_ABSENT;
	case 1: return location_read(reader, expression, &parameter->type, passing);
	}
	return TOLD_NOTHING;
}

/*
 * gcc says nothing of functions with the convention of Windows (ms_abi). But without optimisation their parameters
 * are stored where the caller has left room for the first four: above the return address, 8 bytes each, where no
 * parameter can be that the psABI passes in a register.
 */
static int is_in_home(const struct passing *told, const struct passing *abi)
{
	return told->count == 1 && told->piece[0].place == SPI_PLACE_STACK && told->piece[0].offset % 8 == 0 &&
	       told->piece[0].offset < 32 && told->piece[0].size <= 8 && abi->count == 1 &&
	       (abi->piece[0].place == SPI_PLACE_GPR || abi->piece[0].place == SPI_PLACE_XMM);
}

/* The register whose home it is; the psABI says of which kind. */
static void home_leave(struct passing *told, const struct passing *abi)
{
	static const uint8_t gprs[4] = { 2, 1, 8, 9 };	/* rcx, rdx, r8, r9 */
	struct piece *piece = &told->piece[0];
	unsigned int number = (unsigned int) piece->offset / 8;

	piece->place = abi->piece[0].place;
	piece->reg = piece->place == SPI_PLACE_XMM ? (uint8_t) number : gprs[number];
	piece->offset = 0;
	piece->size = 8;
}

/* The psABI has it in another register. */
static int is_elsewhere(const struct passing *told, const struct passing *abi)
{
	return told->count == 1 && abi->count == 1 &&
	       (told->piece[0].place == SPI_PLACE_GPR || told->piece[0].place == SPI_PLACE_XMM) &&
	       (abi->piece[0].place == SPI_PLACE_GPR || abi->piece[0].place == SPI_PLACE_XMM) &&
	       (told->piece[0].place != abi->piece[0].place || told->piece[0].reg != abi->piece[0].reg);
}

/* One parameter; returns whether it shows that the convention is another one. */
static int parameter_place(struct parameter *parameter, struct place_reader *reader, uint64_t pc, unsigned int what)
{
	struct passing passing = { .count = 0 };
	enum told told = TOLD_NOTHING;
	int is_other = 0;

	if (parameter->is_told)
		return 0;
	reader->always = 0;
	if (!parameter->passing.is_empty)
		told = parameter_told(parameter, reader, pc, &passing);
	if (told == TOLD_PLACE) {
		is_other = reader->always && is_in_home(&passing, &parameter->passing);
		if (is_other)
			home_leave(&passing, &parameter->passing);
		else if (!(what & PLACE_MAY_DIFFER) && !unit_is_fortran(parameter->die.unit))
			is_other = is_elsewhere(&passing, &parameter->passing);
		if (!is_other && !(what & PLACE_OF_CLONE) && !parameter->is_behind)
			pieces_complete(&passing, &parameter->passing);
		parameter->passing = passing;
		parameter->is_told = 1;
		if (parameter->is_behind)
			pointer_tell(parameter);
	} else if (told == TOLD_ABSENT && (what & PLACE_MAY_DIFFER)) {
		parameter->passing.count = 0;
		parameter->passing.otherwise = SPI_PLACE_OPTIMISED_OUT;
	} else if (what & PLACE_OF_CLONE) {
		parameter->passing.count = 0;
	}
	return is_other;
}

int parameters_place(const struct dw_die *function, uint64_t pc, struct parameter *list, size_t count, unsigned int what)
{
	struct place_reader reader = { 0 };
	struct dw_value value;
	int is_other = (what & PLACE_OTHER_ABI) != 0;
	size_t i, k;

	reader.cfa_frame_base = die_attr(function, DW_AT_frame_base, &value) && value.block && value.size == 1 &&
				value.block[0] == DW_OP_call_frame_cfa;
	for (i = 0; i < count; i++)
		is_other |= parameter_place(&list[i], &reader, pc, what);
	for (i = 0; i < count; i++)
		for (k = 0; k < count && !list[i].is_told; k++)
			if (is_other || (list[k].is_told && registers_clash(&list[i].passing, &list[k].passing)))
				list[i].passing.count = 0;
	return is_other;
}
