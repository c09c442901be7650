/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* What the files of the verifier share: check.c, check-detail.c. */
#ifndef CODEMAP_MAP_CHECK_VIEW_H
#define CODEMAP_MAP_CHECK_VIEW_H

#include <stddef.h>
#include "codemap/map/format.h"

struct map_view {
	const uint8_t *base;
	uint64_t size;
	const struct spi_map_header *head;
};

#define VIEW_TABLE(view, table, type) ((const type *) ((view)->base + (view)->head->table.offset))

/* A table inside the file: `stride` is what this program knows the record to be. */
static inline int span_is_valid(const struct map_view *view, const struct spi_map_span *span, uint32_t stride)
{
	if (span->stride != stride || span->offset > view->size || (stride > 1 && span->offset % 8))
		return 0;
	return (uint64_t) span->count * stride <= view->size - span->offset;
}

/* The last byte of the strings is NUL, so any offset into them leads to a terminated string. */
static inline int string_is_valid(const struct map_view *view, uint32_t offset)
{
	return offset < view->head->strings.count;
}

/* check-detail.c: struct spi_map_detail, of a map whose other tables are valid. NULL, or what is wrong. */
const char *spi_map_detail_check(const struct map_view *view);

#endif /* CODEMAP_MAP_CHECK_VIEW_H */
