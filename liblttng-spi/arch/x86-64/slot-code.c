/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The code of a slot, and the change of the slots' unwind table, as slots.S has both. */
#include "liblttng-spi/arch/arch.h"

#define SLOT_CODE_SIZE	19u

/* A rip-relative operand that ends `end` bytes into a slot's code: the word at `offset` of its data. */
static void put_operand(uint8_t *code, unsigned int end, unsigned int offset)
{
	spi_displacement_bytes(end, (uint64_t) SPI_SLOT_HALF + offset, code + end - SPI_DISPLACEMENT_SIZE);
}

void spi_slot_code_write(uint8_t code[SPI_SLOT_SIZE])
{
	spi_bytes_copy(code, "\xff\x15....\xff\x35....\xff\x15....\xc3", SLOT_CODE_SIZE);
	put_operand(code, SPI_SLOT_RETURN, SPI_AT_SLOT_TARGET);
	put_operand(code, 12, SPI_AT_SLOT_RA);
	put_operand(code, 18, SPI_AT_SLOT_EXIT);
	spi_bytes_set(code + SLOT_CODE_SIZE, SPI_CODE_TRAP, SPI_SLOT_SIZE - SLOT_CODE_SIZE);
}

/* The end of the return address's rule: deref; lit1; minus. */
uint8_t *spi_slot_rule_find(uint8_t *fde)
{
	uint8_t *end = fde + 4 + *(const uint32_t *) fde;

	for (uint8_t *p = fde + 8; p + SPI_SLOT_RULE_SIZE <= end; p++)
		if (p[0] == 0x16 && p[1] == SPI_DWARF_PC && p[2] == 28 &&
				p[28] == 0x06 && p[29] == 0x31 && p[30] == 0x1c)
			return p;
	return NULL;
}

int spi_slot_rule_is_usual(const uint8_t *cie)
{
	return spi_bytes_equal(cie + 8, (const uint8_t *) "\1zPRS", 6);
}

void spi_slot_rule_exact(uint8_t *cie, uint8_t *rule)
{
	cie[12] = 'B';				/* it means nothing on x86 */
	spi_bytes_copy(rule + 28, "\x23\x80", 3);	/* plus_uconst 0; not every unwinder knows `nop` */
	rule[0] = 0x10;				/* DW_CFA_expression: where it is */
}
