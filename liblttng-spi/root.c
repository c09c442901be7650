/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Entry points of trees: functions that are called from where no site is. Roots,
 * which begin a tree in the thread that enters them and end it when that call is
 * over; signal handlers, which the kernel calls; start routines of threads, which
 * libc calls, as far as libc is not traced itself.
 *
 * A function's entry is patched as for a rule of its own (patch.h), with no gates:
 * a root has to be noticed when nothing records as well. A call that comes from a
 * site is recorded by that, and here once more only if the site's trees are
 * others.
 *
 * A root's call always gets a return slot, whether anybody recorded it or not, as
 * its end ends the tree in that thread. While a tree is open a further call of
 * its root is one like all others: it has a point of its own, whose end is none.
 */
#include <errno.h>
#include <signal.h>
#include <sys/auxv.h>
#include "liblttng-spi/interpose.h"
#include "liblttng-spi/site.h"
#include "liblttng-spi/threads-internal.h"
#include "liblttng-spi/tree.h"

/* What is recorded of an entry's calls, one way or the other. */
struct spi_pair {
	struct spi_point outer;		/* first; begins trees */
	struct spi_point inner;		/* the same call inside */
	spi_exit_fn exit;		/* the payload's, of `outer` */
	spi_left_fn left;
	struct spi_entry *entry;
};

struct spi_entry {
	struct spi_point point;		/* first; the stub's */
	struct spi_pair *pairs[2];	/* [1]: compact records; NULL: not made yet */
	uint32_t compact;		/* which is in use */
	struct spi_tree_object *to;
	uint64_t func;
	uint32_t opens;			/* trees that it is the root of */
	struct spi_entry *next;
};

static struct spi_entry *entries;

static struct spi_entry *entry_find(uint64_t address)
{
	struct spi_entry *e = __atomic_load_n(&entries, __ATOMIC_ACQUIRE);

	while (e && (e->point.address != address || e->to->gone))
		e = e->next;
	return e;
}

/* ---- threads on their way ---- */

/* Threads on their way, made inside a tree that is not every thread's. */
#define MADE_MAX	256u
static struct {
	uint64_t start, arg;
	uint32_t trees;
} made[MADE_MAX];
static uint32_t made_count;

void spi_tree_thread_made(struct spi_thread *t, uint64_t start, uint64_t arg)
{
	uint32_t trees = spi_tree_of(t) & ~spi_tree_everybody & ~spi_tree_others & spi_tree_threads;
	uint64_t before;

	if (t->busy >= SPI_BUSY_ALWAYS)
		return;
	spi_tree_callback(start);
	if (!trees)
		return;
	before = spi_patch_lock();
	for (uint32_t i = 0; i < MADE_MAX; i++)
		if (!made[i].trees) {
			made[i].start = start;
			made[i].arg = arg;
			made[i].trees = trees;
			__atomic_fetch_add(&made_count, 1, __ATOMIC_RELEASE);
			break;
		}
	spi_patch_unlock(before);
}

/* The trees that a thread which begins here was made in. */
static __attribute__((noinline)) uint32_t made_take(uint64_t start, uint64_t arg)
{
	uint64_t before = spi_patch_lock();
	uint32_t trees = 0;

	for (uint32_t i = 0; i < MADE_MAX && !trees; i++)
		if (made[i].trees && made[i].start == start && made[i].arg == arg) {
			trees = made[i].trees;
			made[i].trees = 0;
			__atomic_fetch_sub(&made_count, 1, __ATOMIC_RELEASE);
		}
	spi_patch_unlock(before);
	return trees & spi_tree_existing;
}

/* ---- calls ---- */

/* Has the site that this call came from recorded it? Its slot then stands where the return address did. */
static int came_from_site(const struct spi_thread *t, const struct spi_point *point, uint64_t p)
{
	const struct spi_slot *top = t->cur && t->cur > t->base ? t->cur - 1 : NULL;

	return top && spi_slot_is_chained(top, p) && top->point->address == point->address && top->point != point;
}

static __attribute__((noinline)) void first_call(struct spi_entry *e, uint32_t trees)
{
	struct spi_thread *t = &spi_thread;
	uint64_t before;
	uint32_t live;
	int is_known;

	if (!spi_process_is_mine())
		return;
	before = spi_patch_lock();
	t->busy++;
	trees &= e->point.tree_todo;
	live = spi_tree_enter(e->point.address, trees, &is_known);
	live |= trees & e->to->covered & e->to->funcs[e->func].budget;	/* from here it is recorded all the same */
	__atomic_fetch_or(&e->point.tree_live, live, __ATOMIC_RELEASE);
	__atomic_fetch_and(&e->point.tree_todo, ~trees, __ATOMIC_RELEASE);
	t->busy--;
	spi_patch_unlock(before);
}

#define AUX_SILENT	UINT32_MAX	/* spi_slot.aux: nothing was recorded, nothing is to be */

/* A slot although nobody recorded the call. */
static uint64_t slot_silent(struct spi_thread *t, struct spi_point *point, struct spi_frame *frame)
{
	struct spi_slot *slot;
	uint64_t code = 0;

	if (spi_others_closed || !spi_call_begin(t, (uint64_t) &frame->ra))
		return 0;
	slot = spi_slot_ready(t, (uint64_t) &frame->ra);
	if (slot) {
		slot->cookie = NULL;
		slot->aux = AUX_SILENT;
		code = spi_slot_push(t, slot, point, frame);
	}
	spi_call_end(t);
	return code;
}

static void tree_leave(struct spi_thread *t, uint32_t trees)
{
	t->tree &= ~trees;
	spi_tree_words_look(t);
}

static uint64_t entry_call(struct spi_point *point, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_entry *e = (struct spi_entry *) point;
	struct spi_pair *pair = e->pairs[e->compact];
	struct spi_thread *t = &spi_thread;
	uint32_t trees = spi_tree_of(t), opens = e->opens & ~trees;
	uint64_t p = (uint64_t) &frame->ra, code = 0;
	int by_site;

	if (t->busy && !spi_thread_nested(p))
		return 0;
	t->tree_over = 0;		/* depth is not looked at here */
	if (spi_unlikely(made_count) && t->tree_made == 0) {
		t->tree_made = 1;
		t->tree |= made_take(point->address, frame->rdi);
		spi_tree_words_look(t);
		trees = t->tree;
		opens = e->opens & ~trees;
	}
	if (!(trees | opens) || spi_unlikely(spi_exec_is_lent() > 0))
		return 0;
	by_site = came_from_site(t, point, p);
	if ((trees | opens) & point->tree_todo)
		first_call(e, trees | opens);
	if (!opens) {
		if (by_site || !(trees & point->tree_live))
			return 0;
		pair->inner.tree_live = point->tree_live;
		return pair->inner.record(&pair->inner, frame, vec, stride);
	}
	t->tree |= opens;
	spi_tree_words_look(t);
	spi_tree_base_set(t, opens);
	pair->outer.tree_live = point->tree_live;
	/* two trees without tags are one record; with tags each session has its own */
	if (!by_site || (opens & ~spi_tree_untagged))
		code = pair->outer.record(&pair->outer, frame, vec, stride);
	if (!code)
		code = slot_silent(t, &pair->outer, frame);
	if (!code)
		tree_leave(t, opens);
	return code;
}

static void pair_exit(struct spi_slot *slot, struct spi_frame *frame, const uint8_t *vec, uint64_t stride)
{
	struct spi_pair *pair = (struct spi_pair *) slot->point;

	if (slot->aux == AUX_SILENT) {
		slot->aux = 0;
		spi_slot_pop(&spi_thread, slot);
	} else {
		pair->exit(slot, frame, vec, stride);
	}
	tree_leave(&spi_thread, pair->entry->opens & ~spi_tree_everybody);
}

static void pair_left(struct spi_slot *slot, enum spi_left how)
{
	struct spi_pair *pair = (struct spi_pair *) slot->point;

	if (slot->aux != AUX_SILENT)
		pair->left(slot, how);
	else
		slot->aux = 0;
	tree_leave(&spi_thread, pair->entry->opens & ~spi_tree_everybody);
}

/* ---- made ---- */

static void point_fill(struct spi_point *point, struct spi_tree_object *to, uint64_t func, int compact)
{
	const struct spi_map_func *f = spi_tree_map_func(to, func);

	point->address = f->vaddr + to->object->bias;
	point->object = to->object;
	point->map = &to->map;
	point->func = f;
	point->flags = SPI_POINT_APART | SPI_POINT_TREE | (compact ? SPI_POINT_COMPACT : 0);
	point->flags |= f->flags & SPI_FUNC_LOOPS_TO_ENTRY ? SPI_POINT_LOOPS : 0;
	spi_thread_thunks(point, to->map.head->flags & SPI_MAP_USES_YMM, to->map.head->flags & SPI_MAP_USES_ZMM);
}

/* The points and the payload of one kind, which is in use from then on. Under the patch lock. */
static int entry_use(struct spi_entry *e, int compact)
{
	struct spi_pair *pair = e->pairs[compact];

	if (!pair) {
		pair = spi_alloc(sizeof(*pair));
		if (!pair)
			return -ENOMEM;
		pair->entry = e;
		point_fill(&pair->outer, e->to, e->func, compact);
		point_fill(&pair->inner, e->to, e->func, compact);
		if (spi_payload->tree_bind(&pair->outer) < 0 || spi_payload->tree_bind(&pair->inner) < 0)
			return -ENOMEM;
		pair->exit = pair->outer.exit;
		pair->left = pair->outer.left;
		pair->outer.exit = pair_exit;
		pair->outer.left = pair_left;
		e->pairs[compact] = pair;
	}
	pair->outer.body = pair->inner.body = e->point.body;
	__atomic_store_n(&e->compact, (uint32_t) compact, __ATOMIC_RELEASE);
	return 0;
}

/* Memory and payload; no stub yet. Under the patch lock. */
static struct spi_entry *entry_make(struct spi_tree_object *to, uint64_t func, uint32_t trees)
{
	struct spi_entry *e = spi_tree_func_is_good(to, func) ? spi_near_data(to->object, sizeof(*e), 64) : NULL;

	if (!e)
		return NULL;
	e->to = to;
	e->func = func;
	spi_sites_at_entry(to, func, trees);
	point_fill(&e->point, to, func, 0);
	e->point.entry = entry_call;
	return entry_use(e, !(trees & ~spi_tree_compact)) < 0 ? NULL : e;
}

static void entry_publish(struct spi_entry *e)
{
	entry_use(e, (int) e->compact);		/* the body is known now */
	e->next = entries;
	__atomic_store_n(&entries, e, __ATOMIC_RELEASE);
}

static int entry_install(struct spi_entry *e)
{
	struct spi_tree_object *to = e->to;

	for (uint32_t i = 0; i < to->text_count; i++)
		if (e->point.address >= to->text[i].low && e->point.address < to->text[i].high)
			return spi_patch_install_locked(&e->point, to->text[i].low, to->text[i].high, to->text[i].prot);
	return -EFAULT;
}

int spi_tree_root_add(struct spi_tree_object *to, uint64_t func, uint32_t tree, const char **reason)
{
	uint64_t address = spi_tree_map_func(to, func)->vaddr + to->object->bias, before = spi_patch_lock();
	struct spi_entry *e = entry_find(address);
	int is_new = !e, r = 0;

	*reason = "no free memory within reach of its object";
	if (!e) {
		e = entry_make(to, func, tree);
		spi_sites_make_way(to, func);
	}
	if (e && !is_new && (e->opens || e->point.tree_live || e->point.tree_todo) && e->compact != !(tree & ~spi_tree_compact)) {
		*reason = "a call tree with the other kind of records begins there, or goes through it";
		spi_patch_unlock(before);
		return -EBUSY;
	}
	spi_patch_unlock(before);
	if (e && is_new)
		r = spi_patch_prepare(&e->point, reason);
	before = spi_patch_lock();
	if (is_new)
		spi_sites_come_back(to, func);
	if (!e || r < 0) {
		spi_patch_unlock(before);
		return e ? r : -ENOMEM;
	}
	if (is_new)
		entry_publish(e);
	else if (!e->opens && !e->point.tree_live && !e->point.tree_todo)
		entry_use(e, !(tree & ~spi_tree_compact));
	e->opens |= tree;
	e->point.tree_todo |= tree;
	spi_sites_place(to, func, tree);
	unsigned int was = e->point.installed;
	r = entry_install(e);
	if (r < 0)
		*reason = "its code was changed by somebody else";
	else
		spi_sites_placed += !was;
	spi_patch_unlock(before);
	return r;
}

/*
 * Sites among a function's first instructions are reached by the entry point that has moved these: so it stays while
 * another tree has them.
 */
static int entry_is_held(const struct spi_entry *e, uint32_t tree)
{
	const struct spi_map_func *f = spi_tree_map_func(e->to, e->func);

	for (uint32_t i = f->site_first; i < f->site_first + f->site_count; i++) {
		const struct spi_site *s = e->to->sites[i];

		if (s && s->form == SPI_FORM_ENTRY && (s->trees & ~tree))
			return 1;
	}
	return 0;
}

void spi_tree_entry_hold(uint64_t address)
{
	struct spi_entry *e = entry_find(address);

	if (e && !e->point.installed && entry_install(e) == 0)
		spi_sites_placed++;
}

/* The tree ends: entries that nobody wants any more get their bytes back. */
void spi_tree_roots_leave(uint32_t tree)
{
	uint64_t before = spi_patch_lock();

	for (struct spi_entry *e = entries; e; e = e->next) {
		e->opens &= ~tree;
		__atomic_fetch_and(&e->point.tree_live, ~tree, __ATOMIC_RELEASE);
		__atomic_fetch_and(&e->point.tree_todo, ~tree, __ATOMIC_RELEASE);
		if (e->point.tree_live || e->point.tree_todo || !e->point.installed || e->to->gone || entry_is_held(e, tree))
			continue;
		for (uint32_t i = 0; i < e->to->text_count; i++)
			if (e->point.address >= e->to->text[i].low && e->point.address < e->to->text[i].high)
				spi_patch_remove_locked(&e->point, e->to->text[i].low, e->to->text[i].high, e->to->text[i].prot);
		spi_sites_placed -= !e->point.installed;
	}
	spi_patch_unlock(before);
}

/* A new one under the patch lock, which the control side gives back for what it has to ask. NULL: told why not. */
static struct spi_entry *entry_new(struct spi_tree_object *to, uint64_t func, uint32_t trees, int is_control, uint64_t *before)
{
	uint64_t address = spi_tree_map_func(to, func)->vaddr + to->object->bias;
	struct spi_entry *e = entry_make(to, func, trees), *other;
	const char *reason = "no free memory within reach of its object";
	int r = e ? 0 : -ENOMEM;

	spi_sites_make_way(to, func);
	if (e && is_control) {
		spi_patch_unlock(*before);
		r = spi_patch_prepare(&e->point, &reason);
		*before = spi_patch_lock();
		other = entry_find(address);
		if (other)
			return other;
	} else if (e) {
		r = spi_patch_prepare_locked(&e->point, &reason);
	}
	spi_sites_come_back(to, func);
	if (r < 0) {
		spi_tree_decline(to, address, reason);
		return NULL;
	}
	entry_publish(e);
	return e;
}

static void callback(uint64_t address, int is_control)
{
	struct spi_thread *t = &spi_thread;
	struct spi_tree_object *to;
	struct spi_entry *e;
	uint32_t trees;
	uint64_t before;
	int64_t func;

	if (!spi_tree_existing || !spi_process_is_mine())
		return;
	before = spi_patch_lock();
	t->busy++;
	to = spi_tree_object_at(address);
	func = to ? spi_tree_func_at(to, address) : -1;
	if (func < 0 || spi_tree_func_unfit(to, (uint64_t) func))
		goto out;
	trees = spi_tree_existing & ~spi_tree_flat & to->covered & ~(to->funcs[func].excluded & ~to->funcs[func].budget);
	e = entry_find(address);
	if (!trees)
		goto out;
	if (!e) {
		e = entry_new(to, (uint64_t) func, trees, is_control, &before);
		if (!e)
			goto out;
	} else if (!e->opens && !e->point.tree_live && !e->point.tree_todo) {
		entry_use(e, !(trees & ~spi_tree_compact));
	}
	e->point.tree_todo |= trees & ~e->point.tree_live;
	if (!e->point.installed && entry_install(e) == 0)
		spi_sites_placed++;
out:
	t->busy--;
	spi_patch_unlock(before);
}

void spi_tree_callback(uint64_t address)
{
	if (!spi_thread.busy)
		callback(address, 0);
}

void spi_tree_callback_make(uint64_t address)
{
	callback(address, 1);
}

/* The function that this code belongs to calls others of the program's, and nobody in a tree calls it. */
void spi_tree_caller_back(uint64_t address)
{
	struct spi_thread *t = &spi_thread;
	uint64_t before = spi_patch_lock();
	struct spi_tree_object *to = spi_tree_object_at(address);
	int64_t func = to ? spi_tree_func_around(to, address) : -1;

	t->busy++;
	if (func >= 0)
		spi_sites_place(to, (uint64_t) func, spi_tree_threads & spi_tree_existing & to->covered & ~spi_tree_flat);
	t->busy--;
	spi_patch_unlock(before);
}

/* Handlers that are installed already. */
void spi_tree_handlers_look(void)
{
	struct spi_sigaction action;

	for (int number = 1; number <= 64; number++) {
		struct spi_signal *taken = number < SPI_SIGNALS ? spi_signal_of[number] : NULL;

		if (number == 32 || number == 33 || spi_signal_query(number, &action) < 0)
			continue;	/* libc's own */
		if (taken && action.handler == (uint64_t) taken->handler)
			action = taken->program;
		if (action.handler != (uint64_t) SIG_DFL && action.handler != (uint64_t) SIG_IGN)
			spi_tree_callback_make(action.handler);
	}
}

/*
 * A C program's first function gives main() to __libc_start_main() as its first
 * argument: lea main(%rip), %rdi, or mov $main, %rdi.
 */
uint64_t spi_tree_find_main(void)
{
	uint64_t start = getauxval(AT_ENTRY), at;
	const uint8_t *p = (const uint8_t *) start;
	int32_t word;

	for (at = 0; start && at < 56; at++) {
		spi_bytes_copy(&word, p + at + 3, 4);
		if (p[at] == 0x48 && p[at + 1] == 0x8d && p[at + 2] == 0x3d)
			return start + at + 7 + (uint64_t) (int64_t) word;
		if (p[at] == 0x48 && p[at + 1] == 0xc7 && p[at + 2] == 0xc7)
			return (uint64_t) (int64_t) word;
		if (p[at] == 0xbf && at && p[at - 1] != 0x48) {
			spi_bytes_copy(&word, p + at + 1, 4);
			if ((uint32_t) word > 0x10000)
				return (uint32_t) word;
		}
	}
	return 0;
}
