/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * map-fuzz MAP COUNT: break a tree's map COUNT times, a few bytes each, and read
 * those that the verifier lets pass as an agent would: everything it follows must
 * lie in the map. Prints how many passed and how many did not; status 1 when
 * something led astray. To be built with -fsanitize=address as well.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "codemap/map/check.h"

static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static int astray;

static void expect(int holds, const char *what, uint32_t index)
{
	if (!holds && astray++ < 10)
		printf("# record %u: %s\n", index, what);
}

/* Sums up what it reads, so that the reading is done. */
static uint64_t read_bytes(const uint8_t *base, uint64_t size, const void *at, uint64_t bytes)
{
	const uint8_t *p = at;
	uint64_t sum = 0;

	expect(p >= base && bytes <= size && (uint64_t) (p - base) <= size - bytes, "outside of the map", 0);
	while (bytes--)
		sum += *p++;
	return sum;
}

/* As payloads of a user's own read a map's detail. */
static uint64_t walk_detail(const uint8_t *base, uint64_t size)
{
	const struct spi_map_header *head = (const void *) base;
	const struct spi_map_detail *detail = (const void *) (base + head->detail);
	const struct spi_map_block *block = (const void *) (base + detail->blocks.offset);
	const struct spi_map_edge *edge = (const void *) (base + detail->edges.offset);
	const uint32_t *text = (const void *) (base + detail->texts.offset);
	const struct spi_map_func *func = (const void *) (base + head->funcs.offset);
	const char *strings = (const char *) base + head->strings.offset;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < detail->blocks.count; i++) {
		expect(!i || block[i].vaddr > block[i - 1].vaddr, "blocks out of order", i);
		sum += read_bytes(base, size, &func[block[i].func], sizeof(*func));
		for (uint32_t k = 0; k < block[i].edge_count && k < 8; k++)
			sum += read_bytes(base, size, &edge[block[i].edge_first + k], sizeof(*edge));
	}
	for (uint32_t i = 0; i < head->sites.count; i++)
		sum += strlen(strings + text[i]);
	for (uint32_t i = 0; i < head->funcs.count; i++)
		sum += strlen(strings + func[i].source);
	return sum;
}

static uint64_t walk(const uint8_t *base, uint64_t size)
{
	const struct spi_map_header *head = (const void *) base;
	const struct spi_map_func *func = (const void *) (base + head->funcs.offset);
	const struct spi_map_site *site = (const void *) (base + head->sites.offset);
	const struct spi_map_insn *insn = (const void *) (base + head->insns.offset);
	const char *strings = (const char *) base + head->strings.offset;
	uint64_t sum = 0;
	uint32_t i, k, steps;

	for (i = 0; i < head->funcs.count; i++) {
		sum += strlen(strings + func[i].name) + strlen(strings + func[i].pretty);
		for (k = 0; k < func[i].insn_count; k++)
			sum += read_bytes(base, size, &insn[func[i].insn_first + k], sizeof(*insn)) +
			       read_bytes(base, size, func[i].entry + insn[func[i].insn_first + k].offset,
					  insn[func[i].insn_first + k].size);
		for (k = 0; k < func[i].site_count && k < 8; k++)
			sum += read_bytes(base, size, &site[func[i].site_first + k], sizeof(*site));
		if (!(head->flags & SPI_MAP_IS_TREE))
			continue;
		for (k = func[i].piece, steps = 0; k != SPI_MAP_NONE; k = func[k].piece, steps++) {
			expect(k < head->funcs.count && steps <= head->funcs.count, "pieces without end", i);
			if (k >= head->funcs.count || steps > head->funcs.count)
				break;
		}
	}
	for (i = 0; i < head->sites.count; i++, site++) {
		uint8_t code[SPI_SITE_CODE], bytes[SPI_SITE_BYTES];

		sum += strlen(strings + site->import) + strlen(strings + site->version);
		memcpy(code, site->code, site->code_size);
		memcpy(bytes, site->bytes, (size_t) site->before + site->size);
		for (k = 0; k < 2; k++)
			if (site->fix[k] != SPI_SITE_NO_FIX)
				memset(code + site->fix[k], 0, 4);
		sum += code[0] + bytes[0];
		expect(site->kind > 0 && site->kind < SPI_SITE_COUNT_, "kind", i);
		expect(site->before + site->size <= (int) SPI_SITE_BYTES && site->after <= SPI_SITE_AFTER, "room", i);
		for (k = 0; k < site->insn_count; k++)
			sum += site->code[site->insn[k].at] + site->insn[k].size;
		expect(!site->pad_size || site->pad_size >= 5, "padding", i);
	}
	return sum + (head->detail ? walk_detail(base, size) : 0);
}

/* The same as far as a reader goes that checks each function when it needs it: what is wrong elsewhere does not matter. */
static uint64_t walk_parts(const uint8_t *base, uint64_t size, unsigned long *good)
{
	const struct spi_map_header *head = (const void *) base;
	const struct spi_map_func *func = (const void *) (base + head->funcs.offset);
	const struct spi_map_site *site = (const void *) (base + head->sites.offset);
	const struct spi_map_insn *insn = (const void *) (base + head->insns.offset);
	uint64_t sum = 0;
	uint32_t i, k;

	for (i = 0; i < head->funcs.count; i++) {
		if (spi_map_check_func(base, size, i, NULL))
			continue;
		++*good;
		expect(func[i].name < head->strings.count && func[i].pretty < head->strings.count, "name", i);
		expect(func[i].piece == SPI_MAP_NONE || func[i].piece < head->funcs.count, "piece", i);
		for (k = 0; k < func[i].insn_count; k++)
			sum += read_bytes(base, size, &insn[func[i].insn_first + k], sizeof(*insn));
		for (k = func[i].site_first; k < func[i].site_first + func[i].site_count; k++) {
			sum += read_bytes(base, size, &site[k], sizeof(*site));
			expect(site[k].import < head->strings.count && site[k].version < head->strings.count, "import", k);
			expect(site[k].kind > 0 && site[k].kind < SPI_SITE_COUNT_ && site[k].code_size <= SPI_SITE_CODE, "site", k);
		}
	}
	return sum;
}

/* A place that is read: the header, or a record of one of the tables. */
static uint64_t place(const struct spi_map_header *head, uint64_t size)
{
	const struct spi_map_detail *detail = (const void *) ((const uint8_t *) head + head->detail);
	const struct spi_map_span *span;

	if (head->detail && next() % 2)
		switch (next() % 4) {
		case 0:
			return head->detail + next() % sizeof(*detail);
		case 1:
			span = &detail->blocks;
			return span->offset + next() % ((uint64_t) span->count * span->stride);
		case 2:
			span = &detail->edges;
			return span->offset + next() % ((uint64_t) span->count * span->stride);
		default:
			span = &detail->texts;
			return span->offset + next() % ((uint64_t) span->count * span->stride);
		}
	switch (next() % 8) {
	case 0:
		return next() % sizeof(*head);
	case 1:
		span = &head->insns;
		break;
	case 2: case 3:
		span = &head->funcs;
		break;
	case 4:
		return next() % size;
	default:
		span = &head->sites;
	}
	return span->count ? span->offset + next() % ((uint64_t) span->count * span->stride) : 0;
}

int main(int argc, char **argv)
{
	static const uint8_t favourites[] = { 0, 1, 4, 5, 6, 7, 8, 9, 15, 16, 24, 25, 32, 33, 0x7f, 0x80, 0xfe, 0xff };
	int fd = argc == 3 ? open(argv[1], O_RDONLY) : -1;
	unsigned long passed = 0, refused = 0, functions = 0, i, n;
	struct stat st;
	uint8_t *good, *bad;
	uint64_t sum = 0;

	if (fd < 0 || fstat(fd, &st))
		return 2;
	good = malloc((size_t) st.st_size);
	bad = malloc((size_t) st.st_size);
	if (!good || !bad || read(fd, good, (size_t) st.st_size) != st.st_size ||
	    spi_map_check(good, (uint64_t) st.st_size, NULL))
		return 2;
	walk(good, (uint64_t) st.st_size);
	for (i = strtoul(argv[2], NULL, 10); i; i--) {
		memcpy(bad, good, (size_t) st.st_size);
		for (n = 1 + next() % 3; n; n--) {
			uint64_t at = place((const void *) good, (uint64_t) st.st_size);

			if (at >= (uint64_t) st.st_size)
				continue;
			bad[at] = next() % 3 ? favourites[next() % sizeof(favourites)] : (uint8_t) next();
		}
		if (spi_map_check(bad, (uint64_t) st.st_size, NULL)) {
			if (refused++ % 8 == 0 && !spi_map_check_head(bad, (uint64_t) st.st_size, NULL))
				sum += walk_parts(bad, (uint64_t) st.st_size, &functions);
			continue;
		}
		passed++;
		sum += walk(bad, (uint64_t) st.st_size);
	}
	printf("passed %lu refused %lu, with %lu good functions, astray %d %s\n", passed, refused, functions, astray, sum ? "" : "0");
	return astray != 0 || (refused > 100 && !functions);
}
