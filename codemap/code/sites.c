/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Call sites: instructions that leave a function for another. Calls do. A jump does when it goes to
 * the first byte of another function, or through a pointer, while the stack is as at the
 * function's own first byte. Unwind rules say whether it is, in a stripped object too, and also
 * tell a piece that is jumped into with a frame set up (.cold).
 *
 * Not call sites are: `call` of the next instruction or of another place inside the function (the
 * code asks where it is, or changes the return address), switches, and PLT stubs. In a stretch
 * that is not all code, bytes count as an instruction only where direct jumps, and what follows
 * their targets, lead to: a call that is missed is not recorded, but data that is changed breaks
 * the program.
 */
#include <string.h>
#include "codemap/code/sites.h"

#define SWITCH_BEFORE	6u	/* instructions looked at before a jump through a register */

static int stack_is_callers(struct sites *sites, uint64_t vaddr)
{
	const struct fde *fde = sites->cfa.fde;

	if (!fde || vaddr - fde->start >= fde->size) {
		fde = fdes_around(sites->flow->fdes, vaddr);
		if (!fde)
			return 0;
		cfa_begin(&sites->cfa, fde);
	}
	return cfa_is_call(&sites->cfa, vaddr);
}

/* The function at an address that can be called: no stub, no piece. */
static const struct function *callee_at(const struct sites *sites, uint64_t vaddr)
{
	const struct function *f = functions_at(sites->flow->functions, vaddr);

	return f && f->reason != SPI_REASON_PLT && f->reason != SPI_REASON_PART && f->reason != SPI_REASON_NO_CODE ? f
														   : NULL;
}

static int slot_is_linkers(const struct slot *slot)
{
	return slot && (slot->type == R_X86_64_JUMP_SLOT || slot->type == R_X86_64_GLOB_DAT ||
			slot->type == R_X86_64_IRELATIVE);
}

static void slot_set(struct sites *sites, struct spi_map_site *site, uint64_t vaddr, const struct slot *slot)
{
	const char *version, *name = slot_is_linkers(slot) ? links_import(sites->links, slot, &version) : NULL;

	site->target = vaddr;
	if (!name)
		return;
	site->import = strings_add(&sites->tables->strings, name);
	site->version = strings_add(&sites->tables->strings, version);
}

/* Through which word does an instruction with a rip-relative operand go? */
static uint64_t operand_address(const struct item *item)
{
	int32_t distance;

	memcpy(&distance, item->bytes + item->insn.fix_offset, 4);
	return item->vaddr + item->insn.size + (uint64_t) (int64_t) distance;
}

/* A direct call, jump or conditional jump. 0: it does not leave the function. */
static int direct_judge(struct sites *sites, const struct stretch *s, const struct item *item,
			struct spi_map_site *site)
{
	uint64_t target = item->insn.target;
	const struct function *callee = callee_at(sites, target);
	const struct slot *stub = callee ? NULL : links_stub(sites->links, target);
	int is_inside = target >= s->low && target < s->high;

	if (!slot_is_linkers(stub))
		stub = NULL;
	if (item->insn.kind == SPI_INSN_CALL) {
		if (!callee && !stub && (is_inside || s->is_mixed || !image_is_code(sites->flow->image, target)))
			return 0;
		site->kind = stub ? SPI_SITE_CALL_SLOT : SPI_SITE_CALL;
	} else {
		if (is_inside || (!callee && !stub) || !stack_is_callers(sites, item->vaddr))
			return 0;
		if (item->insn.kind == SPI_INSN_JCC) {
			site->kind = stub ? SPI_SITE_JCC_SLOT : SPI_SITE_JCC;
			site->condition = item->insn.cond;
		} else {
			site->kind = stub ? SPI_SITE_JUMP_SLOT : SPI_SITE_JUMP;
		}
	}
	if (stub)
		slot_set(sites, site, stub->vaddr, stub);
	else
		site->target = target;
	return 1;
}

/*
 * Does a jump through a register end a switch? Then the register was computed by an
 * addition just before. Where computed gotos lead about, all jumps count as theirs
 * that may take their address from a table.
 */
static int is_switch(const struct sites *sites, const struct stretch *s, size_t index)
{
	const struct item *item = &sites->items.at[index];
	const struct x86_decoded *insn = &item->insn;
	unsigned int reg = (insn->modrm & 7) | (insn->rex & 1u) << 3, i;

	if (insn->flags & X86_TABLE_JUMP)
		return 0;	/* by its table: flow.c marked what it leads to, and only own code is led to */
	if (index && x86_is_epilogue(&item[-1].insn))
		return 0;
	if (s->has_labels && (insn->modrm >> 6 == 3 || (insn->modrm & 7) == 4))
		return 1;
	if (insn->modrm >> 6 != 3)
		return 0;
	if (item->bytes[0] == 0x3e)	/* notrack: compilers write it for switches alone */
		return 1;
	for (i = 1; i <= SWITCH_BEFORE && i <= index; i++) {
		const struct x86_decoded *b = &sites->items.at[index - i].insn;

		if ((b->flags & (X86_IS_JUMP | X86_IS_CALL | X86_INDIRECT_JUMP)) || b->kind == SPI_INSN_END)
			return 0;
		if (x86_writes(b, reg))
			return !b->map && !b->vector && (b->opcode == 0x01 || b->opcode == 0x03 || b->opcode == 0x8d);
	}
	return 0;
}

/* jmp *table(,reg,8), and jmp *(base,reg,8): the first entry says whether it is one of the function's own code. */
static int is_own_table(const struct sites *sites, const struct stretch *s, const struct item *item)
{
	uint64_t left = 0, target;
	const uint8_t *p;

	if (!(item->insn.flags & X86_TABLE_JUMP))
		return 0;
	p = image_at(sites->flow->image, item->insn.target, &left);
	if (!p || left < 8)
		return 0;
	memcpy(&target, p, 8);
	return target >= s->low && target < s->high;
}

/* A call or jump through a register or memory. */
static int indirect_judge(struct sites *sites, const struct stretch *s, size_t index, struct spi_map_site *site)
{
	const struct item *item = &sites->items.at[index];
	int is_call = item->insn.kind == SPI_INSN_CALL_INDIRECT;

	/* A word at %fs: or %gs: is no slot. */
	if (item->insn.fix_offset && (item->bytes[0] == 0x64 || item->bytes[0] == 0x65))
		return 0;
	/* call *(%rax) of a TLS descriptor: its callee keeps registers that every other call may change */
	if (is_call && sites->links->has_tlsdesc && item->insn.modrm == 0x10 && !item->insn.rex)
		return 0;
	if (!is_call && (!stack_is_callers(sites, item->vaddr) || is_switch(sites, s, index) ||
			 is_own_table(sites, s, item)))
		return 0;
	site->kind = is_call ? SPI_SITE_CALL_INDIRECT : SPI_SITE_JUMP_INDIRECT;
	if (item->insn.fix_offset) {
		uint64_t slot = operand_address(item);

		/* Another word is a variable: the program changes it as it likes. */
		if (!slot_is_linkers(links_slot(sites->links, slot)))
			return 1;
		site->kind = is_call ? SPI_SITE_CALL_SLOT : SPI_SITE_JUMP_SLOT;
		slot_set(sites, site, slot, links_slot(sites->links, slot));
	}
	return 1;
}

static void item_judge(struct sites *sites, const struct stretch *s, size_t index)
{
	const struct item *item = &sites->items.at[index];
	struct spi_map_site site;
	unsigned int size;

	memset(&site, 0, sizeof(site));
	site.vaddr = item->vaddr;
	site.size = item->insn.size;
	site.fix[0] = site.fix[1] = SPI_SITE_NO_FIX;
	if (item->insn.kind == SPI_INSN_CALL || item->insn.kind == SPI_INSN_JMP || item->insn.kind == SPI_INSN_JCC) {
		if (!direct_judge(sites, s, item, &site))
			return;
	} else if (item->insn.kind == SPI_INSN_CALL_INDIRECT || (item->insn.flags & X86_INDIRECT_JUMP)) {
		if (!indirect_judge(sites, s, index, &site))
			return;
	} else {
		return;
	}
	if (!room_find(sites, s, index, &site))
		return;
	size = site.before + site.size;
	memcpy(site.bytes, item->bytes - site.before, size);
	*vec_push(&sites->tables->sites) = site;
}

static int runs_on(const struct x86_decoded *insn)
{
	return insn->kind != SPI_INSN_END && insn->kind != SPI_INSN_JMP && !(insn->flags & X86_INDIRECT_JUMP);
}

/* What control gets to from `at` on without a jump, up to what is known; adds places that are jumped to. */
static void follow(struct sites *sites, const struct stretch *s, const uint8_t *p, uint64_t at)
{
	struct x86_decoded insn;

	while (at < s->size && !sites->reached.at[at] && x86_decode(p + at, s->size - at, s->vaddr + at, &insn)) {
		sites->reached.at[at] = 1;
		if ((insn.flags & X86_IS_JUMP) && insn.target - s->vaddr < s->size)
			*vec_push(&sites->places) = insn.target - s->vaddr;
		if (!runs_on(&insn))
			return;
		at += insn.size;
	}
}

/* Which bytes of the stretch begin an instruction that can be reached from its first one? */
static void reached_find(struct sites *sites, const struct stretch *s, const uint8_t *p)
{
	uint64_t i;

	sites->reached.count = sites->places.count = 0;
	for (i = 0; i < s->size; i++)
		*vec_push(&sites->reached) = 0;
	follow(sites, s, p, 0);
	while (sites->places.count)
		follow(sites, s, p, sites->places.at[--sites->places.count]);
}

/* Decode a stretch; in one that is not all code, leave out what control does not get to. */
static void items_read(struct sites *sites, const struct stretch *s)
{
	const uint8_t *p = stretch_bytes(sites->flow, s);
	uint64_t at = 0;

	sites->items.count = 0;
	if (p && s->is_mixed)
		reached_find(sites, s, p);
	while (p && at < s->size) {
		struct item *item = vec_push(&sites->items);

		item->vaddr = s->vaddr + at;
		item->bytes = p + at;
		if ((s->is_mixed && !sites->reached.at[at]) ||
		    !x86_decode(p + at, s->size - at, item->vaddr, &item->insn)) {
			sites->items.count--;
			at++;
			continue;
		}
		at += item->insn.size;
	}
}

void sites_find(struct sites *sites, const struct flow *flow, struct links *links, struct tables *tables)
{
	size_t i, k;

	memset(sites, 0, sizeof(*sites));
	sites->flow = flow;
	sites->links = links;
	sites->tables = tables;
	for (i = 0; i < flow->stretches.count; i++) {
		const struct stretch *s = &flow->stretches.at[i];
		const struct function *f = &flow->functions->list.at[s->function];

		if (f->reason == SPI_REASON_PLT || f->reason == SPI_REASON_MANAGED)
			continue;
		items_read(sites, s);
		for (k = 0; k < sites->items.count; k++)
			item_judge(sites, s, k);
		pads_collect(sites, s);
		if (tables->has_detail)
			blocks_add(sites, s);
	}
	pads_assign(sites);
}
