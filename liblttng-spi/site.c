/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Call sites: from the call instruction of the program to the site's stub, and
 * back. What stays on the stack is what would be there without us: the stub is
 * entered with the original return address, like a stub at a function's entry.
 *
 * Four workers, tried in this order:
 *
 *	call	the instruction alone has room: a direct call, jump or conditional
 *		jump of which only the displacement changes, or another of 5 bytes and
 *		more, which becomes a direct one with prefixes in front, so that it ends
 *		where the old one did
 *	block	a jump in place of the instruction before it, which is moved along
 *	spring	a 2-byte jump to padding nearby that holds a 5-byte one
 *	trap	int3
 *
 * The last three (site-ways.c) come to the stub by a jump, which then pushes the
 * return address itself. Each changes one instruction only, so that no thread can
 * be inside what changes.
 *
 * All sites of a function are written in one batch, after their stubs are ready.
 * Nothing is asked of the kernel but the pages' rights: where an object's code is
 * and how it is mapped was looked up before.
 */
#include <cpuid.h>
#include <string.h>
#include "liblttng-spi/site.h"
#include "liblttng-spi/tree.h"

#define BATCH		96u

uint32_t spi_sites_placed;
uint32_t spi_site_workers = ~0u;

/* One name, or several with '+' between them. */
void spi_site_workers_read(void)
{
	static const char *const names[] = { "", "call", "block", "spring", "trap" };
	const char *at = spi_env.test_worker;
	uint32_t found = 0;

	while (at && *at) {
		size_t n = strcspn(at, "+");

		for (uint32_t i = 1; i < SPI_SITE_WORKERS; i++)
			if (strlen(names[i]) == n && !memcmp(at, names[i], n))
				found |= 1u << i;
		at += n + (at[n] != 0);
	}
	if (found)
		spi_site_workers = found;
}

/* ---- what the worker `call` writes ---- */

static int is_jump(const struct spi_map_site *site)
{
	return site->kind == SPI_SITE_JUMP || site->kind == SPI_SITE_JUMP_SLOT || site->kind == SPI_SITE_JUMP_INDIRECT;
}

int spi_site_is_jcc(const struct spi_map_site *site)
{
	return site->kind == SPI_SITE_JCC || site->kind == SPI_SITE_JCC_SLOT;
}

int spi_site_is_call(const struct spi_map_site *site)
{
	return !is_jump(site) && !spi_site_is_jcc(site);
}

/* Does it end in a disp32 that says where it goes? */
static int has_displacement(const struct spi_map_site *site)
{
	const uint8_t *end = site->bytes + site->before + site->size;

	if (spi_site_is_jcc(site))
		return site->size >= 6 && end[-6] == 0x0f && (end[-5] & 0xf0) == 0x80;
	return site->size >= 5 && end[-5] == (is_jump(site) ? 0xe9 : 0xe8);
}

uint64_t spi_site_start(const struct spi_site *s)
{
	return s->map->vaddr + s->owner->object->bias - s->map->before;
}

uint64_t spi_site_end(const struct spi_site *s)
{
	return s->map->vaddr + s->owner->object->bias + s->map->size;
}

static int fits_word(uint64_t address, uint32_t size)
{
	return (address & 7) + size <= 8;
}

static int has_wide_store(void)
{
	static int known;	/* 1: yes; -1: no */
	unsigned int a, b, c, d;

	if (!known)
		known = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_CMPXCHG16B) ? 1 : -1;
	return known > 0;
}

/* How bytes of one instruction can be changed; 0: in no way. */
uint8_t spi_site_how(uint64_t address, uint32_t size)
{
	if (fits_word(address, size))
		return SPI_TEXT_STORE;
	if (size > 8)
		return 0;
	if ((address & 15) + size <= 16 && has_wide_store())
		return SPI_TEXT_WIDE;
	if ((address & 7) <= 6 && spi_text_can_sync())
		return SPI_TEXT_SPIN;
	return (address & 63) + size <= 64 ? SPI_TEXT_LINE : 0;
}

static void set_disp(uint8_t *to, uint64_t target, uint64_t after)
{
	int32_t displacement = (int32_t) (target - after);

	spi_bytes_copy(to, &displacement, 4);
}

/* The change of a site's text as an operation: from the program's bytes to ours. 0, or -1: it cannot be made. */
static int change_displacement(const struct spi_site *s, struct spi_text_op *op)
{
	const struct spi_map_site *map = s->map;
	uint64_t end = spi_site_end(s);

	op->address = end - 4;
	op->size = 4;
	op->how = spi_site_how(end - 4, 4);
	if (op->how == SPI_TEXT_SPIN || !op->how) {	/* that wants the instruction's first bytes */
		op->address = end - map->size;
		op->size = map->size;
		op->how = spi_site_how(op->address, op->size);
	}
	if (!op->how)
		return -1;
	spi_bytes_copy(op->from, map->bytes + map->before + map->size - op->size, op->size);
	spi_bytes_copy(op->to, op->from, op->size);
	set_disp(op->to + op->size - 4, s->stub, end);
	return 0;
}

static int change_whole(const struct spi_site *s, struct spi_text_op *op)
{
	const struct spi_map_site *map = s->map;

	op->address = spi_site_end(s) - map->size;
	op->size = map->size;
	if (map->size < SPI_JUMP_SIZE || map->size > 8 || spi_site_is_jcc(map))
		return -1;
	op->how = spi_site_how(op->address, op->size);
	if (!op->how)
		return -1;
	spi_bytes_copy(op->from, map->bytes + map->before, op->size);
	spi_bytes_set(op->to, 0x2e, op->size);		/* a prefix that means nothing here */
	op->to[op->size - 5] = is_jump(map) ? 0xe9 : 0xe8;
	set_disp(op->to + op->size - 4, s->stub, spi_site_end(s));
	return 0;
}

/*
 * A call or jump through memory whose last bytes are the operand, ModRM and a
 * disp32: they become a word of ours, rip-relative, that holds the stub's address.
 */
static int change_word(const struct spi_site *s, struct spi_text_op *op)
{
	const uint8_t *end = s->map->bytes + s->map->before + s->map->size;
	uint64_t after = spi_site_end(s);
	uint32_t mod = end[-5] >> 6, rm = end[-5] & 7;

	if (s->map->size < 6 || s->map->before || end[-6] != 0xff || !((mod == 2 && rm != 4) || (mod == 0 && rm == 5)) ||
			!fits_word(after - 5, 5))
		return -1;
	op->address = after - 5;
	op->size = 5;
	op->how = SPI_TEXT_STORE;
	spi_bytes_copy(op->from, end - 5, 5);
	op->to[0] = spi_site_is_call(s->map) ? 0x15 : 0x25;
	set_disp(op->to + 1, s->way, after);
	return 0;
}

int spi_site_change(const struct spi_site *s, struct spi_text_op *op)
{
	op->bounds = s->bounds;
	op->index = 0;
	op->error = NULL;
	switch (s->form) {
	case SPI_FORM_DISPLACEMENT:
		return change_displacement(s, op);
	case SPI_FORM_WHOLE:
		return change_whole(s, op);
	case SPI_FORM_WORD:
		return change_word(s, op);
	case SPI_FORM_ENTRY:
		return -1;
	default:
		return spi_site_way_change(s, op);
	}
}

/* ---- the stub ---- */

int spi_site_decline(struct spi_site *s, const char *reason)
{
	s->reason = reason;
	return -1;
}

int spi_site_stub(struct spi_site *s, int by_jump)
{
	const struct spi_map_site *map = s->map;
	struct spi_object *object = s->owner->object;
	enum spi_site_way way = SPI_SITE_TO;
	uint64_t push = by_jump && spi_site_is_call(map) ? spi_site_end(s) : 0;
	struct spi_emit e = { 0 };

	if (map->kind == SPI_SITE_CALL_SLOT || map->kind == SPI_SITE_JUMP_SLOT || map->kind == SPI_SITE_JCC_SLOT)
		way = SPI_SITE_TO_SLOT;
	else if (!map->target)
		way = SPI_SITE_TO_R11;
	if (spi_near_code(object, &e, SPI_SITE_STUB_MAX) < 0)
		return spi_site_decline(s, "no free memory within reach of its object");
	spi_site_emit(&e, &s->point, map, push, way, map->target + object->bias);
	spi_near_code_trim(object, e.failed ? e.rx : e.rx + e.used);
	if (e.failed)
		return spi_site_decline(s, e.failed);
	s->stub = e.rx;
	return 0;
}

static int bytes_are_as_mapped(const struct spi_site *s)
{
	const struct spi_map_site *map = s->map;
	uint32_t n = (uint32_t) map->before + map->size;

	if (spi_bytes_conflict(spi_site_start(s), n, n))
		return 0;
	return spi_bytes_equal((const uint8_t *) spi_site_start(s), map->bytes, n);
}

static int worker_call(struct spi_site *s)
{
	struct spi_text_op op;

	if (!(spi_site_workers >> SPI_SITE_WORKER_CALL & 1))
		return spi_site_decline(s, "every way to reach it is switched off");
	if (has_displacement(s->map))
		s->form = SPI_FORM_DISPLACEMENT;
	else if (s->map->before || !s->map->window)
		return spi_site_decline(s, "its instruction is too short");
	else
		s->form = SPI_FORM_WHOLE;
	if (spi_site_change(s, &op) < 0) {
		s->form = SPI_FORM_WORD;
		if (spi_site_change(s, &op) < 0)
			return spi_site_decline(s, "its instruction cannot be changed in one step");
		s->way = (uint64_t) spi_near_data(s->owner->object, 8, 8);
		if (!s->way)
			return spi_site_decline(s, "no free memory within reach of its object");
	}
	if (!s->stub && spi_site_stub(s, 0) < 0)
		return -1;
	if (s->form == SPI_FORM_WORD)
		*(uint64_t *) s->way = s->stub;
	s->worker = SPI_SITE_WORKER_CALL;
	return 0;
}

/* The site is new: choose a worker, and make its stub. */
static void site_choose(struct spi_site *s)
{
	if (s->stub && spi_bytes_conflict(spi_site_start(s), s->map->size, s->map->size)) {
		s->form = SPI_FORM_ENTRY;
		s->worker = SPI_SITE_WORKER_CALL;
		return;
	}
	if (!bytes_are_as_mapped(s)) {
		s->reason = "its code in memory differs from its file, or another point is there";
		return;
	}
	if (worker_call(s) < 0)
		spi_site_way_choose(s);
}

/* ---- sites of a function ---- */

/* The trees for which a site is worth it: of a direct call those that do not leave its callee out. */
static uint32_t site_wanted(const struct spi_tree_object *to, const struct spi_map_site *map, uint32_t trees, const char **why)
{
	int64_t callee;

	*why = NULL;
	if (map->kind != SPI_SITE_CALL && map->kind != SPI_SITE_JUMP && map->kind != SPI_SITE_JCC)
		return trees;
	callee = spi_tree_func_at(to, map->target + to->object->bias);
	if (callee < 0) {
		*why = "no function begins where it leads";
		return 0;
	}
	*why = spi_tree_func_unfit(to, (uint64_t) callee);
	return *why ? 0 : trees & ~to->funcs[callee].excluded;
}

static struct spi_site *site_new(struct spi_tree_object *to, uint32_t index, uint32_t trees)
{
	const struct spi_map_site *map = SPI_MAP_AT(&to->map, sites, struct spi_map_site, index);
	int compact = !(trees & ~spi_tree_compact);
	struct spi_site *s = spi_near_data(to->object, sizeof(*s), 64);

	if (!s)
		return NULL;
	s->owner = to;
	s->map = map;
	s->point.object = to->object;
	s->point.map = &to->map;
	s->point.flags = SPI_POINT_TREE | (compact ? SPI_POINT_COMPACT : 0);
	s->point.gate[0] = to->gate[compact];
	s->point.gate[1] = (const volatile int *) &s->point.tree_todo;
	s->point.call_site = map->vaddr + to->object->bias + map->size;
	s->point.entry = spi_site_call_any;
	if (map->kind == SPI_SITE_CALL || map->kind == SPI_SITE_JUMP || map->kind == SPI_SITE_JCC) {
		s->point.entry = spi_site_call;
		s->point.address = map->target + to->object->bias;
	}
	spi_thread_thunks(&s->point, to->map.head->flags & SPI_MAP_USES_YMM, to->map.head->flags & SPI_MAP_USES_ZMM);
	if (compact)
		spi_thread_thunks_words(&s->point, s->point.entry == spi_site_call || map->kind == SPI_SITE_CALL_SLOT ||
			map->kind == SPI_SITE_JUMP_SLOT || map->kind == SPI_SITE_JCC_SLOT);
	to->sites[index] = s;
	to->is_met = 1;
	return s;
}

static struct spi_site *site_get(struct spi_tree_object *to, uint32_t index, uint32_t trees)
{
	const struct spi_map_site *map = SPI_MAP_AT(&to->map, sites, struct spi_map_site, index);
	struct spi_site *s = to->sites[index];

	if (s && (s->worker != SPI_SITE_NONE || s->reason))
		return s;
	if (!s)
		s = site_new(to, index, trees);
	if (!s) {
		spi_tree_decline(to, map->vaddr + to->object->bias, "no free memory within reach of its object");
		return NULL;
	}
	site_choose(s);
	if (s->worker == SPI_SITE_NONE)
		spi_tree_decline(to, map->vaddr + to->object->bias, s->reason);
	return s;
}

/*
 * Sites among a function's first instructions, which an entry point is about to move: their stubs, to which the moved
 * call or jump then goes.
 */
void spi_sites_at_entry(struct spi_tree_object *to, uint64_t func, uint32_t trees)
{
	const struct spi_map_func *f = spi_tree_map_func(to, func);

	for (uint32_t i = f->site_first; i < f->site_first + f->site_count; i++) {
		const struct spi_map_site *map = SPI_MAP_AT(&to->map, sites, struct spi_map_site, i);
		const char *why;

		if (map->vaddr - f->vaddr >= SPI_MAP_ENTRY_BYTES || map->before || to->sites[i])
			continue;
		if (site_wanted(to, map, trees, &why)) {
			struct spi_site *s = site_new(to, i, trees);

			if (s)
				spi_site_stub(s, 0);
		}
	}
}

/* The stub of the site whose instruction stands there; 0: it has none. */
uint64_t spi_site_stub_at(uint64_t address)
{
	struct spi_tree_object *to = spi_tree_object_at(address);
	int64_t func = to ? spi_tree_func_around(to, address) : -1;
	const struct spi_map_func *f = func < 0 || !spi_tree_func_is_good(to, (uint64_t) func) ? NULL :
		spi_tree_map_func(to, (uint64_t) func);

	for (uint32_t i = f ? f->site_first : 0; f && i < f->site_first + f->site_count; i++)
		if (SPI_MAP_AT(&to->map, sites, struct spi_map_site, i)->vaddr + to->object->bias == address)
			return to->sites[i] ? to->sites[i]->stub : 0;
	return 0;
}

/* Operations under way; under the patch lock. */
static struct {
	struct spi_text_op op[BATCH];
	struct spi_site *site[BATCH];
	uint32_t n;
} batch;

static void count_placed(int change)
{
	spi_sites_placed += (uint32_t) change;
	__atomic_fetch_add(&spi_status->points, (uint64_t) (int64_t) change, __ATOMIC_RELAXED);
}

static void batch_write(struct spi_tree_object *to, int install)
{
	for (uint32_t i = 0; i < batch.n; i++) {
		batch.op[i].index = i;
		batch.op[i].error = "its code is in no executable part of its object";
	}
	for (uint32_t i = 0; i < to->text_count && batch.n; i++)
		if (batch.op[0].address >= to->text[i].low && batch.op[0].address < to->text[i].high) {
			for (uint32_t k = 0; k < batch.n; k++)
				batch.op[k].error = NULL;
			spi_text_write_in(batch.op, batch.n, to->text[i].low, to->text[i].high, to->text[i].prot);
			break;
		}
	for (uint32_t i = 0; i < batch.n; i++) {
		struct spi_site *s = batch.site[batch.op[i].index];

		if (!batch.op[i].error) {
			s->point.installed = (uint32_t) install;
			count_placed(install ? 1 : -1);
		} else if (install) {
			spi_tree_decline(to, s->point.call_site, batch.op[i].error);
			s->trees = 0;
		}
	}
	batch.n = 0;
}

static void batch_add(struct spi_tree_object *to, struct spi_site *s, int install)
{
	struct spi_text_op *op = &batch.op[batch.n];
	uint8_t was[8];

	if (spi_site_change(s, op) < 0 || (install && spi_site_pad_back(s) < 0))
		return;
	if (!install) {
		spi_bytes_copy(was, op->from, 8);
		spi_bytes_copy(op->from, op->to, 8);
		spi_bytes_copy(op->to, was, 8);
	}
	batch.site[batch.n++] = s;
	if (batch.n == BATCH)
		batch_write(to, install);
}

/* Sites there that are in place already: the program's bytes back, for an entry point to take what it needs. */
void spi_sites_make_way(struct spi_tree_object *to, uint64_t func)
{
	const struct spi_map_func *f = spi_tree_map_func(to, func);

	if (!spi_tree_func_is_good(to, func))
		return;
	for (uint32_t i = f->site_first; i < f->site_first + f->site_count; i++) {
		struct spi_site *s = to->sites[i];

		if (s && s->point.installed && !s->map->before && s->map->vaddr - f->vaddr < SPI_MAP_ENTRY_BYTES)
			batch_add(to, s, 0);
	}
	batch_write(to, 0);
}

/* And those that the entry point left where they were. */
void spi_sites_come_back(struct spi_tree_object *to, uint64_t func)
{
	const struct spi_map_func *f = spi_tree_map_func(to, func);

	if (!spi_tree_func_is_good(to, func))
		return;
	for (uint32_t i = f->site_first; i < f->site_first + f->site_count; i++) {
		struct spi_site *s = to->sites[i];

		if (!s || !s->trees || s->point.installed || s->map->before || s->map->vaddr - f->vaddr >= SPI_MAP_ENTRY_BYTES)
			continue;
		if (s->stub && spi_bytes_conflict(spi_site_start(s), s->map->size, s->map->size))
			s->form = SPI_FORM_ENTRY;
		else
			batch_add(to, s, 1);
	}
	batch_write(to, 1);
}

/*
 * Its trees are gone, and the next one wants the other kind of records. Calls may still be under way in slots that know
 * its point, and its stub tests that kind's gate: so the point stays what it is, but records nothing any more; the
 * stub always enters, and from there each callee has a point of its own, as with changing callees.
 */
static void other_kind(struct spi_site *s)
{
	const struct spi_map_header *head = s->owner->map.head;

	s->point.flags ^= SPI_POINT_COMPACT;
	spi_thread_thunks(&s->point, head->flags & SPI_MAP_USES_YMM, head->flags & SPI_MAP_USES_ZMM);
	if (s->point.flags & SPI_POINT_COMPACT)
		spi_thread_thunks_words(&s->point, 0);
	if (s->point.entry != spi_site_call_any || s->map->target)
		s->is_mixed = 1;
	s->point.tree_live = 0;
	s->point.entry = spi_site_call_any;
}

/*
 * Callees of calls that cannot be redirected: nobody will notice when they are reached, so their sites are put in place
 * ahead of time. One level of the tree is missing then, and not all that is below. Under the patch lock.
 */
#define BEYOND_MAX	256u
static struct {
	uint64_t func;
	uint32_t trees;
} beyond[BEYOND_MAX];
static uint32_t beyond_count, beyond_depth;

static void beyond_add(const struct spi_tree_object *to, const struct spi_map_site *map, uint32_t trees)
{
	int64_t callee;

	if ((map->kind != SPI_SITE_CALL && map->kind != SPI_SITE_JUMP && map->kind != SPI_SITE_JCC) || beyond_count == BEYOND_MAX)
		return;
	callee = spi_tree_func_at(to, map->target + to->object->bias);
	if (callee < 0 || !(trees & ~to->funcs[callee].done & ~spi_tree_flat))
		return;
	beyond[beyond_count].func = (uint64_t) callee;
	beyond[beyond_count++].trees = trees & ~spi_tree_flat;
}

static void sites_of(struct spi_tree_object *to, const struct spi_map_func *func, uint32_t trees)
{
	for (uint32_t i = func->site_first; i < func->site_first + func->site_count; i++) {
		const struct spi_map_site *map = SPI_MAP_AT(&to->map, sites, struct spi_map_site, i);
		const char *why;
		uint32_t wanted = site_wanted(to, map, trees, &why), fresh, apart;
		struct spi_site *s = wanted ? site_get(to, i, wanted) : NULL;

		if (why && !to->sites[i])
			spi_tree_decline(to, map->vaddr + to->object->bias, why);
		if (wanted && (!s || s->worker == SPI_SITE_NONE))
			beyond_add(to, map, wanted);
		if (!s || s->worker == SPI_SITE_NONE)
			continue;
		fresh = wanted & ~s->trees;
		if (fresh && !s->trees && !(fresh & ~spi_tree_compact) == !(s->point.flags & SPI_POINT_COMPACT))
			other_kind(s);
		apart = fresh & (s->point.flags & SPI_POINT_COMPACT ? ~spi_tree_compact : spi_tree_compact);
		if (apart)
			spi_tree_decline(to, s->point.call_site, "a call tree with the other kind of records has it");
		fresh &= ~apart;
		s->trees |= fresh;
		__atomic_fetch_or(&s->point.tree_todo, s->is_mixed ? SPI_TREE_OPEN : fresh, __ATOMIC_RELEASE);
		for (struct spi_child *c = s->children; c; c = c->next)
			__atomic_fetch_or(&c->point.tree_todo, fresh, __ATOMIC_RELEASE);
		if (fresh && s->form == SPI_FORM_ENTRY)
			spi_tree_entry_hold(func->vaddr + to->object->bias);
		else if (!s->point.installed && fresh)
			batch_add(to, s, 1);
	}
}

void spi_sites_place(struct spi_tree_object *to, uint64_t func, uint32_t trees)
{
	const struct spi_map_func *f = spi_tree_map_func(to, func);

	if (!(trees &= ~to->funcs[func].done))
		return;
	to->funcs[func].done |= trees;
	if (!spi_tree_func_is_good(to, func)) {
		spi_tree_decline(to, f->vaddr + to->object->bias, "its code map is damaged");
		return;
	}
	sites_of(to, f, trees);
	for (uint32_t piece = f->reason == SPI_REASON_PART ? SPI_MAP_NONE : f->piece; piece != SPI_MAP_NONE;
			piece = spi_tree_map_func(to, piece)->piece) {
		if (!(trees & ~to->funcs[piece].done))
			continue;
		to->funcs[piece].done |= trees;
		if (!spi_tree_func_is_good(to, piece))
			break;
		sites_of(to, spi_tree_map_func(to, piece), trees);
	}
	batch_write(to, 1);
	if (beyond_depth++ == 0)
		while (beyond_count) {
			beyond_count--;
			spi_sites_place(to, beyond[beyond_count].func, beyond[beyond_count].trees);
		}
	beyond_depth--;
}

uint32_t spi_sites_leave(struct spi_tree_object *to, uint32_t trees)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < to->map.head->funcs.count; i++)
		to->funcs[i].done &= ~trees;
	for (uint32_t i = 0; i < to->map.head->sites.count; i++) {
		struct spi_site *s = to->sites[i];

		if (!s || !(s->trees & trees))
			continue;
		s->trees &= ~trees;
		spi_tree_live_leave(&s->point, trees);
		for (struct spi_child *c = s->children; c; c = c->next)
			spi_tree_live_leave(&c->point, trees);
		if (s->trees || !s->point.installed)
			continue;
		left++;
		if (!to->gone)
			batch_add(to, s, 0);
	}
	batch_write(to, 0);
	return left;
}

/* Its callee turned out to be none that any tree records. */
void spi_site_restore(struct spi_site *s)
{
	s->trees = 0;
	if (!s->point.installed)
		return;
	batch_write(s->owner, 1);
	batch_add(s->owner, s, 0);
	batch_write(s->owner, 0);
}
