/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A thread that waits inside lttng-ust's constructor.
 *
 * A program with lttng-ust waits there, before main(), until the session daemon
 * has accepted it; so a tool in the daemon can have the program injected at that
 * moment and see its very first call. The thread is inside the dynamic loader,
 * which is otherwise no place to call dlopen() from. But a loader that runs
 * constructors has finished its own work, and a constructor may call dlopen():
 * the loader's lock is recursive, for this one thread. All others have to wait
 * until the constructors are over, so no other thread will do.
 *
 * The stack tells: the innermost frames are libc's wait for a semaphore; then
 * come frames of liblttng-ust, whose caller is the loader. Beyond are the loader's
 * own frames to where the program begins, or those of a dlopen() and its caller,
 * who may be doing nothing else that is unsafe. Besides constructors the loader
 * calls destructors only, beyond which are exit() or dlclose(): those are unsafe.
 */
#include <string.h>

#include "injector/inject/ust-constructor.h"

#define START_SIZE	256u	/* bytes from the loader's entry that belong to its first, hand-written function */

void spi_constructor_find(struct spi_constructor *c, const struct spi_target *t)
{
	const struct spi_mapping *m = spi_maps_find_file(&t->maps, "liblttng-ust.so");

	memset(c, 0, sizeof(*c));
	if (!m)
		return;
	c->low = m->start;
	c->high = spi_maps_object_end(t->pid, m);
	c->loader_low = t->loader.low;
	c->loader_high = t->loader.high;
	c->start = t->loader.entry;
}

static bool in_ust(const struct spi_constructor *c, uint64_t pc)
{
	return pc >= c->low && pc < c->high;
}

static bool in_loader(const struct spi_constructor *c, uint64_t pc)
{
	return pc >= c->loader_low && pc < c->loader_high;
}

bool spi_constructor_waits(const struct spi_constructor *c, const struct spi_unsafe *unsafe, const struct spi_image *libc,
			   const uint64_t *frames, size_t count, bool unwound)
{
	size_t i = 0;

	if (!c->low)
		return false;
	for (; i < count && frames[i] >= libc->low && frames[i] < libc->high; i++)
		if (spi_unsafe_at(unsafe, frames[i], true))
			return false;
	if (!i || i == count || !in_ust(c, frames[i]))
		return false;
	while (i + 1 < count && in_ust(c, frames[i + 1]))
		i++;
	if (i + 1 == count || !in_loader(c, frames[i + 1]))
		return false;
	for (i++; i < count; i++) {
		const struct spi_unsafe_range *range = spi_unsafe_at(unsafe, frames[i], true);

		if (in_loader(c, frames[i]) && frames[i] >= c->start && frames[i] < c->start + START_SIZE)
			return true;	/* the program begins here; what lies beyond are its arguments */
		if (range && range->rule != SPI_UNSAFE_LOADER)
			return false;
	}
	return unwound;
}
