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
#include "liblttng-spi/entry.h"
#include "liblttng-spi/interpose.h"

#define START_BYTES	80	/* of the program's first function that are looked through */
#define INSN_BYTES	10	/* the longest of the instructions in question */

/* Addresses that the control side is to see to. A handler may install itself anew while its thread holds what a fork waits for. */
#define PUT_OFF_MAX	32u
static uint64_t put_off[PUT_OFF_MAX];

static void callback_put_off(uint64_t address)
{
	int is_served = __atomic_load_n(&spi_control_event, __ATOMIC_RELAXED) >= 0;

	for (uint32_t i = 0; is_served && i < PUT_OFF_MAX; i++) {
		uint64_t is = 0;

		if (__atomic_compare_exchange_n(&put_off[i], &is, address, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED) || is == address) {
			spi_control_ring();
			return;
		}
	}
	spi_call_missed(&spi_thread);
}

void spi_tree_callbacks_take(void)
{
	for (uint32_t i = 0; i < PUT_OFF_MAX; i++) {
		uint64_t address = __atomic_exchange_n(&put_off[i], 0, __ATOMIC_ACQUIRE);

		if (address)
			spi_tree_callback_make(address);
	}
}

static void callback(uint64_t address, int is_control)
{
	struct spi_thread *t = &spi_thread;
	struct spi_tree_object *to;
	struct spi_entry *e = NULL, *later = NULL;
	uint32_t trees;
	uint64_t before;
	int64_t func;

	if (!spi_tree_existing || !spi_process_is_mine())
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
	if (func < 0 || spi_tree_func_unfit(to, (uint64_t) func))
		goto out;
	trees = spi_tree_existing & ~spi_tree_flat & to->covered & ~(to->funcs[func].excluded & ~to->funcs[func].budget);
	e = spi_entry_find(address);
	if (!trees)
		goto out;
	if (!e) {
		e = spi_entry_new(to, (uint64_t) func, trees, is_control, &before);
		if (!e)
			goto out;
	} else if (spi_entry_use(e, trees) < 0) {
		goto out;
	}
	e->point.tree_todo |= trees & ~e->point.tree_live;
	if (!e->point.installed && is_control)
		later = e;
	else if (!e->point.installed)
		spi_entry_write(e, 1);
out:
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

/*
 * What the instruction at p puts into %rdi, where it is one of those that give main() to
 * __libc_start_main(): lea main(%rip) and mov $main (glibc's crt1.o), mov from the GOT (its
 * Scrt1.o, where the linker left it as it was), movabs $main (Free Pascal). 0: none of them.
 */
static uint64_t first_argument(const struct spi_object *exe, const uint8_t *p, int after_rex)
{
	uint64_t wide;
	int32_t word;

	spi_bytes_copy(&word, p + 3, 4);
	if (p[0] == 0x48 && p[1] == 0x8d && p[2] == 0x3d)
		return (uint64_t) p + 7 + (uint64_t) (int64_t) word;
	if (p[0] == 0x48 && p[1] == 0x8b && p[2] == 0x3d && segment_has(exe, PF_W, (uint64_t) p + 7 + (uint64_t) (int64_t) word, 8)) {
		spi_bytes_copy(&wide, p + 7 + word, 8);
		return wide;
	}
	if (p[0] == 0x48 && p[1] == 0xc7 && p[2] == 0xc7)
		return (uint64_t) (int64_t) word;
	spi_bytes_copy(&wide, p + 2, 8);
	if (p[0] == 0x48 && p[1] == 0xbf)
		return wide;
	spi_bytes_copy(&word, p + 1, 4);
	return p[0] == 0xbf && !after_rex && (uint32_t) word > 0x10000 ? (uint32_t) word : 0;
}

uint64_t spi_tree_find_main(void)
{
	const struct spi_object *exe = spi_objects_list();
	uint64_t start = getauxval(AT_ENTRY), main;

	/* else the dynamic linker was given the program's name by hand: it is what the kernel started */
	if (!exe || start < exe->low || start >= exe->high)
		return 0;
	for (uint64_t p = start; p < start + START_BYTES && segment_has(exe, PF_X, p, INSN_BYTES); p++) {
		main = first_argument(exe, (const uint8_t *) p, p > start && *(const uint8_t *) (p - 1) == 0x48);
		if (main)
			return main;
	}
	return 0;
}
