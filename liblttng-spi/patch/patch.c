/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The patcher's contract (patch.h), on top of the workers, and the byte index.
 *
 * Points stand close together: a jump over 5 bytes may reach into the next
 * function, whose own first byte may be patched, before or after. The byte index
 * knows for every prepared point which bytes it changes and which it relies on,
 * and no new one may break an old one.
 *
 * Preparing and installing are apart: preparing decides and writes near memory,
 * slow and once; installing is the store. What is prepared stays so for ever.
 */
#include <errno.h>
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/internal.h"

#define BUCKETS		65536u

static struct spi_patch **byte_index;	/* by address / 16 */
uint64_t (*spi_patch_site_stub)(uint64_t address);
int (*spi_patch_site_byte)(uint64_t address, uint8_t *byte);

int spi_patch_init(void)
{
	if (!byte_index) {
		byte_index = spi_alloc(BUCKETS * sizeof(*byte_index));
		if (!byte_index)
			return -ENOMEM;
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

int spi_bytes_conflict(uint64_t address, uint32_t changed, uint32_t fixed)
{
	uint64_t end = address + (changed > fixed ? changed : fixed) - 1;

	for (uint64_t granule = (address >> 4) - 1; granule <= end >> 4; granule++)
		for (struct spi_patch *p = *index_bucket(granule); p; p = p->next)
			if (ranges_overlap(p->address, p->changed, address, fixed) || ranges_overlap(p->address, p->fixed, address, changed))
				return 1;
	return 0;
}

int spi_bytes_claim(struct spi_point *point, uint64_t address, uint32_t changed, uint32_t fixed, const uint8_t *old)
{
	struct spi_patch *p = spi_alloc(sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->point = point;
	p->address = address;
	p->changed = (uint8_t) changed;
	p->fixed = (uint8_t) fixed;
	spi_bytes_copy(p->old, old, changed);
	p->next = *index_bucket(address >> 4);
	*index_bucket(address >> 4) = p;
	return 0;
}

/* Did a call site of a tree change this byte, that the entry of one may move? */
static int is_site_byte(const struct spi_point *point, uint64_t address, uint8_t *byte)
{
	return (point->flags & SPI_POINT_TREE) && spi_patch_site_byte && spi_patch_site_byte(address, byte);
}

/* The byte that the file has at this address, if an installed point changed it; else what memory has, `now`. */
static uint8_t original_byte(const struct spi_point *point, uint64_t address, uint8_t now)
{
	uint8_t byte;

	if (is_site_byte(point, address, &byte))
		return byte;
	for (uint64_t granule = (address >> 4) - 1; granule <= address >> 4; granule++)
		for (struct spi_patch *p = *index_bucket(granule); p; p = p->next)
			if (p->point->installed && address - p->address < p->changed)
				return p->old[address - p->address];
	return now;
}

static int code_is_as_mapped(const struct spi_point *point)
{
	const struct spi_map_func *func = point->func;
	uint8_t now[SPI_MAP_ENTRY_BYTES];
	uint32_t n = func->entry_size;

	if (n > SPI_MAP_ENTRY_BYTES)
		n = SPI_MAP_ENTRY_BYTES;
	if (func->size && func->size < n && func->size >= SPI_JUMP_SIZE)
		n = func->size;
	/* the object may be unloaded in this moment */
	if (!n || spi_memory_copy(now, point->address, n) < 0)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (original_byte(point, point->address + i, now[i]) != func->entry[i])
			return 0;
	return 1;
}

static const struct spi_map_insn *func_insns(const struct spi_point *point)
{
	const struct spi_map_func *func = point->func;
	const struct spi_map_insn *insns = SPI_MAP_AT(point->map, insns, struct spi_map_insn, func->insn_first);

	if (!func->insn_count || insns[0].offset != 0 || !insns[0].size || insns[0].size > func->entry_size)
		return NULL;
	return insns;
}

/* A function's entry is one point's: of a rule by name, or of call trees. NULL: nobody has it. */
static const char *entry_taken(const struct spi_point *point)
{
	for (uint64_t granule = (point->address >> 4) - 1; granule <= (point->address >> 4) + 1; granule++)
		for (const struct spi_patch *p = *index_bucket(granule); p; p = p->next)
			if (p->point->address == point->address && p->point != point)
				return p->point->flags & SPI_POINT_APART ? "the tracer needs its entry: only calls from its own library are recorded" :
					p->point->flags & SPI_POINT_TREE ?
					"a call tree uses its entry, or has used it, in this process: it cannot be traced by name" :
					(point->flags & SPI_POINT_APART) && !(point->flags & SPI_POINT_TREE) ? "a rule by name uses its entry, or has used it, in this process" :
					"a rule by name uses its entry, or has used it, in this process: no call tree can begin there";
	return NULL;
}

/* The patch that this point is to take over: spi_patch_yield(). NULL: none. */
static const struct spi_patch *yielding(const struct spi_point *point)
{
	for (uint64_t granule = point->address >> 4; granule <= (point->address >> 4) + 1; granule++)
		for (const struct spi_patch *p = *index_bucket(granule); p; p = p->next)
			if (p->yields && p->point->address == point->address)
				return p;
	return NULL;
}

int spi_patch_prepare_locked(struct spi_point *point, int trap_asked, const char *trap_reason, const char **reason)
{
	struct spi_choice c = { .point = point, .func = point->func, .trap_asked = trap_asked, .trap_reason = trap_reason };
	const struct spi_patch *from;

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
	if (spi_near_code(point->object, &c.stub, SPI_STUB_MAX) < 0) {
		*reason = "no free memory within reach of its object";
		return -ENOSPC;
	}
	c.stub.site_stub = spi_patch_site_stub;
	c.patch->point = c.patch->stub_point = point;
	c.patch->stub_thunk = point->thunk;
	c.patch->stub = c.stub.rx;
	from = yielding(point);
	if ((from ? spi_worker_take_over(&c, from) : spi_worker_choose(&c)) < 0) {
		spi_near_code_trim(point->object, c.stub.rx);
		point->body = 0;
		*reason = entry_taken(point);
		*reason = *reason ? *reason : c.reason;
		return c.trap_wanted ? -EAGAIN : -ENOTSUP;
	}
	spi_near_code_trim(point->object, c.stub.rx + c.stub.used);
	c.patch->stub_size = c.stub.used;
	c.patch->next = *index_bucket(c.patch->address >> 4);
	*index_bucket(c.patch->address >> 4) = c.patch;
	point->patch = c.patch;
	return 0;
}

int spi_patch_prepare(struct spi_point *point, const char **reason)
{
	const char *trap_reason = NULL;
	int result = -EAGAIN;

	spi_frames_find_unwinder();
	for (int trap_asked = 0; trap_asked < 2 && result == -EAGAIN; trap_asked++) {
		uint64_t before;

		if (trap_asked && spi_trap_ready(point->object, &trap_reason) == 0)
			trap_reason = NULL;
		before = spi_patch_lock();
		result = spi_patch_prepare_locked(point, trap_asked, trap_reason, reason);
		spi_patch_unlock(before);
	}
	return result;
}

enum spi_entry_worker spi_patch_worker(const struct spi_point *point)
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
	if (install && (patch->worker == SPI_WORKER_TRAP || patch->how == SPI_TEXT_CC) &&
			spi_trap_ready(point->object, &reason) < 0)
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

/* What stands there, where call sites are among the instructions that this entry has moved. */
static void op_from_sites(struct spi_text_op *op, const struct spi_point *point)
{
	uint8_t byte;

	for (uint32_t i = 0; i < op->size; i++)
		if (is_site_byte(point, op->address + i, &byte) && byte == op->from[i])
			op->from[i] = *(const uint8_t *) (op->address + i);
}

int spi_patch_write_locked(struct spi_point *point, uint64_t low, uint64_t high, int prot, int install)
{
	struct spi_text_op op;

	if (point->installed == (uint32_t) install || !point->patch || point->patch->forgotten)
		return 0;
	op_fill(&op, point->patch, 0, install);
	if (install)
		op_from_sites(&op, point);
	spi_text_write_in(&op, 1, low, high, prot);
	if (op.error)
		return -EBUSY;
	point->installed = (uint32_t) install;
	return 0;
}

/* ---- one point in the place of another ---- */

void spi_patch_yield(struct spi_point *point, int yields)
{
	point->patch->yields = (uint8_t) yields;
}

void spi_patch_hand_over(struct spi_point *old, struct spi_point *new)
{
	struct spi_patch **link = index_bucket(old->patch->address >> 4);

	new->installed = old->installed;
	while (*link && *link != old->patch)
		link = &(*link)->next;
	if (*link)
		*link = old->patch->next;
	old->patch = NULL;
}

void spi_stub_lend(struct spi_point *stub_point, struct spi_point *to)
{
	__atomic_store_n(&stub_point->lent_to, to, __ATOMIC_RELEASE);
	__atomic_store_n(&stub_point->thunk, (uint64_t) spi_thunk_entry_lent, __ATOMIC_RELEASE);
	__atomic_store_n(&stub_point->tree_todo, 1, __ATOMIC_RELEASE);
}

/* A thread may be about to look where the stub was lent to: that stays, as it was. */
static void stub_give_back(const struct spi_patch *patch)
{
	__atomic_store_n(&patch->stub_point->tree_todo, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&patch->stub_point->thunk, patch->stub_thunk, __ATOMIC_RELEASE);
}

void spi_patch_pass(struct spi_point *old, struct spi_point *new)
{
	struct spi_patch *patch = old->patch;

	if (patch) {
		new->body = old->body;
		new->installed = old->installed;
		new->patch = patch;
		patch->point = new;
		if (patch->stub_point == new)
			stub_give_back(patch);
		else
			spi_stub_lend(patch->stub_point, new);
		old->patch = NULL;
	}
	old->installed = 0;
}

int (*spi_patch_frozen)(void (*work)(void *data), void *data);

struct ops {
	struct spi_text_op *op;
	unsigned int n, done;
	struct spi_point **points;
	const char **errors;
	int install;
};

/* Since it was asked for, a thread of the program may have had an entry of trees take a point's jump over: that is the entry's now. */
static void ops_write(void *data)
{
	struct ops *ops = data;
	uint64_t before = spi_patch_lock();
	unsigned int kept = 0;

	for (unsigned int i = 0; i < ops->n; i++) {
		uint32_t index = ops->op[i].index;

		if (ops->points[index]->patch)
			op_fill(&ops->op[kept++], ops->points[index]->patch, index, ops->install);
		else
			ops->errors[index] = "a call tree uses its entry now";
	}
	spi_text_write(ops->op, kept);
	for (unsigned int i = 0; i < kept; i++) {
		ops->errors[ops->op[i].index] = ops->op[i].error;
		if (ops->op[i].error)
			continue;
		ops->points[ops->op[i].index]->installed = (uint32_t) ops->install;
		ops->done++;
	}
	spi_patch_unlock(before);
}

static int write_all(struct spi_point **points, unsigned int n, const char **errors, int install)
{
	struct ops ops = { .op = ops_room(n), .points = points, .errors = errors, .install = install };

	for (unsigned int i = 0; i < n; i++) {
		errors[i] = ops.op ? NULL : "the agent has no memory left";
		if (!ops.op || points[i]->installed == (uint32_t) install)
			continue;
		errors[i] = may_write(points[i], install);
		spi_debug(SPI_DEBUG_PATCH, "%s %lx: %s", install ? "entry" : "entry leaves", points[i]->address,
			errors[i] ? errors[i] : "its jump is written");
		if (!errors[i])
			ops.op[ops.n++].index = i;
	}
	if (install)
		spi_frames_tell();
	if (ops.n && spi_patch_frozen && spi_patch_frozen(ops_write, &ops) < 0)
		return -EAGAIN;
	if (!spi_patch_frozen)
		ops_write(&ops);
	return (int) ops.done;
}

int spi_patch_install(struct spi_point **points, unsigned int n, const char **errors)
{
	return write_all(points, n, errors, 1);
}

int spi_patch_remove(struct spi_point **points, unsigned int n, const char **errors)
{
	return write_all(points, n, errors, 0);
}

int spi_patch_is_in_text(const struct spi_point *point)
{
	const struct spi_patch *patch = point->patch;

	uint8_t bytes[8];

	return patch && spi_memory_copy(bytes, patch->address, patch->changed) == 0 &&
		!spi_bytes_equal(bytes, patch->old, patch->changed);
}

void spi_patch_forget(const struct spi_object *object)
{
	uint64_t before = spi_patch_lock();

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
	spi_patch_unlock(before);
}

void spi_patch_fork_child(void)
{
	spi_near_fork_child();
	spi_trampoline_fork_child();
}
