/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * What `spi-codemap map --each` writes for each pattern, in their order: a uint64_t, the size of a map, and that map, filled up
 * to 8 bytes; or one of these, and nothing behind.
 */
#ifndef CODEMAP_MAP_EACH_H
#define CODEMAP_MAP_EACH_H

#include <stdint.h>

#define EACH_NONE		UINT64_C(0)	/* no function matches */
#define EACH_ALONE		UINT64_C(8)	/* so many that it is to be asked for by itself */
#define EACH_FUNCTIONS_MAX	500u

#endif /* CODEMAP_MAP_EACH_H */
