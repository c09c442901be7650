/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The propeller. A site's call comes here from its thunk. Usually three things are
 * looked at: is the thread's view of the trees up to date, has the callee been
 * looked at, is the thread in a tree that records this site; then the payload
 * goes on. The first call that leads to a function puts the sites in it in place,
 * here and now, in the program's thread, whatever that is in the middle of: a
 * handler, its malloc lock, a thread's first or last instructions. So no lock is
 * taken but the patch lock, nothing of libc's is called, and errno stays.
 *
 * In a tree or not: trees of the whole program have every thread but the first
 * from its first call on; the first one while it is below the tree's root, as any
 * thread is of other trees. A thread that the tracer itself started is in none,
 * nor is what the tracer calls while it records (spi_thread.busy). In a child of
 * vfork() or clone(), which borrows our memory, nothing is changed.
 */
#include <errno.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/budget/budget.h"
#include "liblttng-spi/tree/internal.h"

/* ---- threads ---- */

static int is_first_thread(void)
{
	return spi_raw3(SYS_gettid, 0, 0, 0) == spi_raw3(SYS_getpid, 0, 0, 0);
}

/* One may have ended since the thread looked, and another, or the same once more, have begun: the thread is not in that. */
static uint32_t without_ended(const struct spi_thread *t)
{
	uint32_t trees = t->tree & spi_tree_existing;

	for (uint32_t rest = t->tree_epoch ? trees : 0; rest; rest &= rest - 1) {
		uint32_t i = (uint32_t) __builtin_ctz(rest);

		if ((int32_t) (t->tree_epoch - __atomic_load_n(&spi_tree_ended[i], __ATOMIC_ACQUIRE)) < 0)
			trees &= ~(1u << i);
	}
	return trees;
}

/* The trees have changed, or it is the thread's first call. */
__attribute__((noinline)) uint32_t spi_tree_thread_look(struct spi_thread *t)
{
	uint32_t epoch = (uint32_t) spi_tree_epoch, trees = t->tree;
	int lent;

	if (spi_unlikely(spi_mode == SPI_MODE_SILENT))
		return 0;		/* no system call */
	if (spi_unlikely(spi_thread_is_foreign(t)))
		return 0;		/* and nothing is changed: it is no thread's */
	lent = spi_is_lent();
	if (spi_unlikely(lent > 0))
		return 0;		/* the same: these are its parent's */
	if (t->busy >= SPI_BUSY_ALWAYS)
		return 0;		/* for the moment: before main(), within fork(), after which it is where it was; or for ever */
	if (!t->own && spi_thread_is_tracer()) {
		t->busy |= SPI_BUSY_ALWAYS;
		return t->tree = 0;
	}
	trees = without_ended(t) | spi_tree_everybody;
	if (!is_first_thread())
		trees |= spi_tree_others;
	t->tree = trees;
	t->tree_over = 0;
	t->tree_epoch = lent ? 0 : epoch;
	spi_tree_words_look(t);
	return trees;
}

uint32_t spi_tree_of_caller(void)
{
	struct spi_thread *t = &spi_thread;

	if (spi_likely(!t->busy))
		return spi_tree_of(t);
	return t->busy < SPI_BUSY_ALWAYS ? t->tree & spi_tree_existing : 0;	/* a handler has interrupted a record */
}

/* Slots of calls that trees of this kind have recorded, where there are trees of both. */
static uint32_t slots_used_by(struct spi_thread *t, uint32_t compact)
{
	uint32_t n = 0;

	for (struct spi_slot *s = t->cur ? spi_thread_top(t) : NULL; s; s = spi_slot_below(s))
		n += s->state == SPI_SLOT_LIVE && s->p != SPI_SLOT_DEAD && s->target &&
			(s->point->flags & SPI_POINT_COMPACT) == compact;
	return n;
}

/* How many slots are in use on this thread: its depth, counted from anywhere. Trees of both kinds have one each for a call. */
static uint32_t slots_used(struct spi_thread *t, uint32_t tree)
{
	uint32_t n;

	if (!t->cur)
		return 0;
	if (spi_unlikely(spi_trees_of(spi_tree_existing, 0)) && spi_trees_of(spi_tree_existing, SPI_POINT_COMPACT))
		return slots_used_by(t, tree & spi_tree_compact ? SPI_POINT_COMPACT : 0);
	n = (uint32_t) (t->cur - t->base);
	for (uint32_t chunk = spi_chunks[spi_chunk_of(t->base)].prev; chunk != CHUNK_NONE; chunk = spi_chunks[chunk].prev)
		n += CHUNK_SLOTS - 1;
	return n;
}

void spi_tree_base_set(struct spi_thread *t, uint32_t tree)
{
	if (t->own)
		t->own->tree_base[__builtin_ctz(tree)] = slots_used(t, tree);
}

/* Without the trees whose depth is reached. */
__attribute__((noinline)) uint32_t spi_tree_limit(struct spi_thread *t, uint32_t trees)
{
	t->tree_over = 0;
	for (uint32_t limited = trees & spi_tree_limited; limited; limited &= limited - 1) {
		uint32_t i = (uint32_t) __builtin_ctz(limited), base = t->own ? t->own->tree_base[i] : 0;
		uint32_t depth = slots_used(t, 1u << i);

		if (depth >= base && depth - base > spi_tree_depths[i])
			t->tree_over |= 1u << i;
	}
	return trees & ~t->tree_over;
}

/* ---- a callee ---- */

uint32_t spi_tree_enter(uint64_t callee, uint32_t trees, int *is_known)
{
	struct spi_tree_object *to = spi_tree_object_at(callee);
	int64_t func = to ? spi_tree_func_at(to, callee) : -1;
	const char *why;

	*is_known = to != NULL;
	if (func < 0)
		return 0;
	why = spi_tree_func_unfit(to, (uint64_t) func);
	if (spi_unlikely(why)) {
		if (to->funcs[func].is_fit != SPI_FIT_TOLD)
			spi_tree_decline(to, callee, why);
		to->funcs[func].is_fit = SPI_FIT_TOLD;
		return 0;
	}
	trees &= to->covered & ~to->funcs[func].excluded;
	if (trees & ~spi_tree_flat & ~spi_tree_asked)
		spi_sites_place(to, (uint64_t) func, trees & ~spi_tree_flat & ~spi_tree_asked);
	return trees;
}

/* The function that begins there, and those of `trees` that go into it; -1: none may be. */
static int64_t func_propelled(uint64_t callee, uint32_t *trees, struct spi_tree_object **to)
{
	int64_t func;

	*to = spi_tree_object_at(callee);
	func = *to ? spi_tree_func_at(*to, callee) : -1;
	if (func < 0 || spi_tree_func_unfit(*to, (uint64_t) func))
		return -1;
	*trees &= (*to)->covered & ~(*to)->funcs[func].excluded & ~spi_tree_flat;
	return func;
}

int spi_tree_propel(uint64_t callee, uint32_t trees)
{
	struct spi_tree_object *to;
	int64_t func = func_propelled(callee, &trees, &to);
	uint64_t before;

	if (func < 0)
		return -ENOTSUP;
	if (!trees)
		return 0;
	if (spi_clients_hold_patch())
		return trees & ~to->funcs[func].done ? -EDEADLK : 0;
	/* `done` is set before the sites are written: without the lock it does not tell that they are there */
	if (!spi_tree_lock(&before, -1))
		return -EAGAIN;
	spi_sites_place(to, (uint64_t) func, trees);
	spi_tree_unlock(before);
	return 0;
}

/* The number of the site whose call instruction begins there; -1: none does. A piece of a function may have it. */
static int64_t site_at(const struct spi_tree_object *to, uint64_t address)
{
	const int64_t func = spi_tree_func_around(to, address);
	const struct spi_map_func *f;

	if (func < 0 || !spi_tree_func_is_good((struct spi_tree_object *) to, (uint64_t) func))
		return -1;
	f = spi_tree_map_func(to, (uint64_t) func);
	for (uint32_t i = f->site_first; i < f->site_first + f->site_count; i++)
		if (SPI_MAP_AT(&to->map, sites, struct spi_map_site, i)->vaddr + to->object->bias == address)
			return i;
	return -1;
}

/* Without the patch lock. A site's `trees` say what is to be in place, and may come before the code does. */
static int site_is_ready(const struct spi_tree_object *to, int64_t site, uint32_t trees)
{
	const struct spi_site *s = __atomic_load_n(&to->sites[site], __ATOMIC_ACQUIRE);

	return s && !(trees & ~__atomic_load_n(&s->ready, __ATOMIC_ACQUIRE));
}

/* Under the patch lock, after the code was written. */
static void site_set_ready(struct spi_site *s, uint32_t trees)
{
	if (s)
		__atomic_fetch_or(&s->ready, trees & s->trees, __ATOMIC_RELEASE);
}

/* The function is looked at anew by the next that goes into it, and so are its pieces. Under the patch lock. */
static void func_undone(struct spi_tree_object *to, uint64_t func, uint32_t trees)
{
	const struct spi_map_func *f = spi_tree_map_func(to, func);

	to->funcs[func].done &= ~trees;
	if (!spi_tree_func_is_good(to, func) || f->reason == SPI_REASON_PART)
		return;
	for (uint32_t piece = f->piece; piece != SPI_MAP_NONE && spi_tree_func_is_good(to, piece);
			piece = spi_tree_map_func(to, piece)->piece)
		to->funcs[piece].done &= ~trees;
}

int spi_tree_propel_calls(uint64_t callee, uint32_t trees, const uint64_t *addresses, size_t count)
{
	struct spi_tree_object *to;
	int64_t func = func_propelled(callee, &trees, &to), site;
	int missing = 0, unknown = 0;
	uint64_t before;

	if (func < 0)
		return -ENOTSUP;
	for (size_t i = 0; i < count; i++) {
		site = site_at(to, addresses[i]);
		unknown |= site < 0;
		missing |= site >= 0 && !site_is_ready(to, site, trees);
	}
	if (missing && spi_clients_hold_patch())
		return -EDEADLK;
	if (missing) {
		if (!spi_tree_lock(&before, -1))
			return -EAGAIN;
		__atomic_fetch_or(&spi_tree_decided, trees, __ATOMIC_RELAXED);
		func_undone(to, (uint64_t) func, trees);
		spi_clients_choose(trees, addresses, count);
		spi_sites_place(to, (uint64_t) func, trees);
		spi_clients_choose(0, NULL, 0);
		for (size_t i = 0; i < count; i++)
			if ((site = site_at(to, addresses[i])) >= 0)
				site_set_ready(to->sites[site], trees);
		func_undone(to, (uint64_t) func, trees);	/* more may be asked for */
		spi_tree_unlock(before);
	}
	return unknown ? -ENOENT : 0;
}

/* The first call since `trees` came to a site whose callee is always the same. Its payload, and its callee's sites. */
__attribute__((noinline)) void spi_site_first_call(struct spi_point *point, uint32_t trees, uint64_t p)
{
	struct spi_thread *t = &spi_thread;
	uint64_t before, begin = spi_tree_budgets ? spi_now_ns() : 0;
	uint32_t live;
	int is_known;

	if ((t->busy && !spi_thread_nested(p)) || !spi_tree_lock(&before, SPI_LOST_FORK))
		return;
	trees &= point->tree_todo;
	if (trees && spi_tree_bind(point, trees) == 0) {
		live = spi_tree_enter(point->address, trees, &is_known);
		spi_tree_live_add(point, live);
		spi_tree_todo_done(point, trees);
	} else if (trees) {
		spi_call_missed(SPI_LOST_MEMORY);
	}
	spi_tree_unlock(before);
	if (begin)
		spi_budget_placed(spi_now_ns() - begin);
}

uint64_t spi_site_call(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_thread *t = &spi_thread;
	uint32_t trees = spi_tree_within(t);

	if (spi_unlikely(trees & point->tree_todo)) {
		if (!vec)
			return SPI_ANSWER_FULL;	/* compact: what is done now needs all registers saved */
		spi_site_first_call(point, trees, (uint64_t) &frame->ra);
	}
	trees &= point->tree_live;
	if (spi_unlikely(!trees))
		return 0;
	return spi_budget_record(t, (const struct spi_site *) point, point, frame, vec, stride);
}

/*
 * Usually the call is in one tree, which is for one client, and there is nothing to do first. Here the vector registers
 * may not be saved; for whatever else there is to do they are.
 */
uint64_t spi_site_call_clients(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	const struct spi_site *s = (const struct spi_site *) point;
	struct spi_thread *t = &spi_thread;
	const uint32_t todo = t->tree & (point->tree_todo | spi_tree_limited);
	const uint32_t trees = t->tree & point->tree_live & ~t->tree_over;
	struct spi_client *one;

	if (spi_likely(t->tree_epoch == spi_tree_epoch) && spi_likely(!todo) && spi_likely(!spi_tree_budgets) &&
			spi_likely(!spi_mode) && spi_likely(trees && !(trees & (trees - 1))) &&
			spi_likely(point->flags & SPI_POINT_CLIENTS)) {
		one = __atomic_load_n(&spi_client_of_tree[__builtin_ctz(trees)], __ATOMIC_ACQUIRE);
		if (spi_likely(one != NULL) && (vec || spi_likely(one->flags & SPI_PAYLOAD_GENERAL_REGISTERS))) {
			point->hits++;
			return spi_client_call_fast(point, frame, vec, stride, one, trees);
		}
	}
	if (!vec)
		return SPI_ANSWER_FULL;
	return spi_site_is_direct(s->map) ? spi_site_call(point, frame, vec, stride) :
		spi_site_call_any(point, frame, vec, stride);
}
