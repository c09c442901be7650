/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The inner loop of inflating. Listing a large program spends most of its time here.
 *
 * The loop works far from the ends of input and output, so no bit can be missing and no copy can
 * be too long. State is in registers: for all a compiler knows, the output could overlap any other
 * memory. The next table entry is looked up before the current one's bytes are copied, and copies
 * are made in whole words, which may run over their end. On a CPU with BMI2, shifts and masks by a
 * variable are one instruction: the same loop is compiled a second time for those CPUs.
 */
#include <string.h>
#include "codemap/inflate/table.h"

#define DISTANCE_MAX	28u	/* bits of a distance: the code and what follows it */

/* Have at least 56 bits. What lies above `count` in `bits` is right already, and is written again. */
#define FILL() do { \
	memcpy(&word, in, 8); \
	bits |= word << (count & 63); \
	in += 7 - (count >> 3 & 7); \
	count |= 56; \
} while (0)

/* Of `count`, only the low byte means something: so it takes a whole entry. */
#define USE(e) do { \
	bits >>= (e) & 63; \
	count -= (e); \
} while (0)

/* Copy `length` bytes from `distance` back; may write 31 bytes too many. */
static inline __attribute__((always_inline)) void match_copy(uint8_t *to, unsigned int distance, unsigned int length)
{
	const uint8_t *from = to - distance;
	uint8_t *end = to + length;
	uint64_t word;

	if (distance >= 16) {
		memcpy(to, from, 16);
		if (__builtin_expect(length <= 16, 1))
			return;
		while (to + 16 < end) {
			to += 16;
			from += 16;
			memcpy(to, from, 16);
		}
		return;
	}
	if (distance == 1) {
		word = *from * UINT64_C(0x0101010101010101);
		do {
			memcpy(to, &word, 8);
			to += 8;
		} while (to < end);
		return;
	}
	if (distance > 8)
		distance = 8;
	do {		/* eight bytes each time, of which the first `distance` are right */
		memcpy(&word, from, 8);
		memcpy(to, &word, 8);
		to += distance;
		from += distance;
	} while (to < end);
}

static inline __attribute__((always_inline)) void codes_copy(struct inflate *s, uint64_t target)
{
	const uint32_t *literals = s->literals, *distances = s->distances;
	const uint8_t *in = s->in, *in_stop = s->in_end - FAST_IN;
	uint8_t *out = s->out + s->done;
	const uint8_t *base = s->out, *out_stop = base + (target < s->size - FAST_OUT ? target : s->size - FAST_OUT);
	uint64_t bits = s->bits, word, saved;
	unsigned int count = s->bit_count, length, distance;
	uint32_t e;

	FILL();
	e = literals[bits_low(bits, LITERAL_BITS)];
	do {
		/* Up to three literals, then a length: at most 3 * 11 bits of 56 and 20. */
		if (e & ENTRY_LITERAL) {
			USE(e);
			*out++ = (uint8_t) ENTRY_VALUE(e);
			e = literals[bits_low(bits, LITERAL_BITS)];
			if (e & ENTRY_LITERAL) {
				USE(e);
				*out++ = (uint8_t) ENTRY_VALUE(e);
				e = literals[bits_low(bits, LITERAL_BITS)];
				if (e & ENTRY_LITERAL) {
					USE(e);
					*out++ = (uint8_t) ENTRY_VALUE(e);
					FILL();
					e = literals[bits_low(bits, LITERAL_BITS)];
					continue;
				}
			}
		}
		if (e & ENTRY_ODD) {
			if (e & ENTRY_LINK) {
				USE(e & 0xff);
				e = literals[ENTRY_VALUE(e) + bits_low(bits, ENTRY_CODE(e))];
			}
			if (e & ENTRY_LITERAL) {
				USE(e);
				*out++ = (uint8_t) ENTRY_VALUE(e);
				FILL();
				e = literals[bits_low(bits, LITERAL_BITS)];
				continue;
			}
			if (e & ENTRY_ODD) {
				USE(e);
				s->state = e & ENTRY_STOP ? s->is_last ? INFLATE_END : INFLATE_HEAD : INFLATE_BAD;
				break;
			}
		}
		saved = bits;
		USE(e);
		length = entry_number(e, saved);
		if ((count & 0xff) < DISTANCE_MAX)
			FILL();
		e = distances[bits_low(bits, DISTANCE_BITS)];
		if (e & ENTRY_ODD) {
			if (e & ENTRY_LINK) {
				USE(e & 0xff);
				e = distances[ENTRY_VALUE(e) + bits_low(bits, ENTRY_CODE(e))];
			}
			if (e & ENTRY_ODD) {
				s->state = INFLATE_BAD;
				break;
			}
		}
		saved = bits;
		USE(e);
		distance = entry_number(e, saved);
		if (distance > (uint64_t) (out - base)) {
			s->state = INFLATE_BAD;
			break;
		}
		FILL();
		e = literals[bits_low(bits, LITERAL_BITS)];
		match_copy(out, distance, length);
		out += length;
	} while (in < in_stop && out < out_stop);
	s->in = in;
	count &= 0xff;
	s->bits = bits_low(bits, count);
	s->bit_count = count;
	s->done = (uint64_t) (out - base);
}

__attribute__((target("bmi2"))) static void codes_copy_bmi2(struct inflate *s, uint64_t target)
{
	codes_copy(s, target);
}

static void codes_copy_plain(struct inflate *s, uint64_t target)
{
	codes_copy(s, target);
}

void inflate_fast(struct inflate *s, uint64_t target)
{
	if (__builtin_cpu_supports("bmi2"))
		codes_copy_bmi2(s, target);
	else
		codes_copy_plain(s, target);
}
