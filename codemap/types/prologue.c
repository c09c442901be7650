/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Follows a function's first instructions: see prologue.h. Only instructions whose whole effect is
 * known are followed; the first other instruction, and each call or jump, is the end. At the
 * entry, only registers that carry parameters have known contents.
 */
#include "codemap/code/x86.h"
#include "codemap/types/prologue.h"

#define STEPS_MAX	160
#define RBP		6u	/* DWARF's numbers */
#define RSP		7u

/* DWARF's numbers of the registers in the order in which instructions number them. */
static const uint8_t dwarf_number[16] = { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 };
static const struct origin nothing;

/* One instruction, and what its operands are. */
struct operation {
	struct x86_decoded insn;
	uint8_t has_66, has_f2, has_f3, has_segment;
	uint8_t reg, rm;	/* as instructions number them, with REX */
	uint8_t width;		/* bytes of a general operand */
	uint8_t is_memory;
	struct origin address;	/* of the memory operand: of CFA or what an argument points to; its offset is added */
	int32_t disp;
};

void prologue_begin(struct prologue *p, const uint8_t *code, uint64_t size, uint64_t pc)
{
	unsigned int i;

	memset(p, 0, sizeof(*p));
	p->code = code;
	p->left = size;
	p->pc = pc;
	for (i = 0; i < 6; i++)
		p->gpr[abi_gpr[i]] = (struct origin) { .place = SPI_PLACE_GPR, .reg = abi_gpr[i], .size = 8 };
	for (i = 0; i < 8; i++)
		p->xmm[i] = (struct origin) { .place = SPI_PLACE_XMM, .reg = (uint8_t) i, .size = 16 };
	p->gpr[RSP] = (struct origin) { .is_cfa = 1, .offset = -8 };
}

/* `size` bytes from byte `from` of it on. */
static struct origin origin_part(struct origin origin, uint32_t from, uint32_t size)
{
	if (!origin.place || from >= origin.size)
		return nothing;
	origin.offset += (int32_t) from;
	origin.size = (uint8_t) (origin.size - from < size ? origin.size - from : size);
	return origin;
}

static int overlaps(int32_t a, uint64_t a_size, int32_t b, uint64_t b_size)
{
	return (int64_t) a < (int64_t) b + (int64_t) b_size && (int64_t) b < (int64_t) a + (int64_t) a_size;
}

struct origin prologue_slot(const struct prologue *p, int32_t at, uint32_t size)
{
	unsigned int i;

	for (i = p->write_count; i-- > 0;) {
		if (!overlaps(at, size, p->writes[i].at, p->writes[i].size))
			continue;
		if (at < p->writes[i].at || at + (int64_t) size > p->writes[i].at + (int64_t) p->writes[i].size)
			return nothing;
		return origin_part(p->writes[i].origin, (uint32_t) (at - p->writes[i].at), size);
	}
	if (at < 0 || p->is_memory_changed)
		return nothing;
	return (struct origin) { .place = SPI_PLACE_STACK, .offset = at, .size = (uint8_t) (size < 64 ? size : 64) };
}

static void piece_from(struct passing *passing, const struct origin *origin, uint64_t from, uint64_t size)
{
	struct piece *piece;

	if (passing->count == PIECES_MAX || !origin->place)
		return;
	piece = &passing->piece[passing->count++];
	memset(piece, 0, sizeof(*piece));
	piece->from = from;
	piece->size = size < origin->size ? size : origin->size;
	piece->place = origin->place;
	piece->reg = origin->reg;
	piece->offset = origin->offset;
}

void prologue_first(const struct prologue *p, int32_t at, uint64_t size, struct passing *passing)
{
	unsigned int i, k, count = 0;

	passing->count = 0;
	for (i = 0; i < p->write_count; i++) {
		int32_t here = p->writes[i].at, skip = here < at ? at - here : 0;
		struct origin origin;

		if (!overlaps(at, size, here, p->writes[i].size))
			continue;
		count++;
		for (k = 0; k < i; k++)		/* in the slot, and there first */
			if (overlaps(at, size, p->writes[k].at, p->writes[k].size) &&
			    overlaps(p->writes[k].at, p->writes[k].size, here, p->writes[i].size))
				break;
		if (k < i)
			continue;
		origin = origin_part(p->writes[i].origin, (uint32_t) skip, p->writes[i].size - (uint32_t) skip);
		piece_from(passing, &origin, (uint64_t) (here + skip - at), (uint64_t) (at + (int64_t) size - here - skip));
	}
	if (!count && at >= 0 && size) {
		passing->count = 1;
		passing->piece[0] = (struct piece) { .size = size, .place = SPI_PLACE_STACK, .offset = at };
	}
}

/* ---- following instructions ---- */

static int operands_read(const struct prologue *p, struct operation *o)
{
	const struct x86_decoded *insn = &o->insn;
	uint8_t mod = insn->modrm >> 6, rm = insn->modrm & 7, base;
	const uint8_t *code = p->code;
	unsigned int i;

	for (i = 0; i < insn->opcode_offset; i++) {
		o->has_66 |= code[i] == 0x66;
		o->has_f2 |= code[i] == 0xf2;
		o->has_f3 |= code[i] == 0xf3;
		o->has_segment |= code[i] == 0x64 || code[i] == 0x65 || code[i] == 0x67 || code[i] == 0xf0;
	}
	o->width = (insn->rex & 8) ? 8 : o->has_66 ? 2 : 4;
	if (!insn->modrm_offset)
		return 1;
	o->reg = (uint8_t) ((insn->modrm >> 3 & 7) | (insn->rex & 4) << 1);
	o->rm = (uint8_t) (rm | (insn->rex & 1) << 3);
	if (mod == 3)
		return 1;
	o->is_memory = 1;
	if (o->has_segment)
		return 0;
	if (insn->disp_size == 1)
		o->disp = (int8_t) code[insn->disp_offset];
	else if (insn->disp_size == 4)
		memcpy(&o->disp, code + insn->disp_offset, 4);
	if (!mod && rm == 5)
		return 1;		/* rip-relative: no place on the stack, nor behind an argument */
	base = o->rm;
	if (rm == 4) {
		uint8_t sib = code[insn->modrm_offset + 1];

		if ((sib & 0x38) != 0x20 || (insn->rex & 2) || (!mod && (sib & 7) == 5))
			return 1;
		base = (uint8_t) ((sib & 7) | (insn->rex & 1) << 3);
	}
	o->address = p->gpr[dwarf_number[base]];
	if (o->disp < -(1 << 24) || o->disp > (1 << 24))
		o->address = nothing;
	return 1;
}

/* A byte register by its number, or NULL for ah to bh. */
static struct origin *byte_register(struct prologue *p, const struct operation *o, uint8_t n)
{
	return !o->insn.rex && n >= 4 && n < 8 ? NULL : &p->gpr[dwarf_number[n]];
}

static struct origin memory_load(const struct prologue *p, const struct operation *o, uint32_t size)
{
	const struct origin *at = &o->address;

	if (at->is_cfa)
		return prologue_slot(p, at->offset + o->disp, size);
	if (at->place == SPI_PLACE_GPR && !at->offset && at->size == 8 && !p->is_memory_changed)
		return (struct origin) { .place = SPI_PLACE_MEMORY, .reg = at->reg, .offset = o->disp,
			.size = (uint8_t) size };
	return nothing;
}

/* 0: it may be anywhere in the frame. */
static int memory_store(struct prologue *p, const struct operation *o, uint32_t size, struct origin origin)
{
	const uint8_t mod_rip = (o->insn.modrm & 0xc7) == 0x05;

	if (o->address.is_cfa) {
		if (p->write_count == PROLOGUE_WRITES)
			return 0;
		p->writes[p->write_count].at = o->address.offset + o->disp;
		p->writes[p->write_count].size = size;
		p->writes[p->write_count++].origin = origin_part(origin, 0, size);
		p->has_stored = 1;
		return 1;
	}
	p->is_memory_changed = 1;
	return mod_rip || o->address.place == SPI_PLACE_GPR;
}

static struct origin general_read(struct prologue *p, const struct operation *o, int from_rm, uint8_t width)
{
	uint8_t n = from_rm ? o->rm : o->reg;
	const struct origin *origin;

	if (from_rm && o->is_memory)
		return memory_load(p, o, width);
	origin = width == 1 ? byte_register(p, o, n) : &p->gpr[dwarf_number[n]];
	if (!origin)
		return nothing;
	return origin->is_cfa && width == 8 ? *origin : origin_part(*origin, 0, width);
}

/* Writing part of a register leaves the rest: what is known afterwards is the part. */
static int general_write(struct prologue *p, const struct operation *o, int to_rm, uint8_t width, struct origin origin)
{
	uint8_t n = to_rm ? o->rm : o->reg;

	if (to_rm && o->is_memory)
		return memory_store(p, o, width, origin);
	if (width == 1 && !byte_register(p, o, n))
		n -= 4;
	else if (dwarf_number[n] == RSP && !origin.is_cfa)
		return 0;
	p->gpr[dwarf_number[n]] = width == 1 && n != (to_rm ? o->rm : o->reg) ? nothing : origin;
	return 1;
}

/* add, sub, and or lea of the stack pointer; other registers hold nothing known after arithmetic. */
static int immediate_step(struct prologue *p, const struct operation *o)
{
	uint8_t width = o->insn.opcode == 0x80 ? 1 : o->width, what = o->insn.modrm >> 3 & 7;
	const uint8_t *code = p->code + o->insn.size - o->insn.imm_size;
	int32_t value = (int8_t) code[0];
	struct origin origin;

	if (o->insn.imm_size == 4)
		memcpy(&value, code, 4);
	if (what == 7)
		return 1;
	if (!o->is_memory && dwarf_number[o->rm] == RSP) {
		p->has_moved |= p->has_stored;
		if (width != 8 || (what != 0 && what != 5) || p->has_stored || value < -(1 << 24) || value > 1 << 24)
			return 0;
		p->gpr[RSP].offset += what ? -value : value;
		return p->gpr[RSP].offset < 0 && p->gpr[RSP].offset > -(1 << 26);
	}
	origin = what == 4 && value == 1 && o->insn.imm_size == 1 ? general_read(p, o, 1, 1) : nothing;
	return general_write(p, o, 1, width, origin);	/* a bool stays what it is when its other bits are cut off */
}

static int push_step(struct prologue *p, const struct operation *o)
{
	uint8_t n = dwarf_number[(o->insn.opcode & 7) | (o->insn.rex & 1) << 3];

	p->has_moved |= p->has_stored;
	if (p->has_stored || p->write_count == PROLOGUE_WRITES || o->has_66)
		return 0;
	p->gpr[RSP].offset -= 8;
	p->writes[p->write_count].at = p->gpr[RSP].offset;
	p->writes[p->write_count].size = 8;
	p->writes[p->write_count++].origin = p->gpr[n].is_cfa ? nothing : p->gpr[n];
	return 1;
}

static int lea_step(struct prologue *p, const struct operation *o)
{
	struct origin origin = nothing;

	if (o->address.is_cfa && o->width == 8) {
		origin = o->address;
		origin.offset += o->disp;
	}
	return general_write(p, o, 0, o->width, origin);
}

static int one_step(struct prologue *p, const struct operation *o)
{
	uint8_t opcode = o->insn.opcode, width = (opcode & 1) ? o->width : 1, what = o->insn.modrm >> 3 & 7;

	if (opcode < 0x40 && (opcode & 7) < 6) {	/* add, or, ... cmp */
		if (opcode >= 0x38)
			return 1;
		if ((opcode & 7) == 4 && opcode == 0x24 && p->code[o->insn.size - 1] == 1) {
			p->gpr[0] = origin_part(p->gpr[0], 0, 1);	/* and $1, %al */
			return 1;
		}
		if ((opcode & 7) >= 4) {
			p->gpr[0] = nothing;
			return 1;
		}
		return general_write(p, o, !(opcode & 2), width, nothing);
	}
	if ((opcode & 0xf8) == 0x50)
		return push_step(p, o);
	if ((opcode & 0xf0) == 0xb0) {
		p->gpr[dwarf_number[(opcode & 7) | (o->insn.rex & 1) << 3]] = nothing;
		if (opcode < 0xb8 && !o->insn.rex && (opcode & 4))
			p->gpr[dwarf_number[opcode & 3]] = nothing;
		return dwarf_number[opcode & 7] != RSP || opcode < 0xb8 || (o->insn.rex & 1);
	}
	switch (opcode) {
	case 0x63:
		return general_write(p, o, 0, o->width, general_read(p, o, 1, 4));
	case 0x80: case 0x81: case 0x83:
		return immediate_step(p, o);
	case 0x84: case 0x85: case 0xa8: case 0xa9: case 0x90:
		return !(opcode == 0x90 && (o->insn.rex & 1));
	case 0x88: case 0x89:
		return general_write(p, o, 1, width, general_read(p, o, 0, width));
	case 0x8a: case 0x8b:
		return general_write(p, o, 0, width, general_read(p, o, 1, width));
	case 0x8d:
		return lea_step(p, o);
	case 0xc0: case 0xc1: case 0xd0: case 0xd1:
		return general_write(p, o, 1, width, nothing);
	case 0xc6: case 0xc7:
		return !what && general_write(p, o, 1, width, nothing);
	case 0xf6: case 0xf7:
		return what < 2 || (what < 4 && general_write(p, o, 1, width, nothing));
	}
	return 0;
}

static int vector_move(struct prologue *p, const struct operation *o, uint32_t size, int is_store)
{
	struct origin from = is_store ? p->xmm[o->reg] : o->is_memory ? memory_load(p, o, size) : p->xmm[o->rm];

	if (is_store && o->is_memory)
		return memory_store(p, o, size, from);
	p->xmm[is_store ? o->rm : o->reg] = origin_part(from, 0, size);
	return 1;
}

static int two_step(struct prologue *p, const struct operation *o)
{
	uint8_t opcode = o->insn.opcode;

	switch (opcode) {
	case 0x10: case 0x11:	/* movups, movupd, movss, movsd */
		return vector_move(p, o, o->has_f3 ? 4 : o->has_f2 ? 8 : 16, opcode == 0x11);
	case 0x28: case 0x29:
		return vector_move(p, o, 16, opcode == 0x29);
	case 0x6f: case 0x7f:
		return (o->has_66 || o->has_f3) && vector_move(p, o, 16, opcode == 0x7f);
	case 0xd6:
		return o->has_66 && vector_move(p, o, 8, 1);
	case 0x6e:
		if (!o->has_66)
			return 0;
		p->xmm[o->reg] = general_read(p, o, 1, (o->insn.rex & 8) ? 8 : 4);
		return 1;
	case 0x7e:
		if (o->has_f3)
			return vector_move(p, o, 8, 0);
		return o->has_66 &&
		       general_write(p, o, 1, (o->insn.rex & 8) ? 8 : 4,
			       origin_part(p->xmm[o->reg], 0, (o->insn.rex & 8) ? 8 : 4));
	case 0xb6: case 0xb7: case 0xbe: case 0xbf:
		return general_write(p, o, 0, o->width, general_read(p, o, 1, (opcode & 1) ? 2 : 1));
	case 0xaf:
		return general_write(p, o, 0, o->width, nothing);
	case 0x1e:
		return o->insn.modrm == 0xfa;	/* endbr64 */
	case 0x1f:
		return 1;
	case 0x57: case 0xef:
		p->xmm[o->reg] = nothing;
		return opcode == 0x57 || o->has_66;
	}
	if ((opcode & 0xf0) == 0x40)
		return general_write(p, o, 0, o->width, nothing);
	if ((opcode & 0xf0) == 0x90)
		return general_write(p, o, 1, 1, nothing);
	return 0;
}

int prologue_step(struct prologue *p)
{
	struct operation o = { .width = 0 };
	int ok;

	if (p->steps == STEPS_MAX || !x86_decode(p->code, p->left, p->pc, &o.insn))
		return 0;
	if ((o.insn.kind != SPI_INSN_PLAIN && o.insn.kind != SPI_INSN_RIP) || o.insn.vector || o.insn.map > 1 ||
	    (o.insn.flags & (X86_IS_CALL | X86_IS_JUMP | X86_INDIRECT_JUMP)) || !operands_read(p, &o))
		return 0;
	ok = o.insn.map ? two_step(p, &o) : one_step(p, &o);
	if (!ok)
		return 0;
	p->code += o.insn.size;
	p->left -= o.insn.size;
	p->pc += o.insn.size;
	p->steps++;
	return 1;
}
