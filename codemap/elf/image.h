/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * One ELF file, mapped, and its sections as plain bytes.
 *
 * Nothing in the file is trusted: each header is copied out and bounded once, here, and section
 * contents are handed out by ranges. libelf is not used: it inflates a compressed section as a
 * whole, and debug info of 400 MB must fit in 300 MB (see bytes_*).
 */
#ifndef CODEMAP_ELF_IMAGE_H
#define CODEMAP_ELF_IMAGE_H

#include <elf.h>
#include "codemap/base/base.h"

/*
 * The bytes of a section. A compressed one is inflated into reserved address
 * space, only what somebody asks for; what lies behind the reader can be dropped.
 */
struct inflater;
struct bytes {
	const uint8_t *data;
	uint64_t size;
	uint64_t start, ready;	/* [start, ready) is there already, maybe more */
	uint64_t gone;		/* bytes before this were given up: bytes_forget() */
	uint64_t dropped;	/* of those, what lies before this was given back */
	struct inflater *inflater;	/* NULL: all are there */
};

/* Make [offset, offset + size) readable. Returns how many of them really are (a broken stream ends early). */
uint64_t bytes_run(struct bytes *bytes, uint64_t offset, uint64_t size);

static inline int bytes_have(struct bytes *bytes, uint64_t offset, uint64_t size)
{
	if (offset > bytes->size || size > bytes->size - offset || offset < bytes->gone)
		return 0;
	return (offset >= bytes->start && offset + size <= bytes->ready) || bytes_run(bytes, offset, size) == size;
}

/* Did its stream break, or end too early, while it was read? */
int bytes_are_cut(struct bytes *bytes);
/* A NUL-terminated string at offset, or NULL. */
const char *bytes_string(struct bytes *bytes, uint64_t offset);
/*
 * Inflate in a thread of its own, for sections read more or less from front to back:
 * `enough` bytes at once, then up to `ahead` bytes ahead of the reader.
 */
void bytes_read_ahead(struct bytes *bytes, uint64_t enough, uint64_t ahead);
/* The reader has come this far: let the thread go on. */
void bytes_reached(struct bytes *bytes, uint64_t offset);
/* Must what lies before `offset` be inflated to get there? */
int bytes_is_far(const struct bytes *bytes, uint64_t offset);
/* Nothing in [from, to) will be asked for: pass over it, keeping as little of it as bytes_drop() would. */
uint64_t bytes_skip(struct bytes *bytes, uint64_t from, uint64_t to);
/*
 * [from, to) is not needed any more: it reads as zeros, or as before. Returns how far
 * its memory was given back; what lies behind that can be dropped later.
 */
uint64_t bytes_drop(struct bytes *bytes, uint64_t from, uint64_t to);

/* Nothing before `offset` will be asked for again, or it will not be had; compressed sections only. */
void bytes_forget(struct bytes *bytes, uint64_t offset);

struct section {
	const char *name;
	uint32_t type, link;
	uint64_t flags, addr, offset, size, entsize;
};

struct image {
	const char *name;
	const uint8_t *data;
	uint64_t size;
	Elf64_Ehdr head;
	struct section *sections;
	uint32_t section_count;
	Elf64_Phdr *segments;
	uint32_t segment_count;
	uint8_t build_id[32];
	uint32_t build_id_size;
	uint64_t load_low, load_high;
	uint64_t identity;	/* which file this is; set by who opened it */
	uint8_t role;		/* 1 to 3: of the object's own files, which (map/marks.h); 0: another */
};

/*
 * image_map() - map what `fd` is open on, and look at nothing of it. NULL: *why says why not.
 * image_read() - read its headers. `main_object` demands a linked x86-64
 * program or library; debug files may be anything that has sections. 0: *why says why not.
 */
struct image *image_map(int fd, const char *name, const char **why);
int image_read(struct image *image, int main_object, const char **why);
/* An image that is in memory already (minidebuginfo), read; or NULL. */
struct image *image_memory(const uint8_t *data, uint64_t size, const char *name);

const struct section *image_section(const struct image *image, const char *name);
/* Contents of a section, as stored; size 0 when it has none in the file. */
struct bytes image_raw(const struct image *image, const struct section *section);
/* Contents of the section `name`, inflated on demand (SHF_COMPRESSED, or .zdebug_*); size 0 when there is none. */
struct bytes image_bytes(const struct image *image, const char *name);
/* Why the contents of a section that is there are not to be had; NULL: they are, or there is none. */
const char *image_bytes_refusal(const struct image *image, const char *name);

enum compression { COMPRESSION_ZLIB, COMPRESSION_ZSTD };

/* Bytes that are to be inflated from [input, input + left), to `size` bytes (compressed.c); size 0 when that cannot be. */
struct bytes bytes_inflate(
	const struct image *image, const uint8_t *input, uint64_t left, uint64_t size, enum compression how);

/* File contents at a link-time address; *left: bytes from there to the end of the segment's contents. NULL: none. */
const uint8_t *image_at(const struct image *image, uint64_t vaddr, uint64_t *left);
int image_is_code(const struct image *image, uint64_t vaddr);

#endif /* CODEMAP_ELF_IMAGE_H */
