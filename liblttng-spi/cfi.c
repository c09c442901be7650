/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Unwinding in a signal handler, from whatever it interrupted. libgcc's unwinder is not for that: it takes a lock and
 * allocates where frames were registered, and aborts at what it does not know.
 *
 * The dynamic linker tells without a lock where an address's .eh_frame_hdr is (_dl_find_object(), glibc 2.35), whose table
 * leads to the FDE by bisection (LSB 5.0 core, 10.6; DWARF 5, 6.4). Rules are kept for the callee-saved registers and the
 * return address only. What is not there in the form that gcc, clang and ld make it in is not understood: -1.
 */
#include <dlfcn.h>
#include "liblttng-spi/cfi.h"

extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));

#define REMEMBERED	4u		/* DW_CFA_remember_state within each other */
#define EXPRESSION_DEPTH	8u
#define KEPT		8u		/* rbx, rbp, rsp, r12-r15, rip */

#define ENC_ABSPTR	0x00u		/* DW_EH_PE_* */
#define ENC_UDATA4	0x03u
#define ENC_PCREL_SDATA4	0x1bu
#define ENC_DATAREL_SDATA4	0x3bu

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

struct bytes {
	const uint8_t *at, *end;
	int is_bad;
};

struct cie {
	struct bytes program;
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding, has_size;
};

static uint64_t get(struct bytes *b, unsigned int n)
{
	uint64_t value = 0;

	if (b->is_bad || (uint64_t) (b->end - b->at) < n) {
		b->is_bad = 1;
		return 0;
	}
	for (unsigned int i = 0; i < n; i++)
		value |= (uint64_t) b->at[i] << (8 * i);
	b->at += n;
	return value;
}

static int64_t get_signed(struct bytes *b, unsigned int n)
{
	unsigned int unused = 64 - 8 * n;

	return (int64_t) (get(b, n) << unused) >> unused;
}

static uint64_t get_leb(struct bytes *b, int is_signed)
{
	uint64_t value = 0, byte;
	unsigned int shift = 0;

	do {
		byte = get(b, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) && !b->is_bad);
	if (is_signed && shift < 64 && (byte & 0x40))
		value |= ~UINT64_C(0) << shift;
	return value;
}

static uint64_t get_uleb(struct bytes *b)
{
	return get_leb(b, 0);
}

static int64_t get_sleb(struct bytes *b)
{
	return (int64_t) get_leb(b, 1);
}

static struct bytes get_block(struct bytes *b)
{
	uint64_t n = get_uleb(b);
	struct bytes block = { b->at, b->at, 1 };

	if (b->is_bad || n > (uint64_t) (b->end - b->at)) {
		b->is_bad = 1;
		return block;
	}
	block.end = b->at += n;
	block.is_bad = 0;
	return block;
}

/* ---- where the description is ---- */

/* Version 1: encodings of the frames' address, of the count, of the table; in order by address. */
struct index {
	uint8_t version, frames_kind, count_kind, table_kind;
	int32_t frames;
	uint32_t count;
	struct {
		int32_t code, fde;
	} entries[];
};

/* The record at `at`, behind its length; *id_at is where its second word stands. */
static struct bytes record_at(const uint8_t *at, const uint8_t **id_at)
{
	struct bytes b = { at, at + 4, 0 };
	uint64_t n = get(&b, 4);

	b.is_bad = !n || n >= 0xfffffff0u;
	b.end = b.at + (b.is_bad ? 0 : n);
	*id_at = b.at;
	return b;
}

static const uint8_t *fde_find(uint64_t pc)
{
	struct dl_find_object found;
	const struct index *index;
	uint32_t low = 0, high;
	int32_t at;

	if (!_dl_find_object || _dl_find_object((void *) pc, &found) != 0 || !found.dlfo_eh_frame)
		return NULL;
	index = found.dlfo_eh_frame;
	if (index->version != 1 || index->count_kind != ENC_UDATA4 || index->table_kind != ENC_DATAREL_SDATA4 || !index->count)
		return NULL;
	at = (int32_t) (int64_t) (pc - (uint64_t) index);
	if (at < index->entries[0].code)
		return NULL;
	for (high = index->count; high - low > 1; ) {
		uint32_t middle = low + (high - low) / 2;

		if (index->entries[middle].code <= at)
			low = middle;
		else
			high = middle;
	}
	return (const uint8_t *) index + index->entries[low].fde;
}

static unsigned int encoded_size(uint8_t encoding)
{
	static const uint8_t sizes[16] = { 8, 0, 2, 4, 8, 0, 0, 0, 8, 0, 2, 4, 8 };

	return sizes[encoding & 15];
}

static int cie_read(const uint8_t *at, struct cie *cie)
{
	const uint8_t *id, *letters;
	struct bytes b = record_at(at, &id), more;
	uint64_t version;

	*cie = (struct cie) { .encoding = ENC_ABSPTR };
	if (get(&b, 4) != 0)
		return -1;
	version = get(&b, 1);
	letters = b.at;
	while (get(&b, 1))
		;
	cie->code_align = get_uleb(&b);
	cie->data_align = get_sleb(&b);
	if ((version == 1 ? get(&b, 1) : get_uleb(&b)) != SPI_DWARF_RIP || (version != 1 && version != 3) || b.is_bad)
		return -1;
	if (*letters == 'z') {
		more = get_block(&b);
		cie->has_size = 1;
		while (*++letters)
			switch (*letters) {
			case 'R':
				cie->encoding = (uint8_t) get(&more, 1);
				break;
			case 'P':
				get(&more, encoded_size((uint8_t) get(&more, 1)));
				break;
			case 'L':
				get(&more, 1);
				break;
			case 'S':
			case 'B':
				break;
			default:
				return -1;
			}
		if (more.is_bad)
			return -1;
	} else if (*letters) {
		return -1;
	}
	cie->program = b;
	return b.is_bad ? -1 : 0;
}

/* The FDE's own program, and where its code begins. */
static int fde_read(const uint8_t *at, uint64_t pc, struct cie *cie, struct bytes *program, uint64_t *begin)
{
	const uint8_t *id, *place;
	struct bytes b = record_at(at, &id);
	uint64_t offset = get(&b, 4), size;

	if (b.is_bad || !offset || cie_read(id - offset, cie) < 0)
		return -1;
	place = b.at;
	if (cie->encoding == ENC_PCREL_SDATA4)
		*begin = (uint64_t) place + (uint64_t) get_signed(&b, 4);
	else if (cie->encoding == ENC_ABSPTR)
		*begin = get(&b, 8);
	else
		return -1;
	size = get(&b, encoded_size(cie->encoding));
	if (cie->has_size)
		get_block(&b);
	*program = b;
	return b.is_bad || pc < *begin || pc - *begin >= size ? -1 : 0;
}

/* ---- what it says ---- */

static struct rule *kept_rule(struct row *row, uint64_t number, struct rule *none)
{
	static const int8_t index[SPI_REGISTERS] = { -1, -1, -1, 0, -1, -1, 1, 2, -1, -1, -1, -1, 3, 4, 5, 6, 7 };

	return number < SPI_REGISTERS && index[number] >= 0 ? &row->kept[index[number]] : none;
}

struct run {
	const struct cie *cie;
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

static int cfa_set(struct run *run, struct bytes *b, uint8_t op)
{
	struct row *row = &run->row;
	const uint8_t *at;

	switch (op) {
	case 0x0c: case 0x12:	/* DW_CFA_def_cfa, DW_CFA_def_cfa_sf */
		row->cfa = (struct rule) { REGISTER, (int64_t) get_uleb(b) };
		row->cfa_offset = op == 0x0c ? (int64_t) get_uleb(b) : get_sleb(b) * run->cie->data_align;
		return 0;
	case 0x0d:		/* DW_CFA_def_cfa_register */
		row->cfa = (struct rule) { REGISTER, (int64_t) get_uleb(b) };
		return 0;
	case 0x0e:		/* DW_CFA_def_cfa_offset */
		row->cfa_offset = (int64_t) get_uleb(b);
		return 0;
	case 0x13:		/* DW_CFA_def_cfa_offset_sf */
		row->cfa_offset = get_sleb(b) * run->cie->data_align;
		return 0;
	case 0x0f:		/* DW_CFA_def_cfa_expression */
		at = b->at;
		get_block(b);
		row->cfa = (struct rule) { EXPRESSION, (int64_t) at };
		return 0;
	}
	return -1;
}

static int rule_read(struct run *run, struct bytes *b, uint8_t op)
{
	uint64_t number = op == 0x2e ? 0 : get_uleb(b);
	const uint8_t *at = b->at;

	switch (op) {
	case 0x05:		/* DW_CFA_offset_extended */
		rule_set(run, number, AT_CFA, (int64_t) get_uleb(b) * run->cie->data_align);
		return 0;
	case 0x11:		/* DW_CFA_offset_extended_sf */
		rule_set(run, number, AT_CFA, get_sleb(b) * run->cie->data_align);
		return 0;
	case 0x14:		/* DW_CFA_val_offset */
		rule_set(run, number, CFA_PLUS, (int64_t) get_uleb(b) * run->cie->data_align);
		return 0;
	case 0x15:		/* DW_CFA_val_offset_sf */
		rule_set(run, number, CFA_PLUS, get_sleb(b) * run->cie->data_align);
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
		rule_set(run, number, REGISTER, (int64_t) get_uleb(b));
		return 0;
	case 0x10: case 0x16:	/* DW_CFA_expression, DW_CFA_val_expression */
		get_block(b);
		rule_set(run, number, op == 0x10 ? AT_EXPRESSION : EXPRESSION, (int64_t) at);
		return 0;
	case 0x2e:		/* DW_CFA_GNU_args_size */
		get_uleb(b);
		return 0;
	}
	return -1;
}

/* All rules that hold at `pc`, of a program for code from `at` on. */
static int rules_run(struct run *run, struct bytes b, uint64_t at, uint64_t pc)
{
	while (b.at < b.end && !b.is_bad && at <= pc) {
		uint8_t op = (uint8_t) get(&b, 1), low = op & 0x3f;

		switch (op & 0xc0) {
		case 0x40:		/* DW_CFA_advance_loc */
			at += low * run->cie->code_align;
			continue;
		case 0x80:		/* DW_CFA_offset */
			rule_set(run, low, AT_CFA, (int64_t) get_uleb(&b) * run->cie->data_align);
			continue;
		case 0xc0:		/* DW_CFA_restore */
			rule_restore(run, low);
			continue;
		}
		if (op == 0x00) {		/* DW_CFA_nop */
			continue;
		} else if (op >= 0x02 && op <= 0x04) {	/* DW_CFA_advance_loc1, 2, 4 */
			at += get(&b, 1u << (op - 2)) * run->cie->code_align;
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
	struct bytes all = { at, at + 10, 0 }, b;
	uint64_t stack[EXPRESSION_DEPTH], n = get_uleb(&all);
	unsigned int top = 0;

	if (begin)
		stack[top++] = *begin;
	for (b = (struct bytes) { all.at, all.at + n, all.is_bad }; b.at < b.end && !b.is_bad; ) {
		uint8_t op = (uint8_t) get(&b, 1);

		if (op >= 0x70 && op < 0x70 + SPI_REGISTERS && top < EXPRESSION_DEPTH) {	/* DW_OP_breg<n> */
			stack[top++] = regs->r[op - 0x70] + (uint64_t) get_sleb(&b);
		} else if (op >= 0x30 && op < 0x50 && top < EXPRESSION_DEPTH) {		/* DW_OP_lit<n> */
			stack[top++] = op - 0x30u;
		} else if (op >= 0x08 && op <= 0x0f && top < EXPRESSION_DEPTH) {		/* DW_OP_const<n>u, s */
			stack[top++] = op & 1 ? (uint64_t) get_signed(&b, 1u << ((op - 8) / 2)) : get(&b, 1u << ((op - 8) / 2));
		} else if (op == 0x12 && top && top < EXPRESSION_DEPTH) {			/* DW_OP_dup */
			stack[top] = stack[top - 1];
			top++;
		} else if (op == 0x23 && top) {						/* DW_OP_plus_uconst */
			stack[top - 1] += get_uleb(&b);
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
	static const uint8_t numbers[KEPT] = { 3, 6, 7, 12, 13, 14, 15, SPI_DWARF_RIP };
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
	regs->r[SPI_DWARF_RSP] = cfa;
	for (unsigned int i = 0; i < KEPT; i++)
		if (rule_value(&row->kept[i], &old, cfa, &regs->r[numbers[i]]) < 0)
			return -1;
	return 0;
}

int spi_cfi_step(struct spi_registers *regs, int is_call)
{
	uint64_t pc = regs->r[SPI_DWARF_RIP] - (uint64_t) (is_call != 0), begin;
	const uint8_t *fde = fde_find(pc);
	struct bytes program;
	struct run run;
	struct cie cie;

	if (!fde || fde_read(fde, pc, &cie, &program, &begin) < 0)
		return -1;
	run.cie = &cie;
	run.depth = 0;
	run.row = run.first = (struct row) { .cfa = { SAME, 0 } };
	if (rules_run(&run, cie.program, 0, ~UINT64_C(0)) < 0)
		return -1;
	run.first = run.row;
	if (rules_run(&run, program, begin, pc) < 0)
		return -1;
	return row_apply(&run.row, regs);
}
