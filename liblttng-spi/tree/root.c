/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Entry points of trees: functions that are called from where no site is. Roots,
 * which begin a tree in the thread that enters them and end it when that call is
 * over; signal handlers, which the kernel calls; start routines of threads, which
 * libc calls, as far as libc is not traced itself.
 *
 * A function's entry is patched as for a rule of its own (patch/patch.h), with no gates:
 * a root has to be noticed when nothing records as well. A call that comes from a
 * site is recorded by that, and here once more only if the site's trees are
 * others.
 *
 * A root's call always gets a return slot, whether anybody recorded it or not, as
 * its end ends the tree in that thread. While a tree is open a further call of
 * its root is one like all others: it has a point of its own, whose end is none.
 *
 * Trees with plain and with compact records have a pair of points each, and a call
 * that both record has two slots (tree/sites/both.c); so has one that a rule by name records, too (entry-named.c).
 */
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/budget/budget.h"
#include "liblttng-spi/tree/internal.h"

/* ---- calls ---- */

#define BY_PLAIN	1u
#define BY_COMPACT	2u
#define BY_CLIENTS	4u

static uint32_t by_of(uint32_t flags)
{
	return flags & SPI_POINT_COMPACT ? BY_COMPACT : BY_PLAIN;
}

/* The slot under this one, of the same call: one call may have several (calls/calls.h). NULL: there is none. */
static const struct spi_slot *slot_of_same_call(const struct spi_thread *t, const struct spi_slot *slot)
{
	const struct spi_slot *below = slot > t->base ? slot - 1 : NULL;

	return below && below->p == slot->p && below->state == SPI_SLOT_LIVE && slot->ra == spi_slot_code(below) + SPI_SLOT_RETURN &&
		below->point->address == slot->point->address && below->point->call_site == slot->point->call_site ? below : NULL;
}

/* Who has recorded the call at the site that this call came from? The slots of the call then stand where the return address did. */
static uint32_t came_from_site(struct spi_thread *t, const struct spi_point *point, uint64_t p)
{
	const struct spi_slot *slot = t->cur && t->cur > t->base ? t->cur - 1 : NULL;
	uint32_t by = 0;

	if (!slot || !spi_slot_is_chained(slot, p) || slot->point->address != point->address || slot->point == point)
		return 0;
	for (; slot; slot = slot_of_same_call(t, slot))
		by |= spi_slot_is_clients(slot) ? BY_CLIENTS : by_of(slot->point->flags);
	return by;
}

/* A jump inside of a function to its first byte: the same call goes on, whoever recorded it. */
static int goes_on(const struct spi_thread *t, const struct spi_entry *e, uint64_t p)
{
	const struct spi_slot *top = t->cur && t->cur > t->base ? t->cur - 1 : NULL;

	if (!(e->point.flags & SPI_POINT_LOOPS) || !top || !spi_slot_is_chained(top, p))
		return 0;
	while ((top->point == e->named || spi_slot_is_clients(top)) && top > t->base && top[-1].p == p &&
			top[-1].state == SPI_SLOT_LIVE)
		top--;
	if (top->point->address == e->point.address && spi_slot_is_clients(top))
		return 1;
	for (int i = 0; i < 2; i++)
		if (e->pairs[i] && (top->point == &e->pairs[i]->outer || top->point == &e->pairs[i]->inner))
			return 1;
	return 0;
}

static __attribute__((noinline)) void first_call(struct spi_entry *e, uint32_t trees)
{
	uint64_t before;
	uint32_t live;
	int is_known;

	if (!spi_tree_lock(&before, SPI_LOST_FORK))
		return;
	trees &= e->point.tree_todo;
	live = spi_tree_enter(e->point.address, trees, &is_known);
	if (live & spi_tree_asked)	/* what a tree begins with is gone into unasked */
		spi_sites_place(e->to, e->func, live & spi_tree_asked & ~spi_tree_flat);
	live |= trees & e->to->covered & e->to->funcs[e->func].budget;	/* from here it is recorded all the same */
	__atomic_fetch_or(&e->point.tree_live, live, __ATOMIC_RELEASE);
	__atomic_fetch_and(&e->point.tree_todo, ~trees, __ATOMIC_RELEASE);
	spi_tree_unlock(before);
}

/* A slot although nobody recorded the call. */
static uint64_t slot_silent(struct spi_thread *t, struct spi_point *point, struct spi_frame *frame)
{
	struct spi_slot *slot;
	uint64_t code = 0;

	if (spi_slots_kept || !spi_call_begin(t, (uint64_t) &frame->ra, 0))
		return 0;
	slot = spi_slot_ready(t, (uint64_t) &frame->ra);
	if (slot) {
		code = spi_slot_push(t, &slot, point, frame);
		slot->start = 0;
		slot->cookie = NULL;
		slot->aux = SPI_SLOT_APART;
	}
	spi_call_end(t);
	return code;
}

static void tree_leave(struct spi_thread *t, uint32_t trees)
{
	t->tree &= ~trees;
	spi_tree_words_look(t);
}

/* These begin with the call at p, and end with it: another root's, or the same one's below it, may have begun others. */
static void openers_set(const struct spi_thread *t, uint32_t trees, uint64_t p)
{
	for (; t->own && trees; trees &= trees - 1)
		t->own->tree_opener[__builtin_ctz(trees)] = p;
}

static uint32_t opened_at(const struct spi_thread *t, uint32_t trees, uint64_t p)
{
	for (uint32_t left = trees; t->own && left; left &= left - 1)
		if (t->own->tree_opener[__builtin_ctz(left)] != p)
			trees &= ~(left & -left);
	return trees;
}

/*
 * Which trees record the call, in the point that will. Who switches one off clears the entry's, waits until each thread has
 * seen that, and clears those of the pairs (spi_entries_forget()): so what is written here is looked at once more.
 */
static uint32_t pair_look(const struct spi_entry *e, struct spi_point *point)
{
	uint32_t live, seen = e->point.tree_live & ~e->rests;

	do {
		live = seen;
		point->tree_live = spi_trees_of(live, point->flags);
		spi_barrier();
		seen = e->point.tree_live & ~e->rests;
	} while (spi_unlikely(seen != live));
	return live;
}

/* Trees that begin with its call in a thread that is not in them. */
static uint32_t begun_by(const struct spi_entry *e)
{
	return (e->opens & ~e->rests) | e->begins;
}

/* What of a call is still to be recorded, for the event module or for clients. */
static uint64_t pair_record(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride, uint32_t parts)
{
	if (spi_unlikely(spi_mode) && !spi_child_still_records(point, (uint64_t) &frame->ra))
		return 0;
	point->hits += !(parts & SPI_PART_CLIENTS) || (parts & SPI_PART_RECORDER);
	if (point->flags & SPI_POINT_CLIENTS)
		return spi_tree_record_parts(point, frame, vec, stride, parts);
	return parts & SPI_PART_RECORDER ? point->record(point, frame, vec, stride) : 0;
}

/* One kind of records; `opens` begin in this thread with this call. Returns a slot's code, or 0. */
static uint64_t pair_call(struct spi_pair *pair, uint32_t trees, uint32_t opens, uint32_t by_site, struct spi_frame *frame,
	const uint8_t *vec, uint64_t stride)
{
	struct spi_thread *t = &spi_thread;
	uint64_t code = 0;
	const uint32_t had = by_site & by_of(pair->inner.flags);
	const uint32_t by_clients = (by_site & BY_CLIENTS) || !(pair->inner.flags & SPI_POINT_CLIENTS);
	uint32_t parts = (by_clients ? 0 : SPI_PART_CLIENTS) | (had ? 0 : SPI_PART_RECORDER);

	if (!opens) {
		if (!parts || !(trees & pair_look(pair->entry, &pair->inner)))
			return 0;
		return pair_record(&pair->inner, frame, vec, stride, parts);
	}
	pair_look(pair->entry, &pair->outer);
	/* two trees without tags are one record; with tags each session has its own, but what has it from the site */
	t->tree_apart = had ? trees : 0;
	if (opens & spi_tree_tagged)
		parts |= SPI_PART_RECORDER;
	code = pair_record(&pair->outer, frame, vec, stride, parts & SPI_PART_RECORDER);
	t->tree_apart = 0;
	if (!code)
		code = slot_silent(t, &pair->outer, frame);
	if (!code)
		tree_leave(t, opens);
	if (!(parts & SPI_PART_CLIENTS))
		return code;
	spi_slot_chain_begin(frame, code);
	return spi_slot_chain_end(frame, code, pair_record(&pair->outer, frame, vec, stride, SPI_PART_CLIENTS));
}

/*
 * Of a function that may be entered by a jump: is the word at its stack's top to stay? It leads to no code of a file, and
 * may be data, or to code whose runtime looks up return addresses.
 */
static int is_jumped_to(struct spi_entry *e, uint64_t ra)
{
	const struct spi_tree_object *to;
	int64_t func;

	if (!(e->point.func->flags & SPI_FUNC_HANDED_OVER) || e->opens || ra == e->returns_to)
		return 0;
	to = spi_symbols_know(ra, 1) ? spi_tree_object_at(ra) : NULL;
	func = to ? spi_tree_func_around(to, ra) : -1;
	if (func >= 0 ? spi_tree_map_func(to, (uint64_t) func)->reason == SPI_REASON_MANAGED : !spi_symbols_know(ra, 1))
		return 1;
	e->returns_to = ra;
	return 0;
}

/* The call is not recorded; what it calls is. */
static __attribute__((noinline)) void jumped_to(struct spi_entry *e, uint32_t trees)
{
	uint64_t before;

	if (!(trees & e->point.tree_todo))
		return;
	first_call(e, trees);
	if (spi_patch_lock_soon(&before) < 0)
		return;
	spi_tree_decline(e->to, e->point.address,
		"no call from a loaded file enters it: only what it calls is recorded");
	spi_patch_unlock(before);
}

static uint64_t trees_call(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_entry *e = (struct spi_entry *) point;
	struct spi_thread *t = &spi_thread;
	uint32_t trees = spi_tree_of(t), opens = begun_by(e) & ~trees, by_site, over, apart;
	uint64_t p = (uint64_t) &frame->ra, code = 0, second;
	int had_own = t->own != NULL;

	if (spi_unlikely(spi_thread_is_foreign(t)) || (t->busy && !spi_thread_nested(p)))
		return 0;
	if (!(trees | opens) || spi_unlikely(spi_is_lent() > 0) || goes_on(t, e, p))
		return 0;
	if (spi_unlikely(spi_mode) && (t->owed & SPI_THREAD_NEW)) {	/* the call begins a forked child, and trees may end meanwhile */
		if (!spi_thread_may(p))
			return 0;
		trees = spi_tree_of(t);
		opens = begun_by(e) & ~trees;
	}
	by_site = came_from_site(t, point, p);
	if (spi_unlikely(spi_client_trees) && !by_site)
		spi_clients_handler(p);
	if (spi_unlikely(e->is_spare)) {
		trees = trees & spi_tree_limited ? spi_tree_limit(t, trees) : trees;
		if (by_site)
			spi_entry_spare_over(e);
	}
	if (spi_unlikely(!by_site && is_jumped_to(e, frame->ra))) {
		jumped_to(e, trees);
		return 0;
	}
	if (!(trees | opens))
		return 0;
	if ((trees | opens) & point->tree_todo)
		first_call(e, trees | opens);
	if (opens) {
		t->tree |= opens;
		spi_tree_words_look(t);
		for (uint32_t left = opens; left; left &= left - 1)
			spi_tree_base_set(t, left & -left);
		openers_set(t, opens, p);
	}
	/* depth is not looked at here; a handler's call gives both back to what it has interrupted */
	over = t->tree_over;
	apart = t->tree_apart;
	t->tree_over = t->tree_apart = 0;
	for (int compact = 1; compact >= 0; compact--) {
		uint32_t flags = compact ? SPI_POINT_COMPACT : 0;
		uint32_t begins = spi_trees_of(opens, flags), in = spi_trees_of(trees, flags);

		if (!(begins | in) || !e->pairs[compact])
			continue;
		spi_slot_chain_begin(frame, code);
		second = pair_call(e->pairs[compact], in, begins, by_site, frame, vec, stride);
		code = spi_slot_chain_end(frame, code, second);
	}
	t->tree_over = over;
	t->tree_apart = apart;
	if (opens && !had_own)
		openers_set(t, opens, p);
	if (spi_budget_is_due(t)) {
		t->budget_calls = 0;
		spi_budget_look(0);
	}
	return code;
}

/* What trees do, and then what a rule by name does. */
uint64_t spi_entry_call(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_entry *e = (struct spi_entry *) point;
	struct spi_point *named = __atomic_load_n(&e->named, __ATOMIC_ACQUIRE);
	uint64_t code = trees_call(point, frame, vec, stride), second;

	if (spi_likely(!named) || !((named->flags & SPI_POINT_CLIENTS) || (named->gate[0] && *named->gate[0]) || (named->gate[1] && *named->gate[1])))
		return code;
	spi_slot_chain_begin(frame, code);
	second = named->entry(named, frame, vec, stride);
	return spi_slot_chain_end(frame, code, second);
}

static void pair_over(const struct spi_pair *pair, uint64_t p)
{
	struct spi_thread *t = &spi_thread;
	const struct spi_entry *e = pair->entry;

	tree_leave(t, opened_at(t, spi_trees_of((e->opens | e->begins) & ~spi_tree_everybody, pair->outer.flags), p));
}

void spi_pair_exit(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_pair *pair = (struct spi_pair *) slot->point;
	uint64_t p = slot->p;

	if (slot->aux == SPI_SLOT_APART) {	/* silent: clients have slots of their own */
		slot->aux = 0;
		spi_slot_pop(&spi_thread, slot);
	} else {
		pair->exit(slot, frame, vec, stride);
	}
	pair_over(pair, p);
}

void spi_pair_left(struct spi_slot *slot, enum spi_left how)
{
	struct spi_pair *pair = (struct spi_pair *) slot->point;

	if (slot->aux != SPI_SLOT_APART)
		pair->left(slot, how);
	else
		slot->aux = 0;
	pair_over(pair, slot->p);
}
