/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Where the description of an address's frames is, and how its numbers are read.
 *
 * The dynamic linker tells without a lock where an address's .eh_frame_hdr is (_dl_find_object(), glibc 2.35), whose table
 * leads to the FDE by bisection (LSB 5.0 core, 10.6; DWARF 5, 6.4). What stands there in a form other than
 * gcc, clang and ld make it in is not understood.
 */
#include <dlfcn.h>
#include "liblttng-spi/arch/arch.h"
#include "liblttng-spi/cfi/internal.h"

extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));

#define ENC_ABSPTR	0x00u		/* DW_EH_PE_* */
#define ENC_UDATA4	0x03u
#define ENC_PCREL_SDATA4	0x1bu
#define ENC_DATAREL_SDATA4	0x3bu

uint64_t spi_cfi_get(struct spi_cfi_bytes *b, unsigned int n)
{
	uint64_t value = 0;

	if (b->is_bad || (uint64_t) (b->end - b->at) < n) {
		b->is_bad = 1;
		return 0;
	}
	for (unsigned int i = 0; i < n; i++)
		value |= (uint64_t) b->at[i] << (8 * i);
	b->at += n;
	return value;
}

int64_t spi_cfi_signed(struct spi_cfi_bytes *b, unsigned int n)
{
	unsigned int unused = 64 - 8 * n;

	return (int64_t) (spi_cfi_get(b, n) << unused) >> unused;
}

static uint64_t get_leb(struct spi_cfi_bytes *b, int is_signed)
{
	uint64_t value = 0, byte;
	unsigned int shift = 0;

	do {
		byte = spi_cfi_get(b, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) && !b->is_bad);
	if (is_signed && shift < 64 && (byte & 0x40))
		value |= ~UINT64_C(0) << shift;
	return value;
}

uint64_t spi_cfi_uleb(struct spi_cfi_bytes *b)
{
	return get_leb(b, 0);
}

int64_t spi_cfi_sleb(struct spi_cfi_bytes *b)
{
	return (int64_t) get_leb(b, 1);
}

struct spi_cfi_bytes spi_cfi_block(struct spi_cfi_bytes *b)
{
	uint64_t n = spi_cfi_uleb(b);
	struct spi_cfi_bytes block = { b->at, b->at, 1 };

	if (b->is_bad || n > (uint64_t) (b->end - b->at)) {
		b->is_bad = 1;
		return block;
	}
	block.end = b->at += n;
	block.is_bad = 0;
	return block;
}

/* ---- where the description is ---- */

/* Version 1: encodings of the frames' address, of the count, of the table; in order by address. */
struct index {
	uint8_t version, frames_kind, count_kind, table_kind;
	int32_t frames;
	uint32_t count;
	struct {
		int32_t code, fde;
	} entries[];
};

/* The record at `at`, behind its length; *id_at is where its second word stands. */
static struct spi_cfi_bytes record_at(const uint8_t *at, const uint8_t **id_at)
{
	struct spi_cfi_bytes b = { at, at + 4, 0 };
	uint64_t n = spi_cfi_get(&b, 4);

	b.is_bad = !n || n >= 0xfffffff0u;
	b.end = b.at + (b.is_bad ? 0 : n);
	*id_at = b.at;
	return b;
}

const uint8_t *spi_cfi_find(uint64_t pc)
{
	struct dl_find_object found;
	const struct index *index;
	uint32_t low = 0, high;
	int32_t at;

	if (!_dl_find_object || _dl_find_object((void *) pc, &found) != 0 || !found.dlfo_eh_frame)
		return NULL;
	index = found.dlfo_eh_frame;
	if (index->version != 1 || index->count_kind != ENC_UDATA4 || index->table_kind != ENC_DATAREL_SDATA4 || !index->count)
		return NULL;
	at = (int32_t) (int64_t) (pc - (uint64_t) index);
	if (at < index->entries[0].code)
		return NULL;
	for (high = index->count; high - low > 1; ) {
		uint32_t middle = low + (high - low) / 2;

		if (index->entries[middle].code <= at)
			low = middle;
		else
			high = middle;
	}
	return (const uint8_t *) index + index->entries[low].fde;
}

static unsigned int encoded_size(uint8_t encoding)
{
	static const uint8_t sizes[16] = { 8, 0, 2, 4, 8, 0, 0, 0, 8, 0, 2, 4, 8 };

	return sizes[encoding & 15];
}

static int cie_read(const uint8_t *at, struct spi_cie *cie)
{
	const uint8_t *id, *letters;
	struct spi_cfi_bytes b = record_at(at, &id), more;
	uint64_t version;

	*cie = (struct spi_cie) { .encoding = ENC_ABSPTR };
	if (spi_cfi_get(&b, 4) != 0)
		return -1;
	version = spi_cfi_get(&b, 1);
	letters = b.at;
	while (spi_cfi_get(&b, 1))
		;
	cie->code_align = spi_cfi_uleb(&b);
	cie->data_align = spi_cfi_sleb(&b);
	if ((version == 1 ? spi_cfi_get(&b, 1) : spi_cfi_uleb(&b)) != SPI_DWARF_PC || (version != 1 && version != 3) || b.is_bad)
		return -1;
	if (*letters == 'z') {
		more = spi_cfi_block(&b);
		cie->has_size = 1;
		while (*++letters)
			switch (*letters) {
			case 'R':
				cie->encoding = (uint8_t) spi_cfi_get(&more, 1);
				break;
			case 'P':
				spi_cfi_get(&more, encoded_size((uint8_t) spi_cfi_get(&more, 1)));
				break;
			case 'L':
				spi_cfi_get(&more, 1);
				break;
			case 'S':
			case 'B':
				break;
			default:
				return -1;
			}
		if (more.is_bad)
			return -1;
	} else if (*letters) {
		return -1;
	}
	cie->program = b;
	return b.is_bad ? -1 : 0;
}

/* The FDE's own program, and where its code begins. */
int spi_cfi_read(const uint8_t *at, uint64_t pc, struct spi_cie *cie, struct spi_cfi_bytes *program, uint64_t *begin)
{
	const uint8_t *id, *place;
	struct spi_cfi_bytes b = record_at(at, &id);
	uint64_t offset = spi_cfi_get(&b, 4), size;

	if (b.is_bad || !offset || cie_read(id - offset, cie) < 0)
		return -1;
	place = b.at;
	if (cie->encoding == ENC_PCREL_SDATA4)
		*begin = (uint64_t) place + (uint64_t) spi_cfi_signed(&b, 4);
	else if (cie->encoding == ENC_ABSPTR)
		*begin = spi_cfi_get(&b, 8);
	else
		return -1;
	size = spi_cfi_get(&b, encoded_size(cie->encoding));
	if (cie->has_size)
		spi_cfi_block(&b);
	*program = b;
	return b.is_bad || pc < *begin || pc - *begin >= size ? -1 : 0;
}
