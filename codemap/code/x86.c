/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The decoder of x86.h. It follows the opcode maps of the processor manuals; a test compares it
 * with capstone over whole objects.
 */
#include <string.h>
#include "codemap/code/x86.h"
#include "codemap/map/format.h"

#define LENGTH_MAX 15

/* What follows an opcode. */
enum {
	M = 1,			/* ModRM */
	I1 = 2, I2 = 4, IZ = 8,	/* immediate: 1, 2, or 4 bytes (2 with the 66 prefix) */
	X = 16,			/* not in 64-bit code */
	S = 32,			/* special: decode_special() */
};

static const uint8_t map_one[256] = {
	/* 00 */ M, M, M, M, I1, IZ, X, X, M, M, M, M, I1, IZ, X, X,
	/* 10 */ M, M, M, M, I1, IZ, X, X, M, M, M, M, I1, IZ, X, X,
	/* 20 */ M, M, M, M, I1, IZ, X, X, M, M, M, M, I1, IZ, X, X,
	/* 30 */ M, M, M, M, I1, IZ, X, X, M, M, M, M, I1, IZ, X, X,
	/* 40 */ X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
	/* 50 */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	/* 60 */ X, X, X, M, X, X, X, X, IZ, M | IZ, I1, M | I1, 0, 0, 0, 0,
	/* 70 */ I1, I1, I1, I1, I1, I1, I1, I1, I1, I1, I1, I1, I1, I1, I1, I1,
	/* 80 */ M | I1, M | IZ, X, M | I1, M, M, M, M, M, M, M, M, M, M, M, M,
	/* 90 */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, X, 0, 0, 0, 0, 0,
	/* a0 */ S, S, S, S, 0, 0, 0, 0, I1, IZ, 0, 0, 0, 0, 0, 0,
	/* b0 */ I1, I1, I1, I1, I1, I1, I1, I1, S, S, S, S, S, S, S, S,
	/* c0 */ M | I1, M | I1, I2, 0, X, X, M | I1, M | IZ, I2 | I1, 0, I2, 0, 0, I1, X, 0,
	/* d0 */ M, M, M, M, X, X, X, 0, M, M, M, M, M, M, M, M,
	/* e0 */ I1, I1, I1, I1, I1, I1, I1, I1, IZ, IZ, X, I1, 0, 0, 0, 0,
	/* f0 */ X, 0, X, X, 0, 0, S | M, S | M, 0, 0, 0, 0, 0, 0, M, M,
};

struct decoder {
	const uint8_t *p, *end, *begin;
	uint8_t rex, has_66, has_67, has_f2, has_f3, vector, map, opcode, modrm;
	uint8_t wide;		/* vector length: 0, 1, 2 */
	uint8_t fix_offset, opcode_offset, modrm_offset, disp_offset, disp_size;
	uint8_t immediate;	/* bytes behind the operands */
};

/* ModRM, SIB and displacement. */
static int decode_modrm(struct decoder *d)
{
	uint8_t mod, rm, base = 0, size = 0;

	if (d->p >= d->end)
		return 0;
	d->modrm_offset = (uint8_t) (d->p - d->begin);
	d->modrm = *d->p++;
	mod = d->modrm >> 6;
	rm = d->modrm & 7;
	if (mod == 3)
		return 1;
	if (rm == 4) {
		if (d->p >= d->end)
			return 0;
		base = *d->p++ & 7;
	}
	if (mod == 1)
		size = 1;
	else if (mod == 2 || (rm == 4 && base == 5) || rm == 5)
		size = 4;
	if (!mod && rm == 5)
		d->fix_offset = (uint8_t) (d->p - d->begin);
	if (size > d->end - d->p)
		return 0;
	d->disp_offset = size ? (uint8_t) (d->p - d->begin) : 0;
	d->disp_size = size;
	d->p += size;
	return 1;
}

/* Immediates of opcodes in the 0f map that have one. */
static int two_has_imm8(uint8_t opcode)
{
	return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6);
}

static int two_has_no_modrm(uint8_t opcode)
{
	return (opcode >= 0x05 && opcode <= 0x09) || opcode == 0x0b || opcode == 0x0e ||
	       (opcode >= 0x30 && opcode <= 0x37) || opcode == 0x77 || (opcode >= 0x80 && opcode <= 0x8f) ||
	       (opcode >= 0xa0 && opcode <= 0xa2) || (opcode >= 0xa8 && opcode <= 0xaa) ||
	       (opcode >= 0xc8 && opcode <= 0xcf);
}

static int two_is_invalid(uint8_t opcode)
{
	return opcode == 0x04 || opcode == 0x0a || opcode == 0x0c || (opcode >= 0x24 && opcode <= 0x27) ||
	       opcode == 0x36 || opcode == 0x39 || (opcode >= 0x3b && opcode <= 0x3f);
}

/* The maps behind 0f. */
static int decode_escape(struct decoder *d)
{
	if (d->p >= d->end)
		return 0;
	d->map = 1;
	d->opcode = *d->p++;
	if (d->opcode == 0x38 || d->opcode == 0x3a) {
		d->map = d->opcode == 0x38 ? 2 : 3;
		if (d->p >= d->end)
			return 0;
		d->opcode = *d->p++;
		d->immediate = d->map == 3;
		return decode_modrm(d);
	}
	if (two_is_invalid(d->opcode))
		return 0;
	if (d->opcode >= 0x80 && d->opcode <= 0x8f)
		d->immediate = 4;
	if (two_has_no_modrm(d->opcode))
		return 1;
	d->immediate = two_has_imm8(d->opcode) || d->opcode == 0xa4 || d->opcode == 0xac || d->opcode == 0xba ||
		       d->opcode == 0x0f;
	if (d->opcode == 0x78 && (d->has_66 || d->has_f2))
		d->immediate = 2;
	return decode_modrm(d);
}

/* VEX (c4, c5), EVEX (62) and XOP (8f) from their second byte on. */
static int decode_vector(struct decoder *d, uint8_t first)
{
	uint8_t b1, b2 = 0, b3;

	if (d->rex || d->has_66 || d->has_f2 || d->has_f3 || d->end - d->p < 4)
		return 0;
	d->vector = first;
	b1 = *d->p++;
	if (first == 0xc5) {
		d->map = 1;
		d->wide = (b1 >> 2) & 1;
	} else if (first == 0x62) {
		b2 = *d->p++;
		b3 = *d->p++;
		d->map = b1 & 7;
		d->wide = 2;
		if ((b1 & 8) || !(b2 & 4) || !d->map || d->map == 4 || d->map == 7)
			return 0;
		(void) b3;
	} else {
		b2 = *d->p++;
		d->map = b1 & 0x1f;
		d->wide = (b2 >> 2) & 1;
		if (first == 0xc4 ? d->map < 1 || d->map > 3 : d->map < 8 || d->map > 10)
			return 0;
	}
	if (d->p >= d->end)
		return 0;
	d->opcode = *d->p++;
	if (d->map == 3 || d->map == 8)
		d->immediate = 1;
	else if (d->map == 10)
		d->immediate = 4;
	else if (d->map == 1)
		d->immediate = (uint8_t) two_has_imm8(d->opcode);
	if (d->map == 1 && d->opcode == 0x77 && first != 0x62) {
		d->wide = 0;	/* vzeroupper, vzeroall: nothing is computed */
		return 1;
	}
	return decode_modrm(d);
}

static int decode_one(struct decoder *d)
{
	uint8_t what = map_one[d->opcode], z = d->has_66 && !(d->rex & 8) ? 2 : 4;

	if (what & X)
		return 0;
	if ((what & M) && !decode_modrm(d))
		return 0;
	d->immediate = (uint8_t) (((what & I1) ? 1 : 0) + ((what & I2) ? 2 : 0) + ((what & IZ) ? z : 0));
	if (what & S) {
		if (d->opcode >= 0xa0 && d->opcode <= 0xa3)
			d->immediate = d->has_67 ? 4 : 8;
		else if (d->opcode >= 0xb8 && d->opcode <= 0xbf)
			d->immediate = (d->rex & 8) ? 8 : z;
		else if (!((d->modrm >> 3) & 6))		/* f6, f7: test */
			d->immediate = d->opcode == 0xf6 ? 1 : z;
	}
	return 1;
}

static int is_opmask(const struct decoder *d)
{
	return (d->vector == 0xc4 || d->vector == 0xc5) && d->map == 1 &&
	       ((d->opcode >= 0x41 && d->opcode <= 0x4b) || (d->opcode >= 0x90 && d->opcode <= 0x93) ||
		       d->opcode == 0x98 || d->opcode == 0x99);
}

static int32_t displacement(const uint8_t *p, unsigned int size)
{
	int32_t wide;

	if (size == 1)
		return (int8_t) p[0];
	memcpy(&wide, p, 4);
	return wide;
}

/* Kinds of the opcodes of the first map that are not plain. */
static void kind_one(const struct decoder *d, struct x86_decoded *insn)
{
	uint8_t reg = (d->modrm >> 3) & 7;

	switch (d->opcode) {
	case 0xe0: case 0xe1: case 0xe2: case 0xe3:
		insn->kind = SPI_INSN_UNMOVABLE;
		insn->flags |= X86_IS_JUMP;
		break;
	case 0xe8:
		insn->kind = SPI_INSN_CALL;
		insn->flags |= X86_IS_CALL;
		break;
	case 0xe9: case 0xeb:
		insn->kind = SPI_INSN_JMP;
		insn->flags |= X86_IS_JUMP;
		break;
	case 0xc2: case 0xc3: case 0xca: case 0xcb: case 0xcf: case 0xf4:
		insn->kind = SPI_INSN_END;
		break;
	case 0xcc: case 0xcd: case 0xf1:
		insn->kind = SPI_INSN_UNMOVABLE;
		break;
	case 0xc7: case 0xc6:
		if (reg == 7) {		/* xbegin, xabort */
			insn->kind = SPI_INSN_UNMOVABLE;
			insn->flags |= d->opcode == 0xc7 ? X86_IS_JUMP : 0;
		}
		break;
	case 0xff:
		if (reg == 2) {
			insn->kind = SPI_INSN_CALL_INDIRECT;
			insn->flags |= X86_IS_CALL;
		} else if (reg == 3) {
			insn->kind = SPI_INSN_UNMOVABLE;
			insn->flags |= X86_IS_CALL;
		} else if (reg == 4 || reg == 5) {
			/* Through a rip-relative word it must be corrected like any other; else it runs anywhere. */
			insn->kind = d->fix_offset ? SPI_INSN_RIP : SPI_INSN_END;
			insn->flags |= X86_INDIRECT_JUMP;
		}
		break;
	default:
		if (d->opcode >= 0x70 && d->opcode <= 0x7f) {
			insn->kind = SPI_INSN_JCC;
			insn->cond = d->opcode & 15;
			insn->flags |= X86_IS_JUMP;
		}
	}
}

static void kind_two(const struct decoder *d, struct x86_decoded *insn)
{
	if (d->opcode >= 0x80 && d->opcode <= 0x8f) {
		insn->kind = SPI_INSN_JCC;
		insn->cond = d->opcode & 15;
		insn->flags |= X86_IS_JUMP;
	} else if (d->opcode == 0x0b || d->opcode == 0xb9 || d->opcode == 0xff || d->opcode == 0x07 ||
		   d->opcode == 0x35) {
		insn->kind = SPI_INSN_END;
	} else if (d->opcode == 0x34) {
		insn->kind = SPI_INSN_UNMOVABLE;
	}
}

int x86_decode(const uint8_t *p, uint64_t left, uint64_t vaddr, struct x86_decoded *insn)
{
	struct decoder d = { .p = p, .end = p + (left < LENGTH_MAX ? left : LENGTH_MAX), .begin = p };
	uint64_t next;
	int ok;

	memset(insn, 0, sizeof(*insn));
	for (; d.p < d.end; d.p++) {
		uint8_t b = *d.p;

		if (b == 0x66)
			d.has_66 = 1;
		else if (b == 0x67)
			d.has_67 = 1;
		else if (b == 0xf2)
			d.has_f2 = 1;
		else if (b == 0xf3)
			d.has_f3 = 1;
		else if (b != 0x2e && b != 0x36 && b != 0x3e && b != 0x26 && b != 0x64 && b != 0x65 && b != 0xf0)
			break;
	}
	while (d.p < d.end && (*d.p & 0xf0) == 0x40)	/* the last one counts */
		d.rex = *d.p++;
	if (d.p >= d.end)
		return 0;
	d.opcode_offset = (uint8_t) (d.p - p);
	d.opcode = *d.p++;
	if (d.opcode == 0x0f) {
		ok = decode_escape(&d);
	} else if (d.opcode == 0xc4 || d.opcode == 0xc5 || d.opcode == 0x62 ||
		   (d.opcode == 0x8f && d.p < d.end && (*d.p & 0x1f) >= 8)) {
		ok = decode_vector(&d, d.opcode);
		insn->flags |= X86_VECTOR;
	} else {
		ok = decode_one(&d);
	}
	if (!ok || d.immediate > d.end - d.p)
		return 0;
	next = (uint64_t) (d.p - p) + d.immediate;
	insn->size = (uint8_t) next;
	insn->fix_offset = d.fix_offset;
	insn->kind = d.fix_offset ? SPI_INSN_RIP : SPI_INSN_PLAIN;
	insn->rex = d.rex;
	insn->vector = d.vector;
	insn->map = d.map;
	insn->opcode = d.opcode;
	insn->opcode_offset = d.opcode_offset;
	insn->modrm = d.modrm;
	insn->modrm_offset = d.modrm_offset;
	insn->disp_offset = d.disp_offset;
	insn->disp_size = d.disp_size;
	insn->imm_size = d.immediate;
	if (d.map == 0)
		kind_one(&d, insn);
	else if (d.map == 1 && !d.vector)
		kind_two(&d, insn);
	if (d.has_67 && d.fix_offset)
		insn->kind = SPI_INSN_UNMOVABLE;
	if (insn->kind == SPI_INSN_JMP || insn->kind == SPI_INSN_CALL || (insn->flags & X86_IS_JUMP)) {
		if (d.immediate != 1 && d.immediate != 4)
			return 0;	/* 16-bit displacements: processors differ */
		insn->target = vaddr + next + (uint64_t) (int64_t) displacement(d.p, d.immediate);
	}
	if (d.vector == 0x62 || is_opmask(&d))
		insn->flags |= X86_WIDE_512;
	else if (d.vector && d.wide)
		insn->flags |= X86_WIDE_256;
	if (!d.map && d.opcode == 0x8d && d.fix_offset && (d.rex & 8)) {
		insn->flags |= X86_LEA_RIP;
		insn->target = vaddr + next + (uint64_t) (int64_t) displacement(p + d.fix_offset, 4);
	}
	/* ff 24 c5 disp32: jmp *table(,%rax,8), and its like for other registers */
	if ((insn->flags & X86_INDIRECT_JUMP) && (d.modrm & 0xc7) == 0x04 && d.p - p >= 6 && (d.p[-5] & 0xc7) == 0xc5) {
		insn->flags |= X86_TABLE_JUMP;
		insn->target = (uint64_t) (int64_t) displacement(d.p - 4, 4);
	}
	return 1;
}

#define RSP	4u
#define RBP	5u

int x86_writes(const struct x86_decoded *insn, unsigned int reg)
{
	unsigned int in_opcode = (insn->opcode & 7) | (insn->rex & 1) << 3;
	unsigned int row = insn->opcode & 0xf8;

	if (insn->vector)	/* few of them write a general register: any may */
		return 1;
	if (!insn->map && (row == 0x58 || row == 0x90 || row == 0xb8 || row == 0xb0))
		return in_opcode == reg || (row == 0x90 && !reg);
	if (insn->map == 1 && row == 0xc8)
		return in_opcode == reg;
	if (!insn->modrm_offset)	/* implied operands: the accumulator mostly */
		return !reg;
	/* Comparisons write nothing; other than that both named registers count. */
	if (!insn->map && ((insn->opcode & 0xfc) == 0x38 || insn->opcode == 0x84 || insn->opcode == 0x85 ||
			   ((insn->opcode == 0x80 || insn->opcode == 0x81 || insn->opcode == 0x83) &&
			    (insn->modrm >> 3 & 7) == 7)))
		return 0;
	if (((insn->modrm >> 3 & 7) | (insn->rex & 4u) << 1) == reg)
		return 1;
	return insn->modrm >> 6 == 3 && ((insn->modrm & 7) | (insn->rex & 1u) << 3) == reg;
}

int x86_is_syscall(const struct x86_decoded *insn)
{
	return insn->map == 1 && !insn->vector && insn->opcode == 0x05;
}

int x86_is_of_stack(const struct x86_decoded *insn)
{
	return !insn->map && !insn->vector && insn->opcode == 0x8d && insn->modrm >> 6 != 3 && (insn->modrm & 7) == RSP;
}

int x86_is_epilogue(const struct x86_decoded *insn)
{
	if (insn->map || insn->vector)
		return 0;
	return (insn->opcode & 0xf8) == 0x58 || insn->opcode == 0xc9 ||
	       ((insn->opcode == 0x81 || insn->opcode == 0x83) && insn->modrm == 0xc4 && !(insn->rex & 1));
}


int x86_is_passing(unsigned int reg)
{
	return reg == 0 || reg == 2 || reg == 6 || reg == 7;
}

int x86_switches_stack(const struct x86_decoded *insn, unsigned int *from)
{
	unsigned int reg = (insn->modrm >> 3 & 7) | (insn->rex & 4u) << 1, base = (insn->modrm & 7) | (insn->rex & 1u) << 3;
	int is_memory = insn->modrm >> 6 != 3, is_rip = insn->modrm >> 6 == 0 && (insn->modrm & 7) == RBP;

	if (insn->map || insn->vector || !insn->modrm_offset || !(insn->rex & 8))
		return 0;
	switch (insn->opcode) {
	case 0x89:	/* mov reg, rsp */
		*from = reg;
		return !is_memory && base == RSP && x86_is_passing(reg);
	case 0x8b:	/* mov reg or memory, rsp */
		*from = is_rip ? RSP : base;
		if (is_memory)
			return reg == RSP && (is_rip || (base != RSP && base != RBP));
		return reg == RSP && x86_is_passing(base);
	default:
		return 0;
	}
}
