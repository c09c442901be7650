/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * The code map of a region that a user's parser has given: code that was made at run time, and that no file has. Where
 * spi-codemap would read a file, this reads memory. The map then goes through the one verifier like any other, so no
 * room above has to know what a parser may get wrong.
 *
 * Any thread of the program, in any state: nothing of libc's is called. Addresses in the map are those of the process.
 */
#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include "codemap/map/check.h"
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/tree/made.h"

#define NAME_MOST	4096u		/* bytes of a function's name; what is behind is cut off */

struct made_maker {
	const struct spi_parser_region *region;
	struct spi_map_header *head;
	char *strings;
	struct spi_map_func *funcs;
	struct spi_map_site *sites;
	struct spi_made_refusals *refusals;
};

static size_t text_size(const char *text)
{
	size_t n = 0;

	while (n < NAME_MOST && text[n])
		n++;
	return n;
}

/* NULL, or what is wrong with it. */
static const char *region_check(const struct spi_parser_region *r)
{
	if (r->low >= r->high || r->high - r->low > SPI_MADE_BYTES_MAX)
		return "it ends before it begins, or is too large";
	if (!r->functions || !r->function_count || r->function_count > SPI_MADE_FUNCTIONS_MAX)
		return "it has no function, or too many";
	if (r->call_count > SPI_MADE_CALLS_MAX || (r->call_count && !r->calls))
		return "it has too many call instructions";
	for (size_t i = 0; i < r->function_count; i++) {
		const struct spi_parser_function *f = &r->functions[i];

		if (f->address < r->low || f->address >= r->high || !f->name || !f->size ||
				f->size > r->high - f->address)
			return "a function has no name, no size, or is outside of it";
	}
	return NULL;
}

static uint64_t map_size(const struct spi_parser_region *r, uint64_t *strings)
{
	*strings = 1;
	for (size_t i = 0; i < r->function_count; i++)
		*strings += text_size(r->functions[i].name) + 1;
	*strings = (*strings + 7) & ~UINT64_C(7);
	return sizeof(struct spi_map_header) + *strings + r->function_count * sizeof(struct spi_map_func) +
		r->call_count * sizeof(struct spi_map_site);
}

static void span_set(struct spi_map_span *span, uint64_t *at, uint64_t count, uint32_t stride)
{
	*span = (struct spi_map_span) { *at, (uint32_t) count, stride };
	*at += count * stride;
}

static void head_fill(struct made_maker *m, uint64_t size, uint64_t strings)
{
	struct spi_map_header *head = m->head;
	uint64_t at = sizeof(*head);

	head->magic = SPI_MAP_MAGIC;
	head->version = SPI_MAP_VERSION;
	head->header_size = sizeof(*head);
	head->file_size = size;
	/* what the code keeps in vector registers across calls is not known */
	head->flags = SPI_MAP_IS_TREE | SPI_MAP_USES_YMM | SPI_MAP_USES_ZMM;
	head->machine = SPI_ELF_MACHINE;
	head->load_low = m->region->low;
	head->load_high = m->region->high;
	head->symbols_total = m->region->function_count;
	span_set(&head->strings, &at, strings, 1);
	span_set(&head->funcs, &at, m->region->function_count, sizeof(struct spi_map_func));
	span_set(&head->sites, &at, 0, sizeof(struct spi_map_site));
	span_set(&head->fields, &at, 0, sizeof(struct spi_map_field));
	span_set(&head->insns, &at, 0, sizeof(struct spi_map_insn));
	span_set(&head->enums, &at, 0, sizeof(struct spi_map_enum));
	span_set(&head->labels, &at, 0, sizeof(struct spi_map_label));
	span_set(&head->skipped, &at, 0, sizeof(struct spi_map_skip));
	m->strings = (char *) head + head->strings.offset;
	m->funcs = (struct spi_map_func *) ((uint8_t *) head + head->funcs.offset);
	m->sites = (struct spi_map_site *) ((uint8_t *) head + head->sites.offset);
}

/* ---- functions ---- */

/*
 * The numbers of `count` records by the addresses that they begin with (Shell's sort). Functions and calls are records
 * of a parser's, of two sizes.
 */
static void order_fill(uint32_t *order, const void *records, size_t size, size_t count)
{
#define ADDRESS(n) (*(const uint64_t *) ((const uint8_t *) records + (n) * size))
	_Static_assert(!offsetof(struct spi_parser_function, address), "the address comes first");
	_Static_assert(!offsetof(struct spi_parser_call, address), "the address comes first");
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t) i;
	for (size_t gap = count / 2; gap; gap = gap == 2 ? 1 : gap * 5 / 11)
		for (size_t i = gap; i < count; i++) {
			const uint32_t one = order[i];
			size_t k = i;

			for (; k >= gap && ADDRESS(order[k - gap]) > ADDRESS(one); k -= gap)
				order[k] = order[k - gap];
			order[k] = one;
		}
#undef ADDRESS
}

static void functions_fill(struct made_maker *m, uint32_t *order)
{
	const struct spi_parser_function *all = m->region->functions;
	uint32_t at = 1;

	order_fill(order, all, sizeof(*all), m->region->function_count);
	for (size_t i = 0; i < m->region->function_count; i++) {
		const struct spi_parser_function *from = &all[order[i]];
		const size_t n = text_size(from->name);
		struct spi_map_func *f = &m->funcs[i];

		f->vaddr = from->address;
		f->size = (uint32_t) from->size;
		f->name = f->pretty = at;
		f->piece = SPI_MAP_NONE;
		f->reason = SPI_REASON_UNDECODED;	/* there is no point at its entry; calls of it have one each */
		spi_bytes_copy(m->strings + at, from->name, n);
		at += (uint32_t) n + 1;
	}
}

static int function_begins(const struct made_maker *m, uint64_t address)
{
	size_t low = 0, high = m->region->function_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (m->funcs[middle].vaddr == address)
			return 1;
		if (m->funcs[middle].vaddr < address)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

/* ---- call instructions ---- */

static void refuse(struct made_maker *m, uint64_t address, const char *why)
{
	struct spi_made_refusals *r = m->refusals;

	if (r->count < SPI_MADE_REFUSALS_MAX)
		r->refusal[r->count] = (struct spi_made_refusal) { address, why };
	r->count++;
}

/* NULL, or why the call cannot be redirected. */
static const char *site_fill(const struct made_maker *m, const struct spi_parser_call *call, uint64_t behind,
	struct spi_map_site *site)
{
	uint8_t bytes[SPI_MADE_CALL_MOST];
	const char *why;

	if (call->address < behind || call->address >= m->region->high || call->size > m->region->high - call->address)
		return "it is outside of its region, or reaches into another call";
	if (!call->size || call->size > sizeof(bytes) || spi_memory_copy(bytes, call->address, call->size) < 0)
		return "it is no call instruction of this size";
	why = spi_code_made_call(bytes, (uint32_t) call->size, call->address, site);
	if (!why && site->kind == SPI_SITE_CALL && !function_begins(m, site->target))
		spi_code_made_far(site);
	return why;
}

static void sites_fill(struct made_maker *m, uint32_t *order)
{
	const struct spi_parser_call *all = m->region->calls;
	uint64_t behind = m->region->low;
	uint32_t n = 0;

	order_fill(order, all, sizeof(*all), m->region->call_count);
	for (size_t i = 0; i < m->region->call_count; i++) {
		const struct spi_parser_call *call = &all[order[i]];
		const char *why = site_fill(m, call, behind, &m->sites[n]);

		if (why) {
			refuse(m, call->address, why);
			continue;
		}
		behind = call->address + call->size;
		n++;
	}
	m->head->sites.count = n;
}

/* Each function has the sites that are in it. */
static void sites_share(struct made_maker *m)
{
	uint32_t at = 0;

	for (size_t i = 0; i < m->region->function_count; i++) {
		struct spi_map_func *f = &m->funcs[i];

		while (at < m->head->sites.count && m->sites[at].vaddr < f->vaddr)
			at++;
		f->site_first = at;
		while (at < m->head->sites.count && m->sites[at].vaddr - f->vaddr < f->size)
			at++;
		f->site_count = at - f->site_first;
	}
}

/* ---- */

int spi_made_map(const struct spi_parser_region *region, struct spi_map *map, struct spi_made_refusals *refusals,
	const char **why)
{
	const size_t most = region->function_count > region->call_count ? region->function_count : region->call_count;
	struct made_maker m = { .region = region, .refusals = refusals };
	uint64_t size, strings;
	uint32_t *order;

	*why = region_check(region);
	if (*why)
		return -EINVAL;
	size = map_size(region, &strings);
	order = spi_map_pages(most * sizeof(*order));
	m.head = spi_map_pages(size);
	if (!order || !m.head) {
		*why = "the agent has no memory left";
		return -ENOMEM;
	}
	head_fill(&m, size, strings);
	functions_fill(&m, order);
	sites_fill(&m, order);
	sites_share(&m);
	spi_munmap((uint64_t) order, (most * sizeof(*order) + SPI_PAGE - 1) & ~(uint64_t) (SPI_PAGE - 1));
	*map = (struct spi_map) { .head = m.head, .size = size };
	if (spi_map_check(m.head, size, why) < 0) {
		spi_munmap((uint64_t) m.head, (size + SPI_PAGE - 1) & ~(uint64_t) (SPI_PAGE - 1));
		return -EINVAL;
	}
	return 0;
}
