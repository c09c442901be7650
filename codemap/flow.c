/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Collected are: targets of all direct jumps; code addresses that instructions
 * make (lea, immediates in programs with a fixed address) and that data holds
 * (relocations, or words in programs without any: computed gotos, function
 * pointers); entries of switch tables, which are distances from the table or from
 * a label; places where exceptions are handled; functions' first bytes.
 *
 * Switch tables are known by the lea that makes their address. A function with
 * more jumps through registers than tables is `unclear`, with all its pieces.
 */
#include <stdlib.h>
#include <string.h>
#include "codemap/flow.h"
#include "codemap/x86.h"

#define SIZE_UNKNOWN	4096u	/* bytes looked at of a last function without size */
#define LABELS_MAX	16u
#define BEFORE		16u	/* instructions looked at before a jump through a register */
#define TABLE_ENTRIES	4096u

/* One stretch while it is read. */
struct reader {
	struct flow *flow;
	struct stretch *stretch;
	uint64_t labels[LABELS_MAX];	/* code addresses of the function that it makes */
	unsigned int label_count;
	unsigned int jumps, understood;	/* to addresses that were computed; tables found */
	struct x86_decoded before[BEFORE];	/* the last instructions and this one, a ring */
	unsigned int count;
};

static struct code_bits *bits_at(const struct flow *flow, uint64_t vaddr)
{
	size_t i;

	for (i = 0; i < flow->bits.count; i++)
		if (vaddr >= flow->bits.at[i].vaddr && vaddr - flow->bits.at[i].vaddr < flow->bits.at[i].size)
			return &flow->bits.at[i];
	return NULL;
}

static void target_add(struct flow *flow, uint64_t vaddr)
{
	struct code_bits *b = bits_at(flow, vaddr);

	if (b)
		b->targets[(vaddr - b->vaddr) / 64] |= UINT64_C(1) << ((vaddr - b->vaddr) % 64);
}

static void jump_add(struct flow *flow, uint64_t vaddr)
{
	struct code_bits *b = bits_at(flow, vaddr);

	if (!b)
		return;
	b->targets[(vaddr - b->vaddr) / 64] |= UINT64_C(1) << ((vaddr - b->vaddr) % 64);
	b->jumps[(vaddr - b->vaddr) / 64] |= UINT64_C(1) << ((vaddr - b->vaddr) % 64);
}

int flow_arrives(const struct flow *flow, uint64_t from, uint64_t to)
{
	for (; from < to; from++) {
		const struct code_bits *b = bits_at(flow, from);

		if (b && (b->targets[(from - b->vaddr) / 64] >> ((from - b->vaddr) % 64) & 1))
			return 1;
	}
	return 0;
}

int flow_is_jumped_to(const struct flow *flow, uint64_t vaddr)
{
	const struct code_bits *b = bits_at(flow, vaddr);

	return b && (b->jumps[(vaddr - b->vaddr) / 64] >> ((vaddr - b->vaddr) % 64) & 1);
}

const uint8_t *stretch_bytes(const struct flow *flow, const struct stretch *stretch)
{
	uint64_t left;

	return stretch->size ? image_at(flow->image, stretch->vaddr, &left) : NULL;
}

uint64_t function_bytes(const struct image *image, const struct functions *functions, size_t index)
{
	const struct function *f = &functions->list.at[index];
	uint64_t room = index + 1 < functions->list.count ? f[1].vaddr - f->vaddr : SIZE_UNKNOWN, left;
	uint32_t i;

	if (!image_at(image, f->vaddr, &left))
		return 0;
	if (f->size)
		return f->size < left ? f->size : left;
	for (i = 0; i < image->section_count; i++) {
		const struct section *s = &image->sections[i];

		if (s->type == SHT_PROGBITS && (s->flags & SHF_ALLOC) && f->vaddr >= s->addr &&
		    f->vaddr - s->addr < s->size && s->addr + s->size - f->vaddr < room)
			room = s->addr + s->size - f->vaddr;
	}
	return room < left ? room : left;
}

static void bits_make(struct flow *flow)
{
	const struct image *image = flow->image;
	uint64_t left, total = 0;
	uint32_t i;

	for (i = 0; i < image->segment_count; i++) {
		const Elf64_Phdr *p = &image->segments[i];
		struct code_bits *b;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || !image_at(image, p->p_vaddr, &left))
			continue;
		total += left;
		if (total > 2 * image->size)
			fail("a broken ELF file: its segments overlap");
		b = vec_push(&flow->bits);
		b->vaddr = p->p_vaddr;
		b->size = left;
		b->targets = mem_alloc((left / 64 + 1) * 8);
		b->jumps = mem_alloc((left / 64 + 1) * 8);
	}
}

static void stretches_make(struct flow *flow)
{
	const struct functions *functions = flow->functions;
	uint64_t end = 0, left;
	size_t i, outer = 0;

	for (i = 0; i < functions->list.count; i++) {
		const struct function *f = &functions->list.at[i];
		uint64_t size = function_bytes(flow->image, functions, i);
		struct stretch *s;

		if (!image_is_code(flow->image, f->vaddr) || !image_at(flow->image, f->vaddr, &left))
			continue;
		target_add(flow, f->vaddr);
		if (f->vaddr + size > end) {
			end = f->vaddr + size;
			outer = i;
		}
		s = vec_push(&flow->stretches);
		s->vaddr = f->vaddr;
		s->function = i;
		s->outer = outer;
		s->low = functions->list.at[outer].vaddr;
		s->high = end;
		s->size = end - f->vaddr;
		if (s->size > left)
			s->size = left;
		if (i + 1 < functions->list.count && s->size > f[1].vaddr - f->vaddr)
			s->size = f[1].vaddr - f->vaddr;
		s->is_unclear = 0;
		s->is_mixed = !f->size;
	}
}

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
		target_add(r->flow, target);
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
		target_add(r->flow, vaddr);
		if (vaddr >= r->stretch->low && vaddr < r->stretch->high && r->label_count < LABELS_MAX)
			r->labels[r->label_count++] = vaddr;
	}
	*vec_push(&r->flow->tables) = vaddr;
}

/* Does it end what a function does with the stack: pop, leave, add to the stack pointer? */
static int is_epilogue(const struct x86_decoded *insn)
{
	if (insn->map || insn->vector)
		return 0;
	return (insn->opcode & 0xf8) == 0x58 || insn->opcode == 0xc9 ||
	       ((insn->opcode == 0x81 || insn->opcode == 0x83) && insn->modrm == 0xc4 && !(insn->rex & 1));
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

		if (i == 1 && is_epilogue(b))
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

/* A jump into a piece says whose it is. */
static void piece_claim(const struct reader *r, uint64_t target)
{
	const struct function *f = functions_around(r->flow->functions, target);
	size_t index;

	if (!f || f->reason != SPI_REASON_PART || target - f->vaddr >= f->size)
		return;
	index = (size_t) (f - r->flow->functions->list.at);
	if (!r->flow->owners[index])
		r->flow->owners[index] = (uint32_t) r->stretch->outer + 1;
}

static void insn_read(struct reader *r, const struct x86_decoded *insn, const uint8_t *p)
{
	uint32_t word;

	if (insn->flags & X86_IS_JUMP) {
		jump_add(r->flow, insn->target);
		if (insn->target < r->stretch->low || insn->target >= r->stretch->high)
			piece_claim(r, insn->target);
	}
	if (insn->flags & (X86_TABLE_JUMP | X86_LEA_RIP))
		address_made(r, insn->target);
	r->jumps += (unsigned int) is_computed_jump(r, insn);
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

static void reader_run(struct flow *flow, struct stretch *s)
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
	s->is_unclear = r.jumps > r.understood;
}

/* Code that belongs to no function: each 4-byte displacement behind a jump's opcode may be one. */
static void gap_read(struct flow *flow, uint64_t vaddr, uint64_t end)
{
	uint64_t left = 0, i, size;
	const uint8_t *p = vaddr < end ? image_at(flow->image, vaddr, &left) : NULL;
	int32_t distance;

	size = p ? (end - vaddr < left ? end - vaddr : left) : 0;
	for (i = 0; i + 6 <= size; i++) {
		unsigned int skip = p[i] == 0xe9 ? 1 : p[i] == 0x0f && (p[i + 1] & 0xf0) == 0x80 ? 2 : 0;

		if (!skip)
			continue;
		memcpy(&distance, p + i + skip, 4);
		jump_add(flow, vaddr + i + skip + 4 + (uint64_t) (int64_t) distance);
	}
}

static void gaps_read(struct flow *flow)
{
	size_t i, k = 0;

	for (i = 0; i < flow->bits.count; i++) {
		const struct code_bits *b = &flow->bits.at[i];
		uint64_t at = b->vaddr, end = b->vaddr + b->size;

		for (k = 0; k < flow->stretches.count; k++) {
			const struct stretch *s = &flow->stretches.at[k];

			if (s->vaddr < b->vaddr || s->vaddr >= end)
				continue;
			gap_read(flow, at, s->vaddr);
			if (s->vaddr + s->size > at)
				at = s->vaddr + s->size;
		}
		gap_read(flow, at, end);
	}
}

/* Words of a program at a fixed address may be code addresses without a relocation to tell. */
static void words_read(struct flow *flow)
{
	const struct image *image = flow->image;
	uint64_t left, value;
	const uint8_t *p;
	uint32_t i;

	for (i = 0; i < image->segment_count && image->head.e_type == ET_EXEC; i++) {
		const Elf64_Phdr *h = &image->segments[i];

		if (h->p_type != PT_LOAD || (h->p_flags & PF_X))
			continue;
		p = image_at(image, h->p_vaddr, &left);
		for (; p && left >= 8; p += 8, left -= 8) {
			memcpy(&value, p, 8);
			if (value)
				target_add(flow, value);
		}
	}
}

static void landing_pad(void *context, uint64_t vaddr)
{
	target_add(context, vaddr);
}

/* What is unclear about a part of a function is so for all of it, and for its pieces. */
static void unclear_spread(struct flow *flow)
{
	uint8_t *unclear = mem_alloc(flow->functions->list.count + 1);
	unsigned int round;
	size_t i;

	for (round = 0; round < 2; round++) {
		for (i = 0; i < flow->stretches.count; i++) {
			struct stretch *s = &flow->stretches.at[i];
			uint32_t owner = flow->owners[s->outer];

			s->is_unclear |= unclear[s->outer] | (owner && unclear[owner - 1]);
			unclear[s->outer] |= s->is_unclear;
			if (owner)
				unclear[owner - 1] |= s->is_unclear;
		}
	}
}

void flow_find(struct flow *flow, const struct image *image, const struct functions *functions,
	       const struct links *links, const struct fdes *fdes)
{
	size_t i;

	memset(flow, 0, sizeof(*flow));
	flow->image = image;
	flow->functions = functions;
	flow->links = links;
	flow->fdes = fdes;
	flow->owners = mem_alloc((functions->list.count + 1) * sizeof(*flow->owners));
	bits_make(flow);
	stretches_make(flow);
	for (i = 0; i < links->slots.count; i++)
		if (links->slots.at[i].type == R_X86_64_RELATIVE || links->slots.at[i].type == R_X86_64_64 ||
		    links->slots.at[i].type == R_X86_64_IRELATIVE)
			target_add(flow, links->slots.at[i].addend);
	for (i = 0; i < fdes->count; i++)
		ehframe_landing_pads(image, &fdes->at[i], landing_pad, flow);
	words_read(flow);
	gaps_read(flow);
	for (i = 0; i < flow->stretches.count; i++)
		reader_run(flow, &flow->stretches.at[i]);
	unclear_spread(flow);
}
