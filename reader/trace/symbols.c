/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Names of functions, as the files of executables and libraries have them where the trace is read: .symtab of the
 * file, or of its separate debug file, else .dynsym. libdwfl reads them; they are put in order of address here, as
 * libdwfl goes through all of them for each question.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reader/trace/symbols.h"

#define NAME_MOST	900		/* bytes */

static int symbol_compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->low != y->low ? (x->low < y->low ? -1 : 1) : x->high > y->high ? -1 : x->high < y->high;
}

static void list_read(struct symbols *s)
{
	const int n = s->module ? dwfl_module_getsymtab(s->module) : 0;

	s->has_list = 1;
	s->list = n > 0 ? calloc((size_t) n, sizeof(*s->list)) : NULL;
	for (int i = 0; s->list && i < n; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		GElf_Word section;
		const char *name = dwfl_module_getsym_info(s->module, i, &symbol, &address, &section, NULL, NULL);
		const unsigned int type = name ? GELF_ST_TYPE(symbol.st_info) : STT_NOTYPE;

		if ((type == STT_FUNC || type == STT_GNU_IFUNC) && section != SHN_UNDEF)
			s->list[s->count++] = (struct symbol) { address, address + symbol.st_size, name };
	}
	if (s->count)
		qsort(s->list, s->count, sizeof(*s->list), symbol_compare);
}

/* The nearest function that has the address, of those that begin at or before it; NULL: none. */
static const struct symbol *symbol_at(struct symbols *s, uint64_t at)
{
	size_t low = 0, high;

	if (!s->has_list)
		list_read(s);
	high = s->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->list[middle].low <= at)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i-- > 0 && low - i < 32; )
		if (at < s->list[i].high || s->list[i].high == s->list[i].low)
			return &s->list[i];
	return NULL;
}

int symbols_function(struct symbols *s, uint64_t *offset, char *text, size_t size)
{
	const struct symbol *found = s ? symbol_at(s, s->low + *offset) : NULL;
	char *name;

	if (!found || found->low < s->low)
		return 0;
	*offset = found->low - s->low;
	name = symbol_demangle(found->name);
	snprintf(text, size, "%.*s", name ? NAME_MOST : (int) strcspn(found->name, "@"), name ? name : found->name);
	free(name);
	return 1;
}

int symbols_frame(struct symbols *s, uint64_t *offset)
{
	Dwarf_Addr bias = 0, low, high;
	Dwarf_CFI *cfi = s && s->module ? dwfl_module_eh_cfi(s->module, &bias) : NULL;
	Dwarf_Frame *frame;

	if (!cfi || dwarf_cfi_addrframe(cfi, s->low + *offset - bias, &frame) != 0)
		return 0;
	dwarf_frame_info(frame, &low, &high, NULL);
	free(frame);
	*offset = low + bias - s->low;
	return 1;
}

void symbols_name(struct symbols *s, uint64_t offset, int is_call, char *text, size_t size)
{
	const uint64_t at = (s ? s->low : 0) + offset;
	const struct symbol *found = s ? symbol_at(s, at - (uint64_t) is_call) : NULL;
	char *name;

	if (s && !found && is_call) {
		found = symbol_at(s, at);
		found = found && found->low == at ? found : NULL;
	}
	if (!found) {
		snprintf(text, size, "0x%llx", (unsigned long long) offset);
		return;
	}
	name = symbol_demangle(found->name);
	snprintf(text, size, "%.*s+0x%llx", name ? NAME_MOST : (int) strcspn(found->name, "@"),
		name ? name : found->name, (unsigned long long) (at - found->low));
	free(name);
}
