/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Whose functions objects call: the other ones the agent's, and the tracer's libc's own.
 *
 * An injected agent stands before some functions from then on. A preloaded one is found before libc by the order of symbols; for an injected
 * one the other objects' own pointers to libc's function (their global offset
 * tables) are set anew. Code stays as it is, so nothing has to be undone when the
 * last rule goes; and it must not be: lttng-ust stays in the process, and gets
 * descriptors for a new session before any rule comes. A shell that closes a
 * number once too often would close them.
 *
 * What lttng-ust copies and compares is no matter of the program's. Where that, or a
 * library of it, has functions of its own for that (ThreadSanitizer takes them for the program's, and reports a race where
 * threads use a buffer one after the other), lttng-ust's pointers are set to libc's; and some to the agent's (cancel.c).
 *
 * Control side only. The dynamic linker tells of objects that are loaded later (load-watch.c) before it relocates them, and nothing
 * tells when it has: so they are looked at some times in the half second after, and with the next rule. A pointer
 * that is not relocated yet is left, as the linker would add to it.
 */
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "liblttng-spi/core.h"
#include "liblttng-spi/interpose.h"
#include "liblttng-spi/patch-internal.h"
#include "liblttng-spi/sandbox.h"

#define LATER_LOOKS	3u

extern const char __ehdr_start[] SPI_HIDDEN;

static int hides;		/* the tracer's objects from lttng-ust */

/* 0: look at all; else at what has come lately */
static int later_only;
static uint64_t later_since, later_due;	/* ns; due 0: nothing is */
static unsigned int later_looks;

struct tables {
	const ElfW(Sym) *symbols;
	const char *names;
	const ElfW(Rela) *lists[2];
	uint64_t sizes[2];
};

/* What runs the tracer, or is asked for these functions. */
static int is_left_alone(const struct dl_phdr_info *info)
{
	static const char *const prefixes[] = { "liblttng", "liburcu", "libnuma", "ld-linux", "linux-vdso", "libc.so" };
	const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;

	for (unsigned int i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return 1;
	return spi_path_is_descriptor(info->dlpi_name);
}

/* The dynamic linker has made these addresses already, but for objects without a bias to add. */
static void tables_read(struct tables *t, const ElfW(Dyn) *dynamic, uint64_t bias)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		uint64_t value = dynamic->d_un.d_val, at = value + (value < bias ? bias : 0);

		switch (dynamic->d_tag) {
		case DT_SYMTAB:
			t->symbols = (const void *) at;
			break;
		case DT_STRTAB:
			t->names = (const void *) at;
			break;
		case DT_JMPREL:
			t->lists[0] = (const void *) at;
			break;
		case DT_PLTRELSZ:
			t->sizes[0] = value;
			break;
		case DT_RELA:
			t->lists[1] = (const void *) at;
			break;
		case DT_RELASZ:
			t->sizes[1] = value;
			break;
		}
	}
}

/* A page that is writable just now. */
struct opened {
	uint64_t relro, relro_end;	/* of the object: what is read-only once it is relocated */
	uint64_t page;		/* 0: none is */
	int protection;		/* what it has otherwise */
};

static int has_advice(uint64_t page, int advice)
{
	return spi_sys(SYS_madvise, page, SPI_PAGE, (long) advice) == 0;
}

/* The protection of a page, or -1. To go through the list of mappings takes long, and only old kernels need it. */
static int page_protection(const struct opened *o, uint64_t page)
{
	struct spi_maps maps;
	struct spi_vma vma;
	int found = -1;

	if (has_advice(page, MADV_POPULATE_WRITE))
		return PROT_READ | PROT_WRITE;
	if (page >= o->relro && page < o->relro_end && has_advice(page, MADV_POPULATE_READ))
		return PROT_READ;
	if (spi_maps_open(&maps) < 0)
		return -1;
	while (found < 0 && spi_maps_next(&maps, &vma))
		if (page >= vma.start && page < vma.end)
			found = vma.prot;
	spi_maps_close(&maps);
	return found;
}

static void page_close(struct opened *o)
{
	if (o->page && !(o->protection & PROT_WRITE))
		spi_sys(SYS_mprotect, o->page, SPI_PAGE, o->protection);
	o->page = 0;
}

/* Relocated read-only data; an object that is just being loaded still has it writable. */
static int page_open(struct opened *o, uint64_t page)
{
	if (o->page == page)
		return 0;
	page_close(o);
	o->protection = page_protection(o, page);
	if (o->protection < 0 || (!(o->protection & PROT_WRITE) &&
			spi_sys(SYS_mprotect, page, SPI_PAGE, o->protection | PROT_WRITE) < 0))
		return -1;
	o->page = page;
	return 0;
}

/* One aligned store: who calls meanwhile calls the one or the other. What is at or below `low` are addresses in the file. */
static void slot_set(struct opened *o, uint64_t *slot, uint64_t to, uint64_t low)
{
	uint64_t is = (uint64_t) slot % 8 ? to : __atomic_load_n(slot, __ATOMIC_RELAXED);

	if (is != to && is > low && page_open(o, SPI_PAGE_OF((uint64_t) slot)) == 0)
		__atomic_store_n(slot, to, __ATOMIC_RELEASE);
}

static void object_set(const struct dl_phdr_info *info, const struct spi_redirect *list)
{
	const ElfW(Dyn) *dynamic = NULL;
	struct tables t = { 0 };
	struct opened o = { 0 };
	uint64_t low = 0;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_DYNAMIC)
			dynamic = (const void *) (info->dlpi_addr + ph->p_vaddr);
		if (ph->p_type == PT_LOAD && info->dlpi_addr && ph->p_vaddr + ph->p_memsz > low)
			low = ph->p_vaddr + ph->p_memsz;
		if (ph->p_type == PT_GNU_RELRO) {
			o.relro = SPI_PAGE_OF(info->dlpi_addr + ph->p_vaddr);
			o.relro_end = info->dlpi_addr + ph->p_vaddr + ph->p_memsz;
		}
	}
	if (!dynamic)
		return;
	tables_read(&t, dynamic, info->dlpi_addr);
	for (int k = 0; k < 2 && t.symbols && t.names; k++)
		for (uint64_t i = 0; t.lists[k] && i < t.sizes[k] / sizeof(ElfW(Rela)); i++) {
			const ElfW(Rela) *r = &t.lists[k][i];
			uint32_t type = ELF64_R_TYPE(r->r_info), symbol = ELF64_R_SYM(r->r_info);

			if ((type != SPI_RELOC_SLOT && type != SPI_RELOC_GLOBAL) || !symbol)
				continue;
			for (const struct spi_redirect *f = list; f->name; f++)
				if (!strcmp(t.names + t.symbols[symbol].st_name, f->name) && f->to)
					slot_set(&o, (uint64_t *) (info->dlpi_addr + r->r_offset), (uint64_t) f->to, low);
		}
	page_close(&o);
}

/* The latest scan's record of it; none: it has come since. */
static struct spi_object *object_of(const struct dl_phdr_info *info)
{
	struct spi_object *o = spi_objects_list();

	while (o && (!o->seen || o->bias != info->dlpi_addr))
		o = o->next;
	return o;
}

static int object_redirect(struct dl_phdr_info *info, size_t size, void *list)
{
	const struct spi_object *o = later_only ? object_of(info) : NULL;

	(void) size;
	if ((!o || o->looks < LATER_LOOKS) && !is_left_alone(info))
		object_set(info, list);
	return 0;
}

/* The agent itself imports none of them (libc-own.c), and stands before some of libc's with the same name. */
static int tracer_redirect(struct dl_phdr_info *info, size_t size, void *list)
{
	const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;

	(void) size;
	if (info->dlpi_addr == (uint64_t) __ehdr_start)
		return 0;
	if (!strncmp(name, "liblttng", 8) || !strncmp(name, "liburcu", 7) || spi_path_is_descriptor(info->dlpi_name))
		object_set(info, list);
	return 0;
}

void spi_redirect(const struct spi_redirect *list)
{
	dl_iterate_phdr(object_redirect, (void *) list);
}

static int is_lttng_ust(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *slash = strrchr(info->dlpi_name, '/');

	(void) size;
	(void) data;
	return !strncmp(slash ? slash + 1 : info->dlpi_name, "liblttng-ust.so", 15);
}

/*
 * lttng-ust does not see the tracer's objects (phdr.c) where it cannot have seen them before: it would say that they were
 * unloaded, also to sessions to which it never said that they were loaded, which ends babeltrace2. Where we come while it
 * waits before main(), it has looked before there was an agent. One that was preloaded stands before it from the start.
 */
void spi_redirect_hide(void)
{
	hides = spi_attached_early && dl_iterate_phdr(is_lttng_ust, NULL);
}

void spi_redirect_tracer(void)
{
	static struct spi_redirect list[] = {
		{ "dl_iterate_phdr", NULL },
		{ "fcntl", NULL }, { "dup", NULL }, { "write", NULL }, { "read", NULL }, { "poll", NULL }, { "sigtimedwait", NULL },
		{ "pthread_cancel", NULL },
		{ "memcpy", NULL }, { "memmove", NULL }, { "memset", NULL }, { "memcmp", NULL }, { "memchr", NULL }, { "strlen", NULL },
		{ "strnlen", NULL }, { "strcmp", NULL }, { "strncmp", NULL }, { "strchr", NULL }, { "strrchr", NULL }, { "strstr", NULL },
		{ "strcpy", NULL }, { "strncpy", NULL }, { "strpbrk", NULL }, { "strspn", NULL }, { "strcspn", NULL }, { NULL, NULL },
	};

	if (hides)
		list[0].to = (void *) spi_phdr_for_tracer;
	for (struct spi_redirect *f = list + 1; f->name; f++) {
		f->to = spi_cancel_point(f->name);
		if (!f->to)
			f->to = spi_find_in_libc_resolved(f->name);
	}
	dl_iterate_phdr(tracer_redirect, list);
}

/* ---- what is loaded later ---- */

/* Of those that the scan has found: `looks` of them are done. */
void spi_redirect_known(void)
{
	for (struct spi_object *o = spi_objects_list(); o; o = o->next)
		o->looks = o->seen ? LATER_LOOKS : 0;
}

static void later_plan(void)
{
	static const uint32_t after_ms[LATER_LOOKS] = { 5, 50, 500 };

	later_due = later_looks < LATER_LOOKS ? later_since + after_ms[later_looks] * UINT64_C(1000000) : 0;
}

void spi_redirect_later(void)
{
	int is_new = 0;

	for (struct spi_object *o = spi_objects_list(); o; o = o->next) {
		o->looks = o->seen ? o->looks : 0;
		is_new |= o->seen && !o->looks;
	}
	if (!is_new || spi_env.preloaded || !spi_may(SPI_MAY_TALK))
		return;
	later_since = spi_now_ns();
	later_looks = 0;
	later_plan();
}

int64_t spi_redirect_wait(void)
{
	uint64_t now = later_due ? spi_now_ns() : 0;

	return !later_due ? -1 : later_due > now ? (int64_t) ((later_due - now) / 1000000u) + 1 : 0;
}

void spi_redirect_step(void)
{
	if (!later_due || spi_now_ns() < later_due)
		return;
	later_only = 1;
	spi_descriptors_redirect();
	later_only = 0;
	for (struct spi_object *o = spi_objects_list(); o; o = o->next)
		o->looks += o->seen && o->looks < LATER_LOOKS;
	later_looks++;
	later_plan();
}
