/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The disassembler and the C++ runtime, which has the demangler, bring 80 000
 * relocations along: 1.4 ms of the 2 that it takes to begin. A map from the cache is
 * handed out in the other 0.6, so they are loaded by the process that analyses.
 */
#include <dlfcn.h>
#include "codemap/base.h"
#include "codemap/late.h"

#define TEXT_OF(x)	#x
#define TEXT(x)		TEXT_OF(x)

struct late late;

static void *library_open(const char *name)
{
	void *library = dlopen(name, RTLD_NOW);

	if (!library)
		fail("cannot be analysed: %s", dlerror());
	return library;
}

static void *library_symbol(void *library, const char *name)
{
	void *symbol = dlsym(library, name);

	if (!symbol)
		fail("cannot be analysed: %s", dlerror());
	return symbol;
}

void late_load(void)
{
	void *capstone = library_open("libcapstone.so." TEXT(CS_API_MAJOR));
	void *runtime = library_open("libstdc++.so.6");

	late.open = library_symbol(capstone, "cs_open");
	late.disasm = library_symbol(capstone, "cs_disasm");
	late.free = library_symbol(capstone, "cs_free");
	late.option = library_symbol(capstone, "cs_option");
	late.regs_access = library_symbol(capstone, "cs_regs_access");
	late.demangle = library_symbol(runtime, "__cxa_demangle");
}
