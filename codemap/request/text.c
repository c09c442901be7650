/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Instructions as text: of bytes that come with the command, wherever they are from. What is no instruction is a line
 * of its own, a byte each.
 */
#include <stdlib.h>
#include <string.h>
#include "codemap/base/libraries.h"
#include "codemap/base/sandbox.h"
#include "codemap/request/request.h"

#define BYTES_MAX	65536u

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int text_write(const char *address, const char *hex, int out_fd)
{
	const size_t size = strlen(hex) / 2;
	uint8_t *bytes = mem_alloc(size + 1);
	struct text lines = { 0 };
	char *end;
	uint64_t vaddr = strtoull(address, &end, 16);
	csh capstone;

	if (*end || end == address || !size || size > BYTES_MAX || strlen(hex) % 2)
		return EXIT_USAGE;
	for (size_t i = 0; i < size; i++) {
		if (digit(hex[2 * i]) < 0 || digit(hex[2 * i + 1]) < 0)
			return EXIT_USAGE;
		bytes[i] = (uint8_t) (digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
	}
	libraries_load();
	sandbox_enter(0);
	if (libraries.cs_open(CS_ARCH_X86, CS_MODE_64, &capstone) != CS_ERR_OK)
		fail("the disassembler cannot be used: check libcapstone");
	for (size_t at = 0, n = 1; at < size; at += n) {
		cs_insn *insn = NULL;

		n = libraries.cs_disasm(capstone, bytes + at, size - at, vaddr + at, 1, &insn);
		if (n)
			text_add(&lines, mem_format("%llx: %s%s%s\n", (unsigned long long) (vaddr + at), insn->mnemonic,
				insn->op_str[0] ? " " : "", insn->op_str));
		else
			text_add(&lines, mem_format("%llx: .byte 0x%02x\n", (unsigned long long) (vaddr + at),
				bytes[at]));
		n = n ? insn->size : 1;
		if (insn)
			libraries.cs_free(insn, 1);
	}
	write_or_fail(out_fd, lines.at, lines.count, "the output");
	return EXIT_DONE;
}
