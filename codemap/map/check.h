/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The one verifier of code maps. Every reader (the agent in the traced process,
 * the tools, spi-codemap for its own cache) calls spi_map_check() before it
 * looks at anything else of a map, and follows offsets without a test afterwards.
 */
#ifndef CODEMAP_MAP_CHECK_H
#define CODEMAP_MAP_CHECK_H

#include "codemap/map/format.h"

/*
 * spi_map_check() - is this a code map that can be read without any further test?
 *
 * map, size: the whole file, in memory, 8-byte aligned (mmap). It must not change
 * afterwards: pass a sealed memfd or a private copy.
 * why: where a static text goes that says what is wrong; may be NULL. Left alone on success.
 *
 * Returns 0, or -EINVAL. On 0 holds: each table lies inside the file, aligned and
 * with the stride of its record; each string offset leads to a NUL-terminated
 * string; each index is inside its table; each kind, place, reason is known;
 * functions ascend by address; instructions follow each other without a gap and
 * lie inside entry[]; what a register field reads lies inside that register.
 *
 * Needs no libc function, no memory, and linear time. Async-signal-safe.
 */
int spi_map_check(const void *map, uint64_t size, const char **why);

/*
 * The same in parts, for tree maps of which little is used: all tables and the
 * header, then what a function's record says, with its instructions and sites.
 * Until its function was found good, nothing may be followed but spi_map_string(),
 * and a function's own vaddr, size and reason may be read.
 */
int spi_map_check_head(const void *map, uint64_t size, const char **why);
int spi_map_check_func(const void *map, uint64_t size, uint32_t index, const char **why);

/* One function of a map that is no tree's, with its fields; for who makes the map. The header is valid. */
int spi_map_check_func_fields(const void *map, uint64_t size, uint32_t index);

/* The text for a reason, a static string; "unknown reason" for a number that is none. */
const char *spi_map_reason_name(enum spi_map_reason reason);

#endif /* CODEMAP_MAP_CHECK_H */
