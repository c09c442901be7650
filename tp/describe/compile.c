/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * From the code map's fields to a capture program. Runs on the agent's thread;
 * what cannot be fetched becomes a step that records zero, what does not fit or
 * is not known is left out, so a program always exists.
 */
#include "liblttng-spi/arch/arch.h"
#include "tp/describe/describe.h"

#define STRING_LEAST	TP_STRING_LEAST	/* strings are not cut below this to make room */

uint32_t tp_string_max = TP_STRING_DEFAULT;

static void step_from_gpr(struct tp_step *step, const struct spi_map_field *f, int32_t byte, int many)
{
	uint8_t at = spi_frame_register(f->reg);

	if (at == SPI_FRAME_NOWHERE || byte < 0 || byte > 7)
		return;
	step->src = at + byte;
	step->source = many || step->width + (uint32_t) byte > 8 ? TP_FROM_REGISTERS : TP_FROM_FRAME8;
}

static void step_from_stack(struct tp_step *step, int32_t byte, int many)
{
	if (byte < 0 || byte > (1 << 20))
		return;
	step->src = (int32_t) offsetof(struct spi_frame, stack) + byte;
	/* an aligned word of the argument area can be read whole, whatever the field's size */
	step->source = !many && step->width <= 8 && byte % 8 == 0 ? TP_FROM_FRAME8 : TP_FROM_FRAME;
}

static void step_place(struct tp_step *step, const struct spi_map_field *f, int32_t byte, int at_exit, int many)
{
	uint8_t at;

	step->source = TP_FROM_NOWHERE;
	switch (f->place) {
	case SPI_PLACE_GPR:
		step_from_gpr(step, f, byte, many);
		break;
	case SPI_PLACE_XMM:
		if (f->reg < 16 && byte >= 0 && byte + step->width <= 64) {
			step->source = byte + step->width <= 16 ? TP_FROM_VECTOR : TP_FROM_WIDE_VECTOR;
			step->reg = f->reg;
			step->src = byte;
			if (!many && step->width < 8 && byte <= 8)
				step->width = 8;
		}
		break;
	case SPI_PLACE_STACK:
		if (!at_exit)
			step_from_stack(step, byte, many);
		break;
	case SPI_PLACE_MEMORY:
		at = spi_frame_register(f->reg);
		if (at != SPI_FRAME_NOWHERE) {
			step->source = TP_FROM_MEMORY;
			step->base = at;
			step->src = byte;
		}
		break;
	case SPI_PLACE_STACK_MEMORY:
		if (!at_exit) {
			step->source = TP_FROM_MEMORY;
			step->base = (uint16_t) (offsetof(struct spi_frame, stack) + 8u * f->reg);
			step->src = byte;
		}
		break;
	case SPI_PLACE_CONSTANT:
		step->source = TP_FROM_PROGRAM;
		step->src = byte - f->offset;
		break;
	case SPI_PLACE_X87:
		if (at_exit && f->kind == SPI_KIND_LONG_DOUBLE) {
			step->source = TP_FROM_X87;
			step->width = 10;
		}
		break;
	}
}

static unsigned int integer_size(unsigned int size)
{
	return size == 1 || size == 2 || size == 4 ? size : 8;
}

static void step_bits(struct tp_step *step, const struct spi_map_field *f, int at_exit)
{
	unsigned int first = f->bit_offset % 8u;

	step->shape = TP_AS_BITS;
	step->bit_offset = (uint8_t) first;
	step->bit_size = f->bit_size > 64 ? 64 : f->bit_size;
	step->is_signed = f->is_signed;
	step->width = (uint16_t) ((first + step->bit_size + 7) / 8);
	/* several bytes of a register or of memory: exactly those, into a cleared buffer */
	step_place(step, f, f->offset + f->bit_offset / 8, at_exit, 1);
}

/* Fills *step; returns the bytes it records at most, strings counted as `string_max`. */
static unsigned int step_make(struct tp_step *step, const struct spi_map_field *f, unsigned int string_max, int at_exit)
{
	unsigned int bytes;

	memset(step, 0, sizeof(*step));
	step->size = 8;
	step->width = 8;
	switch (f->kind) {
	case SPI_KIND_DIFFERENCE:
		step->shape = TP_AS_DIFFERENCE;
		step->bit_offset = f->bit_offset;
		step_place(step, f, f->offset, at_exit, 0);
		return 8;
	case SPI_KIND_STRING:
	case SPI_KIND_COUNTED:
		step->shape = f->kind == SPI_KIND_STRING ? TP_AS_STRING : TP_AS_COUNTED;
		step->max = (uint16_t) string_max;
		step_place(step, f, f->offset, at_exit, 0);
		return string_max;
	case SPI_KIND_TEXT:
		bytes = f->length < string_max - 1 ? f->length : string_max - 1;
		step->shape = TP_AS_TEXT;
		step->width = (uint16_t) (f->length < string_max ? f->length : string_max);	/* one more shows whether it goes on */
		step->max = (uint16_t) (bytes + 1 < STRING_LEAST ? STRING_LEAST : bytes + 1);
		step_place(step, f, f->offset, at_exit, 1);
		return step->max;
	case SPI_KIND_INT_ARRAY:
		bytes = f->length <= TP_RECORD_MAX ? f->length * integer_size(f->size) : TP_RECORD_MAX + 1;
		step->shape = TP_AS_BYTES;
		step->width = (uint16_t) (bytes <= TP_RECORD_MAX ? bytes : 0);
		step_place(step, f, f->offset, at_exit, 1);
		return bytes;
	case SPI_KIND_LONG_DOUBLE:
		step->shape = TP_AS_LONG_DOUBLE;
		step->width = 10;
		step_place(step, f, f->offset, at_exit, 1);
		return 8;
	case SPI_KIND_BOOL:
	case SPI_KIND_CHAR:
		step->size = 1;
		break;
	case SPI_KIND_FLOAT:
		step->size = f->size == 4 ? 4 : 8;
		break;
	case SPI_KIND_POINTER:
		break;
	default:
		step->size = (uint8_t) integer_size(f->size);
		break;
	}
	if (f->bit_size) {
		step_bits(step, f, at_exit);
	} else {
		step->width = step->size;
		step_place(step, f, f->offset, at_exit, 0);
	}
	return step->size;
}

/* Has the field a second value, which the step before its own fetches? */
static int kind_has_operand(unsigned int kind)
{
	return kind == SPI_KIND_COUNTED || kind == SPI_KIND_DIFFERENCE;
}

static void operand_make(struct tp_step *step, const struct spi_map_field *f, int at_exit)
{
	const struct spi_map_field other = {
		.kind = SPI_KIND_INT, .place = f->other.place, .reg = f->other.reg, .size = 8, .offset = f->other.offset,
	};

	memset(step, 0, sizeof(*step));
	step->shape = TP_AS_OPERAND;
	step->width = 8;
	step_place(step, &other, other.offset, at_exit, 0);
	if (step->source == TP_FROM_NOWHERE && other.place == SPI_PLACE_NONE)
		step->src = other.offset;
}

int tp_is_string(const struct spi_map_field *field)
{
	return field->kind == SPI_KIND_STRING || field->kind == SPI_KIND_TEXT || field->kind == SPI_KIND_COUNTED;
}

/* How long strings may be so that all of them fit beside the rest. */
static unsigned int string_share(const struct spi_map_field *fields, unsigned int n, unsigned int budget, int at_exit)
{
	unsigned int fixed = 0, strings = 0, share;
	struct tp_step step;

	for (unsigned int i = 0; i < n && i < TP_FIELDS_MAX; i++) {
		if (!spi_place_is_known(fields[i].place))
			continue;
		if (tp_is_string(&fields[i]))
			strings++;
		else
			fixed += step_make(&step, &fields[i], STRING_LEAST, at_exit);
	}
	if (!strings)
		return tp_string_max;
	share = fixed < budget ? (budget - fixed) / strings : 0;
	if (share < STRING_LEAST)
		share = STRING_LEAST;
	return share < tp_string_max ? share : tp_string_max;
}

/* `size` bytes that every record has: to the program's end, where the step finds them. */
static void constant_add(struct tp_step *step, uint8_t **end, const void *bytes, unsigned int size)
{
	memcpy(*end, bytes, size);
	step->src += (int32_t) (*end - (const uint8_t *) step);
	*end += size;
}

static unsigned int text_size(const char *text)
{
	return text ? (unsigned int) strlen(text) + 1 : 0;
}

static unsigned int program_form(const struct tp_program *program)
{
	const struct tp_step *step = program->steps;
	unsigned int fours = 0;

	if (program->step_count == 1 && step->shape == TP_AS_STRING && step->source == TP_FROM_FRAME8)
		return TP_FORM_STRING;
	for (; step < program->steps + program->step_count; step++) {
		if (step->source != TP_FROM_FRAME8 || step->shape != TP_AS_INTEGER)
			return TP_FORM_ANY;
		fours += step->size == 4;
	}
	return fours && fours == program->step_count ? TP_FORM_PLAIN4 : TP_FORM_PLAIN;
}

struct tp_program *tp_compile(const struct spi_map_field *fields, unsigned int n, unsigned int budget, int at_exit,
	uint8_t *keep, const char *not_known)
{
	unsigned int total = 0, kept = 0, text = text_size(not_known), room = budget - text;
	unsigned int steps = n < TP_FIELDS_MAX ? n : TP_FIELDS_MAX;
	unsigned int string_max = string_share(fields, n, room, at_exit);
	/* Two steps a field, one more for the text, and one that tp_serialise_plain4() may look at. */
	size_t size = sizeof(struct tp_program) + (2 * steps + 2) * sizeof(struct tp_step);
	struct tp_program *program = tp_alloc(size + steps * sizeof(uint64_t) + text);
	uint8_t *end = (uint8_t *) program + size;
	struct tp_step *step;

	if (!program)
		return NULL;
	for (unsigned int i = 0; i < n; i++) {
		uint64_t value = (uint32_t) fields[i].offset | (uint64_t) fields[i].length << 32;
		unsigned int bytes, operands = kind_has_operand(fields[i].kind);

		step = &program->steps[program->step_count];
		keep[i] = 0;
		if (!spi_place_is_known(fields[i].place) || kept + (text ? 1u : 0u) >= TP_FIELDS_MAX)
			continue;
		if (operands)
			operand_make(step++, &fields[i], at_exit);
		bytes = step_make(step, &fields[i], string_max, at_exit);
		keep[i] = total + bytes <= room;
		if (!keep[i])
			continue;
		if (step->source == TP_FROM_PROGRAM)
			constant_add(step, &end, &value, sizeof(value));
		step->dst = (uint16_t) total;
		program->step_count += (uint16_t) (operands + 1);
		kept++;
		total += bytes;
	}
	step = &program->steps[program->step_count];
	memset(step, 0, sizeof(*step));
	if (text) {
		*step = (struct tp_step) { .source = TP_FROM_PROGRAM, .shape = TP_AS_BYTES, .dst = (uint16_t) total,
			.width = (uint16_t) text };
		constant_add(step, &end, not_known, text);
		program->step_count++;
	}
	program->length = total + text;
	program->form = (uint16_t) program_form(program);
	return program;
}
