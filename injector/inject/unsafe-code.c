/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Unsafe code: code in which a thread may hold a lock that loading a library takes. That is the
 * dynamic loader, every memory allocator (libc's, and whatever a library or the program brings
 * instead), some libc functions, lttng-ust and the agent.
 */
#include <stdlib.h>
#include <string.h>

#include "injector/inject/unsafe-code.h"

static void range_add(struct spi_unsafe *u, uint64_t low, uint64_t high, enum spi_unsafe_rule rule, const char *why)
{
	struct spi_unsafe_range *more;

	if (!low || high <= low)
		return;
	more = realloc(u->ranges, (u->count + 1) * sizeof(*more));
	if (!more)
		return;
	u->ranges = more;
	more[u->count++] = (struct spi_unsafe_range) { low, high, rule, why };
}

static void range_add_functions(struct spi_unsafe *u, const struct spi_image *image, const char *const *names,
				enum spi_unsafe_rule rule, const char *why)
{
	for (; *names; names++) {
		uint64_t size = 0, at = spi_image_symbol(image, *names, &size);

		range_add(u, at, at + size, rule, why);
	}
}

static const char *const allocator[] = {
	"malloc", "free", "calloc", "realloc", "memalign", "aligned_alloc", "valloc", "pvalloc", "posix_memalign",
	"malloc_trim", "malloc_usable_size", "mallinfo", "mallinfo2", "malloc_stats", "mallopt", "malloc_info", NULL
};

/* Functions of libc that hold a lock which dlopen(), a constructor or starting a thread takes. */
static const char *const never[] = {
	"dlclose", "dlsym", "dlvsym", "dladdr", "dladdr1", "dlinfo", "dlerror", "dl_iterate_phdr",
	"fork", "__libc_fork", "_Fork", "__register_atfork", "__cxa_atexit", "__cxa_finalize",
	"__cxa_thread_atexit_impl", "__cxa_at_quick_exit", "exit", "quick_exit", "_exit", "abort", "on_exit", "setenv",
	"unsetenv", "putenv", "clearenv", "setlocale", "textdomain", "bindtextdomain", "dcgettext", "dcngettext",
	"pthread_create", "pthread_exit", "sbrk", "brk", NULL
};

static const char *const loading[] = { "dlopen", "dlmopen", "__libc_dlopen_mode", NULL };

/* These only while they do something, not while they wait. */
static const char *const while_waiting[] = {
	"pthread_join", "pthread_timedjoin_np", "pthread_clockjoin_np", "pthread_tryjoin_np", "pthread_detach",
	"pthread_cancel", "system", "popen", "pclose", "posix_spawn", "posix_spawnp", NULL
};

/* libc's allocator is one piece of code; its inner functions have no names, but lie between the exported ones. */
static void add_libc(struct spi_unsafe *u, const struct spi_target *t)
{
	const struct spi_image *libc = &t->libc;
	uint64_t low = UINT64_MAX, high = 0;

	for (const char *const *name = allocator; *name; name++) {
		uint64_t size, at = spi_image_symbol(libc, *name, &size);

		if (at && at < low)
			low = at;
		if (at && at + size > high)
			high = at + size;
	}
	if (high)
		range_add(u, spi_image_end_before(libc, low), spi_image_start_after(libc, high), SPI_UNSAFE_ALWAYS,
			  "allocating memory");
	range_add_functions(u, libc, never, SPI_UNSAFE_ALWAYS, "in a libc function that holds locks");
	range_add_functions(u, libc, loading, SPI_UNSAFE_LOADER, "loading a library");
	range_add_functions(u, libc, while_waiting, SPI_UNSAFE_UNLESS_WAITING, "in a libc function that holds locks");
}

/* Another object that brings an allocator: all of a library, of the executable the functions themselves. */
static void add_allocator(struct spi_unsafe *u, const struct spi_target *t, const struct spi_mapping *m,
		const struct spi_mapping *program)
{
	struct spi_image image;

	if (spi_image_read(&image, t->pid, &t->maps, m, false))
		return;
	if (spi_image_symbol(&image, "malloc", NULL)) {
		if (program && program->inode == m->inode && program->device == m->device)
			range_add_functions(u, &image, allocator, SPI_UNSAFE_ALWAYS, "allocating memory");
		else
			range_add(u, image.low, image.high, SPI_UNSAFE_UNLESS_WAITING, "in a memory allocator");
	}
	spi_image_free(&image);
}

static void add_objects(struct spi_unsafe *u, const struct spi_target *t)
{
	const struct spi_mapping *program = spi_maps_find_program(&t->maps, t->pid);

	for (size_t i = 0; i < t->maps.count; i++) {
		const struct spi_mapping *m = &t->maps.all[i];
		const char *name = spi_mapping_name(m);

		if (m->exec && !strncmp(name, "liblttng-spi.so", 15))
			range_add(u, m->start, m->end, SPI_UNSAFE_AGENT, "in the tracing agent");
		if (m->start >= t->loader.low && m->end <= t->loader.high && m->exec)
			range_add(u, m->start, m->end, SPI_UNSAFE_LOADER, "in the dynamic loader");
		if (m->exec && (!strncmp(name, "liblttng-ust", 12) || !strncmp(name, "liburcu", 7)))
			range_add(u, m->start, m->end, SPI_UNSAFE_ALWAYS, "in lttng-ust");
		if (m->start == t->libc.low || m->start == t->loader.low || !spi_mapping_is_object(t->pid, m))
			continue;
		add_allocator(u, t, m, program);
	}
}

const struct spi_unsafe_range *spi_unsafe_at(const struct spi_unsafe *u, uint64_t pc, bool waiting)
{
	for (size_t i = 0; i < u->count; i++) {
		const struct spi_unsafe_range *r = &u->ranges[i];

		if (pc >= r->low && pc < r->high && !(waiting && r->rule == SPI_UNSAFE_UNLESS_WAITING))
			return r;
	}
	return NULL;
}

void spi_unsafe_collect(struct spi_unsafe *u, const struct spi_target *t)
{
	add_libc(u, t);
	add_objects(u, t);
}
