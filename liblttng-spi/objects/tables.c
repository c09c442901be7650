/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* An object's tables as the dynamic linker reads them: GNU hash, symbols, versions. Any thread, any state. */
#include <elf.h>
#include <link.h>
#include <string.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/objects/internal.h"

#define VERSION_HIDDEN	0x8000u

int spi_texts_equal(const char *a, const char *b)
{
	const char *rest = spi_text_behind(a, b);

	return rest && !*rest;
}

/* The dynamic linker has made these addresses already, but for objects without a bias to add. */
void spi_tables_read(struct spi_tables *t, const ElfW(Dyn) *dynamic, uint64_t bias)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		uint64_t value = dynamic->d_un.d_val, at = value + (value < bias ? bias : 0);

		switch (dynamic->d_tag) {
		case DT_GNU_HASH:
			t->hash = (const void *) at;
			break;
		case DT_SYMTAB:
			t->symbols = (const void *) at;
			break;
		case DT_STRTAB:
			t->names = (const void *) at;
			break;
		case DT_VERSYM:
			t->versions = (const void *) at;
			break;
		case DT_VERDEF:
			t->defined = (const void *) at;
			break;
		case DT_VERNEED:
			t->needed = (const void *) at;
			break;
		case DT_JMPREL:
			t->lists[0] = (const void *) at;
			break;
		case DT_PLTRELSZ:
			t->sizes[0] = value;
			break;
		case DT_RELA:
			t->lists[1] = (const void *) at;
			break;
		case DT_RELASZ:
			t->sizes[1] = value;
			break;
		}
	}
}

int spi_symbol_is_version(const struct spi_tables *t, uint32_t symbol, const char *version)
{
	uint16_t index;

	if (!t->versions || !t->defined)
		return 1;
	index = t->versions[symbol];
	if (!version[0])
		return !(index & VERSION_HIDDEN);
	index &= (uint16_t) ~VERSION_HIDDEN;
	for (const uint8_t *at = t->defined;;) {
		const ElfW(Verdef) *def = (const ElfW(Verdef) *) at;

		if (def->vd_ndx == index) {
			const ElfW(Verdaux) *name = (const ElfW(Verdaux) *) (at + def->vd_aux);

			return spi_texts_equal(t->names + name->vda_name, version);
		}
		if (!def->vd_next)
			return 0;
		at += def->vd_next;
	}
}

const char *spi_symbol_version_wanted(const struct spi_tables *t, uint32_t symbol)
{
	const uint16_t index = t->versions ? t->versions[symbol] & (uint16_t) ~VERSION_HIDDEN : 0;

	for (const uint8_t *at = index > 1 ? t->needed : NULL; at;) {
		const ElfW(Verneed) *need = (const ElfW(Verneed) *) at;
		const uint8_t *aux = at + need->vn_aux;

		for (uint16_t i = 0; i < need->vn_cnt; i++) {
			const ElfW(Vernaux) *its = (const ElfW(Vernaux) *) aux;

			if (its->vna_other == index)
				return t->names + its->vna_name;
			aux += its->vna_next;
		}
		at = need->vn_next ? at + need->vn_next : NULL;
	}
	return "";
}

uint32_t spi_symbol_hash(const char *name)
{
	uint32_t h = 5381;

	while (*name)
		h = h * 33 + (uint8_t) *name++;
	return h;
}

uint32_t spi_table_find(const struct spi_tables *t, const char *name, uint32_t hash, const char *version)
{
	const uint32_t *head = t->hash, *buckets, *chain;
	const uint64_t *bloom;
	uint64_t word;
	uint32_t i;

	if (!head || !t->symbols || !t->names || !head[0] || !head[2])
		return 0;
	bloom = (const uint64_t *) (head + 4);
	buckets = (const uint32_t *) (bloom + head[2]);
	chain = buckets + head[0];
	word = bloom[hash / 64 % head[2]];
	if (!(word >> (hash % 64) & 1) || !(word >> ((hash >> head[3]) % 64) & 1))
		return 0;
	i = buckets[hash % head[0]];
	if (i < head[1])
		return 0;
	for (;; i++) {
		uint32_t h = chain[i - head[1]];

		if ((h | 1) == (hash | 1) && t->symbols[i].st_shndx != SHN_UNDEF &&
				spi_texts_equal(t->names + t->symbols[i].st_name, name) && spi_symbol_is_version(t, i, version))
			return i;
		if (h & 1)
			return 0;
	}
}

const char *spi_table_name(const struct spi_tables *t, uint64_t value)
{
	const uint32_t *head = t->hash, *buckets, *chain;

	if (!head || !t->symbols || !t->names)
		return NULL;
	buckets = (const uint32_t *) ((const uint64_t *) (head + 4) + head[2]);
	chain = buckets + head[0];
	for (uint32_t b = 0; b < head[0]; b++)
		for (uint32_t i = buckets[b]; i >= head[1]; i++) {
			if (t->symbols[i].st_shndx != SHN_UNDEF && t->symbols[i].st_value == value)
				return t->names + t->symbols[i].st_name;
			if (chain[i - head[1]] & 1)
				break;
		}
	return NULL;
}

/* Undefined symbols come first where there is a GNU hash table. */
int spi_table_imports_load(const struct spi_tables *t)
{
	if (!t->hash || !t->symbols || !t->names)
		return 1;
	for (uint32_t i = 1; i < t->hash[1]; i++) {
		const char *name = t->names + t->symbols[i].st_name;

		if (t->symbols[i].st_shndx == SHN_UNDEF && (!strcmp(name, "dlopen") || !strcmp(name, "dlmopen")))
			return 1;
	}
	return 0;
}
