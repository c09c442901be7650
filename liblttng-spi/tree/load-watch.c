/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Objects as they are loaded. The dynamic linker calls an empty function of its own,
 * for debuggers, when it has changed the list of objects: _dl_debug_state(), which is
 * before a new object is relocated and before its constructors run. A call tree has
 * to have the object's map by then: so the agent stands there (hooks/linker.c).
 *
 * Who gets here is a thread of the program's in the middle of dlopen() or dlclose(),
 * with the linker's lock. The control thread does what there is to do, and is waited
 * for no longer than is said in control/thread.c: what it does needs that lock nowhere.
 *
 * Constructors and destructors are called by the dynamic linker, which is not
 * traced: they get entry points (root.c), as handlers do. At this time the words that
 * hold their addresses may not be relocated yet: then the relocations tell.
 *
 * dl_iterate_phdr() shows one namespace. Objects that dlmopen() puts into others
 * are not traced; they are named.
 */
#include <elf.h>
#include <link.h>
#include <string.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/link/link.h"
#include "liblttng-spi/calls/calls.h"
#include "liblttng-spi/hooks/hooks.h"
#include "liblttng-spi/rules/rules.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/internal.h"

/* ---- constructors and destructors ---- */

struct ends {
	uint64_t array[2], size[2];	/* of addresses: DT_INIT_ARRAY, DT_FINI_ARRAY */
	uint64_t function[2];		/* DT_INIT, DT_FINI */
	uint64_t rela, rela_size, symbols;
};

static void ends_read(struct ends *ends, uint64_t dynamic, uint64_t bias)
{
	ElfW(Dyn) d;

	for (; spi_memory_copy(&d, dynamic, sizeof(d)) == 0 && d.d_tag != DT_NULL; dynamic += sizeof(d)) {
		uint64_t value = d.d_un.d_val, at = value + (value < bias ? bias : 0);

		switch (d.d_tag) {
		case DT_INIT:
		case DT_FINI:
			ends->function[d.d_tag == DT_FINI] = at;
			break;
		case DT_INIT_ARRAY:
		case DT_FINI_ARRAY:
			ends->array[d.d_tag == DT_FINI_ARRAY] = at;
			break;
		case DT_INIT_ARRAYSZ:
		case DT_FINI_ARRAYSZ:
			ends->size[d.d_tag == DT_FINI_ARRAYSZ] = value / 8;
			break;
		case DT_RELA:
			ends->rela = at;
			break;
		case DT_RELASZ:
			ends->rela_size = value / sizeof(ElfW(Rela));
			break;
		case DT_SYMTAB:
			ends->symbols = at;
			break;
		}
	}
}

/* What relocation will put into the words [at, at + 8 n); what it does not touch is left. */
static void relocated(const struct ends *ends, uint64_t bias, uint64_t at, uint64_t *words, uint64_t n)
{
	ElfW(Rela) some[64];

	for (uint64_t i = 0, count; i < ends->rela_size; i += count) {
		count = ends->rela_size - i < 64 ? ends->rela_size - i : 64;
		if (spi_memory_copy(some, ends->rela + i * sizeof(some[0]), count * sizeof(some[0])) < 0)
			return;
		for (uint64_t k = 0; k < count; k++) {
			uint64_t place = some[k].r_offset + bias - at, type = ELF64_R_TYPE(some[k].r_info);
			ElfW(Sym) symbol = { 0 };

			if (place >= n * 8 || place % 8)
				continue;
			if (type == SPI_RELOC_RELATIVE)
				words[place / 8] = bias + (uint64_t) some[k].r_addend;
			else if (type == SPI_RELOC_WORD && spi_memory_copy(&symbol, ends->symbols +
					ELF64_R_SYM(some[k].r_info) * sizeof(symbol), sizeof(symbol)) == 0 && symbol.st_shndx)
				words[place / 8] = bias + symbol.st_value + (uint64_t) some[k].r_addend;
		}
	}
}

static int end_take(struct spi_tree_object *to, uint64_t address)
{
	if (address < to->low || address >= to->high || spi_tree_func_is_usual(to, spi_tree_func_at(to, address)))
		return 0;
	spi_tree_callback_make(address);
	return 1;
}

/* Some of an array's words as they will be. */
static void words_read(const struct spi_tree_object *to, const struct ends *ends, uint64_t at, uint64_t *words,
	uint64_t n)
{
	int is_final = 1;

	if (spi_memory_copy(words, at, n * 8) < 0)
		memset(words, 0, n * 8);
	for (uint64_t i = 0; i < n; i++)
		is_final &= words[i] >= to->low && words[i] < to->high;
	if (is_final)
		return;
	for (uint64_t i = 0; i < n; i++)	/* DT_RELR: the word has the addend */
		words[i] += words[i] < to->low ? to->object->bias : 0;
	relocated(ends, to->object->bias, at, words, n);
}

/* Returns how many constructors there are, as many as the object says. */
static uint32_t ends_take(struct spi_tree_object *to)
{
	uint32_t taken[2] = { 0, 0 };
	struct ends ends = { 0 };
	uint64_t words[64];

	if (!to->dynamic)
		return 0;
	ends_read(&ends, to->dynamic, to->object->bias);
	for (int end = 0; end < 2; end++) {
		uint64_t at = ends.array[end], high = at + ends.size[end] * 8, n;

		if (at < to->low || high > to->high || high < at)
			high = at;	/* it has none, or what says so is damaged */
		for (; at < high; at += n * 8) {
			n = high - at < sizeof(words) ? (high - at) / 8 : sizeof(words) / 8;
			words_read(to, &ends, at, words, n);
			for (uint64_t i = 0; i < n; i++)
				taken[end] += (uint32_t) end_take(to, words[i]);
		}
		taken[end] += (uint32_t) end_take(to, ends.function[end]);
	}
	return taken[0];
}

/* Control side. All: a tree begins. Else those that have come since. */
void spi_tree_ends_look(int all)
{
	uint32_t constructors = 0, libraries = 0, n;

	for (struct spi_tree_object *to = __atomic_load_n(&spi_tree_objects, __ATOMIC_ACQUIRE); to; to = to->next) {
		if (to->gone || (__atomic_exchange_n(&to->ends_taken, 1, __ATOMIC_ACQ_REL) && !all))
			continue;
		n = ends_take(to);
		if (!all || !n || to->is_libc || to->object->is_exe || !(to->covered & spi_tree_whole))
			continue;
		constructors += n;
		libraries++;
	}
	if (constructors)
		spi_note("not recorded: %u constructors of %u libraries, which ran before tracing began", constructors, libraries);
}

/* ---- other namespaces ---- */

#define APART_MAX	32u
static char apart[APART_MAX][200];	/* names of objects; control side */
static uint32_t apart_count;

static void apart_add(const char *name)
{
	for (uint32_t i = 0; i < apart_count; i++)
		if (!strncmp(apart[i], name, sizeof(apart[i]) - 1))
			return;
	if (apart_count < APART_MAX)
		spi_format(apart[apart_count++], sizeof(apart[0]), "%s", name);
}

/* While the list of objects does not change. */
static void apart_find(void *unused)
{
	(void) unused;
#ifdef LM_ID_NEWLM
	const struct r_debug_extended *other = (const struct r_debug_extended *) &_r_debug;

	while ((other = other->r_next) != NULL)
		for (const struct link_map *l = other->base.r_map; l; l = l->l_next) {
			const char *slash = l->l_name ? strrchr(l->l_name, '/') : NULL;

			if (slash && strncmp(slash + 1, "ld-linux", 8))
				apart_add(slash + 1);
		}
#endif
}

void spi_tree_apart_tell(struct spi_link *link)
{
	uint32_t told = apart_count;

	if (_r_debug.r_version >= 2)	/* there are namespaces */
		spi_objects_hold(apart_find, NULL);
	for (; told < apart_count; told++)
		spi_link_declined(link, apart[told], "", "dlmopen() has loaded it into a namespace of its own");
}

/* ---- the dynamic linker's word ---- */

/* In the place of _dl_debug_state(): its caller keeps nothing in registers that a function may change. */
static void loaded(void)
{
	struct spi_thread *t = &spi_thread;

	if (_r_debug.r_state != RT_CONSISTENT || t->busy || spi_thread_is_foreign(t))
		return;
	spi_tree_of(t);			/* marks the tracer's own threads, where there are trees */
	if (t->busy || spi_thread_is_tracer() || !spi_may(SPI_MAY_ACT | SPI_MAY_HERE))
		return;
	spi_busy_begin(t, (uint64_t) __builtin_frame_address(0));	/* a handler that comes meanwhile is known by it */
	spi_tree_loads_follow();
	t->busy--;
}

const struct spi_hook spi_load_hooks[] = {
	{ "_dl_debug_state", (void *) loaded, .ways = SPI_HOOK_LINKER, .set = SPI_HOOKS_LOADS,
		.lost = "libraries that are loaded are seen when dlsym() is called" },
	{ NULL },
};
