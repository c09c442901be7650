/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The map of an object for call trees. It describes the whole object, once: what a process needs
 * while it runs must not wait for another analysis. Functions that can have no point are in the map
 * as well, with their reason, because calls go to them, and they make calls.
 */
#include <pthread.h>
#include <string.h>
#include "codemap/code/entry.h"
#include "codemap/code/sites.h"
#include "codemap/request/tree.h"

/* Jumps into entries are looked for while sites are. */
struct scan {
	struct code code;
	const struct image *image;
	struct functions *functions;
};

static void *scan_run(void *arg)
{
	struct scan *scan = arg;

	code_scan(&scan->code, scan->image, scan->functions);
	return NULL;
}

/* The first site that is not before vaddr. */
static uint32_t site_index(const struct tables *tables, uint64_t vaddr)
{
	size_t low = 0, high = tables->sites.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (tables->sites.at[middle].vaddr < vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint32_t) low;
}

static void function_write(struct function *f, uint64_t size, struct code *code, struct tables *tables)
{
	struct spi_map_func record;

	memset(&record, 0, sizeof(record));
	record.vaddr = f->vaddr;
	record.size = size > UINT32_MAX ? UINT32_MAX : (uint32_t) size;
	record.flags = f->flags;
	record.reason = f->reason;
	record.piece = SPI_MAP_NONE;
	if (f->reason != SPI_REASON_NO_CODE) {
		enum spi_map_reason reason = code_entry(code, f, &record, tables);

		if (!record.reason)
			record.reason = (uint16_t) reason;
	}
	if (!record.insn_count)
		record.insn_first = 0;
	function_name(f);
	record.name = strings_add(&tables->strings, f->name);
	record.pretty = strings_add(&tables->strings, f->base);
	record.site_first = site_index(tables, f->vaddr);
	record.site_count = site_index(tables, f->vaddr + size) - record.site_first;
	*vec_push(&tables->funcs) = record;
}

/* Pieces hang on the function that jumps to them, in the order of addresses. */
static void pieces_link(const struct flow *flow, struct tables *tables)
{
	size_t i = tables->funcs.count;

	while (i--) {
		uint32_t owner = flow->owners[i], steps = 0;
		struct spi_map_func *piece = &tables->funcs.at[i];

		if (!owner || piece->reason != SPI_REASON_PART)
			continue;
		/* A piece of a piece is the function's. */
		while (tables->funcs.at[owner - 1].reason == SPI_REASON_PART && flow->owners[owner - 1] && steps++ < 8)
			owner = flow->owners[owner - 1];
		if (tables->funcs.at[owner - 1].reason == SPI_REASON_PART)
			continue;
		piece->piece = tables->funcs.at[owner - 1].piece;
		tables->funcs.at[owner - 1].piece = (uint32_t) i;
	}
}

uint32_t tree_make(const struct image *image, struct functions *functions, struct tables *tables)
{
	struct scan scan = { .image = image, .functions = functions };
	struct links links;
	struct fdes fdes = { 0 };
	struct sites sites;
	pthread_t thread;
	struct flow flow;
	int is_begun;
	size_t i;

	for (i = 0; i < functions->list.count; i++)
		functions->list.at[i].wanted = 1;
	links_read(&links, image);
	ehframe_read(image, &fdes);
	fdes_sort(&fdes);
	flow_find(&flow, image, functions, &links, &fdes);
	is_begun = !pthread_create(&thread, NULL, scan_run, &scan);
	sites_find(&sites, &flow, &links, tables);
	if (is_begun)
		pthread_join(thread, NULL);
	else
		scan_run(&scan);
	for (i = 0; i < functions->list.count; i++)
		function_write(&functions->list.at[i], function_bytes(image, functions, i), &scan.code, tables);
	pieces_link(&flow, tables);
	if (tables->has_detail)
		texts_add(&sites);
	return scan.code.flags | SPI_MAP_IS_TREE | (flow.switches_stacks ? SPI_MAP_SWITCHES_STACKS : 0);
}
