/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * From the code map's fields to a capture program. Runs on the agent's thread;
 * what cannot be fetched becomes a step that records zero, what does not fit is
 * left out, so a program always exists.
 */
#include "tp/serialise.h"

#define STRING_LEAST	TP_STRING_LEAST	/* strings are not cut below this to make room */
#define NOT_SAVED	255u

/* DWARF register number to place in the frame; the frame holds what a call may clobber. */
static uint8_t frame_offset(unsigned int reg)
{
	static const uint8_t offsets[16] = {
		offsetof(struct spi_frame, rax),
		offsetof(struct spi_frame, rdx),
		offsetof(struct spi_frame, rcx),
		NOT_SAVED,
		offsetof(struct spi_frame, rsi),
		offsetof(struct spi_frame, rdi),
		offsetof(struct spi_frame, rbp),
		NOT_SAVED,
		offsetof(struct spi_frame, r8),
		offsetof(struct spi_frame, r9),
		offsetof(struct spi_frame, r10),
		offsetof(struct spi_frame, r11),
		NOT_SAVED,
		NOT_SAVED,
		NOT_SAVED,
		NOT_SAVED,
	};

	return reg < 16 ? offsets[reg] : NOT_SAVED;
}

static void step_from_gpr(struct tp_step *step, const struct spi_map_field *f, int32_t byte, int many)
{
	uint8_t at = frame_offset(f->reg);

	if (at == NOT_SAVED || byte < 0 || byte > 7)
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
		if (f->reg < (at_exit ? 2 : 8) && byte >= 0 && byte + step->width <= 16) {
			step->source = TP_FROM_VECTOR;
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
		at = frame_offset(f->reg);
		if (at != NOT_SAVED) {
			step->source = TP_FROM_MEMORY;
			step->reg = at;
			step->src = byte;
		}
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
	case SPI_KIND_STRING:
		step->shape = TP_AS_STRING;
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

/* How long strings may be so that all of them fit beside the rest. */
static unsigned int string_share(const struct spi_map_field *fields, unsigned int n, unsigned int budget, int at_exit)
{
	unsigned int fixed = 0, strings = 0, share;
	struct tp_step step;

	for (unsigned int i = 0; i < n && i < TP_FIELDS_MAX; i++) {
		if (fields[i].kind == SPI_KIND_STRING || fields[i].kind == SPI_KIND_TEXT)
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

struct tp_program *tp_compile(
	const struct spi_map_field *fields, unsigned int n, unsigned int budget, int at_exit, uint8_t *keep)
{
	unsigned int string_max = string_share(fields, n, budget, at_exit), total = 0, fours = 0;
	struct tp_program *program =
		tp_alloc(sizeof(*program) + ((n < TP_FIELDS_MAX ? n : TP_FIELDS_MAX) + 1) * sizeof(struct tp_step));

	if (!program)
		return NULL;
	program->form = TP_FORM_PLAIN;
	for (unsigned int i = 0; i < n; i++) {
		struct tp_step step;
		unsigned int bytes = step_make(&step, &fields[i], string_max, at_exit);

		keep[i] = program->step_count < TP_FIELDS_MAX && total + bytes <= budget;
		if (!keep[i])
			continue;
		step.dst = (uint16_t) total;
		if (step.source != TP_FROM_FRAME8 || step.shape != TP_AS_INTEGER)
			program->form = TP_FORM_ANY;
		program->steps[program->step_count++] = step;
		total += bytes;
	}
	program->length = total;
	if (program->step_count == 1 && program->steps[0].shape == TP_AS_STRING &&
		program->steps[0].source == TP_FROM_FRAME8)
		program->form = TP_FORM_STRING;
	for (unsigned int i = 0; i < program->step_count; i++)
		fours += program->steps[i].size == 4;
	if (program->form == TP_FORM_PLAIN && fours && fours == program->step_count)
		program->form = TP_FORM_PLAIN4;
	return program;
}
