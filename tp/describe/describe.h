/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Descriptors: from functions of a code map to LTTng-UST events, and to the programs that make their records; the
 * names of functions (function.c), and the contexts by which rules are told apart (context.c).
 *
 * Descriptors are made by the agent's thread alone. Programs never change once they are made: any thread may run them,
 * in any state.
 */
#ifndef SPI_TP_DESCRIBE_H
#define SPI_TP_DESCRIBE_H

#include <string.h>
#include "liblttng-spi/base/base.h"
#include "tp/ust/ust.h"

/* ---- types.c ---- */

/*
 * The type of a field, and how filters see it. Shared where types are equal.
 * text_max is what the capture program keeps of the field when it is text.
 * NULL: no memory.
 */
SPI_HIDDEN const struct lttng_ust_type_common *tp_type_make(
	const struct spi_map *map, const struct spi_map_field *field, struct tp_column *column);

/* `s` as a field name: what is not allowed in one becomes '_'. n characters at most, `to` has room for n + 1. */
SPI_HIDDEN void tp_name_identifier(char *to, const char *s, size_t n);
/* `s` as an event name or label: printable ASCII without " and \. */
SPI_HIDDEN void tp_name_printable(char *to, const char *s, size_t n);

/* ---- not-known.c ---- */

/* "never = <optimised out>; s = <unknown>": stands for fields that are not recorded. */
struct tp_not_known {
	char text[400];
	size_t length;
};

/* Add those of n fields whose value is not known. */
SPI_HIDDEN void tp_not_known_add(
	struct tp_not_known *to, const struct spi_map *map, const struct spi_map_field *fields, unsigned int n);

/* The text, NULL when all values are known. */
SPI_INLINE const char *tp_not_known_text(const struct tp_not_known *from)
{
	return from->length ? from->text : NULL;
}

/* ---- compile.c, serialise.c: capture programs ---- */

/*
 * From registers to the record.
 *
 * The ring is packed on x86, so an event's payload is one run of bytes that one
 * event_write() takes. A capture program is the list of steps that makes it,
 * compiled once from the code map's fields. Most functions need only one kind of
 * step: take 8 bytes from the frame, store 8, advance by the field's size; what
 * was stored too much the next field over-writes. A program of only such steps
 * is "plain": its length and every destination are known beforehand.
 */
enum tp_source {
	TP_FROM_FRAME8 = 0,	/* 8 readable bytes at frame + src */
	TP_FROM_FRAME,		/* exactly `width` bytes at frame + src */
	TP_FROM_REGISTERS,	/* bytes of a struct in general registers, on in psABI order behind frame + src */
	TP_FROM_VECTOR,		/* vector register reg, byte src, of its low 16 */
	TP_FROM_WIDE_VECTOR,	/* the same, of all 64 */
	TP_FROM_MEMORY,		/* program memory at (8 bytes at frame + base) + src; may be wild */
	TP_FROM_X87,		/* st(0) */
	TP_FROM_PROGRAM,	/* bytes of the program itself, at this step + src: the same for every call */
	TP_FROM_NOWHERE,	/* cannot be fetched: zero; an operand: src itself */
};

enum tp_shape {
	TP_AS_INTEGER = 0,	/* low `size` bytes */
	TP_AS_BITS,		/* bit field */
	TP_AS_LONG_DOUBLE,	/* 80 bits to a double */
	TP_AS_STRING,		/* the value is a pointer to text */
	TP_AS_TEXT,		/* the value is text of at most `width` bytes */
	TP_AS_BYTES,		/* `width` bytes as they are */
	TP_AS_OPERAND,		/* 8 bytes that the next step needs; nothing is recorded */
	TP_AS_COUNTED,		/* the value is a pointer to text of as many bytes as the operand says */
	TP_AS_DIFFERENCE,	/* the value, less the operand, plus bit_offset (signed) */
};

struct tp_step {
	uint8_t source;		/* enum tp_source */
	uint8_t shape;		/* enum tp_shape */
	uint8_t size;		/* bytes recorded, when that is fixed and up to 8 */
	uint8_t reg;		/* VECTOR: number */
	int32_t src;
	uint16_t dst;		/* plain programs: place in the record */
	uint16_t width;		/* bytes to fetch */
	uint16_t max;		/* STRING, TEXT, COUNTED: bytes recorded at most, NUL included */
	uint8_t bit_offset, bit_size, is_signed;
	uint8_t reserved;
	uint16_t base;		/* MEMORY: frame offset of the pointer */
};

enum tp_program_form {
	TP_FORM_ANY = 0,
	TP_FORM_PLAIN,		/* only FRAME8 integers: `length` is exact */
	TP_FORM_PLAIN4,		/* the same, at least one and all of 4 bytes, as most functions' are */
	TP_FORM_STRING,		/* one string, its pointer by FRAME8 */
	TP_FORM_ADDRESS,	/* no program: the function's address and the call site */
	TP_FORM_TREE,		/* the same, of a call in a tree */
};
struct tp_program {
	uint16_t step_count;
	uint16_t form;		/* enum tp_program_form */
	uint32_t length;	/* bytes of the record, at most */
	struct tp_step steps[];
};

/*
 * tp_compile() - make the program for n fields, as many as fit into `budget`
 * bytes with strings cut as short as need be. fields[] may name only what the
 * code map allows; at_exit tells which registers a frame holds. keep[i] says
 * whether field i is recorded; dropped ones are a matter for the caller to tell.
 * A field whose value is not known is never recorded. Behind the last field the
 * record has the text not_known, unless that is NULL. NULL: no memory.
 */
SPI_HIDDEN struct tp_program *tp_compile(const struct spi_map_field *fields, unsigned int n, unsigned int budget,
	int at_exit, uint8_t *keep, const char *not_known);

/* Is it as long in each record as it is, up to the length that is asked for? */
SPI_HIDDEN int tp_is_string(const struct spi_map_field *field);

/*
 * Run a program: bytes written to `to`, which has room for program->length +
 * TP_SLOP. Never faults on what the program's pointers point to.
 */
SPI_HIDDEN uint32_t tp_serialise_slow(const struct tp_program *program, const struct spi_frame *frame,
	const uint8_t *vec, uint64_t stride, uint8_t *to);
/* The record of a call that has no values: zeroes, and empty strings. */
SPI_HIDDEN uint32_t tp_serialise_zero(const struct tp_program *program, uint8_t *to);

/*
 * Whole words are put together in a register: the ring's copy loads 8 bytes at
 * once, which waits for the cache when several stores made them.
 */
SPI_INLINE void tp_serialise_plain(const struct tp_program *program, const struct spi_frame *frame, uint8_t *to)
{
	const struct tp_step *step = program->steps, *end = step + program->step_count;
	uint64_t word = 0;
	unsigned int bits = 0;

	for (; step != end; step++) {
		unsigned int size = step->size * 8u;
		uint64_t value;

		__builtin_memcpy(&value, (const uint8_t *) frame + step->src, 8);
		value &= ~UINT64_C(0) >> (64 - size);
		word |= value << bits;
		bits += size;
		if (bits >= 64) {
			__builtin_memcpy(to, &word, 8);
			to += 8;
			bits -= 64;
			word = bits ? value >> (size - bits) : 0;
		}
	}
	__builtin_memcpy(to, &word, 8);
}

/* Two values a turn; of an odd number the last one has a step behind it that takes anything. */
SPI_INLINE void tp_serialise_plain4(const struct tp_program *program, const struct spi_frame *frame, uint8_t *to)
{
	const struct tp_step *step = program->steps, *end = step + program->step_count;
	const uint8_t *base = (const uint8_t *) frame;
	uint32_t first, second;
	uint64_t word;

	do {
		__builtin_memcpy(&first, base + step[0].src, 4);
		__builtin_memcpy(&second, base + step[1].src, 4);
		word = (uint64_t) second << 32 | first;
		__builtin_memcpy(to, &word, 8);
		to += 8;
		step += 2;
	} while (step < end);
}

SPI_INLINE uint32_t tp_serialise_string(const struct tp_program *program, const struct spi_frame *frame, uint8_t *to)
{
	uint64_t pointer;
	int truncated;
	long n;

	__builtin_memcpy(&pointer, (const uint8_t *) frame + program->steps[0].src, 8);
	if (spi_likely(pointer)) {
		n = tp_core->string_copy((char *) to, pointer, program->length, &truncated);
		if (spi_likely(n >= 0 && !truncated))
			return (uint32_t) n + 1;
	}
	return tp_serialise_slow(program, frame, NULL, 0, to);
}

SPI_INLINE uint32_t tp_serialise(const struct tp_program *program, const struct spi_frame *frame, const uint8_t *vec,
	uint64_t stride, uint8_t *to)
{
	if (spi_likely(program->form == TP_FORM_PLAIN4)) {
		tp_serialise_plain4(program, frame, to);
		return program->length;
	}
	if (spi_likely(program->form == TP_FORM_PLAIN)) {
		tp_serialise_plain(program, frame, to);
		return program->length;
	}
	if (program->form == TP_FORM_STRING)
		return tp_serialise_string(program, frame, to);
	return tp_serialise_slow(program, frame, vec, stride, to);
}

extern SPI_HIDDEN uint32_t tp_string_max;	/* bytes, NUL included; for programs compiled from now on */

/* ---- descriptor.c ---- */

/*
 * Make and register the events of n points: made[i], or errors[i] says why not. 0, or -errno: nothing was made.
 * A point's events and programs are not in use before the point is attached (record/).
 */
SPI_HIDDEN int tp_describe(struct spi_point **points, unsigned int n, struct tp_point **made, const char **errors);

/* ---- backtrace.c ---- */

/*
 * The same for the entry events with backtraces, of those points that are to have one and have none yet: made_for[i],
 * or NULL. 0, or -errno: nothing was made.
 */
SPI_HIDDEN int tp_describe_backtraces(struct spi_point **points, unsigned int n, struct tp_backtrace **made_for);

/* ---- place.c ---- */

/* What the metadata says of the point's event, for lttng_ust_event_desc.model_emf_uri; lives for ever. NULL: nothing. */
SPI_HIDDEN const char *const *tp_place_of(const struct spi_point *point);

/* ---- context.c: $app.spi:rules and $app.spi:run ---- */

SPI_HIDDEN void tp_context_register(void);
SPI_HIDDEN int tp_context_set(struct spi_point *point, const char *tags);	/* spi_payload_ops.set_tags */

/* Both texts, where the second one is not in the first; lives for ever. NULL: no room. Agent thread only. */
SPI_HIDDEN const char *tp_tags_join(const char *all, const char *tags);

/* ---- left.c: the event spi_call:left ---- */
SPI_HIDDEN int tp_left_register(void);
/* How the call ended, before its exit. other 0: a call of the calling thread. */
SPI_HIDDEN void tp_left_fire(struct spi_thread *t, int32_t other, const struct spi_point *point,
	enum spi_left how);
extern SPI_HIDDEN const struct lttng_ust_type_common *tp_left_type;	/* u8 enumeration of enum spi_left */

/* ---- function.c ---- */

SPI_HIDDEN void tp_function_ready(void);	/* agent thread only */
/* A call of the point is about to be recorded. Inside a read-side section. */
SPI_HIDDEN void tp_function_met(struct spi_thread *t, struct spi_point *point);
/* Another channel than before records calls: does one that knows no function yet? Inside a read-side section. */
SPI_HIDDEN void tp_function_look(void);
SPI_HIDDEN void tp_function_unheard(void);	/* those that recorded calls may be gone */
SPI_HIDDEN void tp_function_again(void);	/* each is said again before its next call that is told of, or by functions_ask() */
SPI_HIDDEN void tp_function_tell(const struct spi_function_told *f);
SPI_HIDDEN void tp_function_fork_child(void);

#endif /* SPI_TP_DESCRIBE_H */
