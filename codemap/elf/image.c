/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* ELF headers and tables, bounded and copied out: see image.h. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "codemap/elf/image.h"

#define SECTIONS_MAX	(1u << 20)
#define ELFCOMPRESS_ZSTD_	2u	/* elf.h has it from glibc 2.36 on */

/* What kind of file is it? NULL when it can be used, else what is wrong and what to do. */
static const char *head_refusal(const Elf64_Ehdr *head, uint64_t size, int main_object)
{
	if (size < EI_NIDENT || memcmp(head->e_ident, ELFMAG, SELFMAG))
		return "not an ELF file: name an executable or a shared library";
	if (head->e_ident[EI_CLASS] == ELFCLASS32)
		return "a 32-bit ELF file: only 64-bit x86-64 programs can be traced";
	if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_ident[EI_DATA] != ELFDATA2LSB)
		return "an ELF file for another machine: only x86-64 programs can be traced";
	if (size < sizeof(*head))
		return "a truncated ELF file: get a complete copy";
	if (head->e_machine != EM_X86_64)
		return "an ELF file for another machine: only x86-64 programs can be traced";
	if (main_object && head->e_type != ET_EXEC && head->e_type != ET_DYN)
		return "neither a program nor a shared library: link it first";
	return NULL;
}

static const char *segments_read(struct image *image)
{
	const Elf64_Ehdr *head = &image->head;
	uint64_t bytes = (uint64_t) head->e_phnum * sizeof(Elf64_Phdr);
	uint32_t i;

	image->load_low = UINT64_MAX;
	if (head->e_phnum && head->e_phentsize != sizeof(Elf64_Phdr))
		return "a broken ELF file: its program headers have an impossible size";
	if (head->e_phoff > image->size || bytes > image->size - head->e_phoff)
		return "a truncated ELF file: get a complete copy";
	image->segments = mem_alloc(bytes);
	memcpy(image->segments, image->data + head->e_phoff, bytes);
	image->segment_count = head->e_phnum;
	for (i = 0; i < image->segment_count; i++) {
		Elf64_Phdr *p = &image->segments[i];

		if (p->p_type != PT_LOAD || p->p_memsz > UINT64_MAX - p->p_vaddr)
			continue;
		if (p->p_vaddr < image->load_low)
			image->load_low = p->p_vaddr;
		if (p->p_vaddr + p->p_memsz > image->load_high)
			image->load_high = p->p_vaddr + p->p_memsz;
	}
	if (image->load_low > image->load_high)
		image->load_low = image->load_high = 0;
	return NULL;
}

static const char *sections_read(struct image *image)
{
	const Elf64_Ehdr *head = &image->head;
	Elf64_Shdr shdr, names;
	uint64_t count = head->e_shnum, names_at = head->e_shstrndx, i;

	if (!head->e_shoff)
		return NULL;
	if (head->e_shentsize != sizeof(shdr))
		return "a broken ELF file: its section headers have an impossible size";
	if (head->e_shoff > image->size || image->size - head->e_shoff < sizeof(shdr))
		return "a truncated ELF file: get a complete copy";
	memcpy(&shdr, image->data + head->e_shoff, sizeof(shdr));
	if (!count)
		count = shdr.sh_size;
	if (names_at == SHN_XINDEX)
		names_at = shdr.sh_link;
	if (count > SECTIONS_MAX || count * sizeof(shdr) > image->size - head->e_shoff)
		return "a truncated ELF file: get a complete copy";
	memset(&names, 0, sizeof(names));
	if (names_at < count)
		memcpy(&names, image->data + head->e_shoff + names_at * sizeof(shdr), sizeof(names));
	if (names.sh_offset > image->size || names.sh_size > image->size - names.sh_offset)
		return "a truncated ELF file: get a complete copy";
	image->sections = mem_alloc(count * sizeof(*image->sections));
	image->section_count = (uint32_t) count;
	for (i = 0; i < count; i++) {
		struct section *s = &image->sections[i];
		const char *text = (const char *) image->data + names.sh_offset;

		memcpy(&shdr, image->data + head->e_shoff + i * sizeof(shdr), sizeof(shdr));
		s->name = "";
		if (shdr.sh_name < names.sh_size && memchr(text + shdr.sh_name, 0, names.sh_size - shdr.sh_name))
			s->name = text + shdr.sh_name;
		s->type = shdr.sh_type;
		s->link = shdr.sh_link;
		s->flags = shdr.sh_flags;
		s->addr = shdr.sh_addr;
		s->offset = shdr.sh_offset;
		s->size = shdr.sh_size;
		s->entsize = shdr.sh_entsize;
	}
	return NULL;
}

/* Look for the build-id among the notes in [at, at + size). */
static int build_id_find(struct image *image, uint64_t at, uint64_t size)
{
	const uint8_t *p, *end;

	if (at > image->size || size > image->size - at)
		return 0;
	p = image->data + at;
	end = p + size;
	while ((uint64_t) (end - p) >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		uint64_t name, desc;

		memcpy(&note, p, sizeof(note));
		p += sizeof(note);
		name = ((uint64_t) note.n_namesz + 3) & ~UINT64_C(3);
		desc = ((uint64_t) note.n_descsz + 3) & ~UINT64_C(3);
		if (name > (uint64_t) (end - p) || note.n_descsz > (uint64_t) (end - p) - name)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(p, "GNU", 4) &&
		    note.n_descsz && note.n_descsz <= sizeof(image->build_id)) {
			memcpy(image->build_id, p + name, note.n_descsz);
			image->build_id_size = note.n_descsz;
			return 1;
		}
		if (desc > (uint64_t) (end - p) - name)
			return 0;
		p += name + desc;
	}
	return 0;
}

static void build_id_read(struct image *image)
{
	uint32_t i;

	for (i = 0; i < image->section_count; i++)
		if (image->sections[i].type == SHT_NOTE &&
		    build_id_find(image, image->sections[i].offset, image->sections[i].size))
			return;
	for (i = 0; i < image->segment_count; i++)
		if (image->segments[i].p_type == PT_NOTE &&
		    build_id_find(image, image->segments[i].p_offset, image->segments[i].p_filesz))
			return;
}

int image_read(struct image *image, int main_object, const char **why)
{
	const char *text;

	memcpy(&image->head, image->data, image->size < sizeof(image->head) ? image->size : sizeof(image->head));
	text = head_refusal(&image->head, image->size, main_object);
	if (!text)
		text = segments_read(image);
	if (!text)
		text = sections_read(image);
	if (text) {
		*why = text;
		return 0;
	}
	build_id_read(image);
	return 1;
}

struct image *image_map(int fd, const char *name, const char **why)
{
	struct image *image = mem_alloc(sizeof(*image));
	struct stat st;
	void *p;

	image->name = name;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		*why = "not a regular file: name an executable or a shared library";
		return NULL;
	}
	if (!st.st_size) {
		*why = "an empty file: name an executable or a shared library";
		return NULL;
	}
	p = mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED) {
		*why = mem_format("cannot be mapped: %s", strerror(errno));
		return NULL;
	}
	image->data = p;
	image->size = (uint64_t) st.st_size;
	return image;
}

struct image *image_memory(const uint8_t *data, uint64_t size, const char *name)
{
	struct image *image = mem_alloc(sizeof(*image));
	const char *why;

	image->name = name;
	image->data = data;
	image->size = size;
	return image_read(image, 0, &why) ? image : NULL;
}

const struct section *image_section(const struct image *image, const char *name)
{
	uint32_t i;

	for (i = 0; i < image->section_count; i++)
		if (!strcmp(image->sections[i].name, name))
			return &image->sections[i];
	return NULL;
}

struct bytes image_raw(const struct image *image, const struct section *section)
{
	struct bytes bytes = { .size = 0 };

	if (!section || section->type == SHT_NOBITS || section->type == SHT_NULL ||
	    section->offset > image->size || section->size > image->size - section->offset)
		return bytes;
	bytes.data = image->data + section->offset;
	bytes.size = bytes.ready = section->size;
	return bytes;
}

struct bytes image_bytes(const struct image *image, const char *name)
{
	const struct section *section = image_section(image, name);
	struct bytes raw = image_raw(image, section), none = { .size = 0 };

	if (section && (section->flags & SHF_COMPRESSED)) {
		Elf64_Chdr head;

		if (raw.size < sizeof(head))
			return none;
		memcpy(&head, raw.data, sizeof(head));
		if (head.ch_type != ELFCOMPRESS_ZLIB && head.ch_type != ELFCOMPRESS_ZSTD_)
			return none;
		return bytes_inflate(image, raw.data + sizeof(head), raw.size - sizeof(head), head.ch_size,
				     head.ch_type == ELFCOMPRESS_ZLIB ? COMPRESSION_ZLIB : COMPRESSION_ZSTD);
	}
	if (!section && !strncmp(name, ".debug_", 7)) {		/* the GNU way before there was SHF_COMPRESSED */
		char old[64] = ".z";
		uint64_t size = 0;
		int i;

		strncat(old, name + 1, sizeof(old) - 3);
		raw = image_raw(image, image_section(image, old));
		if (raw.size < 12 || memcmp(raw.data, "ZLIB", 4))
			return none;
		for (i = 4; i < 12; i++)
			size = size << 8 | raw.data[i];
		return bytes_inflate(image, raw.data + 12, raw.size - 12, size, COMPRESSION_ZLIB);
	}
	return raw;
}

const char *image_bytes_refusal(const struct image *image, const char *name)
{
	const struct section *section = image_section(image, name);
	struct bytes bytes;
	Elf64_Chdr head;

	if (!section || section->type == SHT_NOBITS || !section->size)
		return NULL;
	bytes = image_raw(image, section);
	if (!bytes.size)
		return "the file is truncated";
	if (!(section->flags & SHF_COMPRESSED))
		return NULL;
	if (bytes.size < sizeof(head))
		return "its compressed contents are broken";
	memcpy(&head, bytes.data, sizeof(head));
	if (head.ch_type != ELFCOMPRESS_ZLIB && head.ch_type != ELFCOMPRESS_ZSTD_)
		return mem_format("compressed by a method that is not known (%u)", head.ch_type);
	return NULL;
}

const uint8_t *image_at(const struct image *image, uint64_t vaddr, uint64_t *left)
{
	uint32_t i;

	for (i = 0; i < image->segment_count; i++) {
		const Elf64_Phdr *p = &image->segments[i];
		uint64_t skip = vaddr - p->p_vaddr, have;

		if (p->p_type != PT_LOAD || vaddr < p->p_vaddr || skip >= p->p_filesz)
			continue;
		if (p->p_offset > image->size || skip >= image->size - p->p_offset)
			return NULL;
		have = p->p_filesz < image->size - p->p_offset ? p->p_filesz : image->size - p->p_offset;
		*left = have - skip;
		return image->data + p->p_offset + skip;
	}
	return NULL;
}

int image_is_code(const struct image *image, uint64_t vaddr)
{
	uint32_t i;

	for (i = 0; i < image->segment_count; i++) {
		const Elf64_Phdr *p = &image->segments[i];

		if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && vaddr >= p->p_vaddr &&
		    vaddr - p->p_vaddr < p->p_filesz)
			return 1;
	}
	return 0;
}
