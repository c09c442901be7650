/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The tables that codes are looked up in, by their next LITERAL_BITS or
 * DISTANCE_BITS bits; longer codes lead on to a subtable. An entry is
 *
 *	bits 0-7	how many bits the code has, with the extra bits that follow it
 *	bits 8-11	how many it has without them; of a link: the subtable's width
 *	bits 12-15	enum entry_flags
 *	bits 16-31	the literal, the base of the length or distance, or the subtable's place
 *
 * In a subtable, the bits that led to it do not count. All that is needed to go on
 * is in the low byte, which a shift takes as it is: the next code can be looked up
 * before it is known what this one means.
 */
#ifndef CODEMAP_INFLATE_TABLE_H
#define CODEMAP_INFLATE_TABLE_H

#include "codemap/inflate/inflate.h"

#define LITERAL_BITS	11u
#define DISTANCE_BITS	8u

enum entry_flags {
	ENTRY_LINK = 1 << 12,
	ENTRY_STOP = 1 << 13,		/* end of block */
	ENTRY_INVALID = 1 << 14,
	ENTRY_ODD = ENTRY_LINK | ENTRY_STOP | ENTRY_INVALID,
	ENTRY_LITERAL = 1 << 15,
};

#define ENTRY_TOTAL(e)	((e) & 0xff)
#define ENTRY_CODE(e)	((e) >> 8 & 15)
#define ENTRY_VALUE(e)	((e) >> 16)

/* The next n bits. */
static inline uint64_t bits_low(uint64_t bits, unsigned int n)
{
	return bits & ~(~UINT64_C(0) << n);
}

/* Base and extra bits: the length or the distance that entry e and these bits mean. */
static inline unsigned int entry_number(uint32_t e, uint64_t bits)
{
	return ENTRY_VALUE(e) + (unsigned int) (bits_low(bits, e & 63) >> ENTRY_CODE(e));
}

/* Tables for codes of these lengths; 0: there is no such code. (table.c) */
int table_literals(struct inflate *s, const uint8_t *lengths, unsigned int count);
int table_distances(struct inflate *s, const uint8_t *lengths, unsigned int count);
/* The table of the code that code lengths are packed with: 128 entries. */
int table_lengths(uint32_t *table, const uint8_t *lengths);

/*
 * inflate_fast() - literals and matches of one block, as long as neither input nor
 * output end soon, until `target` is reached or the block ends or breaks. (fast.c)
 */
void inflate_fast(struct inflate *s, uint64_t target);
#define FAST_IN		40u	/* input that must be left for it to do anything */
#define FAST_OUT	320u	/* room likewise */

#endif /* CODEMAP_INFLATE_TABLE_H */
