/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Who calls into a tree from outside of it, and gets an entry point for that
 * (root.c): handlers of signals, start routines of threads, constructors, functions
 * that excluded objects call; and main(), when it has no name.
 */
#include <elf.h>
#include <signal.h>
#include <sys/auxv.h>
#include "codemap/map/format.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/signals/signals.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/patch/patch.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/internal.h"

static void entry_wanted(struct spi_entry *e, uint32_t trees, int is_spare)
{
	e->is_spare = is_spare && (e->is_spare || !e->point.installed);
	e->begins |= trees & spi_tree_whole;
	e->point.tree_todo |= trees & ~e->point.tree_live;
}

/*
 * An entry point for these trees, which is spare where sites may lead to the function as well. NULL: it was told why
 * there is none, and what the function calls is recorded all the same; or w->asks_trap. Under the patch lock.
 */
static struct spi_entry *entry_give(struct spi_entry_want *w, int is_spare)
{
	uint64_t address = spi_tree_map_func(w->to, w->func)->vaddr + w->to->object->bias;
	const char *why = spi_tree_func_unfit(w->to, w->func);
	struct spi_entry *e;
	int is_known;

	if (why) {
		spi_tree_decline(w->to, address, why);
		return NULL;
	}
	e = spi_entry_told(w);
	if (!e && !w->asks_trap)
		spi_tree_enter(address, w->trees, &is_known);
	if (!e)
		return NULL;
	entry_wanted(e, w->trees, is_spare);
	if (!e->point.installed)
		spi_entry_write(e, 1);
	return e;
}

/* Trees that record calls of the function. */
static uint32_t trees_of(const struct spi_tree_object *to, uint64_t func)
{
	return spi_tree_existing & ~spi_tree_flat & to->covered & ~(to->funcs[func].excluded & ~to->funcs[func].budget);
}

static void callback_give(struct spi_entry_want *w)
{
	entry_give(w, 0);
}

static struct spi_entry_want callback_want(uint64_t address)
{
	int may = spi_tree_existing && spi_may(SPI_MAY_ACT | SPI_MAY_HERE);
	struct spi_tree_object *to = may ? spi_tree_object_at(address) : NULL;
	int64_t func = to ? spi_tree_func_at(to, address) : -1;

	return spi_entry_want(to, (uint64_t) func, func >= 0 ? trees_of(to, (uint64_t) func) : 0);
}

void spi_tree_callback(uint64_t address)
{
	struct spi_thread *t = &spi_thread;
	struct spi_entry_want w;
	uint64_t before;

	if (t->busy || spi_thread_is_foreign(t))
		return;
	w = callback_want(address);
	if (!w.trees)
		return;
	if (!spi_tree_lock(&before, spi_entry_find(address) ? -1 : SPI_LOST_FORK))
		return;
	if (!w.to->gone)
		callback_give(&w);
	spi_tree_unlock(before);
}

void spi_tree_callback_make(uint64_t address)
{
	struct spi_entry_want w = callback_want(address);

	if (w.trees)
		spi_entry_held(&w, callback_give);
}

/* Code that gives threads other stacks: libc's own is for makecontext() and longjmp(), which the agent watches. */
static int stacks_are_switched(void)
{
	const struct spi_tree_object *to = spi_tree_objects;

	while (to && (to->gone || to->is_libc || to->object->bias == getauxval(AT_BASE) ||
			!(to->map.head->flags & SPI_MAP_SWITCHES_STACKS)))
		to = to->next;
	return to != NULL;
}

/*
 * Functions of the program whose address an instruction makes, and which no direct call leads to. Most are handed over to
 * be called, by sites. But coroutines begin with some: what switches stacks jumps there, or returns there. Excluded objects
 * call others. Nothing tells which. So where there is either all of them get entry points, none with int3, and each entry
 * point goes again when a site's call leads there.
 */
void spi_tree_handed_over_take(struct spi_tree *tree)
{
	const struct spi_object *exe = spi_objects_list();
	struct spi_tree_object *to = spi_tree_objects;
	uint32_t bit = tree->bit;

	while (to && (to->object != exe || to->gone))
		to = to->next;
	if (tree->has_handed_over || !to || !(to->covered & bit) || (spi_tree_flat & bit) ||
			!(stacks_are_switched() || tree->asked->exclude_lib.count))
		return;
	tree->has_handed_over = 1;
	/* a runtime that looks up return addresses finds those of what it calls, too */
	for (uint32_t i = 0; i < to->map.head->funcs.count; i++)
		if (spi_tree_map_func(to, i)->reason == SPI_REASON_MANAGED)
			return;
	for (uint32_t i = 0; i < to->map.head->funcs.count; i++) {
		const struct spi_map_func *f = spi_tree_map_func(to, i);
		struct spi_entry_want w = spi_entry_want(to, i, bit);
		struct spi_entry *e;
		uint64_t before;

		if (!(f->flags & SPI_FUNC_HANDED_OVER) || (to->funcs[i].excluded & bit) || spi_tree_func_unfit(to, i) ||
				spi_tree_func_is_usual(to, i))
			continue;
		before = spi_patch_lock();
		e = spi_entry_get(&w);
		if (e && spi_patch_worker(&e->point) != SPI_WORKER_TRAP) {
			entry_wanted(e, bit, 1);
			if (!e->point.installed)
				spi_entry_write(e, 1);
		}
		spi_patch_unlock(before);
	}
}

/* ---- code of no file ---- */

int spi_tree_made_enter(const struct spi_site *s, uint64_t code, uint32_t trees)
{
	struct spi_entry_want w;
	const struct spi_entry *e;
	struct spi_tree_object *to;
	uint64_t target;
	int64_t func;

	if (spi_tree_is_vdso(code) || spi_symbols_know(code, 0))
		return 0;
	target = spi_code_made_target(code, spi_memory_copy);
	to = target ? spi_tree_object_at(target) : NULL;
	func = to ? spi_tree_func_at(to, target) : -1;
	if (func < 0 || (trees & spi_tree_flat))		/* those record at their sites only */
		spi_tree_decline(s->owner, s->point.call_site, "it calls code of no file that is loaded: such calls are not recorded");
	if (func < 0)
		return 0;
	trees &= trees_of(to, (uint64_t) func);
	if (!trees)
		return 1;
	w = spi_entry_want(to, (uint64_t) func, trees);
	e = entry_give(&w, 1);
	return e && e->point.installed;		/* else that was told */
}

void spi_tree_caller_back(uint64_t address)
{
	struct spi_tree_object *to = spi_tree_object_at(address);
	int64_t func = to ? spi_tree_func_around(to, address) : -1;
	uint64_t before;

	if (func < 0 || !spi_tree_lock(&before, -1))
		return;
	if (!to->gone)
		spi_sites_place(to, (uint64_t) func, spi_tree_threads & spi_tree_existing & to->covered & ~spi_tree_flat);
	spi_tree_unlock(before);
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

/* Are these bytes of a segment of the program that has this flag (PF_X, PF_W)? They may be read then. */
static int segment_has(const struct spi_object *exe, uint32_t flag, uint64_t address, uint64_t size)
{
	const Elf64_Phdr *ph = (const Elf64_Phdr *) getauxval(AT_PHDR);

	for (uint64_t i = 0; ph && i < getauxval(AT_PHNUM); i++) {
		uint64_t from = ph[i].p_vaddr + exe->bias;

		if (ph[i].p_type == PT_LOAD && (ph[i].p_flags & flag) && address >= from && address + size <= from + ph[i].p_memsz)
			return 1;
	}
	return 0;
}

uint64_t spi_tree_find_main(void)
{
	const struct spi_object *exe = spi_objects_list();
	uint64_t start = getauxval(AT_ENTRY), value;
	enum spi_start_gives gives;

	/* else the dynamic linker was given the program's name by hand: it is what the kernel started */
	if (!exe || start < exe->low || start >= exe->high)
		return 0;
	for (uint64_t p = start; p < start + SPI_START_BYTES && segment_has(exe, PF_X, p, SPI_START_INSN_SIZE); p++) {
		gives = spi_code_start_gives((const uint8_t *) p, p == start, &value);
		if (gives == SPI_START_WORD && !segment_has(exe, PF_W, value, 8))
			continue;
		if (gives == SPI_START_WORD)
			value = *(const uint64_t *) value;
		if (gives != SPI_START_NOTHING && value)
			return value;
	}
	return 0;
}
