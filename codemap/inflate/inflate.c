/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Blocks and their headers, and the careful loop over a block's codes, which tests each step. The
 * part of a block that is far from all ends goes through fast.c.
 */
#include <string.h>
#include "codemap/inflate/table.h"

/* ---- input bits ---- */

/* Have at least 56 bits, or all that are left. */
static inline void bits_fill(struct inflate *s)
{
	uint64_t word;

	if (s->in_end - s->in >= 8) {
		memcpy(&word, s->in, 8);
		s->bits |= word << s->bit_count;
		s->in += (63 - s->bit_count) >> 3;
		s->bit_count |= 56;
		return;
	}
	while (s->bit_count <= 56 && s->in < s->in_end) {
		s->bits |= (uint64_t) *s->in++ << s->bit_count;
		s->bit_count += 8;
	}
}

/* Use n bits; 0 when there are not that many. */
static inline int bits_use(struct inflate *s, unsigned int n)
{
	if (n > s->bit_count)
		return 0;
	s->bits >>= n;
	s->bit_count -= n;
	return 1;
}

static unsigned int bits_take(struct inflate *s, unsigned int n)
{
	unsigned int value;

	bits_fill(s);
	value = (unsigned int) (s->bits & ((1u << n) - 1));
	if (!bits_use(s, n))
		s->state = INFLATE_BAD;
	return value;
}

/* ---- blocks ---- */

static void tables_fixed(struct inflate *s)
{
	uint8_t lengths[288];

	memset(lengths, 8, 144);
	memset(lengths + 144, 9, 112);
	memset(lengths + 256, 7, 24);
	memset(lengths + 280, 8, 8);
	table_literals(s, lengths, 288);
	memset(lengths, 5, 32);
	table_distances(s, lengths, 32);
}

static int tables_dynamic(struct inflate *s)
{
	static const uint8_t order[19] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15 };
	unsigned int literals = bits_take(s, 5) + 257, distances = bits_take(s, 5) + 1, codes = bits_take(s, 4) + 4, i,
		     n;
	uint8_t lengths[288 + 32] = { 0 };
	uint32_t table[128];

	if (s->state == INFLATE_BAD || literals > 286 || distances > 30)
		return 0;
	for (i = 0; i < codes; i++)
		lengths[order[i]] = (uint8_t) bits_take(s, 3);
	if (!table_lengths(table, lengths))
		return 0;
	memset(lengths, 0, sizeof(lengths));
	for (i = 0; i < literals + distances && s->state != INFLATE_BAD;) {
		uint8_t value = 0;
		uint32_t e;

		bits_fill(s);
		e = table[s->bits & 127];
		if (!(e & ENTRY_LITERAL) || !bits_use(s, ENTRY_TOTAL(e)))
			return 0;
		n = ENTRY_VALUE(e);
		if (n < 16) {
			lengths[i++] = (uint8_t) n;
			continue;
		}
		if (n == 16) {
			if (!i)
				return 0;
			value = lengths[i - 1];
			n = 3 + bits_take(s, 2);
		} else {
			n = n == 17 ? 3 + bits_take(s, 3) : 11 + bits_take(s, 7);
		}
		if (n > literals + distances - i)
			return 0;
		memset(lengths + i, value, n);
		i += n;
	}
	if (s->state == INFLATE_BAD || !lengths[256])
		return 0;
	return table_literals(s, lengths, literals) && table_distances(s, lengths + literals, distances);
}

static void block_begin(struct inflate *s)
{
	unsigned int length;

	s->is_last = (int) bits_take(s, 1);
	switch (bits_take(s, 2)) {
	case 0:
		bits_use(s, s->bit_count & 7);
		s->in -= s->bit_count / 8;	/* whole bytes go back */
		s->bits = 0;
		s->bit_count = 0;
		if (s->in_end - s->in < 4) {
			s->state = INFLATE_BAD;
			return;
		}
		length = s->in[0] | (unsigned int) s->in[1] << 8;
		if ((length ^ 0xffff) != (s->in[2] | (unsigned int) s->in[3] << 8))
			s->state = INFLATE_BAD;
		s->in += 4;
		s->stored_left = length;
		if (s->state != INFLATE_BAD)
			s->state = INFLATE_STORED;
		return;
	case 1:
		tables_fixed(s);
		break;
	case 2:
		if (!tables_dynamic(s))
			s->state = INFLATE_BAD;
		break;
	default:
		s->state = INFLATE_BAD;
	}
	if (s->state != INFLATE_BAD)
		s->state = INFLATE_CODES;
}

static void block_end(struct inflate *s)
{
	s->state = s->is_last ? INFLATE_END : INFLATE_HEAD;
}

static void stored_copy(struct inflate *s)
{
	uint64_t n = s->stored_left;

	if (n > (uint64_t) (s->in_end - s->in))
		n = (uint64_t) (s->in_end - s->in);
	if (n > s->size - s->done)
		n = s->size - s->done;
	memcpy(s->out + s->done, s->in, n);
	s->in += n;
	s->done += n;
	s->stored_left -= (uint32_t) n;
	if (!s->stored_left)
		block_end(s);
	else
		s->state = INFLATE_BAD;		/* input or room ended first */
}

/* One code of a table, a subtable's too, with its extra bits: they mean *number. 0: it is none, or bits are missing. */
static int code_read(
	struct inflate *s, const uint32_t *table, unsigned int width, uint32_t *entry, unsigned int *number)
{
	uint32_t e = table[bits_low(s->bits, width)];

	if (e & ENTRY_LINK) {
		if (!bits_use(s, ENTRY_TOTAL(e)))
			return 0;
		e = table[ENTRY_VALUE(e) + bits_low(s->bits, ENTRY_CODE(e))];
	}
	*entry = e;
	*number = entry_number(e, s->bits);
	return !(e & ENTRY_INVALID) && bits_use(s, ENTRY_TOTAL(e));
}

/* Literals and matches until the block ends or `target` is reached. */
static void codes_copy(struct inflate *s, uint64_t target)
{
	while (s->done < target && s->state == INFLATE_CODES) {
		unsigned int length, distance;
		uint32_t e;

		if (s->in_end - s->in > FAST_IN && s->size - s->done > FAST_OUT) {
			inflate_fast(s, target);
			if (s->state != INFLATE_CODES || s->done >= target)
				return;
		}
		bits_fill(s);
		if (!code_read(s, s->literals, LITERAL_BITS, &e, &length))
			break;
		if (e & ENTRY_LITERAL) {
			s->out[s->done++] = (uint8_t) ENTRY_VALUE(e);
			continue;
		}
		if (e & ENTRY_STOP) {
			block_end(s);
			return;
		}
		bits_fill(s);
		if (!code_read(s, s->distances, DISTANCE_BITS, &e, &distance) || distance > s->done)
			break;
		for (; length && s->done < s->size; length--, s->done++)
			s->out[s->done] = s->out[s->done - distance];
		if (length)
			break;
	}
	if (s->done < target)
		s->state = INFLATE_BAD;
}

void inflate_begin(struct inflate *s, const uint8_t *in, uint64_t in_size, uint8_t *out, uint64_t out_size)
{
	s->in_begin = s->in = in;
	s->in_end = in + in_size;
	s->out = out;
	s->done = 0;
	s->size = out_size;
	s->pause_at = UINT64_MAX;
	s->bits = 0;
	s->bit_count = 0;
	s->state = INFLATE_HEAD;
	s->is_last = 0;
}

uint64_t inflate_position(const struct inflate *s)
{
	return (uint64_t) (s->in - s->in_begin) * 8 - s->bit_count;
}

int inflate_resume(struct inflate *s, uint64_t position, uint64_t done)
{
	if (position / 8 >= (uint64_t) (s->in_end - s->in_begin) || done > s->size)
		return 0;
	s->in = s->in_begin + position / 8;
	s->bits = 0;
	s->bit_count = 0;
	s->state = INFLATE_HEAD;
	s->is_last = 0;
	s->done = done;
	bits_fill(s);
	return bits_use(s, position % 8);
}

int inflate_block_end(struct inflate *s, uint64_t target)
{
	unsigned int number;
	uint32_t e;

	inflate_some(s, target);
	if (s->done != target || s->state == INFLATE_END)
		return 0;
	if (s->state == INFLATE_CODES) {
		bits_fill(s);
		if (!code_read(s, s->literals, LITERAL_BITS, &e, &number) || !(e & ENTRY_STOP))
			return 0;
		block_end(s);
	}
	return s->state == INFLATE_HEAD;
}

void inflate_some(struct inflate *s, uint64_t target)
{
	if (target > s->size)
		target = s->size;
	while (s->done < target) {
		switch (s->state) {
		case INFLATE_HEAD:
			if (s->done >= s->pause_at)
				return;
			block_begin(s);
			break;
		case INFLATE_STORED: stored_copy(s); break;
		case INFLATE_CODES: codes_copy(s, target); break;
		default: return;
		}
	}
}
