/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Call instructions of code that was made at run time, which no code map describes: a user's parser says where they
 * stand, and how long they are. The record of the site is what spi-codemap would have written.
 *
 * In the site's stub the return address is on the stack already. So operands that count from the stack pointer would
 * have to be corrected, and such calls are declined.
 */
#include "codemap/map/format.h"
#include "liblttng-spi/arch/arch.h"

#define REG_SP		4u
#define REG_R11		11u
#define NO_CALL		"it is no call instruction of this size"
#define ON_STACK	"its operand is on the stack"

struct operand {
	uint8_t rex;
	const uint8_t *modrm;
	uint32_t size;		/* of ModRM and what belongs to it */
	int is_relative;	/* to the instruction's end */
};

/* `ff /2`, perhaps behind notrack and REX, that is `size` bytes long. 0: it is something else. */
static int operand_read(const uint8_t *bytes, uint32_t size, struct operand *o)
{
	const uint8_t *p = bytes, *end = bytes + size;
	uint32_t mod, rm;

	*o = (struct operand) { 0 };
	if (p < end && *p == 0x3e)
		p++;
	if (p < end && (*p & 0xf0) == 0x40)
		o->rex = *p++;
	if (end - p < 2 || p[0] != 0xff || (p[1] >> 3 & 7) != 2)
		return 0;
	o->modrm = p + 1;
	mod = p[1] >> 6;
	rm = p[1] & 7;
	o->size = 1 + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
	if (mod != 3 && rm == REG_SP) {
		if (end - p < 3)
			return 0;
		o->size += 1 + (mod == 0 && (p[2] & 7) == 5 ? 4 : 0);
	} else if (mod == 0 && rm == 5) {
		o->size += 4;
		o->is_relative = 1;
	}
	return o->modrm + o->size == end;
}

static uint32_t register_of(const struct operand *o)
{
	return (*o->modrm & 7) | (o->rex & 1u) << 3;
}

static void code_add(struct spi_map_site *site, const void *bytes, uint32_t n)
{
	spi_bytes_copy(site->code + site->code_size, bytes, n);
	site->code_size = (uint8_t) (site->code_size + n);
}

/* mov %reg, %r11 */
static void load_register(struct spi_map_site *site, uint32_t reg)
{
	const uint8_t load[3] = { (uint8_t) (0x49 | (reg >> 3) << 2), 0x89, (uint8_t) (0xc0 | (reg & 7) << 3 | 3) };

	if (reg != REG_R11)
		code_add(site, load, sizeof(load));
}

/* mov memory, %r11 */
static const char *load_memory(struct spi_map_site *site, const struct operand *o)
{
	const uint8_t load[3] = { (uint8_t) (0x4c | (o->rex & 3)), 0x8b, (uint8_t) ((*o->modrm & 0xc7) | 3 << 3) };
	int32_t distance;

	if ((*o->modrm & 7) == REG_SP && (o->modrm[1] & 7) == REG_SP && !(o->rex & 1))
		return ON_STACK;
	code_add(site, load, sizeof(load));
	if (o->is_relative) {
		spi_bytes_copy(&distance, o->modrm + 1, sizeof(distance));
		site->fix[0] = site->code_size;
		site->fix_target[0] = site->vaddr + site->size + (uint64_t) (int64_t) distance;
	}
	code_add(site, o->modrm + 1, o->size - 1);
	return NULL;
}

/* `mov $constant, %reg` at the beginning: its size, and the register. 0: it is none. */
static uint32_t constant_move(const uint8_t *p, uint32_t size, uint32_t *reg)
{
	uint8_t rex = size && (*p & 0xf0) == 0x40 ? *p++ : 0;
	uint32_t prefix = rex != 0;

	if (size < 2 + prefix)
		return 0;
	*reg = (*p & 7) | (rex & 1u) << 3;
	if ((*p & 0xf8) == 0xb8)
		return prefix + 1 + (rex & 8 ? 8 : 4);
	if (!(rex & 8) || p[0] != 0xc7 || (p[1] & 0xf8) != 0xc0)
		return 0;
	*reg = (p[1] & 7) | (rex & 1u) << 3;
	return prefix + 6;
}

/* `mov $address, %reg; call *%reg`: the first may be moved, and has room for a jump. */
static int pair_read(const uint8_t *bytes, uint32_t size, struct spi_map_site *site)
{
	struct operand o;
	uint32_t reg = 0, n = constant_move(bytes, size, &reg);

	if (!n || n >= size || reg == REG_SP || !operand_read(bytes + n, size - n, &o) || *o.modrm >> 6 != 3 ||
			register_of(&o) != reg)
		return 0;
	site->vaddr += n;
	site->size = (uint8_t) (size - n);
	site->before = (uint8_t) n;
	site->insn_count = 1;
	site->insn[0].size = (uint8_t) n;
	code_add(site, bytes, n);
	site->own = site->code_size;
	site->kind = SPI_SITE_CALL_INDIRECT;
	load_register(site, reg);
	return 1;
}

const char *spi_code_made_call(const uint8_t *bytes, uint32_t size, uint64_t address, struct spi_map_site *site)
{
	struct operand o;
	int32_t distance;

	*site = (struct spi_map_site) {
		.vaddr = address, .size = (uint8_t) size, .fix = { SPI_SITE_NO_FIX, SPI_SITE_NO_FIX },
	};
	if (size < 2 || size > SPI_MADE_CALL_MOST)
		return NO_CALL;
	spi_bytes_copy(site->bytes, bytes, size);
	if (size == 5 && bytes[0] == 0xe8) {
		spi_bytes_copy(&distance, bytes + 1, sizeof(distance));
		site->kind = SPI_SITE_CALL;
		site->target = address + size + (uint64_t) (int64_t) distance;
		return NULL;
	}
	if (pair_read(bytes, size, site))
		return NULL;
	if (size > 15 || !operand_read(bytes, size, &o))
		return NO_CALL;
	site->kind = SPI_SITE_CALL_INDIRECT;
	if (*o.modrm >> 6 != 3)
		return load_memory(site, &o);
	if (register_of(&o) == REG_SP)
		return ON_STACK;
	load_register(site, register_of(&o));
	return NULL;
}

/* movabs $target, %r11 */
void spi_code_made_far(struct spi_map_site *site)
{
	code_add(site, "\x49\xbb", 2);
	code_add(site, &site->target, sizeof(site->target));
	site->kind = SPI_SITE_CALL_INDIRECT;
	site->target = 0;
}
