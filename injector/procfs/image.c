/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Dynamic symbols out of the target's memory.
 *
 * A loaded object's program headers, dynamic section, symbol and string tables
 * lie in its readable segments, so one read of those is enough to look up any
 * exported function; no file is opened. Nothing that is read is believed: every
 * offset is checked against the copy, since the target owns its memory.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "injector/procfs/procfs.h"

#define IMAGE_COPY_MAX	(64u << 20)

/* Part of the copy at a run-time address, when all `size` bytes of it are inside. */
static const void *image_at(const struct spi_image *image, uint64_t address, uint64_t size)
{
	if (address < image->low || size > image->copy_size || address - image->low > image->copy_size - size)
		return NULL;
	return image->copy + (address - image->low);
}

/* ld.so relocates most d_ptr entries in place; the vdso and some others keep link-time addresses. */
static uint64_t image_pointer(const struct spi_image *image, uint64_t value)
{
	return value >= image->low && value < image->high ? value : value + image->base;
}

/* How many symbols there are: the hash table knows, the symbol table itself does not. */
static size_t image_count_symbols(const struct spi_image *image, uint64_t gnu_hash, uint64_t sysv_hash)
{
	const uint32_t *head;
	uint32_t last = 0;

	if (sysv_hash && (head = image_at(image, sysv_hash, 8)))
		return head[1];
	head = gnu_hash ? image_at(image, gnu_hash, 16) : NULL;
	if (!head)
		return 0;
	uint64_t buckets_at = gnu_hash + 16 + 8ull * head[2];
	const uint32_t *buckets = image_at(image, buckets_at, 4ull * head[0]);

	if (!buckets)
		return 0;
	for (uint32_t i = 0; i < head[0]; i++)
		if (buckets[i] > last)
			last = buckets[i];
	if (last < head[1])
		return 0;
	for (uint64_t chain = buckets_at + 4ull * head[0] + 4ull * (last - head[1]);; chain += 4, last++) {
		const uint32_t *value = image_at(image, chain, 4);

		if (!value)
			return 0;
		if (*value & 1)
			return (size_t) last + 1;
	}
}

static int image_parse(struct spi_image *image, pid_t pid)
{
	const Elf64_Ehdr *head = image_at(image, image->low, sizeof(*head));
	const Elf64_Phdr *ph;
	Elf64_Dyn dyn[256];
	size_t dyn_count = 0;
	uint64_t symtab = 0, strtab = 0, strsize = 0, gnu_hash = 0, sysv_hash = 0, low_vaddr = UINT64_MAX, dynamic = 0;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_ident[EI_CLASS] != ELFCLASS64)
		return -ENOEXEC;
	ph = image_at(image, image->low + head->e_phoff, (uint64_t) head->e_phnum * sizeof(*ph));
	if (!ph)
		return -ENOEXEC;
	for (unsigned int i = 0; i < head->e_phnum; i++) {
		if (ph[i].p_type == PT_LOAD && ph[i].p_vaddr < low_vaddr)
			low_vaddr = ph[i].p_vaddr;
		if (ph[i].p_type == PT_DYNAMIC) {
			dynamic = ph[i].p_vaddr;
			dyn_count = ph[i].p_memsz / sizeof(dyn[0]);
		}
	}
	if (low_vaddr == UINT64_MAX || !dyn_count)
		return -ENOEXEC;
	image->base = image->low - (low_vaddr & ~UINT64_C(4095));
	image->entry = image->base + head->e_entry;
	if (dyn_count > sizeof(dyn) / sizeof(dyn[0]))
		dyn_count = sizeof(dyn) / sizeof(dyn[0]);
	/* The dynamic section is in a writable segment, maybe behind the copy. */
	if (spi_memory_read(pid, image->base + dynamic, dyn, dyn_count * sizeof(dyn[0])))
		return -EFAULT;
	for (size_t i = 0; i < dyn_count && dyn[i].d_tag != DT_NULL; i++) {
		uint64_t value = dyn[i].d_un.d_val;

		switch (dyn[i].d_tag) {
		case DT_SYMTAB: symtab = image_pointer(image, value); break;
		case DT_STRTAB: strtab = image_pointer(image, value); break;
		case DT_STRSZ: strsize = value; break;
		case DT_GNU_HASH: gnu_hash = image_pointer(image, value); break;
		case DT_HASH: sysv_hash = image_pointer(image, value); break;
		}
	}
	image->gnu_hash = gnu_hash;
	image->symbol_count = image_count_symbols(image, gnu_hash, sysv_hash);
	image->symbols = image_at(image, symtab, image->symbol_count * sizeof(Elf64_Sym));
	image->strings = image_at(image, strtab, strsize);
	image->strings_size = strsize;
	if (!image->symbols || !image->strings || !strsize || image->strings[strsize - 1])
		return -ENOEXEC;
	return 0;
}

/* What precedes the first section of a file: its headers, mostly within the first page. */
struct object_head {
	Elf64_Ehdr head;
	uint8_t rest[4096 - sizeof(Elf64_Ehdr)];
};

/* Program headers, from the page that was read with the head of the file, or read into `room`. */
static const Elf64_Phdr *object_headers(pid_t pid, uint64_t start, const struct object_head *first, Elf64_Phdr room[64])
{
	const uint64_t at = first->head.e_phoff, size = first->head.e_phnum * sizeof(*room);

	if (at % _Alignof(Elf64_Phdr) == 0 && at <= sizeof(*first) && size <= sizeof(*first) - at)
		return (const Elf64_Phdr *) ((const uint8_t *) first + at);
	return spi_memory_read(pid, start + at, room, size) ? NULL : room;
}

/*
 * Size of a loaded object by its program headers: other mappings may lie inside
 * its range, so the memory map alone does not tell. 0 when it is no ELF object.
 */
static uint64_t object_read_span(pid_t pid, uint64_t start)
{
	uint64_t low = UINT64_MAX, high = 0;
	struct object_head first;
	Elf64_Phdr room[64];
	const Elf64_Phdr *ph;

	if (spi_memory_read(pid, start, &first, sizeof(first)) || memcmp(first.head.e_ident, ELFMAG, SELFMAG) ||
	    first.head.e_ident[EI_CLASS] != ELFCLASS64 || first.head.e_phentsize != sizeof(*ph) || first.head.e_phnum > 64)
		return 0;
	ph = object_headers(pid, start, &first, room);
	if (!ph)
		return 0;
	for (unsigned int i = 0; i < first.head.e_phnum; i++) {
		if (ph[i].p_type != PT_LOAD)
			continue;
		if (ph[i].p_vaddr < low)
			low = ph[i].p_vaddr & ~UINT64_C(4095);
		if (ph[i].p_vaddr + ph[i].p_memsz > high)
			high = ph[i].p_vaddr + ph[i].p_memsz;
	}
	return high > low && high - low < (UINT64_C(1) << 40) ? (high - low + 4095) & ~UINT64_C(4095) : 0;
}

/* Asked for by everybody who looks at the target's objects: read once. */
static uint64_t object_span(pid_t pid, const struct spi_mapping *m)
{
	struct spi_mapping *known = (struct spi_mapping *) m;

	if (!m->span_known) {
		known->span = object_read_span(pid, m->start);
		known->span_known = true;
	}
	return m->span;
}

bool spi_mapping_is_object(pid_t pid, const struct spi_mapping *m)
{
	return m->path[0] == '/' && !m->offset && m->read && object_span(pid, m);
}

uint64_t spi_maps_object_end(pid_t pid, const struct spi_mapping *first)
{
	return first->start + object_span(pid, first);
}

/*
 * spi_image_read() - copy the object whose first mapping is `first`. The
 * tables of interest are in front of the first writable segment. 0, or -ENOEXEC
 * when it is not a loaded ELF object with dynamic symbols.
 */
int spi_image_read(struct spi_image *image, pid_t pid, const struct spi_maps *maps, const struct spi_mapping *first,
		   bool code)
{
	uint64_t end = first->start;
	int ret;

	memset(image, 0, sizeof(*image));
	image->low = first->start;
	image->high = spi_maps_object_end(pid, first);
	/* Readable segments in one piece from the first on; code in between comes along. */
	for (const struct spi_mapping *m = first; m < maps->all + maps->count && m->start == end && m->read; m++) {
		if (m->write || m->end > image->high || (m->exec && !code && m != first))
			break;
		end = m->end;
	}
	if (end == first->start || end - first->start > IMAGE_COPY_MAX)
		return -ENOEXEC;
	image->copy_size = end - first->start;
	image->copy = malloc(image->copy_size);
	if (!image->copy)
		return -ENOMEM;
	ret = spi_memory_read(pid, image->low, image->copy, image->copy_size);
	if (!ret)
		ret = image_parse(image, pid);
	if (ret)
		spi_image_free(image);
	return ret;
}

void spi_image_free(struct spi_image *image)
{
	free(image->copy);
	memset(image, 0, sizeof(*image));
}

static bool symbol_is_function(const Elf64_Sym *symbol)
{
	return symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
}

static bool symbol_matches(const struct spi_image *image, size_t i, const char *name)
{
	const Elf64_Sym *symbols = image->symbols;

	return i < image->symbol_count && symbols[i].st_shndx != SHN_UNDEF && symbols[i].st_name < image->strings_size &&
	       !strcmp(image->strings + symbols[i].st_name, name);
}

static size_t find_in_order(const struct spi_image *image, const char *name)
{
	size_t i = 0;

	while (i < image->symbol_count && !symbol_matches(image, i, name))
		i++;
	return i;
}

/* As the dynamic linker does it, except for its filter in front. */
static size_t find_by_hash(const struct spi_image *image, const char *name)
{
	const uint32_t *head = image_at(image, image->gnu_hash, 16), *bucket, *chain;
	uint64_t buckets_at, chains_at;
	uint32_t hash = 5381;

	for (const unsigned char *c = (const unsigned char *) name; *c; c++)
		hash = hash * 33 + *c;
	if (!head || !head[0])
		return image->symbol_count;
	buckets_at = image->gnu_hash + 16 + 8ull * head[2];
	chains_at = buckets_at + 4ull * head[0];
	bucket = image_at(image, buckets_at + 4ull * (hash % head[0]), 4);
	if (!bucket || *bucket < head[1])
		return image->symbol_count;
	for (uint32_t i = *bucket; (chain = image_at(image, chains_at + 4ull * (i - head[1]), 4)); i++) {
		if ((*chain | 1) == (hash | 1) && symbol_matches(image, i, name))
			return i;
		if (*chain & 1)
			break;
	}
	return image->symbol_count;
}

uint64_t spi_image_symbol(const struct spi_image *image, const char *name, uint64_t *size)
{
	size_t i = image->gnu_hash ? find_by_hash(image, name) : find_in_order(image, name);
	const Elf64_Sym *symbols = image->symbols;

	if (i >= image->symbol_count)
		return 0;
	if (size)
		*size = symbols[i].st_size;
	return image->base + symbols[i].st_value;
}

uint64_t spi_image_end_before(const struct spi_image *image, uint64_t address)
{
	const Elf64_Sym *symbols = image->symbols;
	uint64_t best = 0;

	for (size_t i = 0; i < image->symbol_count; i++) {
		uint64_t end = image->base + symbols[i].st_value + symbols[i].st_size;

		if (symbol_is_function(&symbols[i]) && end <= address && end > best)
			best = end;
	}
	return best ? best : address;
}

uint64_t spi_image_start_after(const struct spi_image *image, uint64_t address)
{
	const Elf64_Sym *symbols = image->symbols;
	uint64_t best = UINT64_MAX;

	for (size_t i = 0; i < image->symbol_count; i++) {
		uint64_t start = image->base + symbols[i].st_value;

		if (symbol_is_function(&symbols[i]) && start >= address && start < best)
			best = start;
	}
	return best == UINT64_MAX ? address : best;
}
