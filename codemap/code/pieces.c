/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Pieces of functions that lie elsewhere and are jumped into. Names (.cold) and unwind rules tell
 * that a function is a piece (elf/functions.c); the jumps into the piece tell whose it is.
 */
#include <string.h>
#include "codemap/code/flow.h"
#include "codemap/code/x86.h"

/* Is the piece called NAME.cold, and the function NAME? */
static int is_named_after(const struct flow *flow, const struct function *piece, const struct function *owner)
{
	const char *end = strstr(piece->name, ".cold");
	uint32_t i;

	for (i = 0; end && i < owner->alias_count; i++) {
		const char *name = flow->functions->aliases.at[owner->alias_first + i].name;

		if (strlen(name) == (size_t) (end - piece->name) && !strncmp(name, piece->name, strlen(name)))
			return 1;
	}
	return 0;
}

/*
 * A jump into a piece says whose it is. Where several functions seem to go there its
 * name decides: a piece that ended up empty has the next one's address.
 */
void pieces_claim(struct flow *flow, const struct stretch *s, uint64_t target)
{
	const struct function *f = functions_around(flow->functions, target);
	size_t index;

	if (!f || f->reason != SPI_REASON_PART || target - f->vaddr >= f->size)
		return;
	index = (size_t) (f - flow->functions->list.at);
	if (!flow->owners[index] ||
	    (flow->owners[index] != s->outer + 1 && is_named_after(flow, f, &flow->functions->list.at[s->outer])))
		flow->owners[index] = (uint32_t) s->outer + 1;
}

/*
 * Without names, a piece that begins before a frame is set up looks like a function.
 * But compilers do not end functions in conditional jumps to others: what is reached
 * by one, from a single function, and never called is a piece. Assembly does (OpenSSL
 * chooses by the CPU so): its functions are aligned, with filler before them; pieces
 * are packed.
 */
static void unnamed_claim(struct flow *flow, const struct stretch *s, const struct x86_decoded *insn)
{
	struct function *f = functions_at(flow->functions, insn->target);
	size_t index;

	if (!f || !(f->flags & SPI_FUNC_NO_SYMBOL) || f->reason)
		return;
	index = (size_t) (f - flow->functions->list.at);
	if (flow->owners[index] && flow->owners[index] != s->outer + 1)
		flow->taken[index] |= FLOW_CALLED;
	flow->owners[index] = (uint32_t) s->outer + 1;
	if (insn->kind == SPI_INSN_JCC)
		*vec_push(&flow->jumped_to) = insn->target;
}

void pieces_taken(struct flow *flow, uint64_t vaddr, enum flow_taken how)
{
	struct function *f = functions_at(flow->functions, vaddr);

	if (!f)
		return;
	flow->taken[f - flow->functions->list.at] |= (uint8_t) how;
}

static int is_aligned(const struct flow *flow, const struct function *f)
{
	return f->vaddr % 16 == 0 && f > flow->functions->list.at && f[-1].vaddr + f[-1].size < f->vaddr;
}

/*
 * Whoever has a function's address may call it. What is never called directly may be entered by a jump as well, as the
 * functions are that coroutines begin with. An assembler's label may be, too, with no return address on the stack:
 * so only what has unwind information from its first byte on is meant, in objects that have unwind information.
 */
static void address_judge(struct flow *flow, size_t index)
{
	struct function *f = &flow->functions->list.at[index];
	const struct fde *fde = fdes_around(flow->fdes, f->vaddr);
	unsigned int how = flow->taken[index];
	int is_framed = fde && fde->start == f->vaddr && !fde->framed && !fde->signal_frame;

	if ((how & (FLOW_ADDRESS_MADE | FLOW_ADDRESS_HELD)) && (is_framed || (how & FLOW_CALLED) || !flow->fdes->count))
		f->flags |= SPI_FUNC_FROM_OUTSIDE;
	if ((how & FLOW_ADDRESS_MADE) && !(how & FLOW_CALLED) && is_framed && f->reason != SPI_REASON_PART)
		f->flags |= SPI_FUNC_HANDED_OVER;
}

void pieces_judge(struct flow *flow)
{
	size_t i;

	for (i = 0; i < flow->jumped_to.count; i++) {
		struct function *f = functions_at(flow->functions, flow->jumped_to.at[i]);

		if (!flow->taken[f - flow->functions->list.at] && !is_aligned(flow, f))
			f->reason = SPI_REASON_PART;
	}
	for (i = 0; i < flow->functions->list.count; i++) {
		address_judge(flow, i);
		if (flow->functions->list.at[i].reason != SPI_REASON_PART)
			flow->owners[i] = 0;
	}
}

void pieces_jump(struct flow *flow, const struct stretch *s, const struct x86_decoded *insn)
{
	pieces_claim(flow, s, insn->target);
	unnamed_claim(flow, s, insn);
}
