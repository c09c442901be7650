/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The dynamic section: relocations, symbols, versions, and PLT stubs. A stub is recognised by what
 * it does: `jmp *slot(%rip)`, at most behind an endbr64. So .plt, .plt.sec, .plt.got and the
 * stubs of a file without section headers are all the same.
 */
#include <stdlib.h>
#include <string.h>
#include "codemap/base/cursor.h"
#include "codemap/code/plt.h"
#include "codemap/code/x86.h"

#define VERSIONS_MAX	0x8000u		/* a version index has 15 bits */

struct dynamic {
	uint64_t symtab, strtab, strsz, versym, verneed, verdef;
	uint64_t rela, relasz, jmprel, pltrelsz, relr, relrsz;
};

static void dynamic_take(struct dynamic *d, const Elf64_Dyn *dyn)
{
	uint64_t value = dyn->d_un.d_val;

	switch (dyn->d_tag) {
	case DT_SYMTAB: d->symtab = value; break;
	case DT_STRTAB: d->strtab = value; break;
	case DT_STRSZ: d->strsz = value; break;
	case DT_VERSYM: d->versym = value; break;
	case DT_VERNEED: d->verneed = value; break;
	case DT_VERDEF: d->verdef = value; break;
	case DT_RELA: d->rela = value; break;
	case DT_RELASZ: d->relasz = value; break;
	case DT_JMPREL: d->jmprel = value; break;
	case DT_PLTRELSZ: d->pltrelsz = value; break;
	case 36: d->relr = value; break;	/* DT_RELR */
	case 35: d->relrsz = value; break;	/* DT_RELRSZ */
	}
}

static void dynamic_read(const struct image *image, struct dynamic *d)
{
	uint64_t left = 0;
	const uint8_t *p;
	Elf64_Dyn dyn;
	uint32_t i;

	memset(d, 0, sizeof(*d));
	for (i = 0; i < image->segment_count; i++) {
		if (image->segments[i].p_type != PT_DYNAMIC)
			continue;
		p = image_at(image, image->segments[i].p_vaddr, &left);
		if (p && left > image->segments[i].p_filesz)
			left = image->segments[i].p_filesz;
		for (; p && left >= sizeof(dyn); p += sizeof(dyn), left -= sizeof(dyn)) {
			memcpy(&dyn, p, sizeof(dyn));
			if (dyn.d_tag == DT_NULL)
				break;
			dynamic_take(d, &dyn);
		}
	}
}

/* Link-time value of a symbol that the object itself defines, 0: it does not. */
static uint64_t symbol_value(const struct links *links, uint32_t symbol)
{
	Elf64_Sym sym;

	if ((symbol + UINT64_C(1)) * sizeof(sym) > links->symbols_size)
		return 0;
	memcpy(&sym, links->symbols + symbol * sizeof(sym), sizeof(sym));
	return sym.st_shndx == SHN_UNDEF ? 0 : sym.st_value;
}

static void slot_add(struct links *links, uint64_t vaddr, uint32_t type, uint32_t symbol, uint64_t addend)
{
	struct slot *slot;

	if (type == R_X86_64_RELATIVE && !image_is_code(links->image, addend))
		return;
	if (type == R_X86_64_64 && !image_is_code(links->image, symbol_value(links, symbol) + addend))
		return;
	if (type != R_X86_64_RELATIVE && type != R_X86_64_64 && type != R_X86_64_JUMP_SLOT &&
	    type != R_X86_64_GLOB_DAT && type != R_X86_64_IRELATIVE && type != R_X86_64_TLSDESC)
		return;
	if (type == R_X86_64_TLSDESC)
		links->has_tlsdesc = 1;
	if (type == R_X86_64_64)
		addend += symbol_value(links, symbol);
	slot = vec_push(&links->slots);
	slot->vaddr = vaddr;
	slot->type = type;
	slot->symbol = symbol;
	slot->addend = addend;
}

static void relocations_read(struct links *links, uint64_t vaddr, uint64_t size)
{
	uint64_t left = 0;
	const uint8_t *p = size ? image_at(links->image, vaddr, &left) : NULL;
	Elf64_Rela rela;

	if (p && size < left)
		left = size;
	for (; p && left >= sizeof(rela); p += sizeof(rela), left -= sizeof(rela)) {
		memcpy(&rela, p, sizeof(rela));
		slot_add(links, rela.r_offset, (uint32_t) ELF64_R_TYPE(rela.r_info),
			 (uint32_t) ELF64_R_SYM(rela.r_info), (uint64_t) rela.r_addend);
	}
}

/* A word that is relocated by the load bias, its addend in place. */
static void relative_word(struct links *links, uint64_t vaddr)
{
	uint64_t left = 0, value;
	const uint8_t *p = image_at(links->image, vaddr, &left);

	if (!p || left < sizeof(value))
		return;
	memcpy(&value, p, sizeof(value));
	slot_add(links, vaddr, R_X86_64_RELATIVE, 0, value);
}

/* DT_RELR: an address, then bitmaps of which of the 63 words behind it are relocated as well. */
static void relr_read(struct links *links, uint64_t vaddr, uint64_t size)
{
	uint64_t left = 0, where = 0, entry;
	const uint8_t *p = size ? image_at(links->image, vaddr, &left) : NULL;
	unsigned int i;

	if (p && size < left)
		left = size;
	for (; p && left >= sizeof(entry); p += sizeof(entry), left -= sizeof(entry)) {
		memcpy(&entry, p, sizeof(entry));
		if (!(entry & 1)) {
			relative_word(links, entry);
			where = entry + 8;
			continue;
		}
		for (i = 0; i < 63; i++)
			if (entry >> (i + 1) & 1)
				relative_word(links, where + 8 * i);
		where += 63 * 8;
	}
}

static const char *name_at(const struct links *links, uint64_t offset)
{
	if (offset >= links->names_size || !memchr(links->names + offset, 0, links->names_size - offset))
		return NULL;
	return links->names + offset;
}

static void version_set(struct links *links, uint32_t index, uint32_t name)
{
	index &= 0x7fff;
	if (index < 2 || index >= VERSIONS_MAX)
		return;
	while (links->version_names.count <= index)
		*vec_push(&links->version_names) = NULL;
	links->version_names.at[index] = name_at(links, name);
}

/* Versions that are needed of others: a list of files, each with a list of versions. */
static void verneed_read(struct links *links, uint64_t vaddr)
{
	uint64_t left = 0, at = 0, aux;
	const uint8_t *p = vaddr ? image_at(links->image, vaddr, &left) : NULL;
	unsigned int budget = 2 * VERSIONS_MAX, n;
	Elf64_Verneed need;
	Elf64_Vernaux one;

	for (; p && budget && at < left && left - at >= sizeof(need); at += need.vn_next) {
		memcpy(&need, p + at, sizeof(need));
		aux = at + need.vn_aux;
		for (n = 0; n < need.vn_cnt && budget && aux < left && left - aux >= sizeof(one); n++) {
			budget--;
			memcpy(&one, p + aux, sizeof(one));
			version_set(links, one.vna_other, one.vna_name);
			if (!one.vna_next)
				break;
			aux += one.vna_next;
		}
		if (!need.vn_next)
			break;
		budget -= budget != 0;
	}
}

static void verdef_read(struct links *links, uint64_t vaddr)
{
	uint64_t left = 0, at = 0, aux;
	const uint8_t *p = vaddr ? image_at(links->image, vaddr, &left) : NULL;
	Elf64_Verdef def;
	Elf64_Verdaux name;
	unsigned int n;

	for (n = 0; p && n < VERSIONS_MAX && at < left && left - at >= sizeof(def); n++, at += def.vd_next) {
		memcpy(&def, p + at, sizeof(def));
		aux = at + def.vd_aux;
		if (def.vd_cnt && aux < left && left - aux >= sizeof(name)) {
			memcpy(&name, p + aux, sizeof(name));
			version_set(links, def.vd_ndx, name.vda_name);
		}
		if (!def.vd_next)
			break;
	}
}

static int slot_compare(const void *x, const void *y)
{
	const struct slot *a = x, *b = y;

	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

void links_read(struct links *links, const struct image *image)
{
	struct dynamic d;

	memset(links, 0, sizeof(*links));
	links->image = image;
	dynamic_read(image, &d);
	links->symbols = d.symtab ? image_at(image, d.symtab, &links->symbols_size) : NULL;
	links->names = d.strtab ? (const char *) image_at(image, d.strtab, &links->names_size) : NULL;
	links->versions = d.versym ? image_at(image, d.versym, &links->versions_size) : NULL;
	if (!links->symbols)
		links->symbols_size = 0;
	if (!links->names)
		links->names_size = 0;
	else if (links->names_size > d.strsz)
		links->names_size = d.strsz;
	if (!links->versions)
		links->versions_size = 0;
	verneed_read(links, d.verneed);
	verdef_read(links, d.verdef);
	relocations_read(links, d.rela, d.relasz);
	relocations_read(links, d.jmprel, d.pltrelsz);
	relr_read(links, d.relr, d.relrsz);
	if (links->slots.count)
		qsort(links->slots.at, links->slots.count, sizeof(*links->slots.at), slot_compare);
}

const struct slot *links_slot(const struct links *links, uint64_t vaddr)
{
	struct slot key = { .vaddr = vaddr };

	if (!links->slots.count)
		return NULL;
	return bsearch(&key, links->slots.at, links->slots.count, sizeof(key), slot_compare);
}

const char *links_import(const struct links *links, const struct slot *slot, const char **version)
{
	const char *name;
	uint16_t index;
	Elf64_Sym sym;

	*version = "";
	if (!slot->symbol || (slot->symbol + UINT64_C(1)) * sizeof(sym) > links->symbols_size)
		return NULL;
	memcpy(&sym, links->symbols + slot->symbol * sizeof(sym), sizeof(sym));
	name = name_at(links, sym.st_name);
	if (!name || !*name)
		return NULL;
	if ((slot->symbol + UINT64_C(1)) * sizeof(index) <= links->versions_size) {
		memcpy(&index, links->versions + slot->symbol * sizeof(index), sizeof(index));
		index &= 0x7fff;
		if (index < links->version_names.count && links->version_names.at[index])
			*version = links->version_names.at[index];
	}
	return name;
}

const struct slot *links_stub(const struct links *links, uint64_t vaddr)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint64_t left = 0;
	const uint8_t *p = image_is_code(links->image, vaddr) ? image_at(links->image, vaddr, &left) : NULL;
	struct x86_decoded insn;
	int32_t distance;

	if (p && left > sizeof(endbr64) && !memcmp(p, endbr64, sizeof(endbr64))) {
		p += sizeof(endbr64);
		left -= sizeof(endbr64);
		vaddr += sizeof(endbr64);
	}
	if (!p || !x86_decode(p, left, vaddr, &insn) || !(insn.flags & X86_INDIRECT_JUMP) || !insn.fix_offset)
		return NULL;
	memcpy(&distance, p + insn.fix_offset, 4);
	return links_slot(links, vaddr + insn.size + (uint64_t) (int64_t) distance);
}
