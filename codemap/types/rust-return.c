/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Where Rust's functions leave their results. Debug info does not say it, and the convention is the
 * compiler's own. So a place counts as known only for those shapes of results that are the same in
 * all releases that the tests have met, whatever representation attributes (repr) the type has;
 * debug info does not tell those attributes:
 *
 *	a scalar			as in C
 *	more than 16 bytes		in memory; rax points there when the code says so
 *	one integer or pointer		rax, as in C, however often it is wrapped
 *	a pair of scalars		each has a register of its own, unlike C's packing
 *	8 bytes at most of integers	rax, when it can be no pair
 */
#include "codemap/types/prototype.h"

#define RELEASE_MIN	78	/* from LLVM 18 on, debug info says which functions lost their result */
#define RELEASE_MAX	98
#define LEAVES_MAX	16
#define DEPTH_MAX	12
#define DW_CC_nocall	3

struct leaf {
	uint64_t offset, size;
	enum type_class class;
	uint8_t is_signed;
};

/* The scalars that a value consists of. */
struct leaves {
	struct leaf list[LEAVES_MAX];
	unsigned int count;
	uint64_t base;
	int depth, is_lost, has_array, has_wrapper, has_float, has_wide;
};

static void leaves_add(struct leaves *leaves, const struct type *type, uint64_t offset);

static int member_visit(void *context, const struct member *member)
{
	struct leaves *leaves = context;
	uint64_t base = leaves->base;

	leaves_add(leaves, &member->type, base + member->offset);
	leaves->base = base;
	return leaves->is_lost;
}

/* &str, &dyn T, Box<[T]>: a pointer and what belongs to it, a pair in every release. */
static int fat_visit(void *context, const struct member *member)
{
	unsigned int *fits = context;

	*fits += !strcmp(member->name, "data_ptr") || !strcmp(member->name, "length") ||
		 !strcmp(member->name, "pointer") || !strcmp(member->name, "vtable") ? 1 : 4;
	return 0;
}

static int is_fat_pointer(const struct type *type)
{
	unsigned int fits = 0;

	if (type->size == 16)
		type_members(type, fat_visit, &fits);
	return fits == 2;
}

static void leaves_add(struct leaves *leaves, const struct type *type, uint64_t offset)
{
	struct type element;
	uint64_t count, i;

	if (leaves->depth > DEPTH_MAX || (type->class == TYPE_UNKNOWN && type->has_die && type->size))
		leaves->is_lost = 1;
	if (!type->size || leaves->is_lost)
		return;
	leaves->depth++;
	switch (type->class) {
	case TYPE_STRUCT:
		leaves->has_wrapper |= leaves->depth > 1 && !is_fat_pointer(type);
		leaves->base = offset;
		type_members(type, member_visit, leaves);
		break;
	case TYPE_ARRAY:
		leaves->has_array = 1;
		count = type_elements(type, &element);
		for (i = 0; i < count && element.size && !leaves->is_lost; i++)
			leaves_add(leaves, &element, offset + i * element.size);
		break;
	case TYPE_INT: case TYPE_BOOL: case TYPE_CHAR: case TYPE_FLOAT: case TYPE_POINTER: case TYPE_STRING:
	case TYPE_ENUM:
		if (leaves->count == LEAVES_MAX) {
			leaves->is_lost = 1;
			break;
		}
		leaves->list[leaves->count++] = (struct leaf) { offset, type->size, type->class, type->is_signed };
		leaves->has_float |= type->class == TYPE_FLOAT;
		leaves->has_wide |= type->size > 8;
		break;
	default:
		leaves->is_lost = 1;	/* variants in variants, vectors, unions */
	}
	leaves->depth--;
}

static int leaf_is_same(const struct leaf *a, const struct leaf *b)
{
	return a->offset == b->offset && a->size == b->size && a->class == b->class && a->is_signed == b->is_signed;
}

/* The payloads of all variants, when they are one and the same list of scalars. */
struct payload {
	struct leaves leaves;
	unsigned int count;	/* of variants that have any */
};

static int payload_visit(void *context, const struct variant *variant)
{
	struct payload *payload = context;
	struct leaves own = { .depth = 1 };
	unsigned int i;

	own.base = variant->offset;
	type_members(&variant->type, member_visit, &own);
	if (own.is_lost || variant->type.class != TYPE_STRUCT)
		return 1;
	if (!own.count)
		return 0;
	if (payload->count++) {
		if (own.count != payload->leaves.count)
			return 1;
		for (i = 0; i < own.count; i++)
			if (!leaf_is_same(&own.list[i], &payload->leaves.list[i]))
				return 1;
		own.has_wrapper |= payload->leaves.has_wrapper;
		own.has_array |= payload->leaves.has_array;
	}
	payload->leaves = own;
	return 0;
}

/* An enum's scalars: those of its payload, and the tag where it has bytes of its own. */
static int variants_leaves(const struct type *type, struct leaves *leaves)
{
	struct payload payload = { .count = 0 };
	struct type tag;
	uint64_t at;
	unsigned int i;

	if (type_variants(type, payload_visit, &payload) || !type_discriminant(type, &tag, &at))
		return 0;
	*leaves = payload.leaves;
	for (i = 0; i < leaves->count; i++)
		if (leaves->list[i].offset <= at && at < leaves->list[i].offset + leaves->list[i].size)
			return payload.count == 1;	/* it is a value that the payload cannot have */
	if (leaves->count == LEAVES_MAX)
		return 0;
	leaves->list[leaves->count++] = (struct leaf) { at, tag.size, TYPE_INT, 0 };
	return 1;
}

static uint64_t aligned(uint64_t offset, uint64_t to)
{
	return (offset + to - 1) / to * to;
}

/* Two scalars that lie as the compiler lays a pair out. */
static int is_pair(struct leaves *leaves, uint64_t size)
{
	struct leaf *a = &leaves->list[0], *b = &leaves->list[1], swap;
	uint64_t most;

	if (leaves->count != 2 || leaves->has_array || leaves->has_wide)
		return 0;
	if (a->offset > b->offset) {
		swap = *a;
		*a = *b;
		*b = swap;
	}
	most = a->size > b->size ? a->size : b->size;
	return !a->offset && b->offset == aligned(a->size, b->size) && size == aligned(b->offset + b->size, most);
}

static void piece_put(struct passing *passing, uint64_t from, uint64_t size, uint8_t place, uint8_t reg)
{
	struct piece *piece = &passing->piece[passing->count++];

	memset(piece, 0, sizeof(*piece));
	piece->from = from;
	piece->size = size;
	piece->place = place;
	piece->reg = reg;
}

/* C packs a pair of up to 8 bytes; a function that is extern "C" does so too, and debug info does not tell it. */
static int is_rusts_own(const struct type *type, const struct leaves *leaves)
{
	const char *name = type->has_die ? die_name(&type->die) : NULL;

	return type->class == TYPE_VARIANTS || (name && name[0] == '(') || is_fat_pointer(type) ||
	       (leaves->list[0].size == 8 && leaves->list[1].size == 8);
}

static void compound_return(const struct type *type, struct passing *passing)
{
	struct leaves leaves = { .count = 0 };
	unsigned int gprs = 0, sses = 0, i;

	if (type->class == TYPE_VARIANTS) {
		if (!variants_leaves(type, &leaves))
			return;
	} else {
		leaves_add(&leaves, type, 0);
		if (leaves.is_lost)
			return;
	}
	if (leaves.count == 1 && !leaves.has_float && leaves.list[0].size == type->size && type->size <= 8) {
		piece_put(passing, 0, 8, SPI_PLACE_GPR, 0);
	} else if (is_pair(&leaves, type->size) && !leaves.has_wrapper && is_rusts_own(type, &leaves)) {
		for (i = 0; i < 2; i++) {
			int is_float = leaves.list[i].class == TYPE_FLOAT;

			piece_put(passing, leaves.list[i].offset, leaves.list[i].size,
				is_float ? SPI_PLACE_XMM : SPI_PLACE_GPR, (uint8_t) (is_float ? sses++ : gprs++));
		}
	} else if (type->class == TYPE_STRUCT && leaves.count > 2 && !leaves.has_float && type->size <= 8) {
		piece_put(passing, 0, 8, SPI_PLACE_GPR, 0);
	}
}

/*
 * A compound of more than 8 bytes travels behind a pointer. When the pointer is on the stack, LLVM's debug info
 * leaves its dereference out, and what is said to be the value is the pointer.
 */
void rust_parameter_check(struct parameter *parameter)
{
	struct passing *passing = &parameter->passing;
	enum type_class class = parameter->type.class;
	unsigned int i;

	if (parameter->type.size <= 8 || (class != TYPE_STRUCT && class != TYPE_VARIANTS && class != TYPE_ARRAY))
		return;
	for (i = 0; i < passing->count; i++)
		if (passing->piece[i].place == SPI_PLACE_STACK && passing->piece[i].size > 8) {
			passing->count = 0;
			passing->otherwise = SPI_PLACE_NONE;
		}
}

int rust_return(const struct dw_die *function, const struct code_bytes *code, struct abi_state *state,
		const struct type *type, struct passing *passing)
{
	uint64_t convention;

	memset(passing, 0, sizeof(*passing));
	if (die_constant(function, DW_AT_calling_convention, &convention) && convention == DW_CC_nocall) {
		passing->otherwise = SPI_PLACE_OPTIMISED_OUT;
		return 0;
	}
	if (type->size > 16 && type->class != TYPE_INT) {
		if ((type->size <= 32 && type_align(type, 0) >= 16) || !code_returns_argument(code))
			return 0;
		piece_put(passing, 0, type->size, SPI_PLACE_MEMORY, 0);
		return 1;
	}
	if (!type->size || function->unit->rust_release < RELEASE_MIN || function->unit->rust_release > RELEASE_MAX)
		return 0;
	switch (type->class) {
	case TYPE_INT: case TYPE_BOOL: case TYPE_CHAR: case TYPE_FLOAT: case TYPE_POINTER: case TYPE_STRING:
	case TYPE_ENUM:
		return abi_return(state, type, passing);
	case TYPE_STRUCT: case TYPE_VARIANTS: case TYPE_ARRAY:
		compound_return(type, passing);
		return 0;
	default:
		return 0;
	}
}
