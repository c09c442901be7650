/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Who calls into a tree from outside of it, and gets an entry point for that
 * (root.c): handlers of signals, start routines of threads, constructors, functions
 * that excluded objects call; and main(), when it has no name.
 */
#include <elf.h>
#include <errno.h>
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

#define VDSO_MOST	65536u

/*
 * A handler was installed while another thread forks: it may install itself anew while its thread holds what the fork
 * waits for.
 */
static uint64_t put_off;	/* the latest address; the program may not have installed the handler yet */

/* The control side looks for handlers then. What has no entry point until then counts as missed, once. */
static void callback_put_off(uint64_t address)
{
	__atomic_store_n(&put_off, address, __ATOMIC_RELEASE);
	spi_control_ring();
	if (!spi_entry_find(address))
		spi_call_missed(SPI_LOST_FORK);
}

void spi_tree_callbacks_take(void)
{
	uint64_t address = __atomic_exchange_n(&put_off, 0, __ATOMIC_ACQUIRE);

	if (!address)
		return;
	spi_tree_callback_make(address);
	spi_tree_handlers_look();
}

static void entry_want(struct spi_entry *e, uint32_t trees, int is_spare)
{
	e->is_spare = is_spare && (e->is_spare || !e->point.installed);
	e->begins |= trees & spi_tree_whole;
	e->point.tree_todo |= trees & ~e->point.tree_live;
}

/*
 * An entry point for these trees, which is spare where sites may lead to the function as well; under the patch lock. Returns one
 * whose jump the control side is to write when it has given the lock back, or NULL.
 */
static struct spi_entry *entry_give(struct spi_tree_object *to, uint64_t func, uint32_t trees, int is_spare, int is_control,
	uint64_t *before)
{
	uint64_t address = spi_tree_map_func(to, func)->vaddr + to->object->bias;
	struct spi_entry *e = spi_entry_find(address);
	const char *why = spi_tree_func_unfit(to, func);
	int is_known;

	if (why) {
		spi_tree_decline(to, address, why);
		return NULL;
	}
	if (!e) {
		e = spi_entry_new(to, func, trees, is_control, before);
		/* which is told; what it calls is recorded all the same. The control side writes to no text that may be unloaded meanwhile. */
		if (!e && !is_control)
			spi_tree_enter(address, trees, &is_known);
		if (!e)
			return NULL;
	} else if (spi_entry_use(e, trees) < 0) {
		return NULL;
	}
	entry_want(e, trees, is_spare);
	if (!e->point.installed && is_control)
		return e;
	if (!e->point.installed)
		spi_entry_write(e, 1);
	return NULL;
}

/* Trees that record calls of the function. */
static uint32_t trees_of(const struct spi_tree_object *to, uint64_t func)
{
	return spi_tree_existing & ~spi_tree_flat & to->covered & ~(to->funcs[func].excluded & ~to->funcs[func].budget);
}

static void callback(uint64_t address, int is_control)
{
	struct spi_thread *t = &spi_thread;
	struct spi_tree_object *to;
	struct spi_entry *later = NULL;
	uint64_t before;
	int64_t func;

	if (!spi_tree_existing || !spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
		return;
	if (is_control) {
		before = spi_patch_lock();
	} else if (spi_patch_lock_soon(&before) < 0) {
		callback_put_off(address);
		return;
	}
	spi_busy_begin(t, (uint64_t) __builtin_frame_address(0));
	to = spi_tree_object_at(address);
	func = to ? spi_tree_func_at(to, address) : -1;
	if (func >= 0 && trees_of(to, (uint64_t) func))
		later = entry_give(to, (uint64_t) func, trees_of(to, (uint64_t) func), 0, is_control, &before);
	t->busy--;
	spi_patch_unlock(before);
	if (later)
		spi_entry_hold(later);
}

void spi_tree_callback(uint64_t address)
{
	if (!spi_thread.busy && !spi_thread_is_foreign(&spi_thread))
		callback(address, 0);
}

void spi_tree_callback_make(uint64_t address)
{
	callback(address, 1);
}

/*
 * Functions of the program whose address an instruction makes, and which no direct call leads to. Most are handed over to
 * be called, by sites. But coroutines begin with some: what switches stacks jumps there, or returns there. Others are
 * called by excluded objects, or by code on the stack that gcc makes for nested functions. Nothing tells which. So
 * all of them get entry points, none with int3, and each entry point goes again when a site's call leads there.
 */
void spi_tree_handed_over_take(const struct spi_tree *tree)
{
	const struct spi_object *exe = spi_objects_list();
	struct spi_tree_object *to = spi_tree_objects;
	uint32_t bit = tree->bit;

	while (to && (to->object != exe || to->gone))
		to = to->next;
	if (!to || !(to->covered & bit) || (spi_tree_flat & bit))
		return;
	/* a runtime that looks up return addresses finds those of what it calls, too */
	for (uint32_t i = 0; i < to->map.head->funcs.count; i++)
		if (spi_tree_map_func(to, i)->reason == SPI_REASON_MANAGED)
			return;
	for (uint32_t i = 0; i < to->map.head->funcs.count; i++) {
		const struct spi_map_func *f = spi_tree_map_func(to, i);
		uint64_t before, address = f->vaddr + to->object->bias;
		struct spi_entry *e;

		if (!(f->flags & SPI_FUNC_HANDED_OVER) || (to->funcs[i].excluded & bit) || spi_tree_func_unfit(to, i) ||
				spi_tree_func_is_usual(to, i))
			continue;
		before = spi_patch_lock();
		e = spi_entry_find(address);
		if (!e)
			e = spi_entry_spare(to, i, bit, &before);
		else if (spi_entry_use(e, bit) < 0)
			e = NULL;
		if (e && spi_patch_worker(&e->point) != SPI_WORKER_TRAP) {
			entry_want(e, bit, 1);
			if (!e->point.installed)
				spi_entry_write(e, 1);
		}
		spi_patch_unlock(before);
	}
}

/* ---- code of no file ---- */

/* The kernel's own code in each process, which nobody misses. */
static int is_vdso(uint64_t address)
{
	return address - getauxval(AT_SYSINFO_EHDR) < VDSO_MOST;
}

int spi_tree_made_enter(const struct spi_site *s, uint64_t code, uint32_t trees)
{
	const struct spi_entry *e;
	struct spi_tree_object *to;
	uint64_t target, before;
	int64_t func;

	if (is_vdso(code) || spi_symbols_know(code, 0))
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
	entry_give(to, (uint64_t) func, trees, 1, 0, &before);
	e = spi_entry_find(target);
	return e && e->point.installed;		/* else that was told */
}

/* The function that this code belongs to calls others of the program's, and nobody in a tree calls it. */
void spi_tree_caller_back(uint64_t address)
{
	struct spi_thread *t = &spi_thread;
	struct spi_tree_object *to;
	uint64_t before;
	int64_t func;

	if (spi_patch_lock_soon(&before) < 0)
		return;
	spi_busy_begin(t, (uint64_t) __builtin_frame_address(0));
	to = spi_tree_object_at(address);
	func = to ? spi_tree_func_around(to, address) : -1;
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
