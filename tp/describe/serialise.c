/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Capture programs: running them, in any state of the program (describe.h).
 * No floating point instruction is used here: the thunks keep only some vector
 * registers, and a conversion must not raise an exception flag of the program's.
 *
 * Values that stand for something else, since a record cannot say "no value":
 *	"(null)"	a NULL string pointer
 *	"(unreadable)"	a string pointer that points to no readable memory
 *	...		at the end of a string: it went on
 *	0		any other value in memory that is unreadable
 *
 * A parameter of which debug info does not say where it is has no field of its own (describe/compile.c).
 */
#include "liblttng-spi/base/base.h"
#include "tp/describe/describe.h"

/* 80-bit extended to double, to nearest even; by integer arithmetic. What a double has fewer bits for is zero. */
static uint64_t double_from_x87(uint64_t mantissa, uint16_t head)
{
	uint64_t sign = (uint64_t) (head >> 15) << 63, rest = mantissa & 0x7ff, kept = mantissa >> 11;
	int32_t exponent = (head & 0x7fff) - 16383;

	if ((head & 0x7fff) == 0x7fff && mantissa << 1)		/* not a number: keep it one, and quiet */
		return sign | UINT64_C(0x7ff8000000000000) | (mantissa << 1 >> 12);
	if (exponent > 1023)
		return sign | UINT64_C(0x7ff0000000000000);
	if (!mantissa || exponent < -1022)
		return sign;
	kept += rest > 0x400 || (rest == 0x400 && (kept & 1));
	return sign | ((((uint64_t) (exponent + 1023) << 52) + kept) - (UINT64_C(1) << 52));
}

/* Struct bytes in registers: eightbyte after eightbyte in the order in which parameters, or results, take registers. */
static void fetch_registers(const struct spi_frame *frame, int32_t src, uint8_t *to, unsigned int width)
{
	const uint8_t *base = (const uint8_t *) frame;
	unsigned int word = (unsigned int) src & ~7u, at = (unsigned int) src & 7u;

	for (unsigned int i = 0; i < width; i++) {
		to[i] = base[word + at];
		if (++at < 8)
			continue;
		at = 0;
		word = spi_frame_next(word);
	}
}

/* Bytes of a register of which the thunk has saved `saved`: the others are zero, or it would have saved them. */
static void fetch_wide(const uint8_t *reg, uint64_t saved, uint32_t src, uint8_t *to, unsigned int width)
{
	for (unsigned int i = 0; i < width; i++)
		to[i] = src + i < saved ? reg[src + i] : 0;
}

/* Bytes of a value, at most 4000, to `to`; zeroes where there are none. 0, or -1: could not be read. */
static int step_fetch(
	const struct tp_step *step, const struct spi_frame *frame, const uint8_t *vec, uint64_t stride, uint8_t *to)
{
	uint64_t base;

	switch (step->source) {
	case TP_FROM_FRAME8:
		memcpy(to, (const uint8_t *) frame + step->src, 8);
		return 0;
	case TP_FROM_FRAME:
		memcpy(to, (const uint8_t *) frame + step->src, step->width);
		return 0;
	case TP_FROM_REGISTERS:
		fetch_registers(frame, step->src, to, step->width);
		return 0;
	case TP_FROM_VECTOR:
		if (!vec)
			break;
		memcpy(to, vec + step->reg * stride + step->src, step->width);
		return 0;
	case TP_FROM_WIDE_VECTOR:
		if (!vec)
			break;
		fetch_wide(vec + step->reg * stride, stride, (uint32_t) step->src, to, step->width);
		return 0;
	case TP_FROM_MEMORY:
		memcpy(&base, (const uint8_t *) frame + step->base, 8);
		if (tp_core->memory_copy(to, base + (uint64_t) (int64_t) step->src, step->width) < 0)
			break;
		return 0;
	case TP_FROM_X87:
		spi_long_double_result(to);
		return 0;
	case TP_FROM_PROGRAM:
		memcpy(to, (const uint8_t *) step + step->src, step->width);
		return 0;
	default:
		break;
	}
	memset(to, 0, step->width);
	return -1;
}

/* No string is cut below TP_STRING_LEAST, which is longer than the markers. */
static uint32_t put_marker(uint8_t *to, const char *marker)
{
	size_t size = strlen(marker) + 1;

	memcpy(to, marker, size);
	return (uint32_t) size;
}

static void put_dots(uint8_t *to, uint32_t length)
{
	for (uint32_t i = length < 3 ? 0 : length - 3; i < length; i++)
		to[i] = '.';
}

static uint32_t put_unreadable(uint8_t *to)
{
	tp_count(&spi_thread)->strings_unreadable++;
	return put_marker(to, "(unreadable)");
}

/* Returns bytes written, NUL included. */
static uint32_t put_string(const struct tp_step *step, uint64_t pointer, uint8_t *to)
{
	int truncated = 0;
	long n;

	if (!pointer)
		return put_marker(to, "(null)");
	n = tp_core->string_copy((char *) to, pointer, step->max, &truncated);
	if (spi_unlikely(n < 0))
		return put_unreadable(to);
	if (spi_unlikely(truncated))
		put_dots(to, (uint32_t) n);
	return (uint32_t) n + 1;
}

/* Text of n bytes at most is there, and ends before them, or goes on behind. */
static uint32_t text_end(uint8_t *to, unsigned int n, int goes_on)
{
	unsigned int end = 0;

	while (end < n && to[end])
		end++;
	if (spi_unlikely(end == n && goes_on))
		put_dots(to, n);
	to[end] = '\0';
	return end + 1;
}

/* Text that no NUL ends. */
static uint32_t put_counted(const struct tp_step *step, uint64_t pointer, uint64_t count, uint8_t *to)
{
	unsigned int n = count < step->max ? (unsigned int) count : step->max - 1u;

	if (!pointer)
		return put_marker(to, "(null)");
	return spi_unlikely(tp_core->memory_copy(to, pointer, n) < 0) ? put_unreadable(to) : text_end(to, n, n < count);
}

static uint32_t put_text(
	const struct tp_step *step, const struct spi_frame *frame, const uint8_t *vec, uint64_t stride, uint8_t *to)
{
	unsigned int n = step->width < step->max ? step->width : step->max - 1u;

	if (step_fetch(step, frame, vec, stride, to) < 0)
		return put_unreadable(to);
	return text_end(to, n, n < step->width && to[n]);
}

static uint64_t bits_of(const struct tp_step *step, const uint64_t raw[2])
{
	uint64_t value = raw[0] >> step->bit_offset;

	if (step->bit_offset)
		value |= raw[1] << (64 - step->bit_offset);
	if (step->bit_size < 64) {
		value <<= 64 - step->bit_size;
		value = step->is_signed ? (uint64_t) ((int64_t) value >> (64 - step->bit_size))
					: value >> (64 - step->bit_size);
	}
	return value;
}

uint32_t tp_serialise_slow(const struct tp_program *program, const struct spi_frame *frame, const uint8_t *vec,
	uint64_t stride, uint8_t *to)
{
	const struct tp_step *step = program->steps, *end = step + program->step_count;
	uint8_t *start = to;
	uint64_t raw[2], operand = 0;

	for (; step != end; step++) {
		if (spi_likely(step->shape == TP_AS_INTEGER)) {
			if (spi_likely(step->source == TP_FROM_FRAME8))
				memcpy(raw, (const uint8_t *) frame + step->src, 8);
			else if (step->source == TP_FROM_VECTOR && vec)
				memcpy(raw, vec + step->reg * stride + step->src, 8);
			else
				step_fetch(step, frame, vec, stride, (uint8_t *) raw);
			memcpy(to, raw, 8);
			to += step->size;
			continue;
		}
		switch (step->shape) {
		case TP_AS_OPERAND:
			operand = (uint64_t) (int64_t) step->src;
			if (step->source != TP_FROM_NOWHERE)
				step_fetch(step, frame, vec, stride, (uint8_t *) &operand);
			break;
		case TP_AS_DIFFERENCE:
			raw[0] = 0;
			if (step_fetch(step, frame, vec, stride, (uint8_t *) raw) == 0)
				raw[0] += (uint64_t) (int64_t) (int8_t) step->bit_offset - operand;
			memcpy(to, raw, 8);
			to += 8;
			break;
		case TP_AS_STRING:
		case TP_AS_COUNTED:
			if (step->source == TP_FROM_FRAME8)
				memcpy(raw, (const uint8_t *) frame + step->src, 8);
			else if (step_fetch(step, frame, vec, stride, (uint8_t *) raw) < 0) {
				to += put_marker(to, "(unreadable)");
				break;
			}
			to += step->shape == TP_AS_STRING ? put_string(step, raw[0], to) :
							    put_counted(step, raw[0], operand, to);
			break;
		case TP_AS_TEXT:
			to += put_text(step, frame, vec, stride, to);
			break;
		case TP_AS_BYTES:
			step_fetch(step, frame, vec, stride, to);
			to += step->width;
			break;
		case TP_AS_BITS:
			raw[0] = raw[1] = 0;
			step_fetch(step, frame, vec, stride, (uint8_t *) raw);
			raw[0] = bits_of(step, raw);
			memcpy(to, raw, 8);
			to += step->size;
			break;
		case TP_AS_LONG_DOUBLE:
			raw[0] = raw[1] = 0;
			step_fetch(step, frame, vec, stride, (uint8_t *) raw);
			raw[0] = double_from_x87(raw[0], (uint16_t) raw[1]);
			memcpy(to, raw, 8);
			to += 8;
			break;
		}
	}
	return (uint32_t) (to - start);
}

uint32_t tp_serialise_zero(const struct tp_program *program, uint8_t *to)
{
	const struct tp_step *step = program->steps, *end = step + program->step_count;
	uint8_t *start = to;

	for (; step != end; step++) {
		unsigned int n = step->size;

		if (step->shape == TP_AS_STRING || step->shape == TP_AS_TEXT || step->shape == TP_AS_COUNTED)
			n = 1;
		else if (step->shape == TP_AS_OPERAND)
			n = 0;
		else if (step->shape == TP_AS_BYTES)
			n = step->width;
		else if (step->shape == TP_AS_LONG_DOUBLE)
			n = 8;
		memset(to, 0, n);
		if (step->source == TP_FROM_PROGRAM && step->shape == TP_AS_BYTES)
			step_fetch(step, NULL, NULL, 0, to);	/* a text */
		to += n;
	}
	return (uint32_t) (to - start);
}
