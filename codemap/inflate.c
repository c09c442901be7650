/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * See inflate.h. Codes are looked up in tables by their next 11 (literals and
 * lengths) or 8 (distances) bits; longer ones lead to a subtable. An entry is
 *
 *	bits 0-7	how many bits the code has (in a subtable: behind the first)
 *	bits 8-11	how many extra bits follow it; of a link: the subtable's width
 *	bits 12-15	enum entry_kind
 *	bits 16-31	the literal, the base of the length or distance, or the subtable's place
 */
#include <string.h>
#include "codemap/inflate.h"

#define LITERAL_BITS	11u
#define DISTANCE_BITS	8u
#define CODE_MAX	15u
#define MATCH_MAX	258u

enum entry_kind { ENTRY_LITERAL, ENTRY_BASE, ENTRY_STOP, ENTRY_LINK, ENTRY_INVALID };

#define ENTRY(length, extra, kind, value) \
	((uint32_t) (length) | (uint32_t) (extra) << 8 | (uint32_t) (kind) << 12 | (uint32_t) (value) << 16)
#define ENTRY_LENGTH(e)	((e) & 0xff)
#define ENTRY_EXTRA(e)	((e) >> 8 & 15)
#define ENTRY_KIND(e)	((e) >> 12 & 15)
#define ENTRY_VALUE(e)	((e) >> 16)

static const uint16_t length_base[29] = {3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67,
	83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t length_extra[29] = {
	0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
static const uint16_t distance_base[30] = {1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513,
	769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};

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

/* ---- code tables ---- */

static uint32_t literal_entry(unsigned int symbol)
{
	if (symbol < 256)
		return ENTRY(0, 0, ENTRY_LITERAL, symbol);
	if (symbol == 256)
		return ENTRY(0, 0, ENTRY_STOP, 0);
	if (symbol < 286)
		return ENTRY(0, length_extra[symbol - 257], ENTRY_BASE, length_base[symbol - 257]);
	return ENTRY(0, 0, ENTRY_INVALID, 0);
}

static uint32_t distance_entry(unsigned int symbol)
{
	if (symbol < 30)
		return ENTRY(0, symbol < 2 ? 0 : symbol / 2 - 1, ENTRY_BASE, distance_base[symbol]);
	return ENTRY(0, 0, ENTRY_INVALID, 0);
}

static uint32_t plain_entry(unsigned int symbol)
{
	return ENTRY(0, 0, ENTRY_LITERAL, symbol);
}

static unsigned int reverse(unsigned int code, unsigned int length)
{
	unsigned int out = 0;

	while (length--) {
		out = out << 1 | (code & 1);
		code >>= 1;
	}
	return out;
}

/*
 * Make the table for codes of these lengths. A set of codes must be complete, but
 * for a single code of one bit (a stream with one distance, or none). 0: it is not.
 */
static int table_make(uint32_t *table, unsigned int room, unsigned int width, const uint8_t *lengths,
	unsigned int count, uint32_t (*entry_of)(unsigned int symbol))
{
	unsigned int by_length[CODE_MAX + 1] = { 0 }, next[CODE_MAX + 2] = { 0 }, longest = 0, used = 0, i, k, free_at;
	int left = 1;

	for (i = 0; i < count; i++)
		by_length[lengths[i]]++;
	by_length[0] = 0;
	for (i = 1; i <= CODE_MAX; i++) {
		left = left * 2 - (int) by_length[i];
		if (left < 0)
			return 0;
		next[i + 1] = (next[i] + by_length[i]) << 1;
		if (by_length[i])
			longest = i;
		used += by_length[i];
	}
	if (left > 0 && !(used <= 1 && longest <= 1))
		return 0;
	for (i = 0; i < (1u << width); i++)
		table[i] = ENTRY(1, 0, ENTRY_INVALID, 0);
	free_at = 1u << width;
	for (i = 0; i < count; i++) {
		unsigned int length = lengths[i], code, low, sub = longest > width ? longest - width : 0;
		uint32_t entry = entry_of(i);

		if (!length)
			continue;
		code = reverse(next[length]++, length);
		if (length <= width) {
			for (k = code; k < (1u << width); k += 1u << length)
				table[k] = entry | length;
			continue;
		}
		low = code & ((1u << width) - 1);
		if (ENTRY_KIND(table[low]) != ENTRY_LINK) {
			if (free_at + (1u << sub) > room)
				return 0;
			table[low] = ENTRY(width, sub, ENTRY_LINK, free_at);
			for (k = 0; k < (1u << sub); k++)
				table[free_at + k] = ENTRY(1, 0, ENTRY_INVALID, 0);
			free_at += 1u << sub;
		}
		for (k = code >> width; k < (1u << sub); k += 1u << (length - width))
			table[ENTRY_VALUE(table[low]) + k] = entry | (length - width);
	}
	return 1;
}

static void tables_fixed(struct inflate *s)
{
	uint8_t lengths[288];

	memset(lengths, 8, 144);
	memset(lengths + 144, 9, 112);
	memset(lengths + 256, 7, 24);
	memset(lengths + 280, 8, 8);
	table_make(s->literals, INFLATE_LITERALS, LITERAL_BITS, lengths, 288, literal_entry);
	memset(lengths, 5, 32);
	table_make(s->distances, INFLATE_DISTANCES, DISTANCE_BITS, lengths, 32, distance_entry);
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
	if (!table_make(table, 128, 7, lengths, 19, plain_entry))
		return 0;
	memset(lengths, 0, sizeof(lengths));
	for (i = 0; i < literals + distances && s->state != INFLATE_BAD;) {
		uint8_t value = 0;
		uint32_t e;

		bits_fill(s);
		e = table[s->bits & 127];
		if (ENTRY_KIND(e) != ENTRY_LITERAL || !bits_use(s, ENTRY_LENGTH(e)))
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
	return table_make(s->literals, INFLATE_LITERALS, LITERAL_BITS, lengths, literals, literal_entry) &&
	       table_make(
		       s->distances, INFLATE_DISTANCES, DISTANCE_BITS, lengths + literals, distances, distance_entry);
}

/* ---- blocks ---- */

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

/* Copy `length` bytes from `distance` back; may write 7 bytes too many. */
static inline void match_copy(uint8_t *to, unsigned int distance, unsigned int length)
{
	const uint8_t *from = to - distance;
	uint8_t *end = to + length;

	if (distance >= 8) {
		do {
			memcpy(to, from, 8);
			to += 8;
			from += 8;
		} while (to < end);
	} else if (distance == 1) {
		memset(to, *from, length);
	} else {
		while (to < end)
			*to++ = *from++;
	}
}

/* One code of a table, a subtable's too. 0: the bits are no code, or there are too few. */
static inline int code_read(struct inflate *s, const uint32_t *table, unsigned int width, uint32_t *entry)
{
	uint32_t e = table[s->bits & ((1u << width) - 1)];

	if (ENTRY_KIND(e) == ENTRY_LINK) {
		unsigned int sub = ENTRY_EXTRA(e);

		if (!bits_use(s, ENTRY_LENGTH(e)))
			return 0;
		e = table[ENTRY_VALUE(e) + (s->bits & ((1u << sub) - 1))];
	}
	*entry = e;
	return bits_use(s, ENTRY_LENGTH(e));
}

/*
 * The same as codes_copy(), far from the ends of input and output: no bit can be
 * missing, no copy too long, and all state is in registers (the output could be
 * anything's memory, for all a compiler knows). Stops at whatever is not a literal
 * or a good match, before it was read.
 */
static void codes_copy_fast(struct inflate *s, uint64_t target)
{
	const uint32_t *literals = s->literals, *distances = s->distances;
	const uint8_t *in = s->in, *in_stop = s->in_end - 16;
	uint8_t *out = s->out + s->done, *base = s->out,
		*out_stop = s->out + (target < s->size - 300 ? target : s->size - 300);
	uint64_t bits = s->bits, saved_bits, word;
	unsigned int count = s->bit_count, saved_count;

	while (in < in_stop && out < out_stop) {
		unsigned int length, distance, width;
		uint32_t e;

		memcpy(&word, in, 8);
		bits |= word << count;
		in += (63 - count) >> 3;
		count |= 56;
		e = literals[bits & ((1u << LITERAL_BITS) - 1)];
		if (ENTRY_KIND(e) ==
			ENTRY_LITERAL) { /* up to three short ones of 11 bits each, then room for a match */
			bits >>= ENTRY_LENGTH(e);
			count -= ENTRY_LENGTH(e);
			*out++ = (uint8_t) ENTRY_VALUE(e);
			e = literals[bits & ((1u << LITERAL_BITS) - 1)];
			if (ENTRY_KIND(e) == ENTRY_LITERAL) {
				bits >>= ENTRY_LENGTH(e);
				count -= ENTRY_LENGTH(e);
				*out++ = (uint8_t) ENTRY_VALUE(e);
				e = literals[bits & ((1u << LITERAL_BITS) - 1)];
				if (ENTRY_KIND(e) == ENTRY_LITERAL) {
					bits >>= ENTRY_LENGTH(e);
					count -= ENTRY_LENGTH(e);
					*out++ = (uint8_t) ENTRY_VALUE(e);
					continue;
				}
			}
			memcpy(&word, in, 8);
			bits |= word << count;
			in += (63 - count) >> 3;
			count |= 56;
		}
		saved_bits = bits;
		saved_count = count;
		if (ENTRY_KIND(e) == ENTRY_LINK) {
			width = ENTRY_EXTRA(e);
			bits >>= ENTRY_LENGTH(e);
			count -= ENTRY_LENGTH(e);
			e = literals[ENTRY_VALUE(e) + (bits & ((1u << width) - 1))];
			if (ENTRY_KIND(e) == ENTRY_LITERAL) {
				bits >>= ENTRY_LENGTH(e);
				count -= ENTRY_LENGTH(e);
				*out++ = (uint8_t) ENTRY_VALUE(e);
				continue;
			}
		}
		if (ENTRY_KIND(e) != ENTRY_BASE)
			goto stop;
		bits >>= ENTRY_LENGTH(e);
		length = ENTRY_VALUE(e) + (unsigned int) (bits & ((1u << ENTRY_EXTRA(e)) - 1));
		bits >>= ENTRY_EXTRA(e);
		count -= ENTRY_LENGTH(e) + ENTRY_EXTRA(e);
		e = distances[bits & ((1u << DISTANCE_BITS) - 1)];
		if (ENTRY_KIND(e) == ENTRY_LINK) {
			width = ENTRY_EXTRA(e);
			bits >>= ENTRY_LENGTH(e);
			count -= ENTRY_LENGTH(e);
			e = distances[ENTRY_VALUE(e) + (bits & ((1u << width) - 1))];
		}
		bits >>= ENTRY_LENGTH(e);
		distance = ENTRY_VALUE(e) + (unsigned int) (bits & ((1u << ENTRY_EXTRA(e)) - 1));
		bits >>= ENTRY_EXTRA(e);
		count -= ENTRY_LENGTH(e) + ENTRY_EXTRA(e);
		if (ENTRY_KIND(e) != ENTRY_BASE || distance > (uint64_t) (out - base))
			goto stop;
		match_copy(out, distance, length);
		out += length;
	}
	saved_bits = bits;
	saved_count = count;
stop:
	s->in = in;
	s->bits = saved_bits;
	s->bit_count = saved_count;
	s->done = (uint64_t) (out - base);
}

/* Literals and matches until the block ends or `target` is reached. */
static void codes_copy(struct inflate *s, uint64_t target)
{
	while (s->done < target) {
		unsigned int length, distance;
		uint32_t e;

		if (s->in_end - s->in > 32 && s->size - s->done > 600 && target - s->done > 300)
			codes_copy_fast(s, target);
		bits_fill(s);
		if (!code_read(s, s->literals, LITERAL_BITS, &e))
			goto bad;
		if (ENTRY_KIND(e) == ENTRY_LITERAL) {
			s->out[s->done++] = (uint8_t) ENTRY_VALUE(e);
			/* A second one, when it is short, needs no more bits. */
			e = s->literals[s->bits & ((1u << LITERAL_BITS) - 1)];
			if (ENTRY_KIND(e) == ENTRY_LITERAL && s->done < s->size && bits_use(s, ENTRY_LENGTH(e)))
				s->out[s->done++] = (uint8_t) ENTRY_VALUE(e);
			continue;
		}
		if (ENTRY_KIND(e) == ENTRY_STOP) {
			block_end(s);
			return;
		}
		if (ENTRY_KIND(e) != ENTRY_BASE)
			goto bad;
		length = ENTRY_VALUE(e) + (unsigned int) (s->bits & ((1u << ENTRY_EXTRA(e)) - 1));
		if (!bits_use(s, ENTRY_EXTRA(e)) || !code_read(s, s->distances, DISTANCE_BITS, &e) ||
		    ENTRY_KIND(e) != ENTRY_BASE)
			goto bad;
		distance = ENTRY_VALUE(e) + (unsigned int) (s->bits & ((1u << ENTRY_EXTRA(e)) - 1));
		if (!bits_use(s, ENTRY_EXTRA(e)) || distance > s->done)
			goto bad;
		if (s->size - s->done >= MATCH_MAX + 8) {
			match_copy(s->out + s->done, distance, length);
			s->done += length;
			continue;
		}
		for (; length && s->done < s->size; length--, s->done++)
			s->out[s->done] = s->out[s->done - distance];
		if (length)
			goto bad;
	}
	return;
bad:
	s->state = INFLATE_BAD;
}

void inflate_begin(struct inflate *s, const uint8_t *in, uint64_t in_size, uint8_t *out, uint64_t out_size)
{
	s->in = in;
	s->in_end = in + in_size;
	s->out = out;
	s->done = 0;
	s->size = out_size;
	s->bits = 0;
	s->bit_count = 0;
	s->state = INFLATE_HEAD;
	s->is_last = 0;
}

void inflate_some(struct inflate *s, uint64_t target)
{
	if (target > s->size)
		target = s->size;
	while (s->done < target) {
		switch (s->state) {
		case INFLATE_HEAD: block_begin(s); break;
		case INFLATE_STORED: stored_copy(s); break;
		case INFLATE_CODES: codes_copy(s, target); break;
		default: return;
		}
	}
}
