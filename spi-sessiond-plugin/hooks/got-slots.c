/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Standing before functions that the main program imports.
 *
 * The slots of the main program's global offset table are changed, instead of
 * exporting functions of the same names. So one way serves a daemon that was
 * started with the plugin preloaded and one that runs already, where names were
 * bound long ago; libraries in the daemon go on calling what they called; and a
 * program that is not lttng-sessiond isn't touched at all.
 *
 * With full RELRO the table is read-only by now: its page is made writable for
 * the moment of one aligned 8-byte store, which other threads see before or after.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "spi-sessiond-plugin/base/base.h"
#include "spi-sessiond-plugin/hooks/hooks.h"

struct image {
	uintptr_t base, end;
	uintptr_t relro, relro_end;
	const ElfW(Rela) *rela[2];
	size_t nr_rela[2];
	const ElfW(Sym) *symbols;
	const char *strings;
};

/* The dynamic linker may or may not have added the base to a dynamic entry. */
static uintptr_t image_address(const struct image *image, uintptr_t value)
{
	return value < image->base ? image->base + value : value;
}

static void image_read_dynamic(struct image *image, const ElfW(Dyn) *dynamic)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		uintptr_t address = image_address(image, dynamic->d_un.d_ptr);

		switch (dynamic->d_tag) {
		case DT_JMPREL:
			image->rela[0] = (const ElfW(Rela) *) address;
			break;
		case DT_PLTRELSZ:
			image->nr_rela[0] = dynamic->d_un.d_val / sizeof(ElfW(Rela));
			break;
		case DT_RELA:
			image->rela[1] = (const ElfW(Rela) *) address;
			break;
		case DT_RELASZ:
			image->nr_rela[1] = dynamic->d_un.d_val / sizeof(ElfW(Rela));
			break;
		case DT_SYMTAB:
			image->symbols = (const ElfW(Sym) *) address;
			break;
		case DT_STRTAB:
			image->strings = (const char *) address;
			break;
		}
	}
}

/* The kernel told where the main program's headers are: no need for the loader's lists and their lock. */
static int image_find(struct image *image)
{
	const ElfW(Phdr) *header = (const ElfW(Phdr) *) getauxval(AT_PHDR);
	size_t nr = getauxval(AT_PHNUM);
	const ElfW(Dyn) *dynamic = NULL;
	uintptr_t page = sysconf(_SC_PAGESIZE);

	memset(image, 0, sizeof(*image));
	if (!header)
		return -ENOENT;
	for (size_t i = 0; i < nr; i++) {
		if (header[i].p_type == PT_PHDR)
			image->base = (uintptr_t) header - header[i].p_vaddr;
	}
	for (size_t i = 0; i < nr; i++) {
		uintptr_t start = image->base + header[i].p_vaddr, end = start + header[i].p_memsz;

		if (header[i].p_type == PT_LOAD && end > image->end)
			image->end = end;
		if (header[i].p_type == PT_DYNAMIC)
			dynamic = (const ElfW(Dyn) *) start;
		if (header[i].p_type == PT_GNU_RELRO) {
			image->relro = start & -page;
			image->relro_end = end & -page;
		}
	}
	if (!dynamic)
		return -ENOENT;	/* static */
	image_read_dynamic(image, dynamic);
	return image->symbols && image->strings ? 0 : -ENOENT;
}

/* The hook that stands before what relocation `r` binds, or NULL. */
static struct got_hook *hook_of(const struct image *image, const ElfW(Rela) *r, struct got_hook *hooks,
				unsigned int nr)
{
	unsigned int type = ELF64_R_TYPE(r->r_info);
	const char *name;

	if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
		return NULL;
	name = image->strings + image->symbols[ELF64_R_SYM(r->r_info)].st_name;
	for (unsigned int i = 0; i < nr; i++) {
		if (!strcmp(name, hooks[i].name) || (hooks[i].old_name && !strcmp(name, hooks[i].old_name)))
			return &hooks[i];
	}
	return NULL;
}

void got_find(struct got_hook *hooks, unsigned int nr)
{
	struct image image;

	if (image_find(&image))
		return;
	for (unsigned int list = 0; list < 2; list++) {
		for (size_t k = 0; k < image.nr_rela[list]; k++) {
			const ElfW(Rela) *r = &image.rela[list][k];
			struct got_hook *hook = hook_of(&image, r, hooks, nr);
			uintptr_t value;

			if (!hook)
				continue;
			value = *(uintptr_t *) (image.base + r->r_offset);
			/* A slot not bound yet leads to the program's own stub, which would undo the change. */
			if (value >= image.base && value < image.end)
				value = (uintptr_t) dlsym(RTLD_DEFAULT, image.strings +
							  image.symbols[ELF64_R_SYM(r->r_info)].st_name);
			if (!value)
				continue;
			*hook->real = (void *) value;
			hook->slots++;
		}
	}
}

static int slot_set(const struct image *image, void **slot, void *value)
{
	uintptr_t page = sysconf(_SC_PAGESIZE), start = (uintptr_t) slot & -page;
	bool relro = start >= image->relro && start < image->relro_end;

	if (relro && mprotect((void *) start, page, PROT_READ | PROT_WRITE))
		return -errno;
	__atomic_store_n(slot, value, __ATOMIC_SEQ_CST);
	if (relro)
		mprotect((void *) start, page, PROT_READ);
	return 0;
}

int got_patch(const struct got_hook *hooks, unsigned int nr)
{
	struct image image;
	int ret = image_find(&image);

	for (unsigned int list = 0; list < 2 && !ret; list++) {
		for (size_t k = 0; k < image.nr_rela[list] && !ret; k++) {
			const ElfW(Rela) *r = &image.rela[list][k];
			/* hook_of() changes nothing. */
			const struct got_hook *hook = hook_of(&image, r, (struct got_hook *) hooks, nr);

			if (hook && *hook->real)
				ret = slot_set(&image, (void **) (image.base + r->r_offset), hook->hook);
		}
	}
	return ret;
}
