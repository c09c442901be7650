/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* Lays the tables of a map out in one block. */
#include <string.h>
#include "codemap/map/check.h"
#include "codemap/map/tables.h"

static void span_place(struct spi_map_span *span, uint64_t *at, size_t count, size_t stride)
{
	*at = (*at + 7) & ~UINT64_C(7);
	if (count > UINT32_MAX)
		fail("too many functions for one map: choose fewer");
	span->offset = *at;
	span->count = (uint32_t) count;
	span->stride = (uint32_t) stride;
	*at += count * stride;
}

static void detail_place(const struct tables *t, uint64_t *at, uint64_t *record, struct spi_map_detail *detail)
{
	*at = *record = (*at + 7) & ~UINT64_C(7);
	*detail = (struct spi_map_detail) { .size = sizeof(*detail) };
	*at += sizeof(*detail);
	span_place(&detail->blocks, at, t->blocks.count, sizeof(*t->blocks.at));
	span_place(&detail->edges, at, t->edges.count, sizeof(*t->edges.at));
	span_place(&detail->texts, at, t->texts.count, sizeof(*t->texts.at));
}

/* Lay the tables out in one block. */
static uint8_t *tables_place(struct tables *t, struct spi_map_header *head)
{
	struct spi_map_detail detail;
	uint64_t size = sizeof(*head);
	uint8_t *block;

	strings_add(&t->strings, "");
	span_place(&head->strings, &size, t->strings.bytes.count, 1);
	span_place(&head->funcs, &size, t->funcs.count, sizeof(*t->funcs.at));
	span_place(&head->fields, &size, t->fields.count, sizeof(*t->fields.at));
	span_place(&head->insns, &size, t->insns.count, sizeof(*t->insns.at));
	span_place(&head->enums, &size, t->enums.count, sizeof(*t->enums.at));
	span_place(&head->labels, &size, t->labels.count, sizeof(*t->labels.at));
	span_place(&head->skipped, &size, t->skipped.count, sizeof(*t->skipped.at));
	span_place(&head->sites, &size, t->sites.count, sizeof(*t->sites.at));
	if (t->has_detail)
		detail_place(t, &size, &head->detail, &detail);
	head->file_size = size;
	block = mem_alloc(size);
	memcpy(block, head, sizeof(*head));
#define PUT(table) memcpy(block + head->table.offset, t->table.at ? (void *) t->table.at : (void *) "", \
			  t->table.count * sizeof(*t->table.at))
	memcpy(block + head->strings.offset, t->strings.bytes.at, t->strings.bytes.count);
	PUT(funcs);
	PUT(fields);
	PUT(insns);
	PUT(enums);
	PUT(labels);
	PUT(skipped);
	PUT(sites);
#undef PUT
	if (!t->has_detail)
		return block;
	memcpy(block + head->detail, &detail, sizeof(detail));
#define PUT(table) memcpy(block + detail.table.offset, t->table.at ? (void *) t->table.at : (void *) "", \
			  t->table.count * sizeof(*t->table.at))
	PUT(blocks);
	PUT(edges);
	PUT(texts);
#undef PUT
	return block;
}

/* Move what no reader would take to the functions that are refused: one of them never costs another. */
static void bad_functions_skip(struct tables *t, const struct spi_map_header *head, const uint8_t *block)
{
	size_t i, kept = 0;

	for (i = 0; i < t->funcs.count; i++) {
		const struct spi_map_func *func = &t->funcs.at[i];

		if (!spi_map_check_func_fields(block, head->file_size, (uint32_t) i)) {
			t->funcs.at[kept++] = *func;
			continue;
		}
		*vec_push(&t->skipped) =
			(struct spi_map_skip) { .vaddr = func->vaddr, .name = func->name, .reason = SPI_REASON_NONSENSE };
		for (uint32_t k = 0; k < (uint32_t) func->field_count + func->ret_count; k++)
			t->fields.at[func->field_first + k] = (struct spi_map_field) {
				.kind = SPI_KIND_INT, .size = 8, .base = 10, .enum_index = SPI_MAP_NONE };
	}
	t->funcs.count = kept;
}

const struct spi_map_header *tables_finish(struct tables *t, struct spi_map_header *head)
{
	uint8_t *block = tables_place(t, head);
	const char *why;

	if (spi_map_check(block, head->file_size, &why) && !(head->flags & SPI_MAP_IS_TREE)) {
		bad_functions_skip(t, head, block);
		block = tables_place(t, head);
	}
	if (spi_map_check(block, head->file_size, &why))
		fail("internal error: %s: please report this file", why);
	return (const struct spi_map_header *) block;
}
