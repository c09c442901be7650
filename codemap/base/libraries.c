/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Two libraries are loaded with dlopen() instead of being linked: libcapstone, and the C++
 * runtime, which has the demangler. Together they bring 80 000 relocations, 1.4 ms of the
 * 2 ms that a start takes. A map from the cache needs neither of them, and is handed out in
 * the other 0.6 ms.
 */
#include <dlfcn.h>
#include "codemap/base/base.h"
#include "codemap/base/libraries.h"

#define TEXT_OF(x)	#x
#define TEXT(x)		TEXT_OF(x)

struct libraries libraries;

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

void libraries_load(void)
{
	void *capstone = library_open("libcapstone.so." TEXT(CS_API_MAJOR));
	void *runtime = library_open("libstdc++.so.6");

	libraries.cs_open = library_symbol(capstone, "cs_open");
	libraries.cs_disasm = library_symbol(capstone, "cs_disasm");
	libraries.cs_free = library_symbol(capstone, "cs_free");
	libraries.cs_option = library_symbol(capstone, "cs_option");
	libraries.cs_regs_access = library_symbol(capstone, "cs_regs_access");
	libraries.demangle = library_symbol(runtime, "__cxa_demangle");
}
