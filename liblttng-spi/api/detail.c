/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Blocks, edges and instructions' text, of objects that have a map with detail (codemap/map/format.h); and the text of
 * any code.
 */
#include <errno.h>
#include <linux/memfd.h>
#include <string.h>
#include <sys/syscall.h>
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/tree/sites/sites.h"
#include "liblttng-spi/tree/tree.h"
#include "liblttng-spi/api/internal.h"

#define TEXT_BYTES	4096u

#define SAME(kind)	_Static_assert((int) SPI_EDGE_##kind == (int) SPI_MAP_EDGE_##kind, "the map's numbers")
SAME(FALL_THROUGH);
SAME(CALL);
SAME(RETURN);

#define DETAIL_AT(map, table, type) ((const type *) ((const uint8_t *) (map)->head + detail_of(map)->table.offset))

static const struct spi_map_detail *detail_of(const struct spi_map *map)
{
	return (const struct spi_map_detail *) ((const uint8_t *) map->head + map->head->detail);
}

static const struct spi_map *map_of(const struct spi_object *object)
{
	return object ? __atomic_load_n(&object->detail, __ATOMIC_ACQUIRE) : NULL;
}

/* The first block at this link-time address or above. */
static uint32_t block_from(const struct spi_map *map, uint64_t vaddr)
{
	const struct spi_map_block *blocks = DETAIL_AT(map, blocks, struct spi_map_block);
	uint32_t low = 0, high = detail_of(map)->blocks.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (blocks[middle].vaddr < vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* NULL: no block has the address. */
static const struct spi_map_block *block_around(const struct spi_map *map, uint64_t vaddr)
{
	const uint32_t behind = block_from(map, vaddr + 1);
	const struct spi_map_block *block = DETAIL_AT(map, blocks, struct spi_map_block) + behind - 1;

	return behind && vaddr - block->vaddr < block->size ? block : NULL;
}

static void block_fill(struct spi_object *object, const struct spi_map *map, const struct spi_map_block *from,
	struct spi_block *to)
{
	memset(to, 0, sizeof(*to));
	to->start = from->vaddr + object->bias;
	to->end = to->start + from->size;
	to->object = object;
	to->function = spi_function_at(SPI_MAP_AT(map, funcs, struct spi_map_func, from->func)->vaddr + object->bias);
	to->call = from->call == SPI_MAP_NONE ? 0 : to->start + from->call;
}

SPI_API int spi_block_at(uint64_t address, struct spi_block *block)
{
	struct spi_object *object = spi_object_at(address);
	const struct spi_map *map = map_of(object);
	const struct spi_map_block *found = map ? block_around(map, address - object->bias) : NULL;

	if (!found)
		return -ENODATA;
	block_fill(object, map, found, block);
	return 0;
}

SPI_API int spi_point_block(const struct spi_point *point, struct spi_block *block)
{
	uint64_t address;
	size_t size;

	return spi_point_instruction(point, &address, &size) < 0 ? -ENODATA : spi_block_at(address, block);
}

SPI_API int spi_function_blocks(const struct spi_function *function,
	int (*each)(const struct spi_block *block, void *data), void *data)
{
	struct spi_object *object = spi_function_object(function);
	const struct spi_map *map = map_of(object);
	const struct spi_map_block *blocks;
	uint64_t low, high;
	int r = 0;

	if (!map)
		return -ENODATA;
	low = spi_function_address(function) - object->bias;
	high = low + spi_function_size(function);
	blocks = DETAIL_AT(map, blocks, struct spi_map_block);
	for (uint32_t i = block_from(map, low); r == 0 && i < detail_of(map)->blocks.count; i++) {
		struct spi_block block;

		if (blocks[i].vaddr >= high)
			break;
		block_fill(object, map, &blocks[i], &block);
		r = each(&block, data);
	}
	return r;
}

SPI_API int spi_block_edges(const struct spi_block *block, int (*each)(const struct spi_edge *edge, void *data),
	void *data)
{
	const struct spi_map *map = block ? map_of(block->object) : NULL;
	const struct spi_map_block *from = map ? block_around(map, block->start - block->object->bias) : NULL;
	const struct spi_map_edge *edges;
	int r = from ? 0 : -ENODATA;

	edges = from ? DETAIL_AT(map, edges, struct spi_map_edge) + from->edge_first : NULL;
	for (uint32_t i = 0; from && r == 0 && i < from->edge_count; i++) {
		const struct spi_edge edge = { .from = block->start, .kind = edges[i].kind,
			.to = edges[i].to ? edges[i].to + block->object->bias : 0 };

		r = each(&edge, data);
	}
	return r;
}

SPI_API uint64_t spi_block_call(const struct spi_block *block)
{
	return block ? block->call : 0;
}

/* ---- text ---- */

/* The number of the site at this link-time address; -1: there is none. */
static int64_t site_at(const struct spi_map *map, uint64_t vaddr)
{
	int64_t low = 0, high = (int64_t) map->head->sites.count - 1;

	while (low <= high) {
		const int64_t middle = (low + high) / 2;
		const uint64_t at = SPI_MAP_AT(map, sites, struct spi_map_site, middle)->vaddr;

		if (at == vaddr)
			return middle;
		if (at < vaddr)
			low = middle + 1;
		else
			high = middle - 1;
	}
	return -1;
}

SPI_API const char *spi_point_instruction_text(const struct spi_point *point)
{
	const struct spi_map *map = point ? map_of(point->object) : NULL;
	uint64_t address;
	int64_t site;
	size_t size;

	if (!map || spi_point_instruction(point, &address, &size) < 0)
		return "";
	site = site_at(map, address - point->object->bias);
	return site < 0 ? "" : spi_map_string(map, DETAIL_AT(map, texts, uint32_t)[site]);
}

static void hex_put(char *to, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		*to++ = "0123456789abcdef"[bytes[i] >> 4];
		*to++ = "0123456789abcdef"[bytes[i] & 15];
	}
	*to = 0;
}

struct text {
	uint64_t address;
	const char *hex;
	char *text;
	size_t room;
};

/* Under the control lock. */
static int text_run(void *data)
{
	const struct text *t = data;
	char address[20];
	const char *const words[] = { "spi-codemap", "text", "--output-fd", "3", address, t->hex };
	const long fd = spi_sys(SYS_memfd_create, "lttng-spi-text", MFD_CLOEXEC);
	long n = -ENOTSUP;

	if (fd < 0)
		return -ENOTSUP;
	spi_format(address, sizeof(address), "%lx", t->address);
	if (spi_codemap_run(words, sizeof(words) / sizeof(words[0]), (int) fd) == 0)
		n = spi_sys(SYS_pread64, fd, t->text, t->room - 1, 0L);
	spi_sys(SYS_close, fd);
	if (n <= 0)
		return -ENOTSUP;
	t->text[n] = 0;
	return (int) n;
}

SPI_API long spi_code_text(uint64_t address, size_t size, char *text, size_t room)
{
	struct text t = { .address = address, .text = text, .room = room };
	uint8_t *bytes;
	char *hex;
	long r;

	if (!size || size > TEXT_BYTES || !room)
		return -EINVAL;
	bytes = spi_map_pages(size + 2 * size + 1);
	if (!bytes)
		return -ENOTSUP;
	hex = (char *) bytes + size;
	r = spi_memory_copy(bytes, address, size);
	hex_put(hex, bytes, r < 0 ? 0 : size);
	t.hex = hex;
	r = r < 0 ? -EFAULT : spi_api_control(text_run, &t);
	spi_munmap((uint64_t) bytes, (3 * size + 1 + SPI_PAGE - 1) & ~(uint64_t) (SPI_PAGE - 1));
	return r;
}
