/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The classification of values by the psABI (section 3.2.3). Each eightbyte of a value gets a class
 * from the scalars that lie in it; the classes choose the registers; a value that finds no room
 * there goes to the stack as a whole.
 */
#include "codemap/code/entry.h"
#include "codemap/types/abi.h"

/* What two values that share an eightbyte make of it is the greater one. */
enum abi_class { CLASS_NONE, CLASS_SSEUP, CLASS_SSE, CLASS_INTEGER, CLASS_X87, CLASS_MEMORY };

#define EIGHTBYTES_MAX	8	/* a 64-byte vector */
#define DEPTH_MAX	16

const uint8_t abi_gpr[6] = { 5, 4, 1, 2, 8, 9 };	/* rdi, rsi, rdx, rcx, r8, r9 */

struct classes {
	enum abi_class of[EIGHTBYTES_MAX];
	uint64_t size;
	int depth;
	uint64_t base;		/* where the member that is being looked at begins */
	int is_memory;
	uint64_t widest;	/* of the vectors in it, bytes */
	int has_quad;		/* __float128 or _Decimal128 */
};

static void classes_merge(struct classes *classes, uint64_t offset, uint64_t size, enum abi_class class)
{
	uint64_t i;

	if (!size || offset + size > classes->size) {
		if (size)
			classes->is_memory = 1;
		return;
	}
	for (i = offset / 8; i <= (offset + size - 1) / 8 && i < EIGHTBYTES_MAX; i++) {
		if (class == CLASS_X87 && classes->of[i] != CLASS_NONE && classes->of[i] != CLASS_X87)
			classes->is_memory = 1;
		if (classes->of[i] == CLASS_X87 && class != CLASS_X87)
			classes->is_memory = 1;
		if (class > classes->of[i])
			classes->of[i] = class;
	}
}

/* The first eightbyte chooses a vector register, the others are its upper ones. */
static void classes_merge_vector(struct classes *classes, uint64_t offset, uint64_t size)
{
	if (size <= 4) {
		classes_merge(classes, offset, size, CLASS_INTEGER);
		return;
	}
	if (offset % 8)
		classes->is_memory = 1;
	if (size > classes->widest)
		classes->widest = size;
	classes_merge(classes, offset, size < 8 ? size : 8, CLASS_SSE);
	if (size > 8)
		classes_merge(classes, offset + 8, size - 8, CLASS_SSEUP);
}

static void classify(struct classes *classes, const struct type *type, uint64_t offset);

static int member_classify(void *context, const struct member *member)
{
	struct classes *classes = context;
	uint64_t base = classes->base;

	if (member->is_virtual_base)
		classes->is_memory = 1;
	else if (member->bit_size)
		classes_merge(classes, base + member->offset / 8,
			      (member->offset % 8 + member->bit_size + 7) / 8, CLASS_INTEGER);
	else
		classify(classes, &member->type, base + member->offset);
	classes->base = base;
	return classes->is_memory;
}

static void classify_elements(struct classes *classes, const struct type *type, uint64_t offset)
{
	struct type element;
	uint64_t count = type_elements(type, &element), i;

	if (!element.size)
		return;
	for (i = 0; i < count && !classes->is_memory && offset + i * element.size < classes->size; i++)
		classify(classes, &element, offset + i * element.size);
}

static void classify(struct classes *classes, const struct type *type, uint64_t offset)
{
	if (classes->depth > DEPTH_MAX || offset > classes->size) {
		classes->is_memory = 1;
		return;
	}
	classes->depth++;
	switch (type->class) {
	case TYPE_STRUCT: case TYPE_UNION:
		classes->base = offset;
		type_members(type, member_classify, classes);
		break;
	case TYPE_ARRAY:
		classify_elements(classes, type, offset);
		break;
	case TYPE_VOID: case TYPE_UNKNOWN:
		classes_merge(classes, offset, type->size, CLASS_INTEGER);
		break;
	case TYPE_VECTOR:
		classes_merge_vector(classes, offset, type->size);
		break;
	default:
		if (offset % type_align(type, 0))
			classes->is_memory = 1;		/* packed */
		if (type->class == TYPE_LONG_DOUBLE || (type->class == TYPE_COMPLEX && type->size == 32))
			classes_merge(classes, offset, type->size, CLASS_X87);
		else if (type->class == TYPE_SSE && type->size == 16) {
			classes_merge_vector(classes, offset, type->size);
			classes->has_quad = 1;
		} else if (type->class == TYPE_FLOAT || type->class == TYPE_SSE || type->class == TYPE_COMPLEX)
			classes_merge(classes, offset, type->size, CLASS_SSE);
		else
			classes_merge(classes, offset, type->size, CLASS_INTEGER);
	}
	classes->depth--;
}

static void piece_add(struct passing *passing, uint64_t from, uint64_t size, uint8_t place, uint8_t reg, int64_t offset)
{
	struct piece *piece;

	if (passing->count == PIECES_MAX)
		return;
	piece = &passing->piece[passing->count++];
	piece->from = from;
	piece->size = size;
	piece->place = place;
	piece->reg = reg;
	piece->offset = (int32_t) offset;
	piece->value = 0;
}

/* Of clang before 18 the psABI is not all true. */
static int is_old_clang(const struct type *type)
{
	return type->has_die && type->die.unit->clang && type->die.unit->clang < 18;
}

/* It passes the halves of an __int128 as if they were two words. */
static int is_small_int128(const struct type *type)
{
	return type->class == TYPE_INT && type->size == 16 && is_old_clang(type);
}

/* Values of more than two eightbytes travel in registers only when one vector register holds all of them. */
static int is_one_vector(const struct classes *classes)
{
	uint64_t i, words = (classes->size + 7) / 8;

	if (words > EIGHTBYTES_MAX || classes->of[0] != CLASS_SSE)
		return 0;
	for (i = 1; i < words; i++)
		if (classes->of[i] != CLASS_SSEUP)
			return 0;
	return 1;
}

/* Classes of a whole value; is_memory when it does not travel in registers. */
static void classify_value(struct classes *classes, const struct type *type)
{
	uint64_t i;

	memset(classes, 0, sizeof(*classes));
	classes->size = type->size;
	if (type->size > 8 * EIGHTBYTES_MAX)
		classes->is_memory = 1;
	else
		classify(classes, type, 0);
	if (type->size > 16 && !(type->class == TYPE_COMPLEX && type->size == 32) && !is_one_vector(classes))
		classes->is_memory = 1;
	/* clang 14 has a struct around a __float128 on the stack. */
	if (classes->has_quad && type->class == TYPE_STRUCT && type->has_die && type->die.unit->clang == 14)
		classes->is_memory = 1;
	for (i = 0; i < EIGHTBYTES_MAX; i++)
		if (classes->of[i] == CLASS_SSEUP && (!i || classes->of[i - 1] < CLASS_SSEUP || classes->of[i - 1] > CLASS_SSE))
			classes->of[i] = CLASS_SSE;
}

/*
 * Vectors of 32 and 64 bytes travel in a register only between functions that are compiled for a CPU that has
 * it, which debug info does not tell. The function's code does: it uses such registers. And clang has a register
 * for some unions of such a vector and other members; of its structs around a __float128 only version 14's are known.
 */
static int vector_is_unsure(struct abi_state *state, const struct type *type, const struct classes *classes)
{
	if (type->has_die && type->die.unit->clang && type->class != TYPE_VECTOR &&
	    ((classes->is_memory && type->size > 16 && classes->widest == type->size) ||
	     (classes->has_quad && !classes->is_memory && type->class != TYPE_SSE)))
		return 1;
	if (classes->is_memory || type->size <= 16 || !is_one_vector(classes))
		return 0;
	if (!state->vector_bytes)
		state->vector_bytes = function_vector_bytes(state->image, state->function);
	return type->size > state->vector_bytes;
}

/* The eightbytes that travel in vector registers: a piece for each register. */
static unsigned int vector_piece_size(const struct classes *classes, unsigned int i)
{
	unsigned int size = 8;

	while (++i < EIGHTBYTES_MAX && classes->of[i] == CLASS_SSEUP)
		size += 8;
	return size;
}

static void pass_on_stack(struct abi_state *state, const struct type *type, struct passing *passing)
{
	uint64_t align = type_align(type, 0);

	if (type->class == TYPE_COMPLEX)
		align = type->size == 32 ? 16 : 8;
	if (is_small_int128(type))
		align = 8;
	align = align < 8 ? 8 : align;
	state->stack = (state->stack + align - 1) & ~(align - 1);
	if (state->stack < (1 << 20) && type->size < (1 << 20))
		piece_add(passing, 0, type->size, SPI_PLACE_STACK, 0, (int64_t) state->stack);
	state->stack += (type->size + 7) & ~UINT64_C(7);
	if (state->stack > (1 << 24))
		state->is_lost = 1;
}

void passing_behind(const struct passing *pointer, uint64_t size, struct passing *passing)
{
	const struct piece *p = pointer->piece;

	passing->count = 0;
	if (pointer->count != 1)
		return;
	if (p->place == SPI_PLACE_GPR)
		piece_add(passing, 0, size, SPI_PLACE_MEMORY, p->reg, 0);
	else if (p->place == SPI_PLACE_STACK && p->offset % 8 == 0 && p->offset < 8 * 256)
		piece_add(passing, 0, size, SPI_PLACE_STACK_MEMORY, (uint8_t) (p->offset / 8), 0);
}

void abi_parameter(struct abi_state *state, const struct type *type, struct passing *passing)
{
	unsigned int gprs = 0, sses = 0, i, words;
	struct classes classes;

	memset(passing, 0, sizeof(*passing));
	if (state->is_lost)
		return;
	if ((type->class == TYPE_UNKNOWN && !type->size) || type->class == TYPE_VARIANTS) {
		state->is_lost = 1;	/* C has no such type */
		return;
	}
	if (type_is_nontrivial(type, 0)) {
		struct type pointer = { .class = TYPE_POINTER, .size = 8 };
		struct passing at;

		abi_parameter(state, &pointer, &at);
		passing_behind(&at, type->size, passing);
		return;
	}
	if (!type->size)
		return;
	classify_value(&classes, type);
	if (vector_is_unsure(state, type, &classes)) {
		state->is_vector_lost = 1;
		return;
	}
	words = (unsigned int) (type->size + 7) / 8;
	for (i = 0; i < words && i < EIGHTBYTES_MAX && !classes.is_memory; i++) {
		gprs += classes.of[i] == CLASS_INTEGER;
		sses += classes.of[i] == CLASS_SSE;
		if (classes.of[i] == CLASS_X87)
			classes.is_memory = 1;
	}
	passing->is_empty = !classes.is_memory && !gprs && !sses;
	if (passing->is_empty)
		return;		/* it takes no room */
	/* A vector before this one took a vector register, two of them, or room on the stack. */
	state->is_lost = state->is_vector_lost && (classes.is_memory || sses || state->gprs + gprs > 6);
	if (state->is_lost)
		return;
	if (state->gprs == 5 && is_small_int128(type)) {
		piece_add(passing, 0, 8, SPI_PLACE_GPR, abi_gpr[state->gprs++], 0);
		piece_add(passing, 8, 8, SPI_PLACE_STACK, 0, (int64_t) state->stack);
		state->stack += 8;
		return;
	}
	if (classes.is_memory || state->gprs + gprs > 6 || state->sses + sses > 8) {
		pass_on_stack(state, type, passing);
		return;
	}
	for (i = 0; i < words; i++) {
		if (classes.of[i] == CLASS_INTEGER)
			piece_add(passing, i * 8, 8, SPI_PLACE_GPR, abi_gpr[state->gprs++], 0);
		else if (classes.of[i] == CLASS_SSE)
			piece_add(passing, i * 8, vector_piece_size(&classes, i), SPI_PLACE_XMM,
				(uint8_t) state->sses++, 0);
	}
}

int abi_return(struct abi_state *state, const struct type *type, struct passing *passing)
{
	static const uint8_t gpr[2] = { 0, 1 };		/* rax, rdx */
	unsigned int gprs = 0, sses = 0, i, words;
	struct classes classes;

	memset(passing, 0, sizeof(*passing));
	if (type->class == TYPE_VOID || !type->size)
		return 0;
	classify_value(&classes, type);
	if (type_is_nontrivial(type, 0))
		classes.is_memory = 1;
	if (vector_is_unsure(state, type, &classes)) {
		state->is_lost = 1;	/* there may be a hidden pointer */
		return 0;
	}
	if (classes.is_memory) {
		piece_add(passing, 0, type->size, SPI_PLACE_MEMORY, 0, 0);
		return 1;
	}
	if (classes.of[0] == CLASS_X87) {
		piece_add(passing, 0, 16, SPI_PLACE_X87, 0, 0);
		return 0;
	}
	words = (unsigned int) (type->size + 7) / 8;
	for (i = 0; i < words && i < 2; i++) {
		if (classes.of[i] == CLASS_INTEGER)
			piece_add(passing, i * 8, 8, SPI_PLACE_GPR, gpr[gprs++], 0);
		else if (classes.of[i] == CLASS_SSE)
			piece_add(passing, i * 8, vector_piece_size(&classes, i), SPI_PLACE_XMM, (uint8_t) sses++, 0);
	}
	passing->is_empty = !passing->count;
	return 0;
}
