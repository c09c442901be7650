/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Linkage names. The C++ runtime, where there is one, knows those of C++. Both manglings of Rust are codemap's to read
 * (codemap/names/): the trace has names from there, too.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "codemap/names/names.h"
#include "reader/trace/symbols.h"

#define LINKAGE_MOST	8192u

static char *cxx_demangle(const char *name)
{
	static char *(*demangle)(const char *name, char *to, size_t *size, int *status);
	static int is_looked_for;
	void *library;
	int status;

	if (!is_looked_for) {
		is_looked_for = 1;
		library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
		if (library)
			*(void **) &demangle = dlsym(library, "__cxa_demangle");
	}
	return demangle ? demangle(name, NULL, NULL, &status) : NULL;
}

char *symbol_demangle(const char *name)
{
	struct text text = { .at = NULL };
	char *result = NULL;

	if (name[0] != '_' || (name[1] != 'R' && name[1] != 'Z') || strnlen(name, LINKAGE_MOST) == LINKAGE_MOST)
		return NULL;
	if (name[1] == 'R' ? rust_demangle(name, &text) : rust_demangle_legacy(name, &text))
		result = strdup(text_end(&text));
	free(text.at);
	return result || name[1] == 'R' ? result : cxx_demangle(name);
}
