/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The output of `spi-codemap map --each`: for each pattern, in order, a uint64_t. It is the size of
 * a map, which follows, padded to 8 bytes; or one of the values below, and nothing follows.
 */
#ifndef CODEMAP_MAP_EACH_H
#define CODEMAP_MAP_EACH_H

#include <stdint.h>

#define EACH_NONE		UINT64_C(0)	/* no function matches */
#define EACH_ALONE		UINT64_C(8)	/* so many that it is to be asked for by itself */
#define EACH_FUNCTIONS_MAX	500u

#endif /* CODEMAP_MAP_EACH_H */
