/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * Whose functions objects call, by their pointers to functions of other objects (the global offset table,
 * GOT).
 *
 * An injected agent stands before functions from some moment on: the pointers of the program's objects to
 * libc's function are set to the replacement. Code stays as it is, so nothing has to be undone when the last
 * rule goes. It must not be undone: lttng-ust stays in the process, and gets descriptors for a new session
 * before any rule comes. A shell that closes a number once too often would close them.
 *
 * What lttng-ust copies and compares is no matter of the program's. The program, or a library of the program,
 * may have functions of its own for that (ThreadSanitizer takes lttng-ust's for the program's, and reports a
 * race where threads use a buffer one after the other). So lttng-ust's pointers are set to libc's functions,
 * and some of them to the agent's.
 *
 * The dynamic linker tells of objects that are loaded later before it relocates them, and nothing tells when
 * it has. So they are looked at some times in the half second after, and with the next rule. A pointer that
 * is not relocated yet is left, as the linker would add to it.
 */
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/hooks/internal.h"

#define LATER_LOOKS	3u
#define BUCKETS		128u

extern const char __ehdr_start[] SPI_HIDDEN;

/* ---- what is wanted of a pass through the objects ---- */

/* Functions by the first two letters of their names: most symbols of an object are none of them. */
struct pass {
	uint32_t count;
	int is_later;			/* only objects that have come lately */
	uint8_t first[BUCKETS];		/* index + 1 into `wanted`; 0: none */
	struct {
		const char *name;
		uint64_t to;
		uint8_t following;
	} wanted[SPI_HOOKS_MOST];
};
_Static_assert(SPI_HOOKS_MOST < 256, "struct pass");

static uint8_t *bucket_of(struct pass *pass, const char *name)
{
	return &pass->first[((uint8_t) name[0] * 5u + (name[0] ? (uint8_t) name[1] : 0)) % BUCKETS];
}

static void pass_add(struct pass *pass, const char *name, const void *to)
{
	uint8_t *bucket = bucket_of(pass, name);

	pass->wanted[pass->count].name = name;
	pass->wanted[pass->count].to = (uint64_t) to;
	pass->wanted[pass->count].following = *bucket;
	*bucket = (uint8_t) ++pass->count;
}

/* Where a pointer to the function is to lead; 0: it stays. */
static uint64_t pass_find(struct pass *pass, const char *name)
{
	for (unsigned int i = *bucket_of(pass, name); i; i = pass->wanted[i - 1].following)
		if (!strcmp(pass->wanted[i - 1].name, name))
			return pass->wanted[i - 1].to;
	return 0;
}

static struct pass *pass_begin(unsigned int way)
{
	static struct pass pass;	/* the control side is one thread at a time */
	int (*asked)(void) = NULL, fits = 1;

	memset(&pass, 0, sizeof(pass));
	for (uint32_t i = 0; i < spi_hooks_count; i++) {
		const struct spi_hook_state *s = &spi_hook_states[i];
		const struct spi_hook *hook = s->hook;
		const void *to = hook->with;

		if (!(hook->ways & way) || s->is_left)
			continue;
		if (hook->fits && hook->fits != asked) {
			asked = hook->fits;
			fits = asked();
		}
		if (hook->fits && !fits)
			continue;
		if (!to)
			to = spi_find_in_libc(hook->name);
		if (to)
			pass_add(&pass, hook->name, to);
	}
	return &pass;
}

/* ---- an object's pointers ---- */

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
	struct spi_vma vma;

	if (has_advice(page, MADV_POPULATE_WRITE))
		return PROT_READ | PROT_WRITE;
	if (page >= o->relro && page < o->relro_end && has_advice(page, MADV_POPULATE_READ))
		return PROT_READ;
	return spi_maps_find(page, &vma, NULL, 0) ? vma.prot : -1;
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

/* One aligned store: a call meanwhile goes to the one or the other. Up to `low` it is an address in the file. */
static void pointer_set(struct opened *o, uint64_t *pointer, uint64_t to, uint64_t low)
{
	uint64_t is = (uint64_t) pointer % 8 ? to : __atomic_load_n(pointer, __ATOMIC_RELAXED);

	if (is != to && is > low && page_open(o, SPI_PAGE_OF((uint64_t) pointer)) == 0)
		__atomic_store_n(pointer, to, __ATOMIC_RELEASE);
}

static void object_set(const struct dl_phdr_info *info, struct pass *pass)
{
	const ElfW(Dyn) *dynamic = NULL;
	struct spi_tables t = { 0 };
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
	spi_tables_read(&t, dynamic, info->dlpi_addr);
	for (int k = 0; k < 2 && t.symbols && t.names; k++)
		for (uint64_t i = 0; t.lists[k] && i < t.sizes[k] / sizeof(ElfW(Rela)); i++) {
			const ElfW(Rela) *r = &t.lists[k][i];
			uint32_t type = ELF64_R_TYPE(r->r_info), symbol = ELF64_R_SYM(r->r_info);
			uint64_t to = 0;

			if ((type == SPI_RELOC_SLOT || type == SPI_RELOC_GLOBAL) && symbol)
				to = pass_find(pass, t.names + t.symbols[symbol].st_name);
			if (to)
				pointer_set(&o, (uint64_t *) (info->dlpi_addr + r->r_offset), to, low);
		}
	page_close(&o);
}

/* ---- which objects ---- */

static const char *file_of(const struct dl_phdr_info *info)
{
	const char *slash = strrchr(info->dlpi_name, '/');

	return slash ? slash + 1 : info->dlpi_name;
}

/* What runs the tracer, or is asked for these functions. */
static int is_left_alone(const struct dl_phdr_info *info)
{
	static const char *const prefixes[] = { "liblttng", "liburcu", "libnuma", "ld-linux", "linux-vdso", "libc.so" };
	const char *name = file_of(info);

	for (unsigned int i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return 1;
	return spi_path_is_descriptor(info->dlpi_name);
}

/* The latest scan's record of it; none: it has come since. */
static struct spi_object *object_of(const struct dl_phdr_info *info)
{
	struct spi_object *o = spi_objects_list();

	while (o && (!o->seen || o->bias != info->dlpi_addr))
		o = o->next;
	return o;
}

static int program_point(struct dl_phdr_info *info, size_t size, void *data)
{
	struct pass *pass = data;
	const struct spi_object *o = pass->is_later ? object_of(info) : NULL;

	(void) size;
	if ((!o || o->looks < LATER_LOOKS) && !is_left_alone(info))
		object_set(info, pass);
	return 0;
}

/* The agent itself imports none of them (libc-own.c), and stands before some of libc's with the same name. */
static int tracer_point(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *name = file_of(info);

	(void) size;
	if (info->dlpi_addr == (uint64_t) __ehdr_start)
		return 0;
	if (!strncmp(name, "liblttng", 8) || !strncmp(name, "liburcu", 7) || spi_path_is_descriptor(info->dlpi_name))
		object_set(info, data);
	return 0;
}

static void begin(void)
{
	static int has_begun;

	if (has_begun)
		return;
	has_begun = 1;
	spi_hooks_find_next();
	/* what another library has taken over already (as fakeroot's does) is not libc's, and is left alone */
	for (uint32_t i = 0; i < spi_hooks_count; i++)
		spi_hook_states[i].is_left = (spi_hook_states[i].hook->flags & SPI_HOOK_SHARED) &&
			spi_symbol_is_shadowed(spi_hook_states[i].hook->name);
}

static void point(int is_later)
{
	struct pass *pass;

	if (spi_env.preloaded)
		return;
	begin();
	pass = pass_begin(SPI_HOOK_POINTERS);
	pass->is_later = is_later;
	dl_iterate_phdr(program_point, pass);
}

void spi_hooks_point(void)
{
	point(0);
}

void spi_hooks_point_tracer(void)
{
	spi_hooks_find_next();
	dl_iterate_phdr(tracer_point, pass_begin(SPI_HOOK_TRACER));
}

/* ---- what is loaded later ---- */

static uint64_t later_since, later_due;	/* ns; due 0: nothing is. spi_hooks_wait() reads it at any time */
static unsigned int later_looks;

/* Of those that the scan has found: `looks` of them are done. */
void spi_hooks_known(void)
{
	for (struct spi_object *o = spi_objects_list(); o; o = o->next)
		o->looks = o->seen ? LATER_LOOKS : 0;
}

static void later_plan(void)
{
	static const uint32_t after_ms[LATER_LOOKS] = { 5, 50, 500 };

	later_due = later_looks < LATER_LOOKS ? later_since + after_ms[later_looks] * UINT64_C(1000000) : 0;
}

void spi_hooks_later(void)
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

int64_t spi_hooks_wait(void)
{
	uint64_t now = later_due ? spi_now_ns() : 0;

	return !later_due ? -1 : later_due > now ? (int64_t) ((later_due - now) / 1000000u) + 1 : 0;
}

void spi_hooks_step(void)
{
	if (!later_due || spi_now_ns() < later_due)
		return;
	point(1);
	for (struct spi_object *o = spi_objects_list(); o; o = o->next)
		o->looks += o->seen && o->looks < LATER_LOOKS;
	later_looks++;
	later_plan();
}
