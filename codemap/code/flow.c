/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Collects where control can arrive: targets of direct jumps; code addresses that instructions
 * make (lea, and immediates in programs with a fixed address) or that data holds (relocations, or
 * words in programs without relocations: computed gotos, function pointers); entries of switch
 * tables (stretch.c); places where exceptions are handled; first bytes of functions.
 */
#include <string.h>
#include "codemap/code/flow.h"

#define SIZE_UNKNOWN	4096u	/* bytes looked at of a last function without size */

static struct code_bits *bits_at(const struct flow *flow, uint64_t vaddr)
{
	size_t i;

	for (i = 0; i < flow->bits.count; i++)
		if (vaddr >= flow->bits.at[i].vaddr && vaddr - flow->bits.at[i].vaddr < flow->bits.at[i].size)
			return &flow->bits.at[i];
	return NULL;
}

void flow_target_add(struct flow *flow, uint64_t vaddr)
{
	struct code_bits *b = bits_at(flow, vaddr);

	if (b)
		b->targets[(vaddr - b->vaddr) / 64] |= UINT64_C(1) << ((vaddr - b->vaddr) % 64);
}

void flow_jump_add(struct flow *flow, uint64_t vaddr)
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
		flow_target_add(flow, f->vaddr);
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
		s->is_unclear = s->has_labels = 0;
		s->is_mixed = !f->size;
	}
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
		flow_jump_add(flow, vaddr + i + skip + 4 + (uint64_t) (int64_t) distance);
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

/* The last stretch that begins at or below vaddr, if it holds it. */
static struct stretch *stretch_at(struct flow *flow, uint64_t vaddr)
{
	size_t low = 0, high = flow->stretches.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (flow->stretches.at[middle].vaddr <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low && vaddr - flow->stretches.at[low - 1].vaddr < flow->stretches.at[low - 1].size
		       ? &flow->stretches.at[low - 1]
		       : NULL;
}

/* The word at `where` holds the address. Two in a row that lie in one function are of a computed goto. */
static void address_held(struct flow *flow, uint64_t where, uint64_t vaddr)
{
	struct stretch *s = stretch_at(flow, vaddr);

	if (s && s->vaddr == vaddr)
		s = NULL;
	if (s && s == flow->last_held && where == flow->last_where + 8)
		s->has_labels = 1;
	flow->last_held = s;
	flow->last_where = where;
	flow_target_add(flow, vaddr);
	pieces_taken(flow, vaddr, FLOW_ADDRESS_HELD);
}

/* Words of a program at a fixed address may be code addresses without a relocation to tell. */
static void words_read(struct flow *flow)
{
	const struct image *image = flow->image;
	uint64_t left, value, where;
	const uint8_t *p;
	uint32_t i;

	for (i = 0; i < image->segment_count && image->head.e_type == ET_EXEC; i++) {
		const Elf64_Phdr *h = &image->segments[i];

		if (h->p_type != PT_LOAD || (h->p_flags & PF_X))
			continue;
		p = image_at(image, h->p_vaddr, &left);
		for (where = h->p_vaddr; p && left >= 8; p += 8, left -= 8, where += 8) {
			memcpy(&value, p, 8);
			if (value && image_is_code(image, value))
				address_held(flow, where, value);
		}
	}
}

static void landing_pad(void *context, uint64_t vaddr)
{
	flow_target_add(context, vaddr);
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

void flow_find(struct flow *flow, const struct image *image, struct functions *functions, const struct links *links,
	       const struct fdes *fdes)
{
	size_t i;

	memset(flow, 0, sizeof(*flow));
	flow->image = image;
	flow->functions = functions;
	flow->links = links;
	flow->fdes = fdes;
	flow->owners = mem_alloc((functions->list.count + 1) * sizeof(*flow->owners));
	flow->taken = mem_alloc(functions->list.count + 1);
	bits_make(flow);
	stretches_make(flow);
	for (i = 0; i < links->slots.count; i++)
		if (links->slots.at[i].type == R_X86_64_RELATIVE || links->slots.at[i].type == R_X86_64_64 ||
		    links->slots.at[i].type == R_X86_64_IRELATIVE)
			address_held(flow, links->slots.at[i].vaddr, links->slots.at[i].addend);
	for (i = 0; i < fdes->count; i++)
		ehframe_landing_pads(image, &fdes->at[i], landing_pad, flow);
	words_read(flow);
	gaps_read(flow);
	for (i = 0; i < flow->stretches.count; i++)
		stretch_read(flow, &flow->stretches.at[i]);
	pieces_judge(flow);
	unclear_spread(flow);
}
