/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* How the System V x86-64 psABI passes a value: in which registers, where on the stack. */
#ifndef CODEMAP_ABI_H
#define CODEMAP_ABI_H

#include "codemap/map-format.h"
#include "codemap/types.h"

/* Bytes [from, from + size) of a value are at this place. */
struct piece {
	uint64_t from, size;
	uint8_t place;		/* enum spi_field_place */
	uint8_t reg;
	int32_t offset;		/* of byte `from` */
};

#define PIECES_MAX 4

struct passing {
	struct piece piece[PIECES_MAX];
	unsigned int count;	/* 0: nowhere */
};

/* What the parameters so far have used up. */
struct abi_state {
	unsigned int gprs, sses;
	uint64_t stack;		/* bytes, from the CFA up */
	int is_lost;		/* a type was unknown: what follows may be anywhere */
};

/* DWARF numbers of the registers that carry integer parameters. */
extern const uint8_t abi_gpr[6];

/* Place the next parameter. */
void abi_parameter(struct abi_state *state, const struct type *type, struct passing *passing);
/* Place a return value. Returns 1 when the caller passes a hidden pointer in rdi for it; rax has it again at the exit.
 */
int abi_return(const struct type *type, struct passing *passing);

#endif /* CODEMAP_ABI_H */
