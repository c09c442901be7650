/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Who calls into a tree from outside of it, and gets an entry point for that
 * (root.c): handlers of signals, start routines of threads, constructors, functions
 * that excluded objects call; and main(), when it has no name.
 */
#include <errno.h>
#include <signal.h>
#include <sys/auxv.h>
#include "liblttng-spi/entry.h"
#include "liblttng-spi/interpose.h"

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
	if (!e->point.installed)
		spi_entry_write(e, 1);
out:
	t->busy--;
	spi_patch_unlock(before);
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
	t->busy++;
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
