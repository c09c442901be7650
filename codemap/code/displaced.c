/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Instructions at a call site that make room for a jump or call of 5 bytes. They are the call
 * itself, or the call and instructions before it; these then run elsewhere, in the site's stub,
 * before the call goes on. The map names more of them than the jump needs: the agent tries where
 * the jump may begin until its other end leads somewhere.
 *
 * In the stub of a call, the return address is on the stack already. So the stack pointer is one
 * word lower than the displaced instructions expect. Operands that count from the stack pointer
 * are corrected, and an instruction that uses it in any other way is not displaced. In the stub of
 * a jump, the stack pointer is as it was. The stub jumps through r11, which a call through a
 * register or memory may change; what a direct call's callee preserves is not touched.
 */
#include <string.h>
#include "codemap/code/sites.h"

#define JUMP_BYTES	5u
#define REG_SP		4u
#define LONGEST		20u	/* bytes of an instruction with a wider displacement */

struct moved {
	uint8_t code[LONGEST];
	unsigned int size;
	uint8_t fix;		/* where a rip-relative displacement is, SPI_SITE_NO_FIX: nowhere */
	uint8_t fix_after;
	uint64_t fix_target;
};

/* Are all registers that it names vector registers? Where in doubt, not. */
static int names_vectors_only(const struct x86_decoded *insn)
{
	uint8_t op = insn->opcode;

	if (insn->map == 2)
		return op < 0xf0 && op != 0x7a && op != 0x7b && op != 0x7c && op != 0x80 && op != 0x81 && op != 0x82;
	if (insn->map != 1)
		return 0;
	return (op >= 0x10 && op <= 0x17) || op == 0x28 || op == 0x29 || op == 0x2b || op == 0x2e || op == 0x2f ||
	       (op >= 0x51 && op <= 0x6d) || op == 0x6f || op == 0x70 || (op >= 0x74 && op <= 0x76) || op == 0x7f ||
	       op == 0xc2 || op == 0xc6 || (op >= 0xd0 && op <= 0xd6) || op >= 0xd8;
}

/* The reg field of ModRM continues the opcode. */
static int is_group(const struct x86_decoded *insn)
{
	uint8_t op = insn->opcode;

	if (insn->map == 1)
		return op == 0x00 || op == 0x01 || op == 0x0d || op == 0x18 || op == 0x1e || op == 0x1f || op == 0xae ||
		       op == 0xba || op == 0xc7 || (op & 0xf0) == 0x90;
	return !insn->map && (op == 0x80 || op == 0x81 || op == 0x83 || op == 0xc0 || op == 0xc1 || op == 0xc6 ||
			      op == 0xc7 || (op >= 0xd0 && op <= 0xd3) || (op >= 0xd8 && op <= 0xdf) || op == 0xf6 ||
			      op == 0xf7 || op == 0xfe || op == 0xff);
}

/* Does it use the stack pointer without naming it, or leave the usual course of things? */
static int uses_stack(const struct x86_decoded *insn)
{
	uint8_t op = insn->opcode, reg = insn->modrm >> 3 & 7;

	if (insn->vector || insn->map > 1)
		return 0;
	if (insn->map)
		return op == 0xa0 || op == 0xa1 || op == 0xa8 || op == 0xa9 || op == 0x01 || op == 0xae;
	return (op >= 0x50 && op <= 0x5f) || op == 0x68 || op == 0x6a || op == 0x8f || op == 0x9c || op == 0x9d ||
	       op == 0xc8 || op == 0xc9 || (op == 0xff && reg == 6);
}

/* Does a register operand, not an address, mean the stack pointer? */
static int names_stack(const struct x86_decoded *insn)
{
	uint8_t op = insn->opcode;

	if (!insn->vector && !insn->map && ((op >= 0xb0 && op <= 0xbf) || (op >= 0x90 && op <= 0x97)))
		return (op & 7) == REG_SP && !(insn->rex & 1);
	if (!insn->modrm_offset || names_vectors_only(insn))
		return 0;
	if ((insn->modrm >> 3 & 7) == REG_SP && !(insn->rex & 4) && !is_group(insn))
		return 1;
	return insn->modrm >> 6 == 3 && (insn->modrm & 7) == REG_SP && !(insn->rex & 1);
}

static uint8_t sib_of(const struct item *item)
{
	return item->bytes[item->insn.modrm_offset + 1];
}

/* Is its memory operand counted from the stack pointer (or, where that is not told apart, r12)? */
static int operand_on_stack(const struct item *item)
{
	const struct x86_decoded *insn = &item->insn;

	return insn->modrm_offset && insn->modrm >> 6 != 3 && (insn->modrm & 7) == 4 && (sib_of(item) & 7) == REG_SP &&
	       !(insn->rex & 1);
}

/* Copy an instruction whose memory operand counts from the stack pointer, one word added. 0: cannot be. */
static int copy_rebased(const struct item *item, struct moved *out)
{
	const struct x86_decoded *insn = &item->insn;
	unsigned int at = insn->modrm_offset, from = at + 2 + insn->disp_size, mod = insn->modrm >> 6;
	int32_t distance = 0;

	if (insn->vector && insn->vector != 0xc5)	/* may mean r12, or count in other units */
		return 0;
	if (insn->disp_size == 1)
		distance = (int8_t) item->bytes[insn->disp_offset];
	else if (insn->disp_size == 4)
		memcpy(&distance, item->bytes + insn->disp_offset, 4);
	if (distance < 0 || distance > INT32_MAX - 8)	/* below the stack pointer the return address has been put */
		return 0;
	distance += 8;
	mod = mod == 2 || distance > INT8_MAX ? 2 : 1;
	memcpy(out->code, item->bytes, at + 2);
	out->code[at] = (uint8_t) ((insn->modrm & 0x3f) | mod << 6);
	memcpy(out->code + at + 2, &distance, mod == 2 ? 4 : 1);
	out->size = at + 2 + (mod == 2 ? 4 : 1);
	memcpy(out->code + out->size, item->bytes + from, insn->size - from);
	out->size += insn->size - from;
	return 1;
}

/* mov %rsp,%reg as lea 8(%rsp),%reg. 0: it is something else. */
static int copy_stack_pointer(const struct item *item, struct moved *out)
{
	const struct x86_decoded *insn = &item->insn;
	unsigned int reg = insn->modrm >> 3 & 7, rm = insn->modrm & 7, to, high;

	if (insn->map || insn->vector || insn->modrm >> 6 != 3 || !(insn->rex & 8) || insn->size != 3)
		return 0;
	if (insn->opcode == 0x89 && reg == REG_SP && !(insn->rex & 4)) {
		to = rm;
		high = insn->rex & 1;
	} else if (insn->opcode == 0x8b && rm == REG_SP && !(insn->rex & 1)) {
		to = reg;
		high = insn->rex >> 2 & 1;
	} else {
		return 0;
	}
	if (to == REG_SP && !high)
		return 0;
	out->code[0] = (uint8_t) (0x48 | high << 2);
	out->code[1] = 0x8d;
	out->code[2] = (uint8_t) (0x44 | to << 3);
	out->code[3] = 0x24;
	out->code[4] = 8;
	out->size = 5;
	return 1;
}

/* An instruction before the site, as it runs in the stub. 0: it cannot run there. */
static int insn_move(const struct item *item, int is_call, struct moved *out)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const struct x86_decoded *insn = &item->insn;

	memset(out, 0, sizeof(*out));
	out->fix = SPI_SITE_NO_FIX;
	if ((insn->kind != SPI_INSN_PLAIN && insn->kind != SPI_INSN_RIP) ||
	    (insn->flags & (X86_IS_JUMP | X86_IS_CALL | X86_INDIRECT_JUMP)))
		return 0;
	if (insn->map == 1 && insn->opcode == 0x05)	/* syscall: it may start another process's life here */
		return 0;
	if (insn->size == sizeof(endbr64) && !memcmp(item->bytes, endbr64, sizeof(endbr64)))
		return 0;
	if (is_call && uses_stack(insn))
		return 0;
	if (is_call && names_stack(insn))
		return copy_stack_pointer(item, out);
	if (is_call && operand_on_stack(item))
		return copy_rebased(item, out);
	memcpy(out->code, item->bytes, insn->size);
	out->size = insn->size;
	if (insn->fix_offset) {
		int32_t distance;

		memcpy(&distance, item->bytes + insn->fix_offset, 4);
		out->fix = insn->fix_offset;
		out->fix_after = (uint8_t) (insn->size - insn->fix_offset - 4);
		out->fix_target = item->vaddr + insn->size + (uint64_t) (int64_t) distance;
	}
	return 1;
}

/* What puts the site's target into r11. 0: cannot be had. */
static int target_load(const struct item *item, int is_call, struct moved *out)
{
	const struct x86_decoded *insn = &item->insn;
	unsigned int mod = insn->modrm >> 6, reg = (insn->modrm & 7) | (insn->rex & 1u) << 3, i, n = 0;
	struct item load = *item;
	uint8_t bytes[LONGEST];

	memset(out, 0, sizeof(*out));
	out->fix = SPI_SITE_NO_FIX;
	if (mod == 3) {
		if (reg == REG_SP)
			return 0;
		if (reg == 11)
			return 1;
		out->code[0] = (uint8_t) (0x49 | (reg >> 3) << 2);	/* mov %reg,%r11 */
		out->code[1] = 0x89;
		out->code[2] = (uint8_t) (0xc0 | (reg & 7) << 3 | 3);
		out->size = 3;
		return 1;
	}
	for (i = 0; i < insn->opcode_offset; i++)	/* of the prefixes, what changes the address */
		if (item->bytes[i] == 0x64 || item->bytes[i] == 0x65 || item->bytes[i] == 0x67)
			bytes[n++] = item->bytes[i];
	bytes[n++] = (uint8_t) (0x4c | (insn->rex & 3));	/* mov memory,%r11 */
	load.insn.modrm_offset = (uint8_t) (n + 1);
	load.insn.disp_offset = insn->disp_size ? (uint8_t) (n + 1 + insn->disp_offset - insn->modrm_offset) : 0;
	load.insn.rex = (uint8_t) (0x4c | (insn->rex & 3));
	load.insn.modrm = (uint8_t) ((insn->modrm & 0xc7) | 3 << 3);
	bytes[n++] = 0x8b;
	bytes[n++] = load.insn.modrm;
	memcpy(bytes + n, item->bytes + insn->modrm_offset + 1, insn->size - insn->modrm_offset - 1u);
	n += insn->size - insn->modrm_offset - 1u;
	load.insn.size = (uint8_t) n;
	load.bytes = bytes;
	if (is_call && operand_on_stack(&load))
		return copy_rebased(&load, out);
	memcpy(out->code, bytes, n);
	out->size = n;
	if (insn->fix_offset) {		/* the operand is the last of the instruction, here as there */
		int32_t distance;

		memcpy(&distance, item->bytes + insn->fix_offset, 4);
		out->fix = (uint8_t) (n - 4);
		out->fix_target = item->vaddr + insn->size + (uint64_t) (int64_t) distance;
	}
	return 1;
}

/* Add to the site's code. 0: no room in the record. */
static int code_add(struct spi_map_site *site, const struct moved *moved)
{
	if (site->code_size + moved->size > SPI_SITE_CODE)
		return 0;
	if (moved->fix != SPI_SITE_NO_FIX) {
		unsigned int i = site->fix[0] != SPI_SITE_NO_FIX;

		if (site->fix[i] != SPI_SITE_NO_FIX)
			return 0;
		site->fix[i] = (uint8_t) (site->code_size + moved->fix);
		site->fix_after[i] = moved->fix_after;
		site->fix_target[i] = moved->fix_target;
	}
	memcpy(site->code + site->code_size, moved->code, moved->size);
	site->code_size += (uint8_t) moved->size;
	return 1;
}

/*
 * How many instructions before the site may be moved, with nothing known to arrive behind the first of them? A jump whose
 * ways are not known (stretch.is_unclear) may do so all the same: it finds an instruction there that was left
 * as it is, or int3, for the agent changes no byte of an instruction but with its first.
 */
static unsigned int movable_count(const struct sites *sites, size_t index, int is_call)
{
	const struct item *item = &sites->items.at[index];
	unsigned int count = 0, size = item->insn.size;
	struct moved moved;

	while (count < SPI_SITE_INSNS && count < index) {
		const struct item *before = item - 1;

		if (size + before->insn.size > SPI_SITE_BYTES || before->vaddr + before->insn.size != item->vaddr ||
		    flow_arrives(sites->flow, before->vaddr + 1, item->vaddr + 1) ||
		    !insn_move(before, is_call, &moved))
			break;
		size += before->insn.size;
		item = before;
		count++;
	}
	return count;
}

/* The code of a site with that many instructions moved. 0: the record has no room for it. */
static int code_make(const struct sites *sites, size_t index, unsigned int count, int is_call, const struct moved *load,
		     struct spi_map_site *site)
{
	const struct item *item = &sites->items.at[index];
	struct moved moved;

	for (; count; count--) {
		insn_move(item - count, is_call, &moved);
		site->insn[site->insn_count].size = item[-(int) count].insn.size;
		site->insn[site->insn_count++].at = site->code_size;
		if (!code_add(site, &moved))
			return 0;
		site->before += item[-(int) count].insn.size;
	}
	site->own = site->code_size;
	return code_add(site, load);
}

/* Some jump skips its first bytes. Addresses in data that happen to lie in it do not count: they are numbers. */
static int is_jumped_into(const struct sites *sites, const struct item *item)
{
	uint64_t at;

	for (at = item->vaddr + 1; at < item->vaddr + item->insn.size; at++)
		if (flow_is_jumped_to(sites->flow, at))
			return 1;
	return 0;
}

int room_find(const struct sites *sites, const struct stretch *stretch, size_t index, struct spi_map_site *site)
{
	const struct item *item = &sites->items.at[index];
	int is_call = (item->insn.flags & X86_IS_CALL) != 0;
	int is_jcc = site->kind == SPI_SITE_JCC || site->kind == SPI_SITE_JCC_SLOT;
	int is_indirect = site->kind == SPI_SITE_CALL_INDIRECT || site->kind == SPI_SITE_JUMP_INDIRECT;
	struct moved load = { .fix = SPI_SITE_NO_FIX };
	unsigned int count = 0;

	if (is_indirect && !target_load(item, is_call, &load))
		return 0;
	site->solid = (uint8_t) is_jumped_into(sites, item);
	if (!site->solid && !is_jcc && site->size < JUMP_BYTES) {
		count = movable_count(sites, index, is_call);
		if (!is_call && !stretch->is_unclear && !stretch->is_mixed)
			site->after = (uint8_t) pads_behind(sites, stretch, index);
	}
	for (;; count--) {
		struct spi_map_site made = *site;

		if (code_make(sites, index, count, is_call, &load, &made)) {
			*site = made;
			return 1;
		}
		if (!count)
			return 0;
	}
}
