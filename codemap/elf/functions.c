/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Collects functions: symbols of .symtab and .dynsym, of the debug file and of minidebuginfo, and
 * starts of FDEs, joined by address. A function that cannot have a point, by its name or place, is
 * given its reason here.
 */
#include <stdlib.h>
#include <string.h>
#include "codemap/elf/functions.h"
#include "codemap/elf/managed.h"

struct symbol {
	uint64_t vaddr, size;
	const char *name;
	uint8_t is_global, is_ifunc, is_exported;
};
struct symbol_list vec_of(struct symbol);

struct symbols {
	struct symbol_list list;
	struct managed managed;
};

static void symbol_add(struct symbol_list *list, const Elf64_Sym *sym, const char *name, uint64_t room)
{
	uint8_t type = ELF64_ST_TYPE(sym->st_info);
	const char *end = memchr(name, 0, room), *version;
	struct symbol *s;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || sym->st_shndx == SHN_UNDEF || !sym->st_value || !end ||
	    end == name || sym->st_shndx == SHN_ABS)
		return;
	version = memchr(name + 1, '@', (size_t) (end - name - 1));
	s = vec_push(list);
	s->vaddr = sym->st_value;
	s->size = sym->st_size;
	s->name = version ? mem_string(name, (size_t) (version - name)) : name;
	s->is_global = ELF64_ST_BIND(sym->st_info) != STB_LOCAL;
	s->is_ifunc = type == STT_GNU_IFUNC;
}

static void symbols_from_table(struct symbols *to, const uint8_t *table, uint64_t size, const char *names,
			       uint64_t names_size, int is_dynamic)
{
	struct symbol_list *list = &to->list;
	size_t before = list->count;
	Elf64_Sym sym;

	for (; size >= sizeof(sym); size -= sizeof(sym), table += sizeof(sym)) {
		memcpy(&sym, table, sizeof(sym));
		if (sym.st_name >= names_size)
			continue;
		symbol_add(list, &sym, names + sym.st_name, names_size - sym.st_name);
		if (sym.st_shndx != SHN_UNDEF)
			managed_symbol(&to->managed, sym.st_value, sym.st_size, names + sym.st_name, names_size - sym.st_name);
	}
	for (; before < list->count; before++)
		list->at[before].is_exported = (uint8_t) is_dynamic;
}

/* An object without section headers still has a dynamic symbol table, whose end is where its strings begin. */
static void symbols_from_dynamic(struct symbols *to, const struct image *image)
{
	uint64_t symtab = 0, strtab = 0, strsz = 0, left, table_left, names_left;
	const uint8_t *p, *table, *names;
	Elf64_Dyn dyn;
	uint32_t i;

	for (i = 0; i < image->segment_count; i++) {
		if (image->segments[i].p_type != PT_DYNAMIC)
			continue;
		p = image_at(image, image->segments[i].p_vaddr, &left);
		for (; p && left >= sizeof(dyn); p += sizeof(dyn), left -= sizeof(dyn)) {
			memcpy(&dyn, p, sizeof(dyn));
			if (dyn.d_tag == DT_NULL)
				break;
			if (dyn.d_tag == DT_SYMTAB)
				symtab = dyn.d_un.d_ptr;
			else if (dyn.d_tag == DT_STRTAB)
				strtab = dyn.d_un.d_ptr;
			else if (dyn.d_tag == DT_STRSZ)
				strsz = dyn.d_un.d_val;
		}
	}
	table = image_at(image, symtab, &table_left);
	names = image_at(image, strtab, &names_left);
	if (!table || !names || strtab <= symtab)
		return;
	if (table_left > strtab - symtab)
		table_left = strtab - symtab;
	symbols_from_table(to, table, table_left, (const char *) names, names_left < strsz ? names_left : strsz,
			   1);
}

static void symbols_from_image(struct symbols *to, const struct image *image)
{
	uint32_t i, found = 0;

	if (!image)
		return;
	for (i = 0; i < image->section_count; i++) {
		const struct section *s = &image->sections[i];
		struct bytes table, names;

		if ((s->type != SHT_SYMTAB && s->type != SHT_DYNSYM) || s->link >= image->section_count)
			continue;
		table = image_raw(image, s);
		names = image_raw(image, &image->sections[s->link]);
		symbols_from_table(to, table.data, table.size, (const char *) names.data, names.size,
				   s->type == SHT_DYNSYM);
		found++;
	}
	if (!found)
		symbols_from_dynamic(to, image);
}

static unsigned int leading_underscores(const char *name)
{
	unsigned int n = 0;

	while (name[n] == '_')
		n++;
	return name[n] ? n : 100;
}

/* Which name is a function called by? Smaller is better. */
static int symbol_name_compare(const char *a, int a_global, const char *b, int b_global)
{
	size_t a_size, b_size;

	if (a_global != b_global)
		return b_global - a_global;
	if (leading_underscores(a) != leading_underscores(b))
		return leading_underscores(a) < leading_underscores(b) ? -1 : 1;
	a_size = strlen(a);
	b_size = strlen(b);
	if (a_size != b_size)
		return a_size < b_size ? -1 : 1;
	return strcmp(a, b);
}

static int symbol_compare(const void *x, const void *y)
{
	const struct symbol *a = x, *b = y;

	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	return symbol_name_compare(a->name, a->is_global, b->name, b->is_global);
}

static int name_in(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (pattern_glob(*list, name))
			return 1;
	return 0;
}

/* Functions that cannot be left by an ordinary return to where they were called from, by name. */
static enum spi_map_reason name_reason(const char *name)
{
	static const char *const twice[] = {
		"setjmp", "_setjmp", "__setjmp", "sigsetjmp", "__sigsetjmp", "__sigsetjmp_chk", "savectx", "vfork",
		"__vfork", "__libc_vfork", "getcontext", "__getcontext", "swapcontext", "__swapcontext",
		"__interceptor_setjmp", "__interceptor__setjmp", "__interceptor_sigsetjmp",
		/* unwinders begin with the registers and the frame of who calls them */
		"unw_getcontext", "__unw_getcontext", "_Ux86_64_getcontext", "_ULx86_64_getcontext",
		"_Ux86_64_getcontext_trace", "uw_init_context_1", NULL
	};
	static const char *const other[] = {"_dl_runtime_resolve*", "_dl_runtime_profile*", "__morestack*",
		"__x86_indirect_*", "__x86_return_thunk", "__llvm_retpoline_*", "__fentry__", "mcount", "_mcount",
		"__mcount", "_dl_tlsdesc_*", "__tls_get_addr", "___tls_get_addr", "__tls_get_addr_slow",
		"__start_context", "_dl_start_user", "__libc_start_context", "_dl_relocate_static_pie",
		"__asan_report_*_asm", NULL};

	if (!strcmp(name, "_start"))
		return SPI_REASON_PROCESS_ENTRY;
	if (!strcmp(name, "__restore_rt") || !strcmp(name, "__restore"))
		return SPI_REASON_SIGNAL_RETURN;
	if (name_in(name, twice))
		return SPI_REASON_RETURNS_TWICE;
	if (name_in(name, other))
		return SPI_REASON_OTHER_ABI;
	return SPI_REASON_NONE;
}

static int name_is_cold(const char *name)
{
	const char *p = strstr(name, ".cold");

	return p && p != name && (!p[5] || p[5] == '.');
}

static int address_in_plt(const struct image *image, uint64_t vaddr)
{
	uint32_t i;

	for (i = 0; i < image->section_count; i++) {
		const struct section *s = &image->sections[i];

		if (vaddr - s->addr < s->size && vaddr >= s->addr && (s->flags & SHF_ALLOC) &&
		    (!strncmp(s->name, ".plt", 4) || !strcmp(s->name, ".iplt")))
			return 1;
	}
	return 0;
}

static void function_add_symbols(struct functions *functions, struct function *f, const struct symbol *s, size_t count)
{
	size_t i;

	f->alias_first = (uint32_t) functions->aliases.count;
	for (i = 0; i < count; i++) {
		struct alias *alias;

		if (s[i].is_exported)
			f->flags |= SPI_FUNC_FROM_OUTSIDE;
		f->is_global |= s[i].is_global;
		if (i && !strcmp(s[i].name, s[i - 1].name))
			continue;
		alias = vec_push(&functions->aliases);
		alias->name = s[i].name;
		alias->is_global = s[i].is_global;
		f->alias_count++;
		if (s[i].size > f->size)
			f->size = s[i].size;
		if (s[i].is_ifunc)
			f->flags |= SPI_FUNC_IFUNC;
		if (!f->reason)
			f->reason = (uint8_t) name_reason(s[i].name);
		if (!f->reason && name_is_cold(s[i].name))
			f->reason = SPI_REASON_PART;
	}
	f->name = s[0].name;
	/* A piece that ended up empty has the next one's address. */
	for (i = 0; i < count && f->reason == SPI_REASON_PART; i++)
		if (s[i].size) {
			f->name = s[i].name;
			break;
		}
}

/* What the place and the unwind rules say about it, when the name said nothing. */
static void function_judge(
	struct function *f, const struct image *image, const struct fde *fde, int is_inside, int is_managed)
{
	uint64_t left;

	if (is_managed && image_is_code(image, f->vaddr) && !address_in_plt(image, f->vaddr))
		f->reason = SPI_REASON_MANAGED;
	if (f->reason)
		return;
	if (fde && fde->signal_frame)
		f->reason = SPI_REASON_SIGNAL_RETURN;
	else if (address_in_plt(image, f->vaddr))
		f->reason = SPI_REASON_PLT;
	else if (!image_is_code(image, f->vaddr) || !image_at(image, f->vaddr, &left))
		f->reason = SPI_REASON_NO_CODE;
	else if (f->vaddr == image->head.e_entry)
		f->reason = SPI_REASON_PROCESS_ENTRY;
	else if ((fde && fde->framed) || is_inside)
		f->reason = SPI_REASON_PART;
}

void functions_read(struct functions *functions, const struct symbol_sources *from)
{
	struct symbols found = { 0 };
	struct symbol_list symbols;
	struct fdes fdes = { 0 };
	uint64_t covered = 0;
	size_t s = 0, d = 0;

	functions->image = from->object;
	managed_begin(&found.managed, from->object);
	symbols_from_image(&found, from->object);
	symbols_from_image(&found, from->debug);
	symbols_from_image(&found, from->mini);
	managed_end(&found.managed);
	functions->copies_stacks = found.managed.copies_stacks;
	symbols = found.list;
	ehframe_read(from->object, &fdes);
	if (symbols.count)
		qsort(symbols.at, symbols.count, sizeof(*symbols.at), symbol_compare);
	fdes_sort(&fdes);
	while (s < symbols.count || d < fdes.count) {
		uint64_t at_symbol = s < symbols.count ? symbols.at[s].vaddr : UINT64_MAX;
		uint64_t at_fde = d < fdes.count ? fdes.at[d].start : UINT64_MAX;
		struct function *f = vec_push(&functions->list);
		const struct fde *fde = NULL;
		size_t n = s;

		memset(f, 0, sizeof(*f));
		f->vaddr = at_symbol < at_fde ? at_symbol : at_fde;
		if (at_symbol == f->vaddr) {
			while (n < symbols.count && symbols.at[n].vaddr == f->vaddr)
				n++;
			function_add_symbols(functions, f, &symbols.at[s], n - s);
			s = n;
		} else {
			f->flags |= SPI_FUNC_NO_SYMBOL;
			f->name = mem_format("sub_%llx", (unsigned long long) f->vaddr);
		}
		if (at_fde == f->vaddr) {
			fde = &fdes.at[d];
			if (!f->size)
				f->size = fde->size;
			while (d < fdes.count && fdes.at[d].start == f->vaddr)
				d++;
		}
		function_judge(f, from->object, fde, (f->flags & SPI_FUNC_NO_SYMBOL) && f->vaddr < covered,
			managed_has(&found.managed, f->vaddr));
		if (!(f->flags & SPI_FUNC_NO_SYMBOL) && f->size < UINT64_MAX - f->vaddr && f->vaddr + f->size > covered)
			covered = f->vaddr + f->size;
	}
	functions->total = functions->list.count;
	free(symbols.at);
	free(found.managed.marks.at);
	free(fdes.at);
}

struct function *functions_around(const struct functions *functions, uint64_t vaddr)
{
	size_t low = 0, high = functions->list.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (functions->list.at[middle].vaddr <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &functions->list.at[low - 1] : NULL;
}

struct function *functions_at(const struct functions *functions, uint64_t vaddr)
{
	struct function *f = functions_around(functions, vaddr);

	return f && f->vaddr == vaddr ? f : NULL;
}
