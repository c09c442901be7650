/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The workers: ways to get from a function's first bytes to its stub, tried in
 * this order.
 *
 *	JUMP	the first instruction has room for a jump of 5 bytes
 *	PUN	it has not, so only its own bytes become the jump's; the bytes behind
 *		it stay and are the jump's upper displacement bytes. It goes where
 *		that leads, to a trampoline placed there.
 *	CC	several instructions are overwritten, with int3 at their boundaries
 *	LATE	a jump or pun in place of a later instruction; the stub takes back what
 *		those before it did
 *	TRAP	int3 on the first byte
 *
 * With JUMP and PUN no thread can ever be inside what changes, because it is one
 * instruction. A pun wants that its bytes lie in one aligned word, and then is
 * one store; it takes fewer bytes than it could for that.
 *
 * Points stand close together: a jump over 5 bytes may reach into the next
 * function, whose own first byte may be patched, before or after. The byte index
 * knows for every prepared point which bytes it changes and which it relies on,
 * and no new one may break an old one. Where a map says that a window is shared,
 * int3 goes first, because it needs one byte only.
 *
 * Preparing and installing are apart: preparing decides and writes near memory,
 * slow and once; installing is the store. What is prepared stays so for ever.
 */
#include "liblttng-spi/patch-internal.h"

#define BUCKETS		65536u
#define JUMP_SIZE	5u

uint32_t spi_patch_workers = ~UINT32_C(0);
static struct spi_patch **byte_index;	/* by address / 16 */

int spi_patch_init(void)
{
	if (!byte_index) {
		byte_index = spi_alloc(BUCKETS * sizeof(*byte_index));
		if (!byte_index)
			return -ENOMEM;
		spi_text_init();	/* without membarrier some points are declined, each with that reason */
	}
	return 0;
}

/* ---- which bytes are whose ---- */

static struct spi_patch **index_bucket(uint64_t granule)
{
	return &byte_index[granule & (BUCKETS - 1)];
}

static int ranges_overlap(uint64_t a, uint32_t a_size, uint64_t b, uint32_t b_size)
{
	return a < b + b_size && b < a + a_size;
}

/* Would a worker there change a byte that another point relies on, or the other way round? */
static int bytes_conflict(uint64_t address, uint32_t changed, uint32_t fixed)
{
	for (uint64_t granule = (address >> 4) - 1; granule <= (address >> 4) + 1; granule++)
		for (struct spi_patch *p = *index_bucket(granule); p; p = p->next)
			if (ranges_overlap(p->address, p->changed, address, fixed)
				|| ranges_overlap(p->address, p->fixed, address, changed))
				return 1;
	return 0;
}

/* The byte that the file has at this address, if an installed point changed it; else what memory has. */
static uint8_t original_byte(uint64_t address)
{
	for (uint64_t granule = (address >> 4) - 1; granule <= address >> 4; granule++)
		for (struct spi_patch *p = *index_bucket(granule); p; p = p->next)
			if (p->point->installed && address - p->address < p->changed)
				return p->old[address - p->address];
	return *(const volatile uint8_t *) address;
}

static int code_is_as_mapped(const struct spi_point *point)
{
	const struct spi_map_func *func = point->func;
	uint32_t n = func->entry_size;

	if (n > SPI_MAP_ENTRY_BYTES)
		n = SPI_MAP_ENTRY_BYTES;
	if (func->size && func->size < n && func->size >= JUMP_SIZE)
		n = func->size;
	if (!n || !spi_page_readable(point->address) || !spi_page_readable(point->address + n - 1))
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (original_byte(point->address + i) != func->entry[i])
			return 0;
	return 1;
}

/* ---- choosing a worker ---- */

struct choice {
	struct spi_point *point;
	struct spi_patch *patch;
	const struct spi_map_func *func;
	const struct spi_map_insn *insns;
	struct spi_emit stub;
	unsigned int index;	/* the instruction that becomes the jump: 0, or later (LATE) */
	uint64_t address;	/* its own */
	const uint8_t *bytes;	/* what the file has there */
	uint32_t known;		/* how many of them */
	uint32_t first;		/* bytes of the instruction */
	uint32_t to_word_end;	/* bytes from the address to the end of its aligned word */
	int into_heap_room;	/* a pun may go there */
	const char *reason;	/* why the latest worker declined */
};

static int decline(struct choice *c, const char *reason)
{
	c->reason = reason;
	return -1;
}

/* The instruction whose place the jump takes. */
static void aim(struct choice *c, unsigned int index)
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
static int stub_write(struct choice *c, unsigned int count)
{
	c->stub.used = c->stub.literals = 0;
	c->stub.failed = NULL;
	spi_stub_emit(&c->stub, c->point, c->func->entry, c->insns, count, c->index, c->patch->moved);
	return c->stub.failed ? decline(c, c->stub.failed) : 0;
}

static void take(struct choice *c, enum spi_worker worker, enum spi_text_how how, uint32_t changed, uint32_t fixed)
{
	c->patch->worker = (uint8_t) worker;
	c->patch->how = (uint8_t) how;
	c->patch->changed = (uint8_t) changed;
	c->patch->fixed = (uint8_t) fixed;
	c->patch->address = c->address;
	spi_bytes_copy(c->patch->old, c->bytes, changed);
}

static void set_jump(struct choice *c, uint64_t to)
{
	int32_t displacement = (int32_t) (to - (c->address + JUMP_SIZE));

	c->patch->new[0] = 0xe9;
	spi_bytes_copy(c->patch->new + 1, &displacement, 4);
}

static int trap_ready(struct choice *c)
{
	const char *reason;

	if (spi_trap_ready(c->point->object, &reason) < 0)
		return decline(c, reason);
	if (spi_trap_add(c->address, c->patch->stub) < 0)
		return decline(c, "no memory for the table of int3 sites");
	return 0;
}

/* Change `changed` bytes of the first instruction; those behind are the rest of the jump. */
static int try_pun(struct choice *c, uint32_t changed)
{
	uint32_t bits, mask = ~UINT32_C(0) << 8 * (changed - 1);
	enum spi_text_how how = changed <= c->to_word_end ? SPI_TEXT_STORE : SPI_TEXT_SPIN;
	uint64_t place;

	if (c->known < JUMP_SIZE)
		return decline(c, "the code behind its first instruction is not known");
	if (stub_write(c, c->index + 1) < 0)
		return -1;
	if (how == SPI_TEXT_SPIN && (c->to_word_end < 2 || !spi_text_can_sync()))
		return decline(c, "its code cannot be changed in one step, and membarrier does not work here");
	if (bytes_conflict(c->address, changed, JUMP_SIZE))
		return decline(c, "its first bytes are used by another point");
	spi_bytes_copy(&bits, c->bytes + 1, 4);
	place = spi_near_constrained(c->point->object, c->address + JUMP_SIZE, mask, bits, c->patch->stub,
		c->into_heap_room, &c->reason);
	if (!place)
		return -1;
	take(c, SPI_WORKER_PUN, how, changed, JUMP_SIZE);
	set_jump(c, place);
	c->patch->trampoline = place;
	return 0;
}

static int worker_pun(struct choice *c)
{
	uint32_t changed = c->first < JUMP_SIZE ? c->first : JUMP_SIZE - 1;

	if (changed > c->to_word_end) {
		if (try_pun(c, c->to_word_end) == 0)
			return 0;
		if (c->to_word_end < 2)
			return -1;
	}
	return try_pun(c, changed);
}

static int worker_jump(struct choice *c)
{
	enum spi_text_how how = SPI_TEXT_INT3;

	if (c->first < JUMP_SIZE)
		return decline(c, "its first instruction is shorter than a jump");
	if (bytes_conflict(c->address, JUMP_SIZE, JUMP_SIZE))
		return decline(c, "its first bytes are used by another point");
	if (stub_write(c, c->index + 1) < 0)
		return -1;
	if (c->to_word_end >= JUMP_SIZE)
		how = SPI_TEXT_STORE;
	else if (!spi_text_can_sync())
		return decline(c, "its code cannot be changed in one step, and membarrier does not work here");
	else if (c->to_word_end >= 2)
		how = SPI_TEXT_SPIN;
	else if (worker_pun(c) == 0)
		return 0;
	else if (c->index || trap_ready(c) < 0)
		return -1;
	take(c, SPI_WORKER_JUMP, how, JUMP_SIZE, JUMP_SIZE);
	set_jump(c, c->patch->stub);
	return 0;
}

/* Instructions that a 5-byte jump overwrites, wholly or in part; 0 when they cannot be moved together. */
static unsigned int cc_window(struct choice *c, uint8_t *bounds)
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
		if (end >= JUMP_SIZE && end <= c->func->entry_size)
			return i + 1;
	}
	decline(c, "it is shorter than a jump");
	return 0;
}

static int worker_cc(struct choice *c)
{
	uint32_t mask = 0;
	uint8_t bounds;
	unsigned int count = cc_window(c, &bounds);
	uint64_t place;

	if (!count)
		return -1;
	if (!spi_text_can_sync())
		return decline(c, "its code cannot be changed in one step, and membarrier does not work here");
	if (bytes_conflict(c->point->address, JUMP_SIZE, JUMP_SIZE))
		return decline(c, "its first bytes are used by another point");
	if (trap_ready(c) < 0 || stub_write(c, count) < 0)
		return -1;
	for (uint32_t i = 1; i < JUMP_SIZE; i++)
		if (bounds >> i & 1)
			mask |= UINT32_C(0xff) << 8 * (i - 1);
	place = spi_near_constrained(c->point->object, c->point->address + JUMP_SIZE, mask, 0xcccccccc, c->patch->stub,
		0, &c->reason);
	if (!place)
		return -1;
	for (unsigned int i = 1; i < count; i++)
		if (spi_trap_add(c->point->address + c->insns[i].offset, c->patch->moved[i]) < 0) {
			spi_near_release(place, c->patch->stub);
			return decline(c, "no memory for the table of int3 sites");
		}
	take(c, SPI_WORKER_CC, SPI_TEXT_CC, JUMP_SIZE, JUMP_SIZE);
	set_jump(c, place);
	c->patch->bounds = bounds;
	c->patch->trampoline = place;
	return 0;
}

static int worker_trap(struct choice *c)
{
	if (bytes_conflict(c->point->address, 1, 1))
		return decline(c, "its first bytes are used by another point");
	if (trap_ready(c) < 0 || stub_write(c, 1) < 0)
		return -1;
	take(c, SPI_WORKER_TRAP, SPI_TEXT_STORE, 1, 1);
	c->patch->new[0] = 0xcc;
	return 0;
}

/*
 * Jump from behind the first instructions, when these can be taken back and no
 * jump goes in between. What is written is one instruction again.
 */
static int worker_late(struct choice *c)
{
	unsigned int count = c->func->insn_count < SPI_MAP_ENTRY_INSNS ? c->func->insn_count : SPI_MAP_ENTRY_INSNS;
	int found = -1;

	decline(c, "its first instructions cannot be taken back");
	for (unsigned int i = 1; i < count && found < 0; i++) {
		const struct spi_map_insn *before = &c->insns[i - 1];

		if (c->insns[i].is_target || c->insns[i].offset != before->offset + before->size
			|| (before->kind != SPI_INSN_PLAIN && before->kind != SPI_INSN_RIP))
			break;
		if (c->func->size && c->insns[i].offset + JUMP_SIZE > c->func->size)
			break;
		aim(c, i);
		if (stub_write(c, i + 1) < 0)
			continue;
		if ((c->first >= JUMP_SIZE && c->known >= c->first && worker_jump(c) == 0) || worker_pun(c) == 0)
			found = 0;
	}
	if (found < 0)
		aim(c, 0);
	else
		c->patch->worker = SPI_WORKER_LATE;
	return found;
}

static int choose(struct choice *c)
{
	static int (*const work[SPI_WORKER_COUNT_])(struct choice *) = {
		[SPI_WORKER_JUMP] = worker_jump, [SPI_WORKER_PUN] = worker_pun,
		[SPI_WORKER_CC] = worker_cc, [SPI_WORKER_TRAP] = worker_trap,
		[SPI_WORKER_LATE] = worker_late,
	};
	static const uint8_t usual[] = { SPI_WORKER_JUMP, SPI_WORKER_PUN, SPI_WORKER_CC, SPI_WORKER_LATE,
		SPI_WORKER_PUN, SPI_WORKER_TRAP, 0 };
	static const uint8_t shared[] = { SPI_WORKER_JUMP, SPI_WORKER_TRAP, SPI_WORKER_PUN, SPI_WORKER_PUN, 0 };
	uint32_t tried = 0;

	if (stub_write(c, 1) < 0)
		return -1;
	c->reason = "every way to patch it is switched off";
	for (const uint8_t *w = c->func->flags & SPI_FUNC_WINDOW_SHARED ? shared : usual; *w; w++) {
		if (!(spi_patch_workers >> *w & 1))
			continue;
		c->into_heap_room = tried >> *w & 1;
		tried |= 1u << *w;
		if (work[*w](c) == 0)
			return 0;
	}
	return -1;
}

static const struct spi_map_insn *func_insns(const struct spi_point *point)
{
	const struct spi_map_func *func = point->func;
	const struct spi_map_insn *insns = SPI_MAP_AT(point->map, insns, struct spi_map_insn, func->insn_first);

	if (!func->insn_count || insns[0].offset != 0 || !insns[0].size || insns[0].size > func->entry_size)
		return NULL;
	return insns;
}

int spi_patch_prepare(struct spi_point *point, const char **reason)
{
	struct choice c = { .point = point, .func = point->func };

	if (point->patch)
		return 0;
	*reason = "the agent has no memory left";
	if (spi_patch_init() < 0)
		return -ENOMEM;
	c.insns = func_insns(point);
	if (!c.insns) {
		*reason = "the code map does not describe its first instruction";
		return -EINVAL;
	}
	if (!code_is_as_mapped(point)) {
		*reason = "its code in memory differs from its file";
		return -EBUSY;
	}
	c.patch = spi_alloc(sizeof(*c.patch));
	if (!c.patch)
		return -ENOMEM;
	c.stub.size = SPI_STUB_MAX;
	if (spi_near_code(point->object, SPI_STUB_MAX, &c.stub.rx, &c.stub.rw) < 0) {
		*reason = "no free memory within reach of its object";
		return -ENOSPC;
	}
	c.patch->point = point;
	c.patch->stub = c.stub.rx;
	aim(&c, 0);
	if (choose(&c) < 0) {
		spi_trap_forget(point->address, point->address + JUMP_SIZE);	/* the stub's place is given back */
		spi_near_code_trim(point->object, c.stub.rx);
		point->body = 0;
		*reason = c.reason;
		return -ENOTSUP;
	}
	spi_near_code_trim(point->object, c.stub.rx + c.stub.used);
	c.patch->next = *index_bucket(c.patch->address >> 4);
	*index_bucket(c.patch->address >> 4) = c.patch;
	point->patch = c.patch;
	return 0;
}

enum spi_worker spi_patch_worker(const struct spi_point *point)
{
	return point->patch ? point->patch->worker : SPI_WORKER_NONE;
}

/* ---- text in and out ---- */

/* Memory for n operations, kept for the next time. */
static struct spi_text_op *ops_room(unsigned int n)
{
	static struct spi_text_op *ops;
	static unsigned int have;

	if (n > have) {
		unsigned int want = have ? have : 1024;

		while (want < n)
			want *= 2;
		ops = spi_alloc(want * sizeof(*ops));
		have = ops ? want : 0;
	}
	return ops;
}

static const char *may_write(const struct spi_point *point, int install)
{
	const struct spi_patch *patch = point->patch;
	const char *reason;

	if (!patch)
		return "it was not prepared";
	if (patch->forgotten)
		return "its object was unloaded";
	if (install && (patch->worker == SPI_WORKER_TRAP || patch->how == SPI_TEXT_CC || patch->how == SPI_TEXT_INT3)
		&& spi_trap_ready(point->object, &reason) < 0)
		return reason;
	return NULL;
}

static void op_fill(struct spi_text_op *op, const struct spi_patch *patch, uint32_t index, int install)
{
	op->address = patch->address;
	op->size = patch->changed;
	op->how = patch->how;
	op->bounds = patch->bounds;
	op->index = index;
	op->error = NULL;
	spi_bytes_copy(op->from, install ? patch->old : patch->new, 8);
	spi_bytes_copy(op->to, install ? patch->new : patch->old, 8);
}

static int write_all(struct spi_point **points, unsigned int n, const char **errors, int install)
{
	struct spi_text_op *ops = ops_room(n);
	unsigned int count = 0, done = 0;

	for (unsigned int i = 0; i < n; i++) {
		errors[i] = ops ? NULL : "the agent has no memory left";
		if (!ops || points[i]->installed == (uint32_t) install)
			continue;
		errors[i] = may_write(points[i], install);
		if (!errors[i])
			op_fill(&ops[count++], points[i]->patch, i, install);
	}
	spi_text_write(ops, count);
	for (unsigned int i = 0; i < count; i++) {
		errors[ops[i].index] = ops[i].error;
		if (ops[i].error)
			continue;
		points[ops[i].index]->installed = (uint32_t) install;
		done++;
	}
	return (int) done;
}

int spi_patch_install(struct spi_point **points, unsigned int n, const char **errors)
{
	return write_all(points, n, errors, 1);
}

int spi_patch_remove(struct spi_point **points, unsigned int n, const char **errors)
{
	return write_all(points, n, errors, 0);
}

void spi_patch_forget(const struct spi_object *object)
{
	for (uint32_t i = 0; byte_index && i < BUCKETS; i++)
		for (struct spi_patch **link = &byte_index[i]; *link;) {
			struct spi_patch *patch = *link;

			if (patch->point->object != object) {
				link = &patch->next;
				continue;
			}
			*link = patch->next;
			patch->forgotten = 1;
			patch->point->installed = 0;
		}
	spi_trap_forget(object->low, object->high);
}

void spi_patch_fork_child(void)
{
	spi_near_fork_child();
	spi_text_init();
}
