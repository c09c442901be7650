/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Jumps that the agent writes into the program's code, and call sites' own instructions that are changed so that they
 * lead to a stub; and how the jumps are recognised again.
 */
#include "codemap/map/format.h"
#include "liblttng-spi/arch/arch.h"

void spi_displacement_bytes(uint64_t after, uint64_t to, uint8_t *bytes)
{
	int32_t displacement = (int32_t) (to - after);

	spi_bytes_copy(bytes, &displacement, SPI_DISPLACEMENT_SIZE);
}

void spi_jump_bytes(uint64_t place, uint64_t to, uint8_t *bytes)
{
	bytes[0] = 0xe9;
	spi_displacement_bytes(place + SPI_JUMP_SIZE, to, bytes + 1);
}

/* ---- a call site's own instruction ---- */

static const uint8_t *site_end(const struct spi_map_site *site)
{
	return site->bytes + site->before + site->size;
}

static int is_jump(const struct spi_map_site *site)
{
	return site->kind == SPI_SITE_JUMP || site->kind == SPI_SITE_JUMP_SLOT || site->kind == SPI_SITE_JUMP_INDIRECT;
}

static int is_jcc(const struct spi_map_site *site)
{
	return site->kind == SPI_SITE_JCC || site->kind == SPI_SITE_JCC_SLOT;
}

int spi_site_has_displacement(const struct spi_map_site *site)
{
	const uint8_t *end = site_end(site);

	if (is_jcc(site))
		return site->size >= 6 && end[-6] == 0x0f && (end[-5] & 0xf0) == 0x80;
	return site->size >= 5 && end[-5] == (is_jump(site) ? 0xe9 : 0xe8);
}

/* It ends where the old one did, with prefixes in front that mean nothing. */
void spi_site_whole_bytes(const struct spi_map_site *site, uint64_t after, uint64_t stub, uint8_t *to)
{
	uint8_t *jump = to + site->size - SPI_JUMP_SIZE;

	spi_bytes_set(to, SPI_CODE_PREFIX, site->size);
	jump[0] = is_jump(site) ? 0xe9 : 0xe8;
	spi_displacement_bytes(after, stub, jump + 1);
}

/* Its last bytes are the operand, ModRM and a disp32. */
int spi_site_has_word(const struct spi_map_site *site)
{
	const uint8_t *end = site_end(site);
	uint32_t mod = end[-5] >> 6, rm = end[-5] & 7;

	return site->size >= 6 && end[-6] == 0xff && ((mod == 2 && rm != 4) || (mod == 0 && rm == 5));
}

/* The operand becomes rip-relative. */
void spi_site_word_bytes(const struct spi_map_site *site, uint64_t after, uint64_t word, uint8_t *to)
{
	to[0] = is_jump(site) || is_jcc(site) ? 0x25 : 0x15;
	spi_displacement_bytes(after, word, to + 1);
}

/* ---- recognised ---- */

uint64_t spi_code_jump_target(uint64_t at, spi_copy_fn copy)
{
	uint8_t code[SPI_JUMP_SIZE];
	int32_t by;

	/* only what is known to be there is read: the code behind another instruction may end with its page */
	if (copy(code, at, 1) < 0 || code[0] != 0xe9 || copy(code, at, sizeof(code)) < 0)
		return 0;
	spi_bytes_copy(&by, code + 1, 4);
	return at + SPI_JUMP_SIZE + (uint64_t) (int64_t) by;
}

/* call rel32, and call r/m64 (ff /2) with each length of its operand: a register, memory without and with displacement. */
int spi_code_ends_in_call(const uint8_t *code)
{
	const uint8_t *end = code + SPI_CALL_MOST;

	if (end[-5] == 0xe8)
		return 1;
	for (unsigned int n = 2; n <= SPI_CALL_MOST; n++)
		if (n != 5 && end[-(int) n] == 0xff && (end[1 - (int) n] & 0x38) == 0x10)
			return 1;
	return 0;
}

int spi_code_is_empty_function(const uint8_t *code)
{
	static const uint8_t fillers[] = { 0x66, 0x2e, 0x0f, 0x1f, 0x90, 0xcc, 0x84, 0x00 };

	if (code[0] != 0xc3 || (uint64_t) code % 8)
		return 0;
	for (unsigned int i = 1, k; i < SPI_JUMP_SIZE; i++) {
		for (k = 0; k < sizeof(fillers) && fillers[k] != code[i]; k++)
			;
		if (k == sizeof(fillers))
			return 0;
	}
	return 1;
}
