/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Where control can arrive in an object's code, other than from the instruction
 * before: what must be known before an instruction is moved away. A place that is
 * missed crashes the program, one too many costs a slower way to patch a call.
 */
#ifndef CODEMAP_CODE_FLOW_H
#define CODEMAP_CODE_FLOW_H

#include "codemap/code/plt.h"
#include "codemap/elf/functions.h"

/* The code from one function's first byte to the next one's, or to where no function is. */
struct stretch {
	uint64_t vaddr, size;
	size_t function;	/* that begins here, by its place in the list */
	size_t outer;		/* the one it lies in; else the same */
	uint64_t low, high;	/* of `outer` */
	uint8_t is_unclear;	/* a jump may lead anywhere in it */
	uint8_t is_mixed;	/* not all of it is code */
	uint8_t has_labels;	/* data holds addresses of places in it: computed gotos */
};

/* A bit for each byte of an executable segment. */
struct code_bits {
	uint64_t vaddr, size;
	uint64_t *targets;	/* something may arrive here */
	uint64_t *jumps;	/* a direct jump does */
};

/* How a function is reached: by a call instruction, or by its address, which an instruction makes or a word of data holds. */
enum flow_taken {
	FLOW_CALLED = 1,
	FLOW_ADDRESS_MADE = 2,
	FLOW_ADDRESS_HELD = 4,
};

struct flow {
	const struct image *image;
	struct functions *functions;
	const struct links *links;
	const struct fdes *fdes;
	struct vec_of(struct stretch) stretches;	/* by address */
	struct vec_of(struct code_bits) bits;
	uint32_t *owners;	/* of each function that is a piece: 1 + index of the function that jumps there, 0: none */
	const struct stretch *last_held;	/* the last word of data that was looked at: where it points to, where it is */
	uint64_t last_where;
	struct vec_of(uint64_t) jumped_to;	/* first bytes of unnamed functions that conditional jumps go to */
	uint8_t *taken;		/* by function: FLOW_CALLED, FLOW_ADDRESS_* */
	int switches_stacks;	/* SPI_MAP_SWITCHES_STACKS */
	struct vec_of(uint64_t) tables;	/* while a stretch is read: addresses that may be a switch table's */
};

/*
 * Look at all code. Functions without a name turn out to be pieces of others here
 * (SPI_REASON_PART), which a name would have told.
 */
void flow_find(struct flow *flow, const struct image *image, struct functions *functions, const struct links *links,
	       const struct fdes *fdes);
/* May control arrive anywhere in [from, to)? */
int flow_arrives(const struct flow *flow, uint64_t from, uint64_t to);
int flow_is_jumped_to(const struct flow *flow, uint64_t vaddr);
/* The bytes of a stretch; NULL: it has none. */
const uint8_t *stretch_bytes(const struct flow *flow, const struct stretch *stretch);
/* How many bytes the function has: what its symbol or FDE says, or up to the next one or its section's end. */
uint64_t function_bytes(const struct image *image, const struct functions *functions, size_t index);

/* What flow.c is made of. */
void flow_target_add(struct flow *flow, uint64_t vaddr);
void flow_jump_add(struct flow *flow, uint64_t vaddr);
void stretch_read(struct flow *flow, struct stretch *stretch);	/* stretch.c */

/* pieces.c: a jump out of the stretch's function; a function is called or its address used; all are known now. */
struct x86_decoded;
void pieces_jump(struct flow *flow, const struct stretch *stretch, const struct x86_decoded *insn);
void pieces_claim(struct flow *flow, const struct stretch *stretch, uint64_t target);	/* or a switch's entry */
void pieces_taken(struct flow *flow, uint64_t vaddr, enum flow_taken how);
void pieces_judge(struct flow *flow);

#endif /* CODEMAP_CODE_FLOW_H */
