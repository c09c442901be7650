/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of symbols share: files.c finds the file, symbols.c its functions, lines.c its source lines. */
#ifndef SPI_READER_SYMBOLS_H
#define SPI_READER_SYMBOLS_H

#include <elfutils/libdwfl.h>
#include "reader/trace/trace.h"

struct symbol {
	uint64_t low, high;		/* addresses that the file is made for, as all here */
	const char *name;		/* lives as long as the module */
};

/* A stretch of code that one unit of debug information is about. */
struct unit {
	uint64_t low, high;
	Dwarf_Die die;
};

struct symbols {
	enum symbols_state state;
	Dwfl *dwfl;			/* NULL: no file */
	Dwfl_Module *module;
	uint64_t low;			/* where the object begins: the lowest address, to the page */
	struct symbol *list;		/* by address; made when it is asked for */
	size_t count;
	struct unit *units;		/* likewise */
	size_t unit_count, unit_room;
	uint64_t dwarf_bias;		/* address = DWARF's address + this */
	int has_list, has_units;
};

/* ---- demangle.c ---- */
/* The source form of a C++ or Rust linkage name, to be freed. NULL: it is none. */
char *symbol_demangle(const char *name);

#endif /* SPI_READER_SYMBOLS_H */
