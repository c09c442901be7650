/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Verification of what a map has where detail was asked for. Compiled into the agent as well, as check.c is. */
#include "codemap/map/check-view.h"

static const char *blocks_check(const struct map_view *view, const struct spi_map_detail *detail)
{
	const struct spi_map_block *block = (const struct spi_map_block *) (view->base + detail->blocks.offset);
	const struct spi_map_edge *edge = (const struct spi_map_edge *) (view->base + detail->edges.offset);

	for (uint32_t i = 0; i < detail->blocks.count; i++) {
		if (!block[i].size || (i && block[i].vaddr - block[i - 1].vaddr < block[i - 1].size) ||
		    (i && block[i].vaddr <= block[i - 1].vaddr))
			return "blocks out of order";
		if (block[i].func >= view->head->funcs.count ||
		    (uint64_t) block[i].edge_first + block[i].edge_count > detail->edges.count)
			return "a block's function or edges outside their table";
		if (block[i].call != SPI_MAP_NONE && block[i].call >= block[i].size)
			return "a block's call outside of the block";
	}
	for (uint32_t i = 0; i < detail->edges.count; i++)
		if (!edge[i].kind || edge[i].kind >= SPI_MAP_EDGE_COUNT_)
			return "an edge of unknown kind";
	return NULL;
}

const char *spi_map_detail_check(const struct map_view *view)
{
	const uint64_t at = view->head->detail;
	const struct spi_map_detail *detail;
	const uint32_t *text;

	if (!at)
		return NULL;
	if (at % 8 || at > view->size || view->size - at < sizeof(*detail))
		return "its detail is outside the file";
	detail = (const struct spi_map_detail *) (view->base + at);
	if (detail->size != sizeof(*detail) || !(view->head->flags & SPI_MAP_IS_TREE))
		return "its detail is of another size, or of another kind of map";
	if (!span_is_valid(view, &detail->blocks, sizeof(struct spi_map_block)) ||
	    !span_is_valid(view, &detail->edges, sizeof(struct spi_map_edge)) ||
	    !span_is_valid(view, &detail->texts, sizeof(uint32_t)) || detail->texts.count != view->head->sites.count)
		return "a table reaches outside the file";
	text = (const uint32_t *) (view->base + detail->texts.offset);
	for (uint32_t i = 0; i < detail->texts.count; i++)
		if (!string_is_valid(view, text[i]))
			return "an instruction's text outside the strings";
	return blocks_check(view, detail);
}
