/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Padding: bytes that compilers and assemblers put behind an instruction that does not go on to
 * the next one, and that nothing jumps to. A jump of two bytes reaches padding 128 bytes back and
 * 127 bytes forth.
 */
#include "codemap/code/sites.h"

#define PAD_MIN		5u	/* bytes: a jump */
#define REACH_BACK	126	/* from the jump's first byte */
#define REACH_FORTH	129

static int is_filler(const struct x86_decoded *insn, const uint8_t *bytes)
{
	if (insn->vector)
		return 0;
	if (!insn->map)
		return insn->opcode == 0xcc ||
		       (insn->opcode == 0x90 && bytes[0] != 0xf3 && !(insn->rex & 1));
	return insn->map == 1 && insn->opcode == 0x1f;
}

static int goes_on(const struct x86_decoded *insn)
{
	return !(insn->kind == SPI_INSN_END || insn->kind == SPI_INSN_JMP || (insn->flags & X86_INDIRECT_JUMP));
}

/* Filler from vaddr on, up to `end`. */
static uint64_t filler_size(const struct flow *flow, uint64_t vaddr, uint64_t end)
{
	uint64_t left = 0, size = 0;
	const uint8_t *p = vaddr < end ? image_at(flow->image, vaddr, &left) : NULL;
	struct x86_decoded insn;

	if (p && left > end - vaddr)
		left = end - vaddr;
	while (p && size < left && x86_decode(p + size, left - size, vaddr + size, &insn) &&
	       is_filler(&insn, p + size) && !flow_arrives(flow, vaddr + size, vaddr + size + insn.size))
		size += insn.size;
	return size;
}

/* Where padding of the stretch ends at the latest. */
static uint64_t filler_end(const struct flow *flow, const struct stretch *stretch)
{
	const struct stretch *next = stretch + 1;
	uint64_t end = stretch->vaddr + stretch->size + 64;

	if (next < flow->stretches.at + flow->stretches.count && next->vaddr < end)
		end = next->vaddr;
	return end;
}

unsigned int pads_behind(const struct sites *sites, const struct stretch *stretch, size_t index)
{
	const struct item *item = &sites->items.at[index];
	uint64_t at = item->vaddr + item->insn.size, size;

	if (goes_on(&item->insn))
		return 0;
	size = filler_size(sites->flow, at, filler_end(sites->flow, stretch));
	return size < SPI_SITE_AFTER ? (unsigned int) size : SPI_SITE_AFTER;
}

void pads_collect(struct sites *sites, const struct stretch *stretch)
{
	const struct flow *flow = sites->flow;
	uint64_t end = filler_end(flow, stretch);
	size_t i;

	if (stretch->is_unclear || stretch->is_mixed)
		return;
	for (i = 0; i < sites->items.count; i++) {
		const struct item *item = &sites->items.at[i];
		uint64_t at = item->vaddr + item->insn.size, size;
		struct pad *pad;

		if (goes_on(&item->insn))
			continue;
		size = filler_size(flow, at, end);
		if (size < PAD_MIN)
			continue;
		pad = vec_push(&sites->pads);
		pad->vaddr = at;
		pad->size = size;
	}
}

/* The first pad that ends behind vaddr. */
static size_t pad_index(const struct sites *sites, uint64_t vaddr)
{
	size_t low = 0, high = sites->pads.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (sites->pads.at[middle].vaddr + sites->pads.at[middle].size <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The nearest one; of a large one what is in reach. */
static void pad_choose(const struct sites *sites, struct spi_map_site *site)
{
	uint64_t from = site->vaddr, best = UINT64_MAX;
	uint64_t low = from > REACH_BACK ? from - REACH_BACK : 0, high = from + REACH_FORTH;
	size_t i;

	for (i = pad_index(sites, low); i < sites->pads.count && sites->pads.at[i].vaddr <= high; i++) {
		const struct pad *pad = &sites->pads.at[i];
		uint64_t start = pad->vaddr < low ? low : pad->vaddr, end = pad->vaddr + pad->size, far;

		if (end > high + PAD_MIN)
			end = high + PAD_MIN;
		if (end < start + PAD_MIN)
			continue;
		far = start > from ? start - from : from - start;
		if (far >= best)
			continue;
		best = far;
		site->pad = (int16_t) (start - site->vaddr);
		site->pad_size = (uint8_t) (end - start > UINT8_MAX ? UINT8_MAX : end - start);
	}
}

void pads_assign(struct sites *sites)
{
	size_t i;

	for (i = 0; i < sites->tables->sites.count; i++)
		pad_choose(sites, &sites->tables->sites.at[i]);
}
