/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Basic blocks, and the text of call instructions: what a map has where detail was asked for. No patch depends on
 * either, so where control arrives is taken as it is known (flow.c): a place too many cuts a block in two.
 */
#include <string.h>
#include "codemap/base/libraries.h"
#include "codemap/code/sites.h"

static void edge_add(struct tables *tables, uint64_t to, enum spi_map_edge_kind kind)
{
	struct spi_map_edge *edge = vec_push(&tables->edges);

	memset(edge, 0, sizeof(*edge));
	edge->to = to;
	edge->kind = kind;
}

static int is_return(const struct x86_decoded *insn)
{
	return insn->kind == SPI_INSN_END && !insn->map && !insn->vector &&
	       (insn->opcode == 0xc3 || insn->opcode == 0xc2 || insn->opcode == 0xcb || insn->opcode == 0xca);
}

static int is_jump(const struct x86_decoded *insn)
{
	return (insn->flags & (X86_IS_JUMP | X86_INDIRECT_JUMP)) != 0;
}

static int is_call(const struct x86_decoded *insn)
{
	return insn->kind == SPI_INSN_CALL || insn->kind == SPI_INSN_CALL_INDIRECT;
}

/* May control go elsewhere than to the next instruction? */
static int ends_block(const struct x86_decoded *insn)
{
	return is_jump(insn) || is_call(insn) || insn->kind == SPI_INSN_END;
}

/* Does control get from one to the other without a jump? */
static int runs_on_to(const struct item *from, const struct item *to)
{
	return from->insn.kind != SPI_INSN_END && from->insn.kind != SPI_INSN_JMP &&
	       !(from->insn.flags & X86_INDIRECT_JUMP) && from->vaddr + from->insn.size == to->vaddr;
}

/* How control leaves behind the block's last instruction; has_next: an instruction of the function follows. */
static void edges_add(struct tables *tables, const struct item *last, int has_next)
{
	const struct x86_decoded *insn = &last->insn;
	const uint64_t next = last->vaddr + insn->size;

	if (is_call(insn)) {
		edge_add(tables, insn->kind == SPI_INSN_CALL ? insn->target : 0, SPI_MAP_EDGE_CALL);
		if (has_next)
			edge_add(tables, next, SPI_MAP_EDGE_CALL_RETURNS);
	} else if (insn->flags & X86_INDIRECT_JUMP) {
		edge_add(tables, 0, SPI_MAP_EDGE_INDIRECT);
	} else if (insn->kind == SPI_INSN_JMP) {
		edge_add(tables, insn->target, SPI_MAP_EDGE_JUMP);
	} else if (insn->flags & X86_IS_JUMP) {
		edge_add(tables, insn->target, SPI_MAP_EDGE_TAKEN);
		edge_add(tables, next, SPI_MAP_EDGE_NOT_TAKEN);
	} else if (is_return(insn)) {
		edge_add(tables, 0, SPI_MAP_EDGE_RETURN);
	} else if (insn->kind != SPI_INSN_END && has_next) {
		edge_add(tables, next, SPI_MAP_EDGE_FALL_THROUGH);
	}
}

static void block_add(struct sites *sites, const struct stretch *s, const struct item *first, const struct item *last,
	int has_next)
{
	struct tables *tables = sites->tables;
	struct spi_map_block block;

	memset(&block, 0, sizeof(block));
	block.vaddr = first->vaddr;
	block.size = (uint32_t) (last->vaddr + last->insn.size - first->vaddr);
	block.func = (uint32_t) s->outer;
	block.call = is_call(&last->insn) ? (uint32_t) (last->vaddr - first->vaddr) : SPI_MAP_NONE;
	block.edge_first = (uint32_t) tables->edges.count;
	edges_add(tables, last, has_next);
	block.edge_count = (uint32_t) tables->edges.count - block.edge_first;
	*vec_push(&tables->blocks) = block;
}

/* Padding behind the last instruction that is run is no block: nothing arrives there. */
static int is_padding(const struct sites *sites, const struct item *item)
{
	return item->insn.kind == SPI_INSN_PLAIN && !flow_arrives(sites->flow, item->vaddr, item->vaddr + 1) &&
	       ((!item->insn.map && item->insn.opcode == 0x90) || (item->insn.map == 1 && item->insn.opcode == 0x1f));
}

void blocks_add(struct sites *sites, const struct stretch *s)
{
	const struct item *items = sites->items.at;
	const size_t count = sites->items.count;

	for (size_t i = 0, k; i < count; i = k) {
		int has_next;

		k = i + 1;
		if ((!i || !runs_on_to(&items[i - 1], &items[i])) && is_padding(sites, &items[i]))
			continue;
		while (k < count && !ends_block(&items[k - 1].insn) && runs_on_to(&items[k - 1], &items[k]) &&
				!flow_arrives(sites->flow, items[k].vaddr, items[k].vaddr + 1))
			k++;
		has_next = k < count && items[k].vaddr == items[k - 1].vaddr + items[k - 1].insn.size;
		block_add(sites, s, &items[i], &items[k - 1], has_next);
	}
}

/* ---- text ---- */

/* Where a direct call leads: the function there, or the one that a linkage stub stands for. "": neither is known. */
static const char *target_name(const struct sites *sites, const struct spi_map_site *site, uint64_t target)
{
	const struct function *f = functions_at(sites->flow->functions, target);

	if (site->import)
		return mem_format("%s@plt", (const char *) sites->tables->strings.bytes.at + site->import);
	return f && f->name ? f->name : "";
}

void texts_add(struct sites *sites)
{
	struct tables *tables = sites->tables;
	csh capstone;

	if (libraries.cs_open(CS_ARCH_X86, CS_MODE_64, &capstone) != CS_ERR_OK)
		fail("the disassembler cannot be used: check libcapstone");
	for (size_t i = 0; i < tables->sites.count; i++) {
		const struct spi_map_site *site = &tables->sites.at[i];
		const uint8_t *bytes = site->bytes + site->before;
		cs_insn *insn = NULL;
		struct x86_decoded decoded;
		const char *name = "";
		uint32_t text = 0;

		if (x86_decode(bytes, site->size, site->vaddr, &decoded) &&
				(decoded.kind == SPI_INSN_CALL || (decoded.flags & X86_IS_JUMP)))
			name = target_name(sites, site, decoded.target);
		if (libraries.cs_disasm(capstone, bytes, site->size, site->vaddr, 1, &insn) == 1) {
			text = strings_add(&tables->strings, mem_format(*name ? "%s %s <%s>" : "%s %s", insn->mnemonic,
				insn->op_str, name));
			libraries.cs_free(insn, 1);
		}
		*vec_push(&tables->texts) = text;
	}
}
