/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Sites whose callee is not known from the map.
 *
 * Through a slot that the dynamic linker fills: the callee stands there once it is
 * bound, and does not change any more; then the site is one like all others.
 * While it is unbound, the name is looked up as the linker will (objects/symbols.c), since
 * to wait for the linker would be to miss the first call.
 *
 * Through a register or other memory: any callee at any time. The site's stub tells
 * its target (spi_frame_callee()). Each callee that a site meets gets a point of its own, a
 * child, which has the callee's address and the site's; payloads see children
 * only. The site's latest is tried first, as most sites have one or two; an
 * interpreter's have thousands, so all others are in one hash table, which is read
 * without a lock: an entry is whole before it is in the table, a larger table before
 * it is the table, and nothing is ever taken out.
 *
 * Code that is made all the time would fill any table. So there is a limit, of which code that no tree knows, whose calls are
 * never recorded, has one half, and functions the whole. What is called beyond it has no point: calls of functions count as
 * lost, and the site is named; their own sites are put in place all the same.
 */
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/budget/budget.h"
#include "liblttng-spi/tree/internal.h"
#include "liblttng-spi/tree/made.h"

#define CHILDREN_MAX	(UINT64_C(1) << 20)
#define MANY_CALLEES	"too many different functions are called through pointers: calls of further ones are not recorded"
#define BASE_ROOM	32768u	/* below a thread's descriptor: its thread-local variables, and the frame of its first function */

/* ---- slots ---- */

/*
 * An address that is in no object of a tree: if nobody has looked at that object yet, the control side is asked to.
 * Code that was made, not loaded, stays unknown; a call of it asks once, and so once more after each that was loaded.
 * Either way the call goes on unrecorded; when the object has come, its points look again.
 */
static void ask_for(uint64_t address)
{
	static uint64_t asked_for;

	if (spi_symbols_know(address, 0) || spi_control_event < 0 || __atomic_load_n(&asked_for, __ATOMIC_RELAXED) == address)
		return;
	__atomic_store_n(&asked_for, address, __ATOMIC_RELAXED);
	spi_control_ring();
}

/*
 * The callee behind a slot; 0: not to be told yet. The agent stands before some of libc's functions; what the program
 * means is libc's.
 */
static uint64_t slot_callee(const struct spi_site *s)
{
	const struct spi_tree_object *to = s->owner;
	uint64_t value = *(const volatile uint64_t *) (s->map->target + to->object->bias), real;
	const char *import = spi_map_string(&to->map, s->map->import);
	const char *version = spi_map_string(&to->map, s->map->version);

	/* unbound, it leads back into a linkage stub of the object itself */
	if (!value || (value >= to->low && value < to->high && spi_tree_func_at(to, value) < 0))
		value = import[0] ? spi_symbol_find(import, version, to->object, 0) : 0;
	if (!spi_tree_is_agent(value) || !import[0])
		return value;
	real = spi_symbol_find(import, version, to->object, 1);
	return real ? real : value;
}

/* The first calls of a site that goes through a slot: 1 when its callee was told. */
static int slot_resolve(struct spi_site *s, struct spi_point *point, uint32_t trees)
{
	uint64_t callee;
	uint32_t live;
	int is_known;

	callee = slot_callee(s);
	if (!callee) {
		spi_call_missed(SPI_APART_UNBOUND);
		return 0;
	}
	if (!point->payload && spi_tree_tracer_take(point, callee, trees))
		return 1;
	live = spi_tree_enter(callee, trees, &is_known);
	if (!is_known && !spi_symbols_know(callee, 0)) {
		/* its object was loaded a moment ago; when it has come, the point looks again */
		point->address = callee;
		ask_for(callee);
		spi_tree_todo_done(point, trees);
		return 1;
	}
	if (live) {
		point->address = callee;
		if (spi_tree_bind(point, live) < 0) {
			spi_call_missed(SPI_LOST_MEMORY);
			return 0;
		}
	}
	spi_tree_live_add(point, live);
	spi_tree_todo_done(point, trees);
	if (!s->is_both && !point->tree_live && !(point->tree_todo & ~SPI_TREE_OPEN))
		spi_site_restore(s);
	return 1;
}

/* ---- changing callees ---- */

struct child_table {
	uint64_t size;			/* power of two */
	struct spi_child *child[];
};
static struct child_table *child_table;
static uint64_t child_count;

/* Where the child is, or would be. */
static struct spi_child **child_place(struct child_table *table, const struct spi_site *s, uint64_t target, uint32_t compact)
{
	uint64_t i = (((uint64_t) s >> 6) * UINT64_C(0x9e3779b97f4a7c15) + target * UINT64_C(0xc2b2ae3d27d4eb4f)) >> 24;
	struct spi_child *c;

	for (;; i++) {
		c = __atomic_load_n(&table->child[i & (table->size - 1)], __ATOMIC_ACQUIRE);
		if (!c || (c->site == s && c->target == target && (c->point.flags & SPI_POINT_COMPACT) == compact))
			return &table->child[i & (table->size - 1)];
	}
}

static struct spi_child *child_find(struct spi_site *s, uint64_t target, uint32_t compact)
{
	struct child_table *table = __atomic_load_n(&child_table, __ATOMIC_ACQUIRE);
	struct spi_child *c = table ? *child_place(table, s, target, compact) : NULL;

	if (c && (s->point.flags & SPI_POINT_COMPACT) == compact)
		__atomic_store_n(&s->point.latest, c, __ATOMIC_RELEASE);
	return c;
}

/* May there be one more for this callee? What the tracer is called by has to be told from all other calls, and is little. */
static int child_may_come(uint64_t target)
{
	uint64_t count = __atomic_load_n(&child_count, __ATOMIC_RELAXED);

	return count < CHILDREN_MAX / 2 || (count < CHILDREN_MAX && spi_tree_object_at(target)) || spi_tracer_code_has(target);
}

/* Under the patch lock. -1: no memory. */
static int child_room_make(void)
{
	struct child_table *table = child_table, *more;
	uint64_t size = table ? table->size * 2 : 1024;

	if (table && child_count * 2 < table->size)
		return 0;
	more = spi_alloc(sizeof(*more) + size * sizeof(more->child[0]));
	if (!more)
		return -1;
	more->size = size;
	for (uint64_t i = 0; table && i < table->size; i++)
		if (table->child[i])
			*child_place(more, table->child[i]->site, table->child[i]->target,
				table->child[i]->point.flags & SPI_POINT_COMPACT) = table->child[i];
	__atomic_store_n(&child_table, more, __ATOMIC_RELEASE);
	return 0;
}

static void child_add(struct spi_child *c)
{
	__atomic_store_n(child_place(child_table, c->site, c->target, c->point.flags & SPI_POINT_COMPACT), c, __ATOMIC_RELEASE);
	__atomic_store_n(&child_count, child_count + 1, __ATOMIC_RELAXED);
}

/* Under the patch lock. Memory is taken last: what spi_alloc() gives is never given back. */
static struct spi_child *child_make(struct spi_site *s, uint64_t target, uint32_t compact)
{
	struct spi_child *c = child_find(s, target, compact);
	uint64_t address = spi_tree_is_agent(target) ? spi_symbol_behind(target, s->owner->object) : 0;
	int is_own = (s->point.flags & SPI_POINT_COMPACT) == compact;

	if (c)
		return c;
	if (!child_may_come(target) || child_room_make() < 0)
		return NULL;
	c = (struct spi_child *) spi_site_point(s, sizeof(*c), address ? address : target, target, compact);
	if (!c)
		return NULL;
	c->target = target;
	c->point.tree_todo = spi_trees_of(s->trees, compact);
	c->site = s;
	child_add(c);
	c->next = s->children;
	__atomic_store_n(&s->children, c, __ATOMIC_RELEASE);
	if (is_own)
		__atomic_store_n(&s->point.latest, c, __ATOMIC_RELEASE);
	return c;
}

struct spi_point *spi_site_child(struct spi_site *s, uint64_t target, uint32_t compact)
{
	struct spi_child *c = child_find(s, target, compact);

	return c ? &c->point : NULL;
}

/*
 * What a new thread runs first is libc's own (start_thread(), called by clone3()): it never returns, and what it calls
 * at the thread's end comes after the thread's state is gone.
 */
static int is_thread_base(const struct spi_site *s, uint64_t p)
{
	const struct spi_thread *t = &spi_thread;
	uint64_t self = spi_thread_pointer();

	return !t->cur && s->owner->is_libc && self > p && self - p < BASE_ROOM;
}

static int child_resolve(struct spi_child *c, uint32_t trees)
{
	struct spi_point *point = &c->point;
	uint32_t live;
	int is_known;

	if (spi_tree_tracer_take(point, point->address, trees))
		return 1;
	live = spi_tree_enter(point->address, trees, &is_known);
	if (!is_known && spi_tree_made_enter(c->site, point->address, trees))
		return 1;		/* and each call is looked at */
	if (!is_known)
		ask_for(point->address);
	if (live && spi_tree_bind(point, live) < 0) {
		spi_call_missed(SPI_LOST_MEMORY);
		return 0;
	}
	spi_tree_live_add(point, live);
	spi_tree_todo_done(point, trees);
	return 1;
}

/* ---- callees that get no point ---- */

/*
 * Is there nothing to be done for the call, as the limit is reached, the site was named for it, and the callee's own sites are
 * in place, or it is no function of a tree's? Without a lock, and as often as code that is made all the time is called.
 */
int spi_site_call_is_beyond(const struct spi_site *s, uint32_t trees, const struct spi_frame *frame)
{
	struct spi_thread *t = &spi_thread;
	const struct spi_tree_object *to;
	uint64_t target = spi_frame_callee(frame);
	int64_t func;

	if (spi_likely(__atomic_load_n(&child_count, __ATOMIC_RELAXED) < CHILDREN_MAX / 2) || child_may_come(target))
		return 0;
	to = spi_tree_object_at(target);
	func = to ? spi_tree_func_at(to, target) : -1;
	if (func < 0 || to->funcs[func].is_fit == SPI_FIT_TOLD)
		return 1;
	trees &= to->covered & ~to->funcs[func].excluded;
	if (trees & ~spi_tree_flat & ~to->funcs[func].done)
		return 0;
	trees &= ~to->outside;		/* those record it at its entry */
	if (trees && !s->is_told)
		return 0;
	if (trees && (!t->busy || spi_thread_nested((uint64_t) &frame->ra)))
		spi_call_missed(SPI_LOST_CALLEES);
	return 1;
}

/* Under the patch lock: a callee has no point, for want of room or memory. */
static void call_miss(struct spi_site *s, uint64_t target, uint32_t trees)
{
	int is_full = !child_may_come(target), is_known;
	const struct spi_tree_object *to = spi_tree_object_at(target);

	trees = spi_tree_enter(target, trees, &is_known);
	if (!trees || !(trees & ~to->outside))
		return;
	if (!s->is_told)
		spi_tree_decline(s->owner, s->point.call_site, is_full ? MANY_CALLEES : "the agent has no memory left");
	s->is_told = 1;
	spi_call_missed(is_full ? SPI_LOST_CALLEES : SPI_LOST_MEMORY);
}

/* ---- */

/* Does the call lead to code that a user's parser may know? 0, or -EAGAIN: the parser was not asked. */
static int made_look(const struct spi_site *s, uint32_t trees, const struct spi_frame *frame)
{
	uint64_t code;

	if (!spi_made_ask && !spi_made_objects)
		return 0;
	code = spi_site_is_slot(s->map) ? slot_callee(s) : spi_frame_callee(frame);
	return code ? spi_made_look(code, trees & spi_client_trees, (uint64_t) &frame->ra) : 0;
}

/* The point that stands for this call, after whatever is new about it was done. NULL: not to be recorded. */
__attribute__((noinline)) struct spi_point *spi_site_first_call_any(struct spi_site *s, struct spi_point *known, uint32_t trees,
	struct spi_frame *frame, uint32_t compact)
{
	struct spi_thread *t = &spi_thread;
	struct spi_point *point = NULL;
	struct spi_child *c;
	uint64_t before, begin = spi_tree_budgets ? spi_now_ns() : 0;

	if ((t->busy && !spi_thread_nested((uint64_t) &frame->ra)) || !spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
		return NULL;
	if (spi_unlikely(trees & spi_client_trees) && made_look(s, trees & s->trees, frame) < 0)
		return NULL;		/* and the next call asks again */
	if (!spi_tree_lock(&before, SPI_LOST_FORK))
		return known ? known : spi_site_child(s, spi_frame_callee(frame), compact);	/* trees that have met it before go on */
	trees = spi_trees_of(trees & s->trees, compact);
	if (known && spi_site_is_slot(s->map)) {
		if (!(trees & known->tree_todo) || slot_resolve(s, known, trees & known->tree_todo))
			point = known;
	} else if ((c = child_make(s, spi_frame_callee(frame), compact)) != NULL && is_thread_base(s, (uint64_t) &frame->ra)) {
		c->point.tree_todo = 0;
	} else if (c) {
		if (!(trees & c->point.tree_todo) || child_resolve(c, trees & c->point.tree_todo))
			point = &c->point;
	} else if (!is_thread_base(s, (uint64_t) &frame->ra)) {
		call_miss(s, spi_frame_callee(frame), trees);
	}
	spi_tree_unlock(before);
	if (begin)
		spi_budget_placed(spi_now_ns() - begin);
	return point;
}

uint64_t spi_site_call_any(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_site *s = (struct spi_site *) point;
	struct spi_thread *t = &spi_thread;
	uint32_t trees = spi_tree_within(t);
	uint64_t target = spi_frame_callee(frame);
	uint32_t kind = point->flags & SPI_POINT_COMPACT;
	struct spi_child *c;

	if (s->map->target && spi_site_is_slot(s->map))
		target = 0;
	if (!target) {
		if (spi_unlikely(trees & point->tree_todo)) {
			if (!vec)
				return SPI_ANSWER_FULL;
			if (!spi_site_first_call_any(s, point, trees, frame, kind))
				return 0;
		}
	} else {
		c = __atomic_load_n(&s->point.latest, __ATOMIC_ACQUIRE);
		if (spi_unlikely(!c || c->target != target))
			c = child_find(s, target, kind);
		point = c ? &c->point : NULL;
		if (spi_unlikely(!c || (trees & point->tree_todo))) {
			if (!(trees & s->trees) || (!c && spi_site_call_is_beyond(s, spi_trees_of(trees & s->trees, kind), frame)))
				return 0;
			if (!vec)
				return SPI_ANSWER_FULL;
			point = spi_site_first_call_any(s, NULL, trees, frame, kind);
			if (!point)
				return 0;
		}
	}
	trees &= point->tree_live;
	if (spi_unlikely(!trees)) {
		if (spi_unlikely(spi_tree_budgets) && point != &s->point) {
			if (spi_budget_skip_is_due(t)) {
				if (!vec)
					return SPI_ANSWER_FULL;
				spi_budget_skip(t);
			}
			s->point.hits++;
		}
		return 0;
	}
	return spi_budget_record(t, s, point, frame, vec, stride);
}
