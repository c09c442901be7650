/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Unwinding in a signal handler, from whatever it interrupted. libgcc's unwinder is not for that: it takes a lock and
 * allocates where frames were registered, and aborts at what it does not know.
 *
 * Rules are kept for the callee-saved registers and the return address only (DWARF 5, 6.4). What is not in the form that
 * gcc, clang and ld make it in is not understood: -1. Where it stands: find.c.
 */
#include <errno.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/cfi/internal.h"

#define REMEMBERED	4u		/* DW_CFA_remember_state within each other */
#define EXPRESSION_DEPTH	8u
#define KEPT		SPI_KEPT

enum how { SAME = 0, AT_CFA, CFA_PLUS, REGISTER, AT_EXPRESSION, EXPRESSION, UNDEFINED };

/* `value`: an offset, a register, or where an expression's length stands. */
struct rule {
	enum how how;
	int64_t value;
};

struct row {
	struct rule cfa, kept[KEPT];	/* cfa: REGISTER or EXPRESSION */
	int64_t cfa_offset;
};

static struct rule *kept_rule(struct row *row, uint64_t number, struct rule *none)
{
	static const int8_t index[SPI_REGISTERS] = SPI_DWARF_KEPT_AT;

	return number < SPI_REGISTERS && index[number] >= 0 ? &row->kept[index[number]] : none;
}

struct run {
	const struct spi_cie *cie;
	struct row row, first, remembered[REMEMBERED];
	uint32_t depth;
};

static void rule_set(struct run *run, uint64_t number, enum how how, int64_t value)
{
	struct rule none;

	*kept_rule(&run->row, number, &none) = (struct rule) { how, value };
}

static void rule_restore(struct run *run, uint64_t number)
{
	struct rule none = { SAME, 0 };

	*kept_rule(&run->row, number, &none) = *kept_rule(&run->first, number, &none);
}

static int cfa_set(struct run *run, struct spi_cfi_bytes *b, uint8_t op)
{
	struct row *row = &run->row;
	const uint8_t *at;

	switch (op) {
	case 0x0c: case 0x12:	/* DW_CFA_def_cfa, DW_CFA_def_cfa_sf */
		row->cfa = (struct rule) { REGISTER, (int64_t) spi_cfi_uleb(b) };
		row->cfa_offset = op == 0x0c ? (int64_t) spi_cfi_uleb(b) : spi_cfi_sleb(b) * run->cie->data_align;
		return 0;
	case 0x0d:		/* DW_CFA_def_cfa_register */
		row->cfa = (struct rule) { REGISTER, (int64_t) spi_cfi_uleb(b) };
		return 0;
	case 0x0e:		/* DW_CFA_def_cfa_offset */
		row->cfa_offset = (int64_t) spi_cfi_uleb(b);
		return 0;
	case 0x13:		/* DW_CFA_def_cfa_offset_sf */
		row->cfa_offset = spi_cfi_sleb(b) * run->cie->data_align;
		return 0;
	case 0x0f:		/* DW_CFA_def_cfa_expression */
		at = b->at;
		spi_cfi_block(b);
		row->cfa = (struct rule) { EXPRESSION, (int64_t) at };
		return 0;
	}
	return -1;
}

static int rule_read(struct run *run, struct spi_cfi_bytes *b, uint8_t op)
{
	uint64_t number = op == 0x2e ? 0 : spi_cfi_uleb(b);
	const uint8_t *at = b->at;

	switch (op) {
	case 0x05:		/* DW_CFA_offset_extended */
		rule_set(run, number, AT_CFA, (int64_t) spi_cfi_uleb(b) * run->cie->data_align);
		return 0;
	case 0x11:		/* DW_CFA_offset_extended_sf */
		rule_set(run, number, AT_CFA, spi_cfi_sleb(b) * run->cie->data_align);
		return 0;
	case 0x14:		/* DW_CFA_val_offset */
		rule_set(run, number, CFA_PLUS, (int64_t) spi_cfi_uleb(b) * run->cie->data_align);
		return 0;
	case 0x15:		/* DW_CFA_val_offset_sf */
		rule_set(run, number, CFA_PLUS, spi_cfi_sleb(b) * run->cie->data_align);
		return 0;
	case 0x06:		/* DW_CFA_restore_extended */
		rule_restore(run, number);
		return 0;
	case 0x07:		/* DW_CFA_undefined */
		rule_set(run, number, UNDEFINED, 0);
		return 0;
	case 0x08:		/* DW_CFA_same_value */
		rule_set(run, number, SAME, 0);
		return 0;
	case 0x09:		/* DW_CFA_register */
		rule_set(run, number, REGISTER, (int64_t) spi_cfi_uleb(b));
		return 0;
	case 0x10: case 0x16:	/* DW_CFA_expression, DW_CFA_val_expression */
		spi_cfi_block(b);
		rule_set(run, number, op == 0x10 ? AT_EXPRESSION : EXPRESSION, (int64_t) at);
		return 0;
	case 0x2e:		/* DW_CFA_GNU_args_size */
		spi_cfi_uleb(b);
		return 0;
	}
	return -1;
}

/* All rules that hold at `pc`, of a program for code from `at` on. */
static int rules_run(struct run *run, struct spi_cfi_bytes b, uint64_t at, uint64_t pc)
{
	while (b.at < b.end && !b.is_bad && at <= pc) {
		uint8_t op = (uint8_t) spi_cfi_get(&b, 1), low = op & 0x3f;

		switch (op & 0xc0) {
		case 0x40:		/* DW_CFA_advance_loc */
			at += low * run->cie->code_align;
			continue;
		case 0x80:		/* DW_CFA_offset */
			rule_set(run, low, AT_CFA, (int64_t) spi_cfi_uleb(&b) * run->cie->data_align);
			continue;
		case 0xc0:		/* DW_CFA_restore */
			rule_restore(run, low);
			continue;
		}
		if (op == 0x00) {		/* DW_CFA_nop */
			continue;
		} else if (op >= 0x02 && op <= 0x04) {	/* DW_CFA_advance_loc1, 2, 4 */
			at += spi_cfi_get(&b, 1u << (op - 2)) * run->cie->code_align;
		} else if (op == 0x0a) {	/* DW_CFA_remember_state */
			if (run->depth == REMEMBERED)
				return -1;
			run->remembered[run->depth++] = run->row;
		} else if (op == 0x0b) {	/* DW_CFA_restore_state */
			if (!run->depth)
				return -1;
			run->row = run->remembered[--run->depth];
		} else if (op >= 0x0c && op <= 0x13 && op != 0x10 && op != 0x11) {
			if (cfa_set(run, &b, op) < 0)
				return -1;
		} else if (rule_read(run, &b, op) < 0) {
			return -1;
		}
	}
	return b.is_bad ? -1 : 0;
}

/* ---- values ---- */

static int read_word(uint64_t address, uint64_t *value)
{
	return spi_memory_copy(value, address, sizeof(*value));
}

/* Two operands by one. */
static int combine(uint8_t op, uint64_t *a, uint64_t b)
{
	switch (op) {
	case 0x1a: *a &= b; return 0;			/* DW_OP_and */
	case 0x1c: *a -= b; return 0;			/* DW_OP_minus */
	case 0x21: *a |= b; return 0;			/* DW_OP_or */
	case 0x22: *a += b; return 0;			/* DW_OP_plus */
	case 0x24: *a = b < 64 ? *a << b : 0; return 0;	/* DW_OP_shl */
	case 0x2a: *a = (int64_t) *a >= (int64_t) b; return 0;	/* DW_OP_ge */
	}
	return -1;
}

/* The operations that compilers and linkers use here: stacks that were aligned, linkage tables. */
static int expression_value(const uint8_t *at, const struct spi_registers *regs, const uint64_t *begin, uint64_t *value)
{
	struct spi_cfi_bytes all = { at, at + 10, 0 }, b;
	uint64_t stack[EXPRESSION_DEPTH], n = spi_cfi_uleb(&all);
	unsigned int top = 0;

	if (begin)
		stack[top++] = *begin;
	for (b = (struct spi_cfi_bytes) { all.at, all.at + n, all.is_bad }; b.at < b.end && !b.is_bad; ) {
		uint8_t op = (uint8_t) spi_cfi_get(&b, 1);

		if (op >= 0x70 && op < 0x70 + SPI_REGISTERS && top < EXPRESSION_DEPTH) {	/* DW_OP_breg<n> */
			stack[top++] = regs->r[op - 0x70] + (uint64_t) spi_cfi_sleb(&b);
		} else if (op >= 0x30 && op < 0x50 && top < EXPRESSION_DEPTH) {		/* DW_OP_lit<n> */
			stack[top++] = op - 0x30u;
		} else if (op >= 0x08 && op <= 0x0f && top < EXPRESSION_DEPTH) {		/* DW_OP_const<n>u, s */
			stack[top++] = op & 1 ? (uint64_t) spi_cfi_signed(&b, 1u << ((op - 8) / 2)) : spi_cfi_get(&b, 1u << ((op - 8) / 2));
		} else if (op == 0x12 && top && top < EXPRESSION_DEPTH) {			/* DW_OP_dup */
			stack[top] = stack[top - 1];
			top++;
		} else if (op == 0x23 && top) {						/* DW_OP_plus_uconst */
			stack[top - 1] += spi_cfi_uleb(&b);
		} else if (op == 0x06 && top) {						/* DW_OP_deref */
			if (read_word(stack[top - 1], &stack[top - 1]) < 0)
				return -1;
		} else if (top < 2 || combine(op, &stack[top - 2], stack[top - 1]) < 0) {
			return -1;
		} else {
			top--;
		}
	}
	if (b.is_bad || !top)
		return -1;
	*value = stack[top - 1];
	return 0;
}

static int rule_value(const struct rule *rule, const struct spi_registers *regs, uint64_t cfa, uint64_t *value)
{
	uint64_t address;

	switch (rule->how) {
	case SAME:
		return 0;
	case AT_CFA:
		return read_word(cfa + (uint64_t) rule->value, value);
	case CFA_PLUS:
		*value = cfa + (uint64_t) rule->value;
		return 0;
	case REGISTER:
		if ((uint64_t) rule->value >= SPI_REGISTERS)
			return -1;
		*value = regs->r[rule->value];
		return 0;
	case AT_EXPRESSION:
		return expression_value((const uint8_t *) rule->value, regs, &cfa, &address) < 0 ? -1 : read_word(address, value);
	case EXPRESSION:
		return expression_value((const uint8_t *) rule->value, regs, &cfa, value);
	case UNDEFINED:
		break;
	}
	return -1;
}

static int row_apply(const struct row *row, struct spi_registers *regs)
{
	static const uint8_t numbers[KEPT] = SPI_DWARF_KEPT;
	struct spi_registers old = *regs;
	uint64_t cfa;

	if (row->cfa.how == EXPRESSION) {
		if (expression_value((const uint8_t *) row->cfa.value, &old, NULL, &cfa) < 0)
			return -1;
	} else if (row->cfa.how == REGISTER && (uint64_t) row->cfa.value < SPI_REGISTERS) {
		cfa = old.r[row->cfa.value] + (uint64_t) row->cfa_offset;
	} else {
		return -1;
	}
	if (row->kept[KEPT - 1].how == SAME)		/* the return address is nowhere */
		return -1;
	regs->r[SPI_DWARF_SP] = cfa;
	for (unsigned int i = 0; i < KEPT; i++)
		if (rule_value(&row->kept[i], &old, cfa, &regs->r[numbers[i]]) < 0)
			return -1;
	return 0;
}

/* The rules that hold at `pc`. 0; -1: nothing describes that code; -2: in no form that is known. */
static int row_find(uint64_t pc, struct row *row)
{
	const uint8_t *fde = spi_cfi_find(pc);
	struct spi_cfi_bytes program;
	struct run run;
	struct spi_cie cie;
	uint64_t begin;

	if (!fde || spi_cfi_read(fde, pc, &cie, &program, &begin) < 0)
		return -1;
	run.cie = &cie;
	run.depth = 0;
	run.row = run.first = (struct row) { .cfa = { SAME, 0 } };
	if (rules_run(&run, cie.program, 0, ~UINT64_C(0)) < 0)
		return -2;
	run.first = run.row;
	if (rules_run(&run, program, begin, pc) < 0)
		return -2;
	*row = run.row;
	return 0;
}

int spi_cfi_step(struct spi_registers *regs, int is_call)
{
	struct row row;

	if (row_find(regs->r[SPI_DWARF_PC] - (uint64_t) (is_call != 0), &row) < 0)
		return -1;
	return row_apply(&row, regs);
}

/* ---- rules as a word: cfi.h ---- */

/* How many words below the CFA a register was saved; 0: it was not; -1: otherwise than that. */
static int64_t words_below(const struct rule *rule)
{
	if (rule->how == SAME)
		return 0;
	return rule->how == AT_CFA && rule->value < 0 && rule->value % 8 == 0 ? -rule->value / 8 : -1;
}

uint64_t spi_cfi_word(uint64_t pc)
{
	static const int8_t kept_at[SPI_REGISTERS] = SPI_DWARF_KEPT_AT;
	int64_t pc_below, fp_below;
	struct row row;
	int r = row_find(pc, &row);

	if (r < 0)
		return r == -1 ? SPI_CFI_NONE : SPI_CFI_LOST;
	if (row.kept[KEPT - 1].how == UNDEFINED)
		return SPI_CFI_END;
	pc_below = words_below(&row.kept[KEPT - 1]);
	fp_below = words_below(&row.kept[kept_at[SPI_DWARF_FP]]);
	if (row.cfa.how != REGISTER || (row.cfa.value != SPI_DWARF_SP && row.cfa.value != SPI_DWARF_FP) ||
			row.cfa_offset <= 0 || row.cfa_offset >> 24 || pc_below <= 0 || pc_below > UINT16_MAX ||
			fp_below < 0 || fp_below > UINT16_MAX || row.kept[kept_at[SPI_DWARF_SP]].how != SAME)
		return SPI_CFI_STEP;
	return SPI_CFI_WORD | (row.cfa.value == SPI_DWARF_FP ? SPI_CFI_BY_FP : 0) | (uint64_t) row.cfa_offset << 8 |
		(uint64_t) fp_below << 32 | (uint64_t) pc_below << 48;
}

int spi_frame_load(struct spi_registers *regs, uint64_t frame)
{
	struct spi_signal_frame f;

	if (spi_memory_copy(&f, frame, offsetof(struct spi_signal_frame, number)) < 0)
		return -1;
	spi_signal_frame_registers(&f, regs);
	return 0;
}
