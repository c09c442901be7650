/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Moving a function's first instructions. The code map says what each instruction is and where its displacement stands;
 * only the operand of an indirect call is read from its bytes.
 *
 * A call is never made from the copy. The copy pushes the return address that
 * the original would have pushed and jumps, so that no stack ever holds an
 * address of moved code: unwinders, backtraces and profilers see the function
 * itself. It costs one mispredicted return.
 *
 * A jump to an instruction that was moved as well goes to its copy, because the
 * original's place may hold bytes of the jump to the stub. That includes a jump
 * to the function's first byte: it is a loop, not a call.
 */
#include "liblttng-spi/arch/x86-64/emit.h"

void spi_emit_bytes(struct spi_emit *e, const void *bytes, uint32_t n)
{
	if (e->used + n > e->size) {
		e->failed = "its first instructions are too long to move";
		return;
	}
	spi_bytes_copy(e->rw + e->used, bytes, n);
	for (uint32_t i = 0; i < n; i++)
		e->frames[e->used + i] = e->frame;
	e->used += n;
}

void spi_emit_frame_step(struct spi_emit *e, struct spi_effect effect)
{
	uint32_t words = e->frame & SPI_FRAME_WORDS;

	if (effect.kind == SPI_EFFECT_PUSH) {
		words++;
		if (effect.reg == SPI_REG_RBP && words < 16)
			e->fp_slot = SPI_FRAME_FP(words);
	} else if (effect.kind == SPI_EFFECT_POP) {
		words--;
		if (effect.reg == SPI_REG_RBP)
			e->frame = e->fp_slot = 0;
	} else if (effect.kind == SPI_EFFECT_STACK) {
		words += (uint32_t) (effect.amount / 8);
	} else if (effect.kind == SPI_EFFECT_WRITE && effect.reg == SPI_REG_RBP) {
		e->frame = e->fp_slot;
	}
	e->frame = (uint16_t) ((e->frame & ~SPI_FRAME_WORDS) | (words & SPI_FRAME_WORDS));
}

void spi_emit_u8(struct spi_emit *e, uint8_t value)
{
	spi_emit_bytes(e, &value, 1);
}

void spi_emit_u32(struct spi_emit *e, uint32_t value)
{
	spi_emit_bytes(e, &value, 4);
}

void spi_emit_rel32(struct spi_emit *e, uint64_t target, uint32_t after)
{
	int64_t distance = (int64_t) (target - (e->rx + e->used + 4 + after));

	if (distance != (int32_t) distance)
		e->failed = "what its code addresses is out of reach of near memory";
	spi_emit_u32(e, (uint32_t) distance);
}

void spi_emit_literal(struct spi_emit *e, uint64_t value)
{
	if (e->literals == SPI_LITERALS) {
		e->failed = "too many calls among its first instructions";
		return;
	}
	e->literal[e->literals].at = e->used;
	e->literal[e->literals].value = value;
	e->literals++;
	spi_emit_u32(e, 0);
}

void spi_emit_jump(struct spi_emit *e, uint64_t target)
{
	int64_t distance = (int64_t) (target - (e->rx + e->used + 5));

	if (distance == (int32_t) distance) {
		spi_emit_u8(e, 0xe9);
		spi_emit_rel32(e, target, 0);
	} else {
		spi_emit_bytes(e, "\xff\x25", 2);	/* jmp *literal(%rip) */
		spi_emit_literal(e, target);
	}
}

void spi_emit_finish(struct spi_emit *e)
{
	uint32_t place[SPI_LITERALS];

	while (e->used & 7)
		spi_emit_u8(e, SPI_CODE_TRAP);
	for (uint32_t i = 0; i < e->literals && !e->failed; i++) {
		uint32_t same = 0;
		int32_t distance;

		while (e->literal[same].value != e->literal[i].value)
			same++;
		if (same == i) {
			place[i] = e->used;
			spi_emit_bytes(e, &e->literal[i].value, 8);
		}
		distance = (int32_t) (place[same] - (e->literal[i].at + 4));
		spi_bytes_copy(e->rw + e->literal[i].at, &distance, 4);
	}
}

/* A jump inside the moved code whose target's copy may not have been emitted yet. */
struct inner_jump {
	uint32_t at;		/* its disp32 */
	uint32_t to;		/* instruction */
};

struct relocation {
	struct spi_emit *e;
	uint64_t address, bias;
	const struct spi_map_insn *insns;
	unsigned int count;
	uint32_t window;	/* bytes moved */
	struct inner_jump inner[SPI_MAP_ENTRY_INSNS];
	unsigned int inner_count;
};

/* The disp32 of a jump to `target`, which may be among the moved instructions. */
static void emit_branch_target(struct relocation *r, uint64_t target)
{
	uint64_t offset = target - r->address;

	if (offset >= r->window) {
		spi_emit_rel32(r->e, target, 0);
		return;
	}
	for (unsigned int i = 0; i < r->count; i++)
		if (r->insns[i].offset == offset) {
			r->inner[r->inner_count].at = r->e->used;
			r->inner[r->inner_count].to = i;
			r->inner_count++;
			spi_emit_u32(r->e, 0);
			return;
		}
	r->e->failed = "a jump goes into the middle of one of its first instructions";
}

/* The instruction as it is, with a rip-relative disp32 at byte `fix` set right. */
static void emit_rip_relative(struct spi_emit *e, uint64_t address, const uint8_t *bytes, uint32_t size, uint32_t fix)
{
	int32_t displacement;

	if (fix == 0 || fix + 4 > size) {
		e->failed = "the code map describes one of its instructions wrongly";
		return;
	}
	spi_bytes_copy(&displacement, bytes + fix, 4);
	spi_emit_bytes(e, bytes, fix);
	spi_emit_rel32(e, address + size + (int64_t) displacement, size - fix - 4);
	spi_emit_bytes(e, bytes + fix + 4, size - fix - 4);
}

void spi_emit_return_word(struct spi_emit *e, uint64_t value)
{
	spi_emit_bytes(e, "\xff\x35", 2);		/* push literal(%rip) */
	spi_emit_literal(e, value);
	e->frame = 1;
}

/* call *operand: push the return address, then jmp *operand, which must not depend on rsp. */
static void emit_call_indirect(struct spi_emit *e, uint64_t address, const uint8_t *bytes, uint32_t size, uint32_t fix)
{
	uint8_t copy[16];
	uint32_t i = 0;
	int rex_b = 0;

	spi_bytes_copy(copy, bytes, size);
	while (i < size && (copy[i] == 0x3e || copy[i] == 0x2e || copy[i] == 0x26 || copy[i] == 0x36 || copy[i] == 0x64
		|| copy[i] == 0x65 || copy[i] == 0x66 || copy[i] == 0x67 || copy[i] == 0xf2 || copy[i] == 0xf3
		|| (copy[i] & 0xf0) == 0x40)) {
		rex_b = (copy[i] & 0xf1) == 0x41;
		i++;
	}
	if (i + 1 >= size || copy[i] != 0xff || (copy[i + 1] >> 3 & 7) != 2) {
		e->failed = "the code map describes one of its instructions wrongly";
		return;
	}
	/* rm = 4 is rsp itself, or a SIB byte whose base may be rsp */
	if ((copy[i + 1] & 7) == 4 && !rex_b
		&& (copy[i + 1] >> 6 == 3 || i + 2 >= size || (copy[i + 2] & 7) == 4)) {
		e->failed = "it begins with a call through the stack pointer";
		return;
	}
	copy[i + 1] = (uint8_t) ((copy[i + 1] & ~0x38) | 4 << 3);
	spi_emit_return_word(e, address + size);
	if (fix)
		emit_rip_relative(e, address, copy, size, fix);
	else
		spi_emit_bytes(e, copy, size);
}

static void emit_call(struct relocation *r, uint64_t after, uint64_t target)
{
	/* A call of the function itself goes to its first byte: that one is a call, to be seen. */
	if (target - r->address >= 1 && target - r->address < r->window) {
		r->e->failed = "it calls into its own first instructions";
		return;
	}
	spi_emit_return_word(r->e, after);
	spi_emit_jump(r->e, target);
}

/* A call or jump that is a call tree's site as well: its copy goes to the site's stub. */
static int emit_site(struct relocation *r, const struct spi_map_insn *insn, uint64_t address)
{
	struct spi_emit *e = r->e;
	uint64_t stub;

	if (!e->site_stub || insn->kind == SPI_INSN_PLAIN || insn->kind == SPI_INSN_RIP || insn->kind == SPI_INSN_UNMOVABLE)
		return 0;
	stub = e->site_stub(address);
	if (!stub)
		return 0;
	if (insn->kind == SPI_INSN_JCC) {
		spi_emit_u8(e, 0x0f);
		spi_emit_u8(e, 0x80 | (insn->cond & 0x0f));
		spi_emit_rel32(e, stub, 0);
		return 1;
	}
	if (insn->kind == SPI_INSN_CALL || insn->kind == SPI_INSN_CALL_INDIRECT)
		spi_emit_return_word(e, address + insn->size);
	spi_emit_jump(e, stub);
	return 1;
}

static void emit_insn(struct relocation *r, const struct spi_map_insn *insn, const uint8_t *bytes)
{
	struct spi_emit *e = r->e;
	uint64_t address = r->address + insn->offset;
	uint64_t target = insn->target + r->bias;

	if (emit_site(r, insn, address))
		return;
	switch (insn->kind) {
	case SPI_INSN_PLAIN:
		spi_emit_bytes(e, bytes, insn->size);
		break;
	case SPI_INSN_RIP:
		emit_rip_relative(e, address, bytes, insn->size, insn->fix_offset);
		break;
	case SPI_INSN_END:
		if (insn->fix_offset)
			emit_rip_relative(e, address, bytes, insn->size, insn->fix_offset);
		else
			spi_emit_bytes(e, bytes, insn->size);
		break;
	case SPI_INSN_JCC:
		spi_emit_u8(e, 0x0f);
		spi_emit_u8(e, 0x80 | (insn->cond & 0x0f));
		emit_branch_target(r, target);
		break;
	case SPI_INSN_JMP:
		spi_emit_u8(e, 0xe9);
		emit_branch_target(r, target);
		break;
	case SPI_INSN_CALL:
		emit_call(r, address + insn->size, target);
		break;
	case SPI_INSN_CALL_INDIRECT:
		emit_call_indirect(e, address, bytes, insn->size, insn->fix_offset);
		break;
	default:
		e->failed = "one of its first instructions cannot run elsewhere";
	}
}

static int insn_falls_through(const struct spi_map_insn *insn)
{
	return insn->kind != SPI_INSN_END && insn->kind != SPI_INSN_JMP && insn->kind != SPI_INSN_CALL
		&& insn->kind != SPI_INSN_CALL_INDIRECT;
}

void spi_relocate(struct spi_emit *e, uint64_t address, uint64_t bias, const uint8_t *bytes,
	const struct spi_map_insn *insns, unsigned int count, uint64_t moved[SPI_MAP_ENTRY_INSNS])
{
	struct relocation r = {
		.e = e,
		.address = address,
		.bias = bias,
		.insns = insns,
		.count = count,
		.window = insns[count - 1].offset + insns[count - 1].size,
	};

	e->frame = 1;
	e->fp_slot = 0;
	for (unsigned int i = 0; i < count && !e->failed; i++) {
		uint16_t frame = e->frame;

		moved[i] = e->rx + e->used;
		emit_insn(&r, &insns[i], bytes + insns[i].offset);
		e->frame = frame;
		spi_emit_frame_step(e, spi_effect_of(bytes + insns[i].offset, insns[i].size));
	}
	if (insn_falls_through(&insns[count - 1]))
		spi_emit_jump(e, address + r.window);
	for (unsigned int i = 0; i < r.inner_count && !e->failed; i++) {
		int32_t distance = (int32_t) (moved[r.inner[i].to] - (e->rx + r.inner[i].at + 4));

		spi_bytes_copy(e->rw + r.inner[i].at, &distance, 4);
	}
}
