/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The workers (enum spi_entry_worker): ways to get from a function's first bytes to its stub, tried in the order JUMP,
 * PUN, CC, LATE, TRAP. A pun goes where the bytes behind its instruction lead, to a trampoline placed there.
 *
 * With JUMP and PUN no thread can ever be inside what changes, because it is one
 * instruction. A pun wants that its bytes lie in one aligned word, and then is
 * one store; it takes fewer bytes than it could for that.
 *
 * Bytes that another point changes or relies on are left alone (the byte index,
 * patch.c). Where a map says that the first 5 bytes reach into the next function,
 * int3 goes before PUN, because it needs one byte only.
 */
#include "codemap/map/format.h"
#include "liblttng-spi/arch/arch.h"
#include "liblttng-spi/patch/internal.h"

uint32_t spi_patch_workers = ~UINT32_C(0);

static int decline(struct spi_choice *c, const char *reason)
{
	c->reason = reason;
	return -1;
}

/* The instruction whose place the jump takes. */
static void aim(struct spi_choice *c, unsigned int index)
{
	uint32_t offset = c->insns[index].offset;

	c->index = index;
	c->address = c->point->address + offset;
	c->bytes = c->func->entry + offset;
	c->known = c->func->entry_size > offset ? c->func->entry_size - offset : 0;
	c->first = c->insns[index].size;
	c->to_word_end = 8 - (c->address & 7);
}

/* Write the stub with `count` instructions moved, over an earlier attempt. */
static int stub_write(struct spi_choice *c, unsigned int count)
{
	struct spi_stub stub;

	c->stub.used = c->stub.literals = 0;
	c->stub.failed = NULL;
	stub = spi_point_stub(c->point);
	spi_stub_emit(&c->stub, &stub, c->func->entry, c->insns, count, c->index, c->patch->moved);
	c->point->body = stub.body;
	return c->stub.failed ? decline(c, c->stub.failed) : 0;
}

static void take(struct spi_choice *c, enum spi_entry_worker worker, enum spi_text_how how, uint32_t changed,
	uint32_t fixed)
{
	c->patch->worker = (uint8_t) worker;
	c->patch->how = (uint8_t) how;
	c->patch->changed = (uint8_t) changed;
	c->patch->fixed = (uint8_t) fixed;
	c->patch->address = c->address;
	spi_bytes_copy(c->patch->old, c->bytes, changed);
}

static void set_jump(struct spi_choice *c, uint64_t to)
{
	spi_jump_bytes(c->address, to, c->patch->new);
}

static int trap_ready(struct spi_choice *c)
{
	if (!c->trap_asked)
		c->trap_wanted = 1;
	return c->trap_reason || !c->trap_asked ? decline(c, c->trap_reason) : 0;
}

/* Where a thread goes on that meets one of the worker's int3. */
static int trap_sites(struct spi_choice *c)
{
	const struct spi_patch *patch = c->patch;
	int ret = 0;

	if (patch->worker == SPI_WORKER_TRAP || patch->how == SPI_TEXT_CC)
		ret = spi_trap_add(patch->address, patch->stub);
	for (uint32_t i = 1; i < SPI_MAP_ENTRY_INSNS && i < c->func->insn_count && !ret; i++)
		if (c->insns[i].offset < SPI_JUMP_SIZE && (patch->bounds >> c->insns[i].offset & 1))
			ret = spi_trap_add(patch->address + c->insns[i].offset, patch->moved[i]);
	if (ret) {
		spi_trap_forget(patch->address, patch->address + SPI_JUMP_SIZE);
		c->reason = "only a breakpoint (int3) fits, and there is no memory to note it";
	}
	return ret;
}

/*
 * A pun leaves the instructions behind the first one as they are, and they could
 * be run there. But to go on in the middle of the jump's own bytes confuses
 * branch prediction: the fetch block holds a jump that is not met (13 ns a call
 * on an Intel CPU). So all that the jump reaches into is moved, if it can be.
 */
static int stub_write_pun(struct spi_choice *c)
{
	uint32_t start = c->insns[c->index].offset, end = start;
	unsigned int count = c->index;

	while (count < c->func->insn_count && count < SPI_MAP_ENTRY_INSNS && end < start + SPI_JUMP_SIZE &&
			c->insns[count].offset == end && end + c->insns[count].size <= c->func->entry_size)
		end += c->insns[count++].size;
	for (; count > c->index + 1; count--)
		if (stub_write(c, count) == 0)
			return 0;
	return stub_write(c, c->index + 1);
}

/* Change `changed` bytes of the first instruction; those behind are the rest of the jump. */
static int try_pun(struct spi_choice *c, uint32_t changed)
{
	uint32_t bits, mask = ~UINT32_C(0) << 8 * (changed - 1);
	enum spi_text_how how = changed <= c->to_word_end ? SPI_TEXT_STORE : SPI_TEXT_SPIN;
	uint64_t place;

	if (c->known < SPI_JUMP_SIZE)
		return decline(c, "the code behind its first instruction is not known");
	if (stub_write_pun(c) < 0)
		return -1;
	if (how == SPI_TEXT_SPIN && (c->to_word_end < 2 || !spi_text_can_sync()))
		return decline(c, "its code cannot be changed in one step, and membarrier does not work here");
	if (spi_bytes_conflict(c->address, changed, SPI_JUMP_SIZE))
		return decline(c, "another instrumented place uses its first bytes");
	spi_bytes_copy(&bits, c->bytes + 1, 4);
	place = spi_trampoline_make(c->point->object, c->address + SPI_JUMP_SIZE, mask, bits, c->patch->stub,
		c->into_heap_room, &c->reason);
	if (!place)
		return -1;
	take(c, SPI_WORKER_PUN, how, changed, SPI_JUMP_SIZE);
	set_jump(c, place);
	c->patch->trampoline = place;
	return 0;
}

static int worker_pun(struct spi_choice *c)
{
	uint32_t changed = c->first < SPI_JUMP_SIZE ? c->first : SPI_JUMP_SIZE - 1;

	if (changed > c->to_word_end) {
		if (try_pun(c, c->to_word_end) == 0)
			return 0;
		if (c->to_word_end < 2)
			return -1;
	}
	return try_pun(c, changed);
}

static int worker_jump(struct spi_choice *c)
{
	enum spi_text_how how = SPI_TEXT_CC;

	if (c->first < SPI_JUMP_SIZE)
		return decline(c, "its first instruction is shorter than a jump");
	if (spi_bytes_conflict(c->address, SPI_JUMP_SIZE, SPI_JUMP_SIZE))
		return decline(c, "another instrumented place uses its first bytes");
	if (stub_write(c, c->index + 1) < 0)
		return -1;
	if (c->to_word_end >= SPI_JUMP_SIZE)
		how = SPI_TEXT_STORE;
	else if (!spi_text_can_sync())
		return decline(c, "its code cannot be changed in one step, and membarrier does not work here");
	else if (c->to_word_end >= 2)
		how = SPI_TEXT_SPIN;
	else if (worker_pun(c) == 0)
		return 0;
	else if (trap_ready(c) < 0)
		return -1;
	take(c, SPI_WORKER_JUMP, how, SPI_JUMP_SIZE, SPI_JUMP_SIZE);
	set_jump(c, c->patch->stub);
	return 0;
}

/* Instructions that a 5-byte jump overwrites, wholly or in part; 0 when they cannot be moved together. */
static unsigned int cc_window(struct spi_choice *c, uint8_t *bounds)
{
	uint32_t end = 0;

	*bounds = 0;
	for (unsigned int i = 0; i < c->func->insn_count && i < SPI_MAP_ENTRY_INSNS; i++) {
		if (i && c->insns[i].is_target) {
			decline(c, "a loop goes back into its first 5 bytes");
			return 0;
		}
		if (c->insns[i].offset != end)
			break;
		if (i)
			*bounds |= (uint8_t) (1u << end);
		end += c->insns[i].size;
		if (end >= SPI_JUMP_SIZE && end <= c->func->entry_size)
			return i + 1;
	}
	decline(c, "it is shorter than a jump");
	return 0;
}

static int worker_cc(struct spi_choice *c)
{
	uint32_t mask = 0;
	uint8_t bounds;
	unsigned int count = cc_window(c, &bounds);
	uint64_t place;

	if (!count)
		return -1;
	if (!spi_text_can_sync())
		return decline(c, "its code cannot be changed in one step, and membarrier does not work here");
	if (spi_bytes_conflict(c->point->address, SPI_JUMP_SIZE, SPI_JUMP_SIZE))
		return decline(c, "another instrumented place uses its first bytes");
	if (trap_ready(c) < 0 || stub_write(c, count) < 0)
		return -1;
	for (uint32_t i = 1; i < SPI_JUMP_SIZE; i++)
		if (bounds >> i & 1)
			mask |= UINT32_C(0xff) << 8 * (i - 1);
	place = spi_trampoline_make(c->point->object, c->address + SPI_JUMP_SIZE, mask, SPI_CODE_TRAP * 0x01010101u,
		c->patch->stub, 0, &c->reason);
	if (!place)
		return -1;
	take(c, SPI_WORKER_CC, SPI_TEXT_CC, SPI_JUMP_SIZE, SPI_JUMP_SIZE);
	set_jump(c, place);
	c->patch->bounds = bounds;
	c->patch->trampoline = place;
	return 0;
}

static int worker_trap(struct spi_choice *c)
{
	if (spi_bytes_conflict(c->point->address, 1, 1))
		return decline(c, "another instrumented place uses its first bytes");
	if (trap_ready(c) < 0 || stub_write(c, 1) < 0)
		return -1;
	take(c, SPI_WORKER_TRAP, SPI_TEXT_STORE, 1, 1);
	c->patch->new[0] = SPI_CODE_TRAP;
	return 0;
}

/*
 * Jump from behind the first instructions, when these can be taken back and no
 * jump goes in between. What is written is one instruction again.
 */
static int worker_late(struct spi_choice *c)
{
	unsigned int count = c->func->insn_count < SPI_MAP_ENTRY_INSNS ? c->func->insn_count : SPI_MAP_ENTRY_INSNS;
	int found = -1;

	decline(c, "its first instructions cannot be taken back");
	for (unsigned int i = 1; i < count && found < 0; i++) {
		const struct spi_map_insn *before = &c->insns[i - 1];

		if (c->insns[i].is_target || c->insns[i].offset != before->offset + before->size
			|| (before->kind != SPI_INSN_PLAIN && before->kind != SPI_INSN_RIP))
			break;
		if (c->func->size && c->insns[i].offset + SPI_JUMP_SIZE > c->func->size)
			break;
		aim(c, i);
		if (stub_write(c, i + 1) < 0)
			continue;
		if ((c->first >= SPI_JUMP_SIZE && c->known >= c->first && worker_jump(c) == 0) || worker_pun(c) == 0)
			found = 0;
	}
	if (found < 0)
		aim(c, 0);
	else
		c->patch->worker = SPI_WORKER_LATE;
	return found;
}

int spi_worker_choose(struct spi_choice *c)
{
	static int (*const work[SPI_WORKER_COUNT_])(struct spi_choice *) = {
		[SPI_WORKER_JUMP] = worker_jump, [SPI_WORKER_PUN] = worker_pun,
		[SPI_WORKER_CC] = worker_cc, [SPI_WORKER_TRAP] = worker_trap,
		[SPI_WORKER_LATE] = worker_late,
	};
	static const uint8_t usual[] = { SPI_WORKER_JUMP, SPI_WORKER_PUN, SPI_WORKER_CC, SPI_WORKER_LATE,
		SPI_WORKER_PUN, SPI_WORKER_TRAP, 0 };
	static const uint8_t shared[] = { SPI_WORKER_JUMP, SPI_WORKER_TRAP, SPI_WORKER_PUN, SPI_WORKER_PUN, 0 };
	uint32_t tried = 0;

	aim(c, 0);
	if (stub_write(c, 1) < 0)
		return -1;
	c->reason = "every way to patch it is switched off";
	for (const uint8_t *w = c->func->flags & SPI_FUNC_WINDOW_SHARED ? shared : usual; *w; w++) {
		if (!(spi_patch_workers >> *w & 1))
			continue;
		c->into_heap_room = tried >> *w & 1;
		tried |= 1u << *w;
		if (work[*w](c) == 0)
			return trap_sites(c);
		if (c->trap_wanted)
			return -1;
	}
	if (c->trap_reason && tried >> SPI_WORKER_TRAP & 1)
		c->reason = c->trap_reason;	/* what could be otherwise, rather than how the function is built */
	return -1;
}

/* What the jump reaches into is moved anew, at least what it changes; the first stub has taken back what comes before it. */
int spi_worker_take_over(struct spi_choice *c, const struct spi_patch *from)
{
	uint32_t start = (uint32_t) (from->address - c->point->address), reach = from->fixed > from->changed ? from->fixed : from->changed;
	uint32_t end = 0;
	unsigned int count = 0, least = 0;
	int result = -1;

	aim(c, 0);
	while (count < c->func->insn_count && count < SPI_MAP_ENTRY_INSNS && end < start + reach && c->insns[count].offset == end &&
			end + c->insns[count].size <= c->func->entry_size) {
		end += c->insns[count++].size;
		least = least || end < start + from->changed ? least : count;
	}
	decline(c, "the instructions below its jump cannot be moved for a call tree");
	for (; least && count >= least && (result = stub_write(c, count)) < 0; count--)
		;
	if (result < 0)
		return result;
	c->address = from->address;
	c->bytes = from->old;
	take(c, from->worker, from->how, from->changed, from->fixed);
	spi_bytes_copy(c->patch->new, from->new, sizeof(from->new));
	c->patch->bounds = from->bounds;
	c->patch->trampoline = from->trampoline;
	c->patch->stub = from->stub;
	/* its int3 are in force: where the table cannot grow they lead to the first stub's copies, as ever */
	for (uint32_t i = 1; i < count && c->insns[i].offset < SPI_JUMP_SIZE; i++)
		if (from->bounds >> c->insns[i].offset & 1)
			spi_trap_add(from->address + c->insns[i].offset, c->patch->moved[i]);
	return 0;
}
