/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Function names: demangling, qualified names without parameters, and the patterns users write. */
#ifndef CODEMAP_NAMES_H
#define CODEMAP_NAMES_H

#include "codemap/base/base.h"

/* The source form of a C++ or Rust linkage name, or NULL when it is none. Valid until the next call of the thread. */
const char *name_demangle(const char *linkage);
/* Does it begin as such a name does? */
int name_is_mangled(const char *linkage);
/*
 * rust_demangle() - add what a name in Rust's v0 mangling (_R...) means; rust_demangle_legacy(): one of the older
 * mangling, without its hash. 0: it is none; `out` may hold anything then.
 */
int rust_demangle(const char *linkage, struct text *out);
int rust_demangle_legacy(const char *linkage, struct text *out);

/*
 * name_base() - a demangled name without return type and parameters:
 * "void ns::f<int>(int) const [clone .cold]" gives "ns::f<int>.cold". Allocated.
 */
char *name_base(const char *demangled);

/*
 * name_unclone() - cut the suffixes off that compilers give to their only copy of
 * a function whose signature or binding they changed (.isra.0, .constprop.0,
 * .lto_priv.0): people know it by the name before. Returns the same text when
 * there are none, else a shorter allocated one.
 */
const char *name_unclone(const char *name);

/* name_event() - make a base name one that LTTng can carry: at most 200 bytes, nothing it forbids. Allocated. */
char *name_event(const char *base);

struct pattern {
	const char *text;
	uint64_t address;	/* is_address: "0x<hex>", or "0x<hex> NAME": */
	const char *known_as;	/* the name of the indirect function that is implemented there; NULL: not said */
	uint8_t is_address;
	uint8_t is_literal;	/* no wildcard in it */
	uint8_t has_parameters;	/* a '(' : against the full demangled name */
	const char *hint;	/* identifier that the linkage name of any C++ match contains; NULL: none known */
	size_t hint_size;
};

void pattern_parse(struct pattern *pattern, const char *text);

#endif /* CODEMAP_NAMES_H */
