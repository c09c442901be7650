/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What the dynamic linker will bind a name to, found in the objects' own tables (tables.c) as it does, without asking it:
 * who wants to know may be in a signal handler, or hold its lock.
 *
 * The order is that of the objects loaded at the program's start, which are never
 * unloaded; then the object that asks, which somebody is running in. Other
 * objects are not looked at, as they may go in this moment; an agent that is injected
 * finds such ones, too. What an indirect function will be is not known before the
 * linker has asked its resolver.
 */
#include <elf.h>
#include <link.h>
#include <string.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/objects/internal.h"

#define TABLES_MAX	256u

struct table {
	uint64_t bias, low, high, code_low, code_high;
	struct spi_tables of;
	const ElfW(Dyn) *dynamic;
	uint32_t is_agent, is_initial;
	uint32_t scan;			/* the last that found it */
};

static struct table tables[TABLES_MAX];
static uint32_t table_count, initial_count, scans = 1;

static void table_read(struct table *t, const ElfW(Dyn) *dynamic)
{
	t->dynamic = dynamic;
	spi_tables_read(&t->of, dynamic, t->bias);
}

static struct table table_of(const struct dl_phdr_info *info)
{
	struct table t = { .bias = info->dlpi_addr };

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			table_read(&t, (const ElfW(Dyn) *) (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
	return t;
}

static const char *table_soname(const struct table *t)
{
	for (const ElfW(Dyn) *d = t->dynamic; t->of.names && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_SONAME)
			return t->of.names + d->d_un.d_val;
	return "";
}

static int table_needs(const struct table *t, const struct table *other, const char *path)
{
	const char *slash = strrchr(path, '/'), *soname = table_soname(other);

	for (const ElfW(Dyn) *d = t->dynamic; t->of.names && d->d_tag != DT_NULL; d++) {
		const char *name = d->d_tag == DT_NEEDED ? t->of.names + d->d_un.d_val : NULL;

		if (name && (spi_texts_equal(name, soname) || spi_texts_equal(name, path) || (slash && spi_texts_equal(name, slash + 1))))
			return 1;
	}
	return 0;
}

static int tables_equal(const struct table *a, const struct table *b)
{
	return spi_bytes_equal((const uint8_t *) a, (const uint8_t *) b, offsetof(struct table, is_agent));
}

/* Its object may have gone since, and another have come to where it was: the first thing to ask, before its range. */
static int table_is_there(const struct table *t)
{
	return __atomic_load_n(&t->scan, __ATOMIC_ACQUIRE) >= __atomic_load_n(&scans, __ATOMIC_ACQUIRE);
}

static uint32_t scanned_initial;	/* while the first scan runs: the tables so far of objects that were there at the start */

static int table_add(struct dl_phdr_info *info, size_t size, void *data)
{
	struct table t = table_of(info);
	uint32_t at;

	(void) size;
	(void) data;
	if (!t.dynamic || strstr(info->dlpi_name, "linux-vdso"))
		return 0;
	t.low = t.code_low = UINT64_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type != PT_LOAD)
			continue;
		t.low = start < t.low ? start : t.low;
		t.high = start + ph->p_memsz > t.high ? start + ph->p_memsz : t.high;
		if (!(ph->p_flags & PF_X))
			continue;
		t.code_low = start < t.code_low ? start : t.code_low;
		t.code_high = start + ph->p_memsz > t.code_high ? start + ph->p_memsz : t.code_high;
	}
	t.is_agent = (uint64_t) spi_slot_code_base >= t.low && (uint64_t) spi_slot_code_base < t.high;
	for (at = 0; at < table_count && !tables_equal(&tables[at], &t); at++)
		;
	if (at < table_count) {
		__atomic_store_n(&tables[at].scan, scans + 1, __ATOMIC_RELEASE);
		return 0;
	}
	for (at = initial_count; at < table_count && table_is_there(&tables[at]); at++)
		;
	if (at == TABLES_MAX)
		return 0;
	if (!initial_count && !scanned_initial)
		scanned_initial = 1;
	/* The linker's list has what came with the start first, in whatever order, and appends what is loaded later. */
	for (uint32_t i = 0; !initial_count && i < scanned_initial && i < at; i++)
		if (table_needs(&tables[i], &t, info->dlpi_name))
			scanned_initial = at + 1;
	tables[at].scan = 0;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	tables[at] = t;
	__atomic_store_n(&tables[at].scan, scans + 1, __ATOMIC_RELEASE);
	if (at == table_count)
		__atomic_store_n(&table_count, table_count + 1, __ATOMIC_RELEASE);
	return 0;
}

/*
 * Control side. What an injected agent finds loaded may go like all that dlopen() brings; what came with the program's
 * start reaches in the linker's list as far as the last that is needed by one before it. Those preloaded are the first.
 */
void spi_symbols_scan(void)
{
	dl_iterate_phdr(table_add, NULL);
	if (!initial_count) {
		initial_count = scanned_initial;
		for (uint32_t i = 0; i < initial_count; i++)
			tables[i].is_initial = 1;
	}
	__atomic_store_n(&scans, scans + 1, __ATOMIC_RELEASE);
}

/* Is the address in an object that was seen, the agent included, or in its code? Any thread. */
int spi_symbols_know(uint64_t address, int is_code)
{
	uint32_t count = __atomic_load_n(&table_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++)
		if (table_is_there(&tables[i]) && address >= (is_code ? tables[i].code_low : tables[i].low) &&
				address < (is_code ? tables[i].code_high : tables[i].high))
			return 1;
	return 0;
}

struct wanted {
	const char *name;
	uint64_t found;
	uint64_t in;		/* an address of the object that is to define it */
};

static int has_address(const struct dl_phdr_info *info, uint64_t address)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && address - info->dlpi_addr - ph->p_vaddr < ph->p_memsz)
			return 1;
	}
	return 0;
}

static void find_in(const struct dl_phdr_info *info, struct wanted *wanted)
{
	struct table t = table_of(info);
	uint32_t i = spi_table_find(&t.of, wanted->name, spi_symbol_hash(wanted->name), "");

	if (i)
		wanted->found = t.of.symbols[i].st_value + t.bias;
}

static int find_in_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct wanted *wanted = data;

	(void) size;
	if (!has_address(info, wanted->in))
		return 0;
	find_in(info, wanted);
	return 1;
}

int spi_object_defines(const struct dl_phdr_info *info, const char *name)
{
	struct wanted wanted = { .name = name };

	find_in(info, &wanted);
	return wanted.found != 0;
}

static int object_imports_load(struct dl_phdr_info *info, size_t size, void *data)
{
	struct table t = table_of(info);

	(void) size;
	(void) data;
	if (strstr(info->dlpi_name, "linux-vdso") || has_address(info, (uint64_t) spi_slot_code_base))
		return 0;
	return spi_table_imports_load(&t.of);
}

int spi_program_loads(void)
{
	return dl_iterate_phdr(object_imports_load, NULL);
}

/*
 * libc's tables. In the list of debuggers libc comes before everything that can be unloaded, so no lock is needed. Two
 * threads that come here at once write the same.
 */
static const struct table *libc_table(void)
{
	static struct table libc;
	static int is_known;

	if (spi_likely(__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)))
		return &libc;
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
		const char *slash = strrchr(map->l_name, '/');
		struct table t = { .bias = map->l_addr };

		if (strcmp(slash ? slash + 1 : map->l_name, "libc.so.6"))
			continue;
		table_read(&t, map->l_ld);
		libc = t;
		__atomic_store_n(&is_known, 1, __ATOMIC_RELEASE);
		return &libc;
	}
	return NULL;
}

/*
 * Not by dlsym() or dlopen(), which others stand before, too, and may come back to us from there. Where libc chooses
 * among several functions by the CPU, its resolver is asked: those take nothing, and look at what is known since the
 * start.
 */
void *spi_find_in_libc(const char *name)
{
	const struct table *libc = libc_table();
	uint32_t i = libc ? spi_table_find(&libc->of, name, spi_symbol_hash(name), "") : 0;
	uint64_t found;

	if (!i)
		return NULL;
	found = libc->of.symbols[i].st_value + libc->bias;
	return ELF64_ST_TYPE(libc->of.symbols[i].st_info) == STT_GNU_IFUNC ? ((void *(*)(void)) found)() : (void *) found;
}

void *spi_symbol_beside(const char *name, uint64_t address)
{
	struct wanted wanted = { .name = name, .in = address };

	dl_iterate_phdr(find_in_object, &wanted);
	return (void *) wanted.found;
}

static int find_shadow(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;

	(void) size;
	return strcmp(name, "libc.so.6") && strncmp(name, "liblttng", 8) && !spi_path_is_descriptor(info->dlpi_name) &&
		spi_object_defines(info, data);
}

int spi_symbol_is_shadowed(const char *name)
{
	return dl_iterate_phdr(find_shadow, (void *) name);
}

uint64_t spi_symbol_find(const char *name, const char *version, const struct spi_object *from, int after_agent)
{
	uint32_t count = __atomic_load_n(&table_count, __ATOMIC_ACQUIRE), hash = spi_symbol_hash(name);

	for (uint32_t i = 0; i < count; i++) {
		const struct table *t = &tables[i];
		uint32_t found;

		if ((!t->is_initial && (!table_is_there(t) || t->low != from->low)) || (after_agent && t->is_agent))
			continue;
		found = spi_table_find(&t->of, name, hash, version);
		if (!found)
			continue;
		/* else it is STT_GNU_IFUNC, or no function */
		return ELF64_ST_TYPE(t->of.symbols[found].st_info) == STT_FUNC ? t->of.symbols[found].st_value + t->bias : 0;
	}
	return 0;
}

uint64_t spi_symbol_behind(uint64_t address, const struct spi_object *from)
{
	uint32_t count = __atomic_load_n(&table_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++) {
		const char *name = tables[i].is_agent ? spi_table_name(&tables[i].of, address - tables[i].bias) : NULL;

		if (name)
			return spi_symbol_find(name, "", from, 1);
	}
	return 0;
}
