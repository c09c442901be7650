/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Runs unwind rules as far as the canonical frame address (CFA) needs. A jump out of a function is
 * a tail call when the stack is as the function's caller left it: then the CFA is rsp+8. Compilers
 * write these rules for every instruction.
 */
#include "codemap/elf/ehframe.h"

#define DW_REG_RSP	7

/* One rule other than an advance. 0: unknown. */
static int rule_run(struct cfa_walk *walk, uint8_t op)
{
	const struct cie *cie = walk->fde->cie;
	struct cursor *c = &walk->rules;
	struct cfa *cfa = &walk->cfa;

	switch (op & 0xc0 ? op & 0xc0 : op) {
	case 0x80:		/* offset */
		cursor_uleb(c);
		return 1;
	case 0xc0: case 0x00: case 0x2d:	/* restore, nop, window_save */
		return 1;
	case 0x05: case 0x09:	/* offset_extended, register */
	case 0x11: case 0x14: case 0x15: case 0x2f:
		cursor_uleb(c);
		cursor_uleb(c);
		return 1;
	case 0x06: case 0x07: case 0x08: case 0x2e:
		cursor_uleb(c);
		return 1;
	case 0x0a:		/* remember_state */
		if (walk->depth == sizeof(walk->stack) / sizeof(*walk->stack))
			return 0;
		walk->stack[walk->depth++] = *cfa;
		return 1;
	case 0x0b:		/* restore_state */
		if (!walk->depth)
			return 0;
		*cfa = walk->stack[--walk->depth];
		return 1;
	case 0x0c:		/* def_cfa */
		cfa->reg = cursor_uleb(c);
		cfa->offset = (int64_t) cursor_uleb(c);
		cfa->expression = 0;
		return 1;
	case 0x12:		/* def_cfa_sf */
		cfa->reg = cursor_uleb(c);
		cfa->offset = (int64_t) ((uint64_t) cursor_sleb(c) * (uint64_t) cie->data_align);
		cfa->expression = 0;
		return 1;
	case 0x0d:
		cfa->reg = cursor_uleb(c);
		return 1;
	case 0x0e:
		cfa->offset = (int64_t) cursor_uleb(c);
		return 1;
	case 0x13:
		cfa->offset = (int64_t) ((uint64_t) cursor_sleb(c) * (uint64_t) cie->data_align);
		return 1;
	case 0x0f:		/* def_cfa_expression */
		cursor_skip(c, cursor_uleb(c));
		cfa->expression = 1;
		return 1;
	case 0x10: case 0x16:	/* expression, val_expression */
		cursor_uleb(c);
		cursor_skip(c, cursor_uleb(c));
		return 1;
	}
	return 0;
}

/* How far the advance rule `op` goes; set_loc (1) is written by nobody for x86-64. */
static uint64_t advance(struct cfa_walk *walk, uint8_t op)
{
	uint64_t units = op & 0x3f;

	if (op < 0x40)
		units = cursor_uint(&walk->rules, op == 2 ? 1 : op == 3 ? 2 : 4);
	return units * walk->fde->cie->code_align;
}

static void rules_run(struct cfa_walk *walk, uint64_t vaddr)
{
	struct cursor *c = &walk->rules;

	while (c->p < c->end && !c->bad && !walk->is_lost) {
		struct cursor before = *c;
		uint8_t op = (uint8_t) cursor_uint(c, 1);

		if ((op & 0xc0) == 0x40 || (op >= 2 && op <= 4)) {
			uint64_t next = walk->at + advance(walk, op);

			if (next > vaddr || next < walk->at) {
				*c = before;
				return;
			}
			walk->at = next;
		} else if (!rule_run(walk, op)) {
			walk->is_lost = 1;
		}
	}
	if (c->bad)
		walk->is_lost = 1;
}

void cfa_begin(struct cfa_walk *walk, const struct fde *fde)
{
	const struct cfa start = { DW_REG_RSP, 8, 0 };

	walk->fde = fde;
	walk->cfa = start;
	walk->depth = 0;
	walk->is_lost = 0;
	walk->at = fde->start;
	walk->rules = fde->cie->rules;
	rules_run(walk, fde->start);
	walk->at = fde->start;
	walk->rules = fde->rules;
}

int cfa_is_call(struct cfa_walk *walk, uint64_t vaddr)
{
	if (vaddr < walk->at)
		cfa_begin(walk, walk->fde);
	rules_run(walk, vaddr);
	return !walk->is_lost && !walk->cfa.expression && walk->cfa.reg == DW_REG_RSP && walk->cfa.offset == 8;
}
