/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Reads one stretch: its instructions, and the switch tables that they use. Entries of a table are
 * distances from the table or from a label, or addresses; a table is known by the lea that makes
 * its address. A function with more computed jumps than tables is `unclear`: these jumps may lead
 * anywhere in the function and in its pieces.
 */
#include <stdlib.h>
#include <string.h>
#include "codemap/code/flow.h"
#include "codemap/code/x86.h"

#define LABELS_MAX	16u
#define BEFORE		16u	/* instructions looked at before a jump through a register */
#define TABLE_ENTRIES	4096u

/* One stretch while it is read. */
struct reader {
	struct flow *flow;
	struct stretch *stretch;
	uint64_t labels[LABELS_MAX];	/* code addresses of the function that it makes */
	unsigned int label_count;
	int switches;			/* SPI_MAP_SWITCHES_STACKS */
	unsigned int jumps, understood;	/* to addresses that were computed; tables found */
	struct x86_decoded before[BEFORE];	/* the last instructions and this one, a ring */
	unsigned int count;
};

/* Is it in the function, or in a piece of it or of another function? */
static int reader_reaches(const struct reader *r, uint64_t target)
{
	const struct function *f;

	if (target >= r->stretch->low && target < r->stretch->high)
		return 1;
	f = functions_around(r->flow->functions, target);
	return f && f->reason == SPI_REASON_PART && target - f->vaddr < f->size;
}

/* The entries of a table whose distances count from `base`, or addresses; returns how many make sense. */
static unsigned int table_read(const struct reader *r, uint64_t table, uint64_t end, uint64_t base, int absolute)
{
	unsigned int size = absolute ? 8 : 4, n;
	uint64_t left = 0, target;
	const uint8_t *p = image_at(r->flow->image, table, &left);
	int32_t distance;

	for (n = 0; p && n < TABLE_ENTRIES && left >= size && table + (uint64_t) n * size < end; n++) {
		memcpy(&distance, p, 4);
		target = base + (uint64_t) (int64_t) distance;
		if (absolute) {
			if (left < 8)
				break;
			memcpy(&target, p, 8);
		}
		if (!reader_reaches(r, target))
			break;
		flow_target_add(r->flow, target);
		if (target < r->stretch->low || target >= r->stretch->high)
			pieces_claim(r->flow, r->stretch, target);
		p += size;
		left -= size;
	}
	return n;
}

static int address_compare(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *) x, b = *(const uint64_t *) y;

	return a < b ? -1 : a > b;
}

/* A table ends where its entries make no sense, or where the next begins; what is no table ends at once. */
static void reader_tables(struct reader *r)
{
	uint64_t *at = r->flow->tables.at;
	size_t count = r->flow->tables.count, i;
	unsigned int k;

	if (count)
		qsort(at, count, sizeof(*at), address_compare);
	for (i = 0; i < count; i++) {
		uint64_t end = i + 1 < count ? at[i + 1] : UINT64_MAX;

		if (end == at[i])
			continue;
		r->understood += table_read(r, at[i], end, at[i], 0) > 1;
		table_read(r, at[i], end, 0, 1);
		/* Distances from a label: they do not say which jump is theirs. */
		for (k = 0; k < r->label_count; k++)
			table_read(r, at[i], end, r->labels[k], 0);
	}
	r->flow->tables.count = 0;
}

static void address_made(struct reader *r, uint64_t vaddr)
{
	if (image_is_code(r->flow->image, vaddr)) {
		flow_target_add(r->flow, vaddr);
		pieces_taken(r->flow, vaddr, FLOW_ADDRESS_MADE);
		if (vaddr >= r->stretch->low && vaddr < r->stretch->high && r->label_count < LABELS_MAX)
			r->labels[r->label_count++] = vaddr;
	}
	*vec_push(&r->flow->tables) = vaddr;
}

/*
 * Does a jump go to an address that was computed? Others take it as it is from
 * memory, where it was found by its relocation, or an instruction made it; and with
 * the stack cleared away it is no part of the function that is jumped to.
 */
static int is_computed_jump(const struct reader *r, const struct x86_decoded *insn)
{
	unsigned int reg, i;

	if (!(insn->flags & X86_INDIRECT_JUMP) || insn->modrm >> 6 != 3)
		return 0;
	reg = (insn->modrm & 7) | (insn->rex & 1u) << 3;
	for (i = 1; i < BEFORE && i <= r->count; i++) {
		const struct x86_decoded *b = &r->before[(r->count - i) % BEFORE];

		if (i == 1 && x86_is_epilogue(b))
			return 0;
		if (b->kind == SPI_INSN_JCC)
			continue;
		if ((b->flags & (X86_IS_JUMP | X86_IS_CALL | X86_INDIRECT_JUMP)) || b->kind == SPI_INSN_END)
			return 1;
		if (!x86_writes(b, reg))
			continue;
		if (b->map || b->vector)
			return 1;
		/* Pointers that libc has scrambled: ror, xor */
		if (b->opcode == 0x33 || b->opcode == 0x31 || b->opcode == 0xc1 || b->opcode == 0xd1)
			continue;
		if (b->opcode != 0x8b && b->opcode != 0x89)
			return 1;
		if (b->modrm >> 6 != 3)
			return b->opcode != 0x8b || !(b->rex & 8);
		if (b->opcode == 0x8b)
			reg = (b->modrm & 7) | (b->rex & 1u) << 3;
		else
			reg = (b->modrm >> 3 & 7) | (b->rex & 4u) << 1;
	}
	return i < r->count;	/* else it was passed to the function */
}

/* May the thread get another stack there? A register that is made of the stack pointer gives arguments back. */
static int is_switch(const struct reader *r, const struct x86_decoded *insn)
{
	unsigned int from = 0, i;

	if (!x86_switches_stack(insn, &from))
		return 0;
	for (i = 1; i < BEFORE && i <= r->count; i++) {
		const struct x86_decoded *b = &r->before[(r->count - i) % BEFORE];

		if (x86_writes(b, from))
			return !x86_is_of_stack(b);
	}
	return 1;
}

/* push %reg; ret: the return goes to what was pushed. */
static int is_pushed_return(const struct reader *r, const struct x86_decoded *insn)
{
	const struct x86_decoded *before = r->count ? &r->before[(r->count - 1) % BEFORE] : NULL;

	return insn->kind == SPI_INSN_END && insn->opcode == 0xc3 && !insn->map && before && !before->map &&
	       !before->vector && (before->opcode & 0xf8) == 0x50 && !(before->rex & 1) && x86_is_passing(before->opcode & 7);
}

static void insn_read(struct reader *r, const struct x86_decoded *insn, const uint8_t *p)
{
	uint32_t word;

	if (insn->flags & X86_IS_JUMP) {
		flow_jump_add(r->flow, insn->target);
		if (insn->target < r->stretch->low || insn->target >= r->stretch->high)
			pieces_jump(r->flow, r->stretch, insn);
	} else if (insn->kind == SPI_INSN_CALL) {
		pieces_taken(r->flow, insn->target, FLOW_CALLED);
	}
	if (insn->flags & (X86_TABLE_JUMP | X86_LEA_RIP))
		address_made(r, insn->target);
	r->jumps += (unsigned int) is_computed_jump(r, insn);
	r->switches |= is_switch(r, insn) || is_pushed_return(r, insn) || x86_is_syscall(insn);
	/* mov $address,%reg; movl/movq $address,memory; push $address; cmp; and operands at fixed addresses */
	if (r->flow->image->head.e_type == ET_EXEC && !insn->vector && insn->kind != SPI_INSN_CALL &&
	    !(insn->flags & X86_IS_JUMP)) {
		if (insn->imm_size == 4) {
			memcpy(&word, p + insn->size - 4, 4);
			address_made(r, word);
		}
		if (insn->disp_size == 4 && !insn->fix_offset) {
			memcpy(&word, p + insn->disp_offset, 4);
			address_made(r, word);
		}
	}
}

void stretch_read(struct flow *flow, struct stretch *s)
{
	const uint8_t *p = stretch_bytes(flow, s);
	struct reader r = { .flow = flow, .stretch = s };
	uint64_t at = 0;

	while (p && at < s->size) {
		struct x86_decoded *insn = &r.before[r.count % BEFORE];

		if (!x86_decode(p + at, s->size - at, s->vaddr + at, insn)) {
			s->is_mixed = 1;
			at++;
			continue;
		}
		insn_read(&r, insn, p + at);
		at += insn->size;
		r.count++;
	}
	reader_tables(&r);
	flow->switches_stacks |= r.switches && !s->is_mixed;	/* data between code reads as anything */
	s->is_unclear = r.jumps > r.understood;
}
