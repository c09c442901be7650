/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The functions that an object offers to others, and which of them others want: by the relocations of the other objects,
 * as the dynamic linker binds them, by name and version. Without importers only those are taken that new programs can
 * be linked with.
 *
 * Control side. The objects' tables are read while the dynamic linker's list is held, so nothing goes meanwhile. The
 * names are copies, as the object may go before they are read.
 */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/objects/internal.h"

struct search {
	const struct spi_object *object, *only;
	struct spi_exports *found;
	struct spi_tables tables;	/* of the object */
	int failed;
};

static int is_function(const ElfW(Sym) *symbol)
{
	const unsigned int type = ELF64_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF && symbol->st_value && (type == STT_FUNC || type == STT_GNU_IFUNC);
}

/* Twice the room of a list, or the first. NULL: no memory. */
static void *list_grow(void *list, uint32_t used, uint32_t *room, uint32_t size)
{
	const uint32_t more = *room ? *room * 2 : 1024;
	void *grown = spi_map_pages((size_t) more * size);

	if (!grown)
		return NULL;
	if (list) {
		memcpy(grown, list, (size_t) used * size);
		spi_sys(SYS_munmap, list, (size_t) *room * size);
	}
	*room = more;
	return grown;
}

static int export_add(struct spi_exports *e, uint64_t address, const char *name)
{
	const uint32_t n = (uint32_t) strlen(name) + 1;
	void *grown;

	while (e->text_used + n > e->text_room) {
		grown = list_grow(e->text, e->text_used, &e->text_room, 1);
		if (!grown)
			return -ENOMEM;
		e->text = grown;
	}
	if (e->count == e->room) {
		grown = list_grow(e->list, e->count, &e->room, sizeof(*e->list));
		if (!grown)
			return -ENOMEM;
		e->list = grown;
	}
	memcpy(e->text + e->text_used, name, n);
	e->list[e->count++] = (struct spi_export) { address, e->text_used };
	e->text_used += n;
	return 0;
}

/* The symbols of the object that have this name, or with NULL all. */
static void exports_take(struct search *s, const char *name, const char *version)
{
	const uint32_t *head = s->tables.hash, *buckets, *chain;
	const uint32_t wanted = name ? spi_symbol_hash(name) : 0;
	const uint64_t *bloom;

	if (!head || !head[0] || !head[2] || !s->tables.symbols || !s->tables.names)
		return;
	bloom = (const uint64_t *) (head + 4);
	buckets = (const uint32_t *) (bloom + head[2]);
	chain = buckets + head[0];
	if (name && !(bloom[wanted / 64 % head[2]] >> (wanted % 64) & 1))
		return;
	for (uint32_t b = name ? wanted % head[0] : 0; b < head[0]; b++) {
		for (uint32_t i = buckets[b]; i >= head[1]; i++) {
			const ElfW(Sym) *symbol = &s->tables.symbols[i];
			const uint32_t h = chain[i - head[1]];
			const char *its = s->tables.names + symbol->st_name;

			if ((!name || ((h | 1) == (wanted | 1) && !strcmp(its, name))) && is_function(symbol) &&
					spi_symbol_is_version(&s->tables, i, version) && export_add(s->found, symbol->st_value + s->object->bias, its) < 0)
				s->failed = 1;
			if (h & 1)
				break;
		}
		if (name)
			return;
	}
}

static const ElfW(Dyn) *dynamic_of(const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const void *) (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	return NULL;
}

static int tables_find(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *s = data;
	const ElfW(Dyn) *dynamic = dynamic_of(info);

	(void) size;
	if (!dynamic || (uint64_t) dynamic < s->object->low || (uint64_t) dynamic >= s->object->high)
		return 0;
	spi_tables_read(&s->tables, dynamic, info->dlpi_addr);
	return 1;
}

/* What another object wants: its relocations by name. */
static int imports_take(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *s = data;
	const ElfW(Dyn) *dynamic = dynamic_of(info);
	const struct spi_object *o = spi_objects_list();
	struct spi_tables t = { 0 };

	(void) size;
	while (dynamic && o && (!o->seen || (uint64_t) dynamic < o->low || (uint64_t) dynamic >= o->high))
		o = o->next;
	if (!dynamic || !o || o == s->object || (s->only && o != s->only) || spi_object_is_own(o))
		return 0;
	spi_tables_read(&t, dynamic, info->dlpi_addr);
	for (int k = 0; k < 2 && t.symbols && t.names; k++)
		for (uint64_t i = 0; t.lists[k] && i < t.sizes[k] / sizeof(ElfW(Rela)); i++) {
			const uint32_t symbol = (uint32_t) ELF64_R_SYM(t.lists[k][i].r_info);

			if (symbol)
				exports_take(s, t.names + t.symbols[symbol].st_name, spi_symbol_version_wanted(&t, symbol));
		}
	return 0;
}

static int is_before(const struct spi_exports *e, const struct spi_export *a, const struct spi_export *b)
{
	return a->address != b->address ? a->address < b->address : strcmp(spi_export_name(e, a), spi_export_name(e, b)) < 0;
}

/* Heapsort, as qsort() may allocate. Several objects may import the same. */
static void exports_sort(struct spi_exports *e)
{
	struct spi_export *list = e->list;
	uint32_t kept = 0;

	for (uint32_t end = e->count, begin = e->count / 2; end > 1;) {
		struct spi_export moved;
		uint32_t at, child;

		if (begin) {
			moved = list[--begin];
		} else {
			moved = list[--end];
			list[end] = list[0];
		}
		for (at = begin; (child = 2 * at + 1) < end; at = child) {
			child += child + 1 < end && is_before(e, &list[child], &list[child + 1]);
			if (!is_before(e, &moved, &list[child]))
				break;
			list[at] = list[child];
		}
		list[at] = moved;
	}
	for (uint32_t i = 0; i < e->count; i++)
		if (!kept || is_before(e, &list[kept - 1], &list[i]))
			list[kept++] = list[i];
	e->count = kept;
}

int spi_exports_find(const struct spi_object *object, const struct spi_object *only, int is_all, struct spi_exports *found)
{
	struct search s = { .object = object, .only = only, .found = found };

	memset(found, 0, sizeof(*found));
	dl_iterate_phdr(tables_find, &s);
	if (is_all)
		exports_take(&s, NULL, "");
	else
		dl_iterate_phdr(imports_take, &s);
	if (s.failed) {
		spi_exports_free(found);
		return -ENOMEM;
	}
	exports_sort(found);
	return 0;
}

void spi_exports_free(struct spi_exports *exports)
{
	if (exports->list)
		spi_sys(SYS_munmap, exports->list, exports->room * sizeof(*exports->list));
	if (exports->text)
		spi_sys(SYS_munmap, exports->text, exports->text_room);
	memset(exports, 0, sizeof(*exports));
}

const struct spi_export *spi_exports_at(const struct spi_exports *exports, uint64_t address)
{
	uint32_t low = 0, high = exports->count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (exports->list[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < exports->count && exports->list[low].address == address ? &exports->list[low] : NULL;
}
