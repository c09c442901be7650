/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Names of functions, as the files of executables and libraries have them where the trace is read: .symtab of the
 * file, or of its separate debug file (/usr/lib/debug/.build-id), else .dynsym. A file of another build-id than the
 * trace's is not looked at. Files may be anything: each table lies in the file, or is not there.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "reader/trace/trace.h"

#define DEBUG_ROOT	"/usr/lib/debug/.build-id"

#define NAME_MOST	900		/* bytes */

struct file {
	const uint8_t *data;
	uint64_t size;
};

struct symbol {
	uint64_t low, high;
	const char *name;		/* in a file that stays mapped */
};

struct symbols {
	struct file file, debug;
	uint64_t low;			/* the lowest address that the file is made for, to the page */
	struct symbol *list;		/* by address */
	size_t count;
};

static int file_map(struct file *file, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *data;

	if (fd < 0)
		return -1;
	data = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= (off_t) sizeof(Elf64_Ehdr) ?
		mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	close(fd);
	if (data == MAP_FAILED)
		return -1;
	file->data = data;
	file->size = (uint64_t) st.st_size;
	return 0;
}

static void file_unmap(struct file *file)
{
	if (file->data)
		munmap((void *) (uintptr_t) file->data, file->size);
	file->data = NULL;
}

/* A table of the file; NULL: it is not all there. */
static const void *file_at(const struct file *file, uint64_t offset, uint64_t size)
{
	return offset % 8 == 0 && offset <= file->size && size <= file->size - offset ? file->data + offset : NULL;
}

static const Elf64_Ehdr *file_head(const struct file *file)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *) file->data;

	return !memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_ident[EI_CLASS] == ELFCLASS64 &&
		head->e_ident[EI_DATA] == ELFDATA2LSB ? head : NULL;
}

/* ---- which build ---- */

static uint64_t note_build_id(const uint8_t *note, uint64_t size, char *hex, size_t room)
{
	uint64_t id = 0;

	while (size >= sizeof(Elf64_Nhdr)) {
		const Elf64_Nhdr *head = (const Elf64_Nhdr *) note;
		uint64_t name = ((uint64_t) head->n_namesz + 3) & ~UINT64_C(3);
		uint64_t all = sizeof(*head) + name + (((uint64_t) head->n_descsz + 3) & ~UINT64_C(3));
		const uint8_t *bytes = note + sizeof(*head) + name;

		if (all > size)
			return 0;
		if (head->n_type == NT_GNU_BUILD_ID && head->n_namesz == 4 && head->n_descsz >= 8 &&
				head->n_descsz < room / 2) {
			for (unsigned int i = 0; i < 8; i++)
				id = id << 8 | bytes[i];
			for (unsigned int i = 0; i < head->n_descsz; i++)
				snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
			return id;
		}
		note += all;
		size -= all;
	}
	return 0;
}

/* The first eight bytes of its build-id, and all of it in hexadecimal; 0: it has none. And s->low. */
static uint64_t segments_read(struct symbols *s, char *hex, size_t room)
{
	const Elf64_Ehdr *head = file_head(&s->file);
	const Elf64_Phdr *segment = head && head->e_phentsize == sizeof(Elf64_Phdr) ?
		file_at(&s->file, head->e_phoff, (uint64_t) head->e_phnum * sizeof(Elf64_Phdr)) : NULL;
	uint64_t id = 0;
	int has_low = 0;

	for (unsigned int i = 0; segment && i < head->e_phnum; i++, segment++) {
		const uint8_t *note = segment->p_type == PT_NOTE && segment->p_offset <= s->file.size &&
			segment->p_filesz <= s->file.size - segment->p_offset && segment->p_offset % 4 == 0 ?
			s->file.data + segment->p_offset : NULL;

		if (segment->p_type == PT_LOAD && !has_low) {
			s->low = segment->p_vaddr & ~UINT64_C(4095);
			has_low = 1;
		}
		if (note && !id)
			id = note_build_id(note, segment->p_filesz, hex, room);
	}
	return id;
}

/* ---- symbols ---- */

static int symbol_compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->low != y->low ? (x->low < y->low ? -1 : 1) : x->high > y->high ? -1 : x->high < y->high;
}

static int symbols_take(struct symbols *s, const struct file *file, const Elf64_Shdr *table, const Elf64_Shdr *strings)
{
	const uint64_t n = table->sh_size / sizeof(Elf64_Sym);
	const Elf64_Sym *symbol = file_at(file, table->sh_offset, table->sh_size);

	if (!symbol || strings->sh_offset > file->size || !strings->sh_size ||
			strings->sh_size > file->size - strings->sh_offset ||
			file->data[strings->sh_offset + strings->sh_size - 1])
		return 0;
	s->list = calloc(n + 1, sizeof(*s->list));
	for (uint64_t i = 0; s->list && i < n; i++, symbol++) {
		const unsigned int type = ELF64_ST_TYPE(symbol->st_info);

		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF ||
				symbol->st_name >= strings->sh_size)
			continue;
		s->list[s->count++] = (struct symbol) { symbol->st_value, symbol->st_value + symbol->st_size,
			(const char *) file->data + strings->sh_offset + symbol->st_name };
	}
	if (s->list)
		qsort(s->list, s->count, sizeof(*s->list), symbol_compare);
	return s->count != 0;
}

/* 1: the file has symbols of this kind of section. */
static int sections_take(struct symbols *s, const struct file *file, uint32_t type)
{
	const Elf64_Ehdr *head = file->data ? file_head(file) : NULL;
	const Elf64_Shdr *sections = head && head->e_shentsize == sizeof(Elf64_Shdr) ?
		file_at(file, head->e_shoff, (uint64_t) head->e_shnum * sizeof(Elf64_Shdr)) : NULL;

	for (unsigned int i = 0; sections && i < head->e_shnum; i++)
		if (sections[i].sh_type == type && sections[i].sh_link < head->e_shnum &&
				symbols_take(s, file, &sections[i], &sections[sections[i].sh_link]))
			return 1;
	return 0;
}

struct symbols *symbols_open(const char *path, uint64_t build_id)
{
	struct symbols *s = calloc(1, sizeof(*s));
	char hex[136] = "", debug[200];
	uint64_t id;

	if (!s || file_map(&s->file, path) < 0)
		return s;
	id = segments_read(s, hex, sizeof(hex));
	if (build_id && id != build_id) {
		file_unmap(&s->file);
		return s;
	}
	if (sections_take(s, &s->file, SHT_SYMTAB))
		return s;
	snprintf(debug, sizeof(debug), DEBUG_ROOT "/%.2s/%s.debug", hex, *hex ? hex + 2 : "");
	if (!*hex || file_map(&s->debug, debug) < 0 || !sections_take(s, &s->debug, SHT_SYMTAB))
		sections_take(s, &s->file, SHT_DYNSYM);
	return s;
}

void symbols_close(struct symbols *s)
{
	if (!s)
		return;
	file_unmap(&s->file);
	file_unmap(&s->debug);
	free(s->list);
	free(s);
}

/* What the C++ runtime, where there is one, makes of a linkage name, to be freed. NULL: it is no such name. */
static char *demangled(const char *name)
{
	static char *(*demangle)(const char *name, char *to, size_t *size, int *status);
	static int is_looked_for;
	void *library;
	int status;

	if (strncmp(name, "_Z", 2))
		return NULL;
	if (!is_looked_for) {
		is_looked_for = 1;
		library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
		if (library)
			*(void **) &demangle = dlsym(library, "__cxa_demangle");
	}
	return demangle ? demangle(name, NULL, NULL, &status) : NULL;
}

/* The nearest function that has the address, of those that begin at or before it; NULL: none. */
static const struct symbol *symbol_at(const struct symbols *s, uint64_t at)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->list[middle].low <= at)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i-- > 0 && low - i < 32; )
		if (at < s->list[i].high || s->list[i].high == s->list[i].low)
			return &s->list[i];
	return NULL;
}

int symbols_function(const struct symbols *s, uint64_t *offset, char *text, size_t size)
{
	const struct symbol *found = s ? symbol_at(s, s->low + *offset) : NULL;
	char *name;

	if (!found)
		return 0;
	*offset = found->low - s->low;
	name = demangled(found->name);
	snprintf(text, size, "%.*s", name ? NAME_MOST : (int) strcspn(found->name, "@"), name ? name : found->name);
	free(name);
	return 1;
}

void symbols_name(const struct symbols *s, uint64_t offset, int is_call, char *text, size_t size)
{
	const uint64_t at = (s ? s->low : 0) + offset;
	const struct symbol *found = s ? symbol_at(s, at - (uint64_t) is_call) : NULL;
	char *name;

	if (s && !found && is_call) {
		found = symbol_at(s, at);
		found = found && found->low == at ? found : NULL;
	}
	if (!found) {
		snprintf(text, size, "0x%llx", (unsigned long long) offset);
		return;
	}
	name = demangled(found->name);
	snprintf(text, size, "%.*s+0x%llx", name ? NAME_MOST : (int) strcspn(found->name, "@"),
		name ? name : found->name, (unsigned long long) (at - found->low));
	free(name);
}
