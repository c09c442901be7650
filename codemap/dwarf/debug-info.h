/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* The debug info of one object, its supplementary file included. In the sandbox. */
#ifndef CODEMAP_DWARF_DEBUG_INFO_H
#define CODEMAP_DWARF_DEBUG_INFO_H

#include "codemap/dwarf/dwarf.h"
#include "codemap/elf/object.h"

/* NULL: there is none that can be read. */
struct dw_file *debug_open(const struct object *object);
/* After functions were looked for: keep what could not be read (debug_lose()). `none`: no types were found at all. */
void debug_judge(struct object *object, struct dw_file *file, int none);

#endif /* CODEMAP_DWARF_DEBUG_INFO_H */
