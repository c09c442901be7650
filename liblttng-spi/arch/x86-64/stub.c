/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A point's stub, where its jump leads:
 *
 *		cmpl	$0, gate0(%rip)
 *		je	next
 *	record:	push	%rax
 *		lea	point(%rip), %rax
 *		jmp	*16(%rax)		point->thunk: [rsp] = rax, [rsp + 8] = return address
 *	next:	cmpl	$0, gate1(%rip)		as many as there are
 *		jne	record
 *	body:	the moved instructions
 *		jmp	back
 *
 * A program calls from thousands of places, and for the CPU each jump that is taken
 * is one more to remember: while its first gate is open a stub has one.
 *
 * The flags are dead at a function's first instruction: nothing passes a value
 * in them, and a loop that goes back there finds what a call would. Gates and
 * point are data in near memory, so while nothing records, a call costs a load, a
 * compare and three jumps.
 *
 * A jump may also stand behind a function's first instructions. Then the stub
 * begins by taking back what they did (pushes and room on the stack), so that
 * thunk and payload find the state of the entry, and the body runs them again.
 *
 * The stub of a call site (spi_site_emit) is entered with the return address on the
 * stack, as a function is, or begins with pushing it; then instructions that were
 * moved along, gates, and as its body a jump to the callee. Behind that, ways into the
 * middle of what was moved, for threads that had come so far before it was.
 *
 * A function that a rule traces by name has a gate more: closed, until a call tree's entry takes the stub over, which then
 * goes to that one's thunk and is never written again (tree/sites/entry-named.c).
 */
#include "liblttng-spi/arch/x86-64/emit.h"

/* cmpl $0, gate(%rip) */
static void emit_gate_test(struct spi_emit *e, const volatile int *gate)
{
	spi_emit_bytes(e, "\x83\x3d", 2);
	spi_emit_rel32(e, (uint64_t) gate, 1);
	spi_emit_u8(e, 0);
}

/* A short jump whose distance emit_short_land() fills in. */
static uint32_t emit_short_jump(struct spi_emit *e, uint8_t opcode)
{
	spi_emit_u8(e, opcode);
	spi_emit_u8(e, 0);
	return e->used;
}

static void emit_short_land(struct spi_emit *e, uint32_t from)
{
	if (!e->failed)
		e->rw[from - 1] = (uint8_t) (e->used - from);
}

static void emit_short_back(struct spi_emit *e, uint8_t opcode, uint32_t to)
{
	spi_emit_u8(e, opcode);
	spi_emit_u8(e, (uint8_t) (to - (e->used + 1)));
}

static void emit_record(struct spi_emit *e, const void *point)
{
	int64_t distance = (int64_t) ((uint64_t) point - (e->rx + e->used + 8));

	spi_emit_u8(e, 0x50);				/* push %rax */
	e->frame = 2;
	if (distance == (int32_t) distance) {
		spi_emit_bytes(e, "\x48\x8d\x05", 3);	/* lea point(%rip), %rax */
		spi_emit_rel32(e, (uint64_t) point, 0);
	} else {
		spi_emit_bytes(e, "\x48\xb8", 2);	/* movabs $point, %rax */
		spi_emit_bytes(e, &point, 8);
	}
	spi_emit_u8(e, 0xff);				/* jmp *thunk(%rax) */
	spi_emit_u8(e, 0x60);
	spi_emit_u8(e, SPI_AT_POINT_THUNK);
	e->frame = 1;
}

/* ---- taking instructions back ---- */

#define REG_RAX		0u
#define REG_RSP		4u
#define SCRATCH		(1u << REG_RAX | 1u << 10 | 1u << 11)	/* no arguments; dead if overwritten at an entry */

/* The operands of a ModRM instruction that writes a register: `reg` from `rm` or memory. */
static struct spi_effect effect_load(uint8_t rex, const uint8_t *modrm)
{
	uint32_t reg = (modrm[0] >> 3 & 7) | (rex & 4) << 1, mod = modrm[0] >> 6, rm = modrm[0] & 7;
	struct spi_effect effect = { SPI_EFFECT_WRITE, reg, 0, 0 };

	if (mod != 3 && rm == 4) {
		effect.reads_itself = ((modrm[1] & 7) | (rex & 1) << 3) == reg
			|| ((modrm[1] >> 3 & 7) | (rex & 2) << 2) == reg;
	} else if (mod == 3 || mod || rm != 5) {	/* not rip-relative */
		effect.reads_itself = (rm | (rex & 1) << 3) == reg;
	}
	return effect;
}

/* sub or add of a constant to rsp */
static struct spi_effect effect_stack(const uint8_t *p)
{
	struct spi_effect effect = { SPI_EFFECT_STACK, REG_RSP, (int8_t) p[2], 0 };

	if (p[0] == 0x81)
		spi_bytes_copy(&effect.amount, p + 2, 4);
	if ((p[1] >> 3 & 7) == 0)
		effect.amount = -effect.amount;
	return effect;
}

struct spi_effect spi_effect_of(const uint8_t *p, uint32_t size)
{
	struct spi_effect effect = { SPI_EFFECT_OTHER, 0, 0, 0 };
	uint8_t rex = 0;

	if (size == 4 && spi_bytes_equal(p, (const uint8_t *) "\xf3\x0f\x1e\xfa", 4)) {	/* endbr64 */
		effect.kind = SPI_EFFECT_NONE;
		return effect;
	}
	if ((p[0] & 0xf0) == 0x40)
		rex = *p++;
	if ((p[0] & 0xf0) == 0x50) {
		effect.kind = p[0] & 8 ? SPI_EFFECT_POP : SPI_EFFECT_PUSH;
		effect.reg = (p[0] & 7) | (rex & 1) << 3;
	} else if (rex == 0x48 && (p[0] == 0x83 || p[0] == 0x81) && (p[1] == 0xec || p[1] == 0xc4)) {
		effect = effect_stack(p);
	} else if (p[0] == 0x8b || p[0] == 0x8d) {		/* mov, lea */
		effect = effect_load(rex, p + 1);
	} else if (p[0] == 0x0f && (p[1] & 0xf6) == 0xb6) {	/* movzx, movsx */
		effect = effect_load(rex, p + 2);
	} else if ((p[0] == 0x89 || p[0] == 0x31) && p[1] >> 6 == 3) {
		effect.kind = SPI_EFFECT_WRITE;			/* mov between registers; xor with itself */
		effect.reg = (p[1] & 7) | (rex & 1) << 3;
		effect.reads_itself = p[0] == 0x31 && ((p[1] >> 3 & 7) | (rex & 4) << 1) != effect.reg;
	}
	return effect;
}

/*
 * Bring registers back to what they were before the first `n` instructions.
 * Possible when each of them pushes, makes room on the stack, or writes a
 * register that was pushed before or is dead: then the body can run them again.
 */
static void emit_undo(struct spi_emit *e, const uint8_t *bytes, const struct spi_map_insn *insns, unsigned int n)
{
	uint32_t pushed = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct spi_effect effect = spi_effect_of(bytes + insns[i].offset, insns[i].size);
		uint32_t bit = effect.reg < 16 ? 1u << effect.reg : 0;

		spi_emit_frame_step(e, effect);
		if (effect.kind == SPI_EFFECT_PUSH && effect.reg != REG_RSP)
			pushed |= bit;
		else if (effect.kind == SPI_EFFECT_WRITE && effect.reg != REG_RSP
			&& ((pushed & bit) || ((SCRATCH & bit) && !effect.reads_itself)))
			continue;
		else if (effect.kind != SPI_EFFECT_NONE && (effect.kind != SPI_EFFECT_STACK || effect.amount < 0))
			e->failed = "one of its first instructions cannot be taken back";
	}
	while (n-- && !e->failed) {
		struct spi_effect effect = spi_effect_of(bytes + insns[n].offset, insns[n].size);

		if (effect.kind == SPI_EFFECT_PUSH) {
			if (effect.reg >= 8)
				spi_emit_u8(e, 0x41);
			spi_emit_u8(e, 0x58 | (effect.reg & 7));	/* pop */
			effect.kind = SPI_EFFECT_POP;
			spi_emit_frame_step(e, effect);
		} else if (effect.kind == SPI_EFFECT_STACK) {
			spi_emit_bytes(e, "\x48\x8d\xa4\x24", 4);	/* lea amount(%rsp), %rsp */
			spi_emit_bytes(e, &effect.amount, 4);
			effect.amount = -effect.amount;
			spi_emit_frame_step(e, effect);
		}
	}
	e->frame = 1;
}

/* ---- the stub ---- */

/* Gates and the way into the thunk; what is emitted next is the body. */
static void emit_gates(struct spi_emit *e, const struct spi_stub *stub)
{
	const volatile int *first = stub->gate[0], *second = stub->gate[1], *third = stub->gate[2];
	uint32_t to_next = 0, record;

	if (!first || first == second) {
		first = second;
		second = NULL;
	}
	if (first) {
		emit_gate_test(e, first);
		to_next = emit_short_jump(e, 0x74);
	}
	record = e->used;
	emit_record(e, stub->point);
	if (to_next)
		emit_short_land(e, to_next);
	if (second) {
		emit_gate_test(e, second);
		emit_short_back(e, 0x75, record);
	}
	if (first && third) {
		emit_gate_test(e, third);
		emit_short_back(e, 0x75, record);
	}
}

void spi_stub_emit(struct spi_emit *e, struct spi_stub *stub, const uint8_t *bytes, const struct spi_map_insn *insns,
	unsigned int count, unsigned int undo, uint64_t *moved)
{
	e->frame = 1;
	e->fp_slot = 0;
	emit_undo(e, bytes, insns, undo);
	emit_gates(e, stub);
	stub->body = e->rx + e->used;
	spi_relocate(e, stub->address, stub->bias, bytes, insns, count, moved);
	spi_emit_finish(e);
}

/* The code that a map gives for a site, from `from` on, with its rip-relative operands set right. */
static void emit_site_code(struct spi_emit *e, const struct spi_map_site *site, uint32_t from, uint32_t end, uint64_t bias)
{
	uint32_t start = e->used - from;

	spi_emit_bytes(e, site->code + from, end - from);
	for (unsigned int i = 0; i < 2 && !e->failed; i++) {
		uint32_t at = start + site->fix[i];
		int64_t distance;
		int32_t word;

		if (site->fix[i] == SPI_SITE_NO_FIX || site->fix[i] < from || site->fix[i] >= end)
			continue;
		distance = (int64_t) (site->fix_target[i] + bias - (e->rx + at + 4 + site->fix_after[i]));
		word = (int32_t) distance;
		if (distance != word)
			e->failed = "what its code addresses is out of reach of near memory";
		spi_bytes_copy(e->rw + at, &word, 4);
	}
}

/*
 * The frame before each of the last `moved` instructions, at a jump: behind them it is that of a call, and they may
 * have popped registers. At a call it is the caller's with the return address on top, and they leave it so.
 */
static void site_frames(const struct spi_map_site *site, uint32_t moved, uint16_t frames[SPI_SITE_INSNS])
{
	const uint8_t *p = site->bytes + site->before;
	uint32_t words = 1;
	uint16_t rbp = 0;

	for (uint32_t i = site->insn_count; i-- > site->insn_count - moved;) {
		struct spi_effect effect;

		p -= site->insn[i].size;
		effect = spi_effect_of(p, site->insn[i].size);
		if (effect.kind == SPI_EFFECT_POP)
			words++;
		else if (effect.kind == SPI_EFFECT_PUSH)
			words--;
		else if (effect.kind == SPI_EFFECT_STACK)
			words -= (uint32_t) (effect.amount / 8);
		if (effect.kind == SPI_EFFECT_POP && effect.reg == SPI_REG_RBP && words < 16)
			rbp = SPI_FRAME_FP(words);
		frames[i] = (uint16_t) (rbp | (words & SPI_FRAME_WORDS));
	}
}

void spi_site_emit(struct spi_emit *e, struct spi_stub *stub, const struct spi_map_site *site, uint32_t moved,
	uint64_t push, enum spi_site_way way, uint64_t to)
{
	uint16_t frames[SPI_SITE_INSNS];
	uint32_t first = site->insn_count - moved;

	site_frames(site, moved, frames);
	e->frame = push ? 0 : 1;
	e->fp_slot = 0;
	if (push)
		spi_emit_return_word(e, push);
	for (uint32_t i = first; i < site->insn_count; i++) {
		if (!push)
			e->frame = frames[i];
		emit_site_code(e, site, site->insn[i].at, i + 1 < site->insn_count ? site->insn[i + 1].at : site->own, stub->bias);
	}
	e->frame = 1;
	emit_site_code(e, site, site->own, site->code_size, stub->bias);
	emit_gates(e, stub);
	stub->body = e->rx + e->used;
	if (way == SPI_SITE_TO_CALLEE) {
		spi_emit_bytes(e, "\x41\xff\xe3", 3);		/* jmp *%r11 */
	} else if (way == SPI_SITE_TO_SLOT) {
		spi_emit_bytes(e, "\xff\x25", 2);		/* jmp *slot(%rip) */
		spi_emit_rel32(e, to, 0);
	} else {
		spi_emit_jump(e, to);
		stub->body = to;
	}
	spi_emit_finish(e);
}
