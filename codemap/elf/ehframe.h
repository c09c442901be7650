/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Ranges of functions from unwind tables, which a stripped object has as well; and running the rules in them. */
#ifndef CODEMAP_ELF_EHFRAME_H
#define CODEMAP_ELF_EHFRAME_H

#include "codemap/base/cursor.h"
#include "codemap/elf/image.h"

struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint8_t pointer_encoding;
	uint8_t lsda_encoding;	/* DW_EH_PE_omit: none */
	uint8_t augmented;	/* 'z': augmentation data has a length */
	uint8_t signal_frame;
	struct cursor rules;
};

struct fde {
	uint64_t start, size;	/* link-time address, bytes */
	uint64_t lsda;		/* link-time address of the exception table, 0: none */
	uint8_t framed;		/* at its first byte the CFA is not rsp+8: entered by a jump, not a call */
	uint8_t signal_frame;	/* augmentation 'S': entered by a return from a handler */
	const struct cie *cie;
	struct cursor rules;
};
struct fdes vec_of(struct fde);

/* Append the FDEs of .eh_frame. A broken table ends the list early; it is never an error. */
void ehframe_read(const struct image *image, struct fdes *fdes);
void fdes_sort(struct fdes *fdes);
/* The FDE whose range holds vaddr, in a sorted list; NULL: none. */
const struct fde *fdes_around(const struct fdes *fdes, uint64_t vaddr);

/* Where exceptions that pass through the FDE's code are handled: calls visit(context, vaddr) for each place. */
void ehframe_landing_pads(const struct image *image, const struct fde *fde, void (*visit)(void *context, uint64_t vaddr),
			  void *context);

/*
 * Is the CFA rsp+8 at an address, so that [rsp] is the return address? Ask for
 * ascending addresses: the rules are run along with them (cfa.c).
 */
struct cfa {
	uint64_t reg;
	int64_t offset;
	int expression;
};
struct cfa_walk {
	const struct fde *fde;
	struct cursor rules;
	uint64_t at;		/* rules up to here are run */
	struct cfa cfa;
	struct cfa stack[8];	/* remember_state */
	unsigned int depth;
	int is_lost;		/* rules that cannot be run: nothing is known from here on */
};
void cfa_begin(struct cfa_walk *walk, const struct fde *fde);
int cfa_is_call(struct cfa_walk *walk, uint64_t vaddr);

#endif /* CODEMAP_ELF_EHFRAME_H */
