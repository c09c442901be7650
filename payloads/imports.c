/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Is the program built with -pg? Then its start file calls __monstartup() of libc, which its relocations name. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include "payloads/gprof.h"

static uint64_t dynamic_value(const struct link_map *map, int64_t tag)
{
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag)
			return d->d_un.d_val;
	return 0;
}

/* One table of relocations; the dynamic linker has made its addresses, but not its sizes, those of this process. */
static int table_names(const struct link_map *map, int64_t table, int64_t size, const char *name)
{
	const ElfW(Rela) *r = (const ElfW(Rela) *) dynamic_value(map, table);
	const ElfW(Sym) *symbols = (const ElfW(Sym) *) dynamic_value(map, DT_SYMTAB);
	const char *strings = (const char *) dynamic_value(map, DT_STRTAB);

	for (uint64_t n = dynamic_value(map, size) / sizeof(*r); r && symbols && strings && n; n--, r++)
		if (ELF64_R_SYM(r->r_info) && !strcmp(strings + symbols[ELF64_R_SYM(r->r_info)].st_name, name))
			return 1;
	return 0;
}

int gprof_program_profiles_itself(void)
{
	void *handle = dlopen(NULL, RTLD_LAZY);
	struct link_map *map = NULL;
	int does = 0;

	if (handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map)
		does = table_names(map, DT_JMPREL, DT_PLTRELSZ, "__monstartup") ||
			table_names(map, DT_RELA, DT_RELASZ, "__monstartup");
	if (handle)
		dlclose(handle);
	return does;
}
