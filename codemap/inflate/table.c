/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Builds the lookup tables of table.h from the lengths of codes. */
#include <string.h>
#include "codemap/inflate/table.h"

#define CODE_MAX	15u
#define SYMBOLS_MAX	288u

static const uint16_t length_base[29] = {3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67,
	83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t length_extra[29] = {
	0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
static const uint16_t distance_base[30] = {1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513,
	769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};

/* What a symbol means: an entry, but that the low byte has the extra bits only. */
static uint32_t literal_entry(unsigned int symbol)
{
	if (symbol < 256)
		return ENTRY_LITERAL | symbol << 16;
	if (symbol == 256)
		return ENTRY_STOP;
	if (symbol < 286)
		return length_extra[symbol - 257] | (uint32_t) length_base[symbol - 257] << 16;
	return ENTRY_INVALID;
}

static uint32_t distance_entry(unsigned int symbol)
{
	if (symbol < 30)
		return (symbol < 2 ? 0 : symbol / 2 - 1) | (uint32_t) distance_base[symbol] << 16;
	return ENTRY_INVALID;
}

static uint32_t plain_entry(unsigned int symbol)
{
	return ENTRY_LITERAL | symbol << 16;
}

/* Add 1 to a code whose bits stand in reverse order, as they do in the stream. */
static unsigned int reverse_next(unsigned int code, unsigned int length)
{
	unsigned int bit = 1u << (length - 1);

	while (code & bit) {
		code ^= bit;
		bit >>= 1;
	}
	return code | bit;
}

/* Count codes by length. A set must be complete, but for a single code of one bit (one distance, or none); else 0. */
static int lengths_count(const uint8_t *lengths, unsigned int count, unsigned int by_length[CODE_MAX + 1],
	unsigned int *longest)
{
	unsigned int i, used = 0;
	int left = 1;

	memset(by_length, 0, (CODE_MAX + 1) * sizeof(*by_length));
	*longest = 0;
	for (i = 0; i < count; i++)
		by_length[lengths[i]]++;
	by_length[0] = 0;
	for (i = 1; i <= CODE_MAX; i++) {
		left = left * 2 - (int) by_length[i];
		if (left < 0)
			return 0;
		if (by_length[i])
			*longest = i;
		used += by_length[i];
	}
	return !left || (used <= 1 && *longest <= 1);
}

static void entries_fill(uint32_t *table, unsigned int count, uint32_t entry)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		table[i] = entry;
}

/*
 * Codes in order of their length: as long as they are short enough for it, the
 * table is as wide as the codes so far, and doubles by a copy of itself when they
 * get longer. So each code is entered once.
 */
static int table_make(uint32_t *table, unsigned int room, unsigned int width, const uint8_t *lengths,
	unsigned int count, uint32_t (*entry_of)(unsigned int symbol))
{
	unsigned int by_length[CODE_MAX + 1], first[CODE_MAX + 2], longest, length, i, code = 0, now = 1, free_at,
		low = UINT32_MAX, sub = 0;
	uint16_t sorted[SYMBOLS_MAX];

	if (!lengths_count(lengths, count, by_length, &longest))
		return 0;
	for (first[1] = 0, i = 1; i <= CODE_MAX; i++)
		first[i + 1] = first[i] + by_length[i];
	for (i = 0; i < count; i++)
		if (lengths[i])
			sorted[first[lengths[i]]++] = (uint16_t) i;
	table[0] = ENTRY_INVALID | 1;
	if (longest <= 1)	/* one code at most */
		entries_fill(table, 1u << width, ENTRY_INVALID | 1);
	free_at = 1u << width;
	for (i = 0, length = 1; length <= longest; length++) {
		unsigned int last = i + by_length[length];

		if (length <= width && longest > 1) {
			memcpy(table + now, table, now * sizeof(*table));
			now *= 2;
		}
		for (; i < last; i++) {
			uint32_t entry = entry_of(sorted[i]);
			unsigned int own = length <= width ? length : length - width, k;

			entry += own | own << 8;
			if (length > width && (code & ((1u << width) - 1)) != low) {
				low = code & ((1u << width) - 1);
				sub = longest - width;
				if (free_at + (1u << sub) > room)
					return 0;
				table[low] = width | sub << 8 | ENTRY_LINK | (uint32_t) free_at << 16;
				free_at += 1u << sub;
			}
			if (length > width) {
				for (k = code >> width; k < (1u << sub); k += 1u << own)
					table[free_at - (1u << sub) + k] = entry;
			} else if (longest == 1) {
				for (k = code; k < (1u << width); k += 2)
					table[k] = entry;
			} else {
				table[code] = entry;
			}
			code = reverse_next(code, length);
		}
	}
	for (; longest > 1 && now < (1u << width); now *= 2)
		memcpy(table + now, table, now * sizeof(*table));
	return 1;
}

int table_literals(struct inflate *s, const uint8_t *lengths, unsigned int count)
{
	return table_make(s->literals, INFLATE_LITERALS, LITERAL_BITS, lengths, count, literal_entry);
}

int table_distances(struct inflate *s, const uint8_t *lengths, unsigned int count)
{
	return table_make(s->distances, INFLATE_DISTANCES, DISTANCE_BITS, lengths, count, distance_entry);
}

int table_lengths(uint32_t *table, const uint8_t *lengths)
{
	return table_make(table, 128, 7, lengths, 19, plain_entry);
}
