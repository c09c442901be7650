/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * x86-compare FILE: decode .text from end to end with capstone and with x86.c;
 * print how many instructions both know, how many of those have another length,
 * and how many another jump target or rip-relative operand.
 */
#include <capstone/capstone.h>
#include <fcntl.h>
#include <stdio.h>
#include "codemap/elf/image.h"
#include "codemap/code/x86.h"

static int is_same(const cs_insn *insn, const struct x86_decoded *own)
{
	const cs_x86 *x = &insn->detail->x86;
	int rip = 0, jump = 0, i;

	for (i = 0; i < x->op_count; i++)
		if (x->operands[i].type == X86_OP_MEM && x->operands[i].mem.base == X86_REG_RIP)
			rip = 1;
	for (i = 0; i < insn->detail->groups_count; i++)
		if (insn->detail->groups[i] == CS_GRP_JUMP && x->op_count && x->operands[0].type == X86_OP_IMM)
			jump = 1;
	if (rip != (own->fix_offset != 0) ||
		(rip && x->encoding.disp_offset && x->encoding.disp_offset != own->fix_offset))
		return 0;
	return !jump || ((own->flags & X86_IS_JUMP) && own->target == (uint64_t) x->operands[0].imm);
}

int main(int argc, char **argv)
{
	unsigned long known = 0, length = 0, other = 0;
	struct x86_decoded own;
	struct image *image;
	struct bytes text;
	const uint8_t *p;
	uint64_t address;
	cs_insn *insn;
	size_t left;
	const char *why;
	csh handle;

	if (argc != 2 || cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK)
		return 2;
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	insn = cs_malloc(handle);
	image = image_map(open(argv[1], O_RDONLY), argv[1], &why);
	if (!image || !image_read(image, 1, &why))
		return 2;
	text = image_raw(image, image_section(image, ".text"));
	address = image_section(image, ".text")->addr;
	p = text.data;
	left = text.size;
	while (left) {
		const uint8_t *next = p;
		uint64_t after = address;
		size_t rest = left, size;
		int have = x86_decode(p, left, address, &own);

		if (cs_disasm_iter(handle, &next, &rest, &after, insn)) {
			size = insn->size;
			known++;
			if (!have || own.size != size)
				length++;
			else if (!is_same(insn, &own))
				other++;
		} else {
			size = have ? own.size : 1;	/* an instruction that capstone does not know */
		}
		p += size;
		left -= size;
		address += size;
	}
	printf("%lu %lu %lu\n", known, length, other);
	return 0;
}
