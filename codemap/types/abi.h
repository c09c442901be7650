/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* How the System V x86-64 psABI passes a value: in which registers, where on the stack. */
#ifndef CODEMAP_TYPES_ABI_H
#define CODEMAP_TYPES_ABI_H

#include "codemap/elf/functions.h"
#include "codemap/map/format.h"
#include "codemap/types/types.h"

/* Bytes [from, from + size) of a value are at this place. */
struct piece {
	uint64_t from, size;
	uint8_t place;		/* enum spi_field_place */
	uint8_t reg;
	int32_t offset;		/* of byte `from` */
	uint64_t value;		/* SPI_PLACE_CONSTANT; size is 8 at most */
};

#define PIECES_MAX 4

struct passing {
	struct piece piece[PIECES_MAX];
	unsigned int count;	/* 0: nowhere */
	uint8_t is_empty;	/* a class without members: there is no value */
	uint8_t otherwise;	/* what the place of bytes in no piece is: SPI_PLACE_NONE or SPI_PLACE_OPTIMISED_OUT */
};

/* What the parameters so far have used up. */
struct abi_state {
	unsigned int gprs, sses;
	uint64_t stack;		/* bytes, from the CFA up */
	int is_lost;		/* a type was unknown: what follows may be anywhere */
	int is_vector_lost;	/* so was a vector's place: what follows may be anywhere but in general registers */
	const struct image *image;
	const struct function *function;
	uint32_t vector_bytes;	/* of the widest register known to be used for vectors; 0: not looked at yet */
};

/* DWARF numbers of the registers that carry integer parameters. */
extern const uint8_t abi_gpr[6];

/* Where a value is that `size` bytes take behind a pointer which travels so; nowhere when that cannot be said. */
void passing_behind(const struct passing *pointer, uint64_t size, struct passing *passing);
/* Place the next parameter. */
void abi_parameter(struct abi_state *state, const struct type *type, struct passing *passing);
/* Place a return value. Returns 1 when the caller passes a hidden pointer in rdi for it; rax has it again at the exit.
 */
int abi_return(struct abi_state *state, const struct type *type, struct passing *passing);

#endif /* CODEMAP_TYPES_ABI_H */
