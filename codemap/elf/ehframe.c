/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * .eh_frame, read from front to back. Each FDE gives a range of code. The unwind rules in force at
 * the first byte tell a function (CFA = rsp+8, as a call leaves the stack) from a piece that its
 * function jumps to with a frame already set up (.cold).
 */
#include <stdlib.h>
#include "codemap/elf/ehframe.h"

#define DW_EH_PE_omit	0xff
#define DW_REG_RSP	7
#define PADS_MAX	100000u		/* entries looked at in one exception table */

/* A pointer as eh_frame encodes it; `at` is the link-time address of c->p. */
static uint64_t pointer_read(struct cursor *c, uint8_t encoding, uint64_t at, int *ok)
{
	uint64_t value;

	switch (encoding & 0x0f) {
	case 0x00: case 0x04: case 0x0c: value = cursor_uint(c, 8); break;
	case 0x01: value = cursor_uleb(c); break;
	case 0x02: value = cursor_uint(c, 2); break;
	case 0x03: value = cursor_uint(c, 4); break;
	case 0x09: value = (uint64_t) cursor_sleb(c); break;
	case 0x0a: value = (uint64_t) cursor_sint(c, 2); break;
	case 0x0b: value = (uint64_t) cursor_sint(c, 4); break;
	default: *ok = 0; return 0;
	}
	switch (encoding & 0x70) {
	case 0x00: return value;
	case 0x10: return value + at;
	}
	*ok = 0;
	return 0;
}

static int cie_read(const struct bytes *frames, uint64_t offset, uint64_t base, struct cie *cie)
{
	struct cursor c = { frames->data + offset, frames->data + frames->size, 0 };
	uint64_t length = cursor_uint(&c, 4);
	const char *augmentation;
	const uint8_t *data_end = NULL;
	uint8_t version;
	int ok = 1;

	memset(cie, 0, sizeof(*cie));
	cie->lsda_encoding = DW_EH_PE_omit;
	if (length == UINT32_MAX)
		length = cursor_uint(&c, 8);
	if (c.bad || length > (uint64_t) (c.end - c.p))
		return 0;
	c.end = c.p + length;
	if (cursor_uint(&c, 4))		/* an FDE */
		return 0;
	version = (uint8_t) cursor_uint(&c, 1);
	if (version != 1 && version != 3)
		return 0;
	augmentation = cursor_string(&c);
	if (!strcmp(augmentation, "eh"))
		return 0;
	cie->code_align = cursor_uleb(&c);
	cie->data_align = cursor_sleb(&c);
	if (version == 1)
		cursor_skip(&c, 1);
	else
		cursor_uleb(&c);
	if (*augmentation == 'z') {
		uint64_t size = cursor_uleb(&c);

		if (c.bad || size > (uint64_t) (c.end - c.p))
			return 0;
		data_end = c.p + size;
		cie->augmented = 1;
		augmentation++;
	}
	for (; *augmentation; augmentation++) {
		uint8_t encoding;

		if (*augmentation == 'R') {
			cie->pointer_encoding = (uint8_t) cursor_uint(&c, 1);
		} else if (*augmentation == 'L') {
			cie->lsda_encoding = (uint8_t) cursor_uint(&c, 1);
		} else if (*augmentation == 'P') {
			encoding = (uint8_t) cursor_uint(&c, 1);
			if (encoding != DW_EH_PE_omit)
				pointer_read(&c, encoding & 0x0f, base, &ok);
		} else if (*augmentation == 'S') {
			cie->signal_frame = 1;
		} else if (*augmentation != 'B') {
			return 0;
		}
	}
	if (data_end)
		c.p = data_end;
	cie->rules = c;
	return ok && !c.bad;
}

/* One FDE whose body (behind its CIE pointer) is c. */
static void fde_read(struct cursor c, uint64_t at, const struct cie *cie, struct fdes *fdes)
{
	const uint8_t *begin = c.p;
	uint64_t start, size, length, lsda = 0;
	struct cfa_walk walk;
	struct fde *fde;
	int ok = 1;

	start = pointer_read(&c, cie->pointer_encoding, at, &ok);
	size = pointer_read(&c, cie->pointer_encoding & 0x0f, at + (uint64_t) (c.p - begin), &ok);
	if (!ok || c.bad || !start || !size)
		return;
	if (cie->augmented) {
		struct cursor data;

		length = cursor_uleb(&c);
		data = c;
		cursor_skip(&c, length);
		if (cie->lsda_encoding != DW_EH_PE_omit && length >= 4) {
			/* 0 is none, whatever it is relative to. */
			struct cursor zero = data;

			if (pointer_read(&zero, cie->lsda_encoding & 0x0f, 0, &ok))
				lsda = pointer_read(&data, cie->lsda_encoding, at + (uint64_t) (data.p - begin), &ok);
		}
	}
	fde = vec_push(fdes);
	fde->start = start;
	fde->size = size;
	fde->lsda = ok ? lsda : 0;
	fde->signal_frame = cie->signal_frame;
	fde->cie = cie;
	fde->rules = c;
	cfa_begin(&walk, fde);
	cfa_is_call(&walk, start);
	fde->framed = walk.cfa.expression || walk.cfa.reg != DW_REG_RSP || walk.cfa.offset != 8;
}

/* The bytes and address of .eh_frame, by its section or through PT_GNU_EH_FRAME. */
static struct bytes ehframe_find(const struct image *image, uint64_t *address)
{
	const struct section *section = image_section(image, ".eh_frame");
	struct bytes bytes = image_raw(image, section);
	uint32_t i;

	if (bytes.size) {
		*address = section->addr;
		return bytes;
	}
	for (i = 0; i < image->segment_count; i++) {
		const Elf64_Phdr *p = &image->segments[i];
		struct cursor c;
		uint64_t left;
		int ok = 1;

		if (p->p_type != PT_GNU_EH_FRAME)
			continue;
		c.p = image_at(image, p->p_vaddr, &left);
		if (!c.p || left < 8)
			continue;
		c.end = c.p + left;
		c.bad = 0;
		cursor_skip(&c, 4);
		*address = pointer_read(&c, c.p[-3], p->p_vaddr + 4, &ok);
		bytes.data = ok ? image_at(image, *address, &left) : NULL;
		bytes.size = bytes.ready = bytes.data ? left : 0;
		return bytes;
	}
	return bytes;
}

void ehframe_read(const struct image *image, struct fdes *fdes)
{
	uint64_t address = 0, offset = 0, cie_offset = UINT64_MAX;
	struct bytes frames = ehframe_find(image, &address);
	struct cie *cie = NULL, next;

	while (offset + 4 <= frames.size) {
		struct cursor c = { frames.data + offset, frames.data + frames.size, 0 };
		uint64_t length = cursor_uint(&c, 4), at, pointer;

		if (length == UINT32_MAX)
			length = cursor_uint(&c, 8);
		if (!length || c.bad || length > (uint64_t) (c.end - c.p))
			return;
		at = (uint64_t) (c.p - frames.data);
		c.end = c.p + length;
		offset = at + length;
		pointer = cursor_uint(&c, 4);
		if (c.bad || !pointer)
			continue;
		if (pointer > at)
			return;
		if (at - pointer != cie_offset) {
			cie_offset = at - pointer;
			if (!cie_read(&frames, cie_offset, address + cie_offset, &next)) {
				cie_offset = UINT64_MAX;
				continue;
			}
			cie = mem_alloc(sizeof(*cie));
			*cie = next;
		}
		fde_read(c, address + at + 4, cie, fdes);
	}
}

static int fde_compare(const void *x, const void *y)
{
	const struct fde *a = x, *b = y;

	return a->start < b->start ? -1 : a->start > b->start;
}

void fdes_sort(struct fdes *fdes)
{
	if (fdes->count)
		qsort(fdes->at, fdes->count, sizeof(*fdes->at), fde_compare);
}

const struct fde *fdes_around(const struct fdes *fdes, uint64_t vaddr)
{
	size_t low = 0, high = fdes->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (fdes->at[middle].start <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low && vaddr - fdes->at[low - 1].start < fdes->at[low - 1].size ? &fdes->at[low - 1] : NULL;
}

/* The call-site table of the language specific data, as GCC and LLVM write it for all languages. */
void ehframe_landing_pads(const struct image *image, const struct fde *fde, void (*visit)(void *context, uint64_t vaddr),
			  void *context)
{
	uint64_t left = 0, base = fde->start, length;
	const uint8_t *p = fde->lsda ? image_at(image, fde->lsda, &left) : NULL;
	struct cursor c = { p, p ? p + left : p, 0 };
	unsigned int i;
	uint8_t encoding;
	int ok = 1;

	if (!p)
		return;
	encoding = (uint8_t) cursor_uint(&c, 1);
	if (encoding != DW_EH_PE_omit)
		base = pointer_read(&c, encoding, fde->lsda + 1, &ok);
	encoding = (uint8_t) cursor_uint(&c, 1);
	if (encoding != DW_EH_PE_omit)
		cursor_uleb(&c);
	encoding = (uint8_t) cursor_uint(&c, 1);
	length = cursor_uleb(&c);
	if (c.bad || length > (uint64_t) (c.end - c.p))
		return;
	c.end = c.p + length;
	for (i = 0; i < PADS_MAX && c.p < c.end && ok && !c.bad; i++) {
		uint64_t pad;

		pointer_read(&c, encoding, 0, &ok);
		pointer_read(&c, encoding, 0, &ok);
		pad = pointer_read(&c, encoding, 0, &ok);
		cursor_uleb(&c);
		if (ok && !c.bad && pad)
			visit(context, base + pad);
	}
}
