/* SPDX-License-Identifier: LGPL-2.1-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/*
 * A thread's first record makes the dynamic linker allocate lttng-ust's thread-local memory, by malloc(): __tls_get_addr() does,
 * at the first use (glibc, elf/dl-tls.c). Were it made by a call of malloc()'s own, under the lock of its arena, the thread would
 * wait for itself for ever. madvise(), which free() calls to give memory back, may be the first function of a thread that a rule names;
 * and a tree may begin anywhere in what a thread does. So such a call is not recorded, and counts as lost, until the thread has made
 * another. A handler's call is malloc()'s as well while it interrupts that.
 *
 * The same goes for close(), which looks into lttng-ust's list of descriptors (process/descriptors.c), and a fork()
 * takes malloc()'s locks (process/clones.c).
 *
 * Where the memory is there already all may be recorded: in the thread that loaded lttng-ust, and in programs that are linked with it. That is
 * seen in the thread's vector of such memory (dtv, "ELF Handling For Thread-Local Storage", 3.4.1; its address and its form in glibc:
 * sysdeps/x86_64/nptl/tls.h, sysdeps/generic/dl-dtv.h).
 *
 * libc's functions are known by the addresses of those that it exports, which stand together; the others are called by these. Where malloc() is
 * a library's own (jemalloc, tcmalloc), which call mmap() and madvise() under their locks as well, that is all of this library; in a program
 * that brings it in itself, and in a sanitizer's library, which begins threads, too, the functions that it exports.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "liblttng-spi/base/base.h"
#include "liblttng-spi/objects/objects.h"
#include "liblttng-spi/cfi/cfi.h"
#include "liblttng-spi/calls/internal.h"

#define FRAMES_MOST	24u
#define FUNCTIONS	10u
#define HULL_MOST	65536u		/* more: they do not stand together in this libc */
#define LAST_BYTES	32u		/* of the last of them */

static struct range {
	uint64_t low, high;
} ranges[1 + FUNCTIONS];		/* libc's; what the program uses in its place */
static const char *const functions[FUNCTIONS] = {
	"malloc", "free", "realloc", "calloc", "memalign", "posix_memalign", "valloc", "pvalloc", "malloc_trim", "malloc_info",
};
/*
 * stdio's functions stand together in two places, what prints and reads by a format and the rest. The dynamic linker is
 * an object of its own.
 */
#define STDIO_MOST	(256u << 10)	/* as HULL_MOST */
static const char *const stdio[2][14] = {
	{ "printf", "fprintf", "vfprintf", "vprintf", "scanf", "vfscanf", "perror", "psignal", "tmpfile", "getline" },
	{ "fclose", "fflush", "fopen", "fputs", "fwrite", "getdelim", "puts", "putc", "fmemopen", "_IO_file_doallocate", "_IO_do_write",
		"_IO_default_finish", "_IO_init_marker", "_IO_iter_begin" },
};
static struct range stdio_ranges[2], linker, libc;
/* libgcc_s holds a lock while it looks for unwind information, and a payload that throws would wait for that. */
static struct range unwinder;
/* All code that calls within critical code: libc, the dynamic linker, the unwinder, malloc()'s library. */
static struct range callers[4 + FUNCTIONS];
static uint32_t caller_count;
uint64_t spi_critical_low = UINT64_MAX, spi_critical_high, spi_critical_mark;
static uint64_t modules[2];		/* lttng-ust's, by the dynamic linker's numbers; 0: none */
static uint64_t generation;		/* of what is loaded, when these were */

/* The object that has this address; none where libc cannot tell. */
static struct range object_around(void *address)
{
	extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));
	struct dl_find_object found;

	if (!address || !_dl_find_object || _dl_find_object(address, &found) < 0)
		return (struct range) { 0, 0 };
	return (struct range) { (uint64_t) found.dlfo_map_start, (uint64_t) found.dlfo_map_end };
}

/* The program's malloc() and its like, where they are not libc's. */
static void find_others(void)
{
	extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));
	const char *begins = dlsym(RTLD_DEFAULT, "pthread_create");

	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		void *at = dlsym(RTLD_DEFAULT, functions[i]), *extra = NULL;
		struct dl_find_object found;
		Dl_info info;

		if (!at || ((uint64_t) at >= ranges[0].low && (uint64_t) at < ranges[0].high) || at == spi_find_in_libc(functions[i]))
			continue;
		if (_dl_find_object && _dl_find_object(at, &found) == 0 && found.dlfo_link_map->l_name[0] &&
		    (begins < (const char *) found.dlfo_map_start || begins >= (const char *) found.dlfo_map_end))
			ranges[1 + i] = (struct range) { (uint64_t) found.dlfo_map_start, (uint64_t) found.dlfo_map_end };
		else if (dladdr1(at, &info, &extra, RTLD_DL_SYMENT) && extra && info.dli_saddr == at)
			ranges[1 + i] = (struct range) { (uint64_t) at, (uint64_t) at + ((const ElfW(Sym) *) extra)->st_size };
	}
}

/* What stands between the first and the last of libc's functions with these names. */
static struct range hull_of(const char *const *names, unsigned int count, uint64_t most)
{
	struct range hull = { UINT64_MAX, 0 };

	for (unsigned int i = 0; i < count && names[i]; i++) {
		uint64_t at = (uint64_t) spi_find_in_libc(names[i]);

		if (!at)
			continue;
		hull.low = at < hull.low ? at : hull.low;
		hull.high = at + LAST_BYTES > hull.high ? at + LAST_BYTES : hull.high;
	}
	return hull.low < hull.high && hull.high - hull.low <= most ? hull : (struct range) { 0, 0 };
}

/* The bounds only grow: a call that reads one of them before it grows is as one that came before. */
static void bounds_grow(struct range range)
{
	if (range.low < spi_critical_low)
		__atomic_store_n(&spi_critical_low, range.low, __ATOMIC_RELEASE);
	if (range.high > spi_critical_high)
		__atomic_store_n(&spi_critical_high, range.high, __ATOMIC_RELEASE);
}

static void caller_add(struct range range)
{
	for (uint32_t i = 0; i < caller_count; i++)
		if (range.low >= callers[i].low && range.high <= callers[i].high)
			return;
	if (!range.high || caller_count == sizeof(callers) / sizeof(callers[0]))
		return;
	callers[caller_count] = range;
	bounds_grow(range);
	__atomic_store_n(&caller_count, caller_count + 1, __ATOMIC_RELEASE);
	__atomic_fetch_add(&spi_critical_mark, UINT64_C(1) << 56, __ATOMIC_RELEASE);
}

/* One that is linked into the program statically cannot be told from the program. */
static void unwinder_find(void)
{
	void *handle = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_NOLOAD);

	if (!handle)
		return;
	unwinder = object_around(dlsym(handle, "_Unwind_RaiseException"));
	dlclose(handle);
	caller_add(unwinder);
}

void spi_critical_find(void)
{
	spi_first_call_init();
	find_others();
	for (unsigned int i = 0; i < 2; i++)
		stdio_ranges[i] = hull_of(stdio[i], sizeof(stdio[i]) / sizeof(stdio[i][0]), STDIO_MOST);
	linker = object_around(dlsym(RTLD_DEFAULT, "__tls_get_addr"));
	libc = object_around(spi_find_in_libc("malloc"));
	bounds_grow((struct range) { (uint64_t) spi_slot_code_base, (uint64_t) spi_slot_code_base + SLOT_HALF });
	caller_add(libc);
	caller_add(linker);
	unwinder_find();
	for (unsigned int i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		caller_add(ranges[i]);
}

static int is_of(const struct range *range, uint64_t address)
{
	return address >= range->low && address < range->high;
}

int spi_object_is_critical(const struct spi_object *object)
{
	for (uint32_t i = 0; i < caller_count; i++)
		if (callers[i].low >= object->low && callers[i].low < object->high)
			return 1;
	return 0;
}

void spi_first_call_loaded(void)
{
	static const char *const names[] = { "liblttng-ust.so.1", "liblttng-ust-common.so.1" };

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *handle = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
		size_t id = 0;

		if (!handle)
			continue;
		if (dlinfo(handle, RTLD_DI_TLS_MODID, &id) == 0)
			modules[i] = id;
		dlclose(handle);
	}
	generation = spi_thread_blocks()[0];
	find_others();
}

/*
 * Has the thread the module's memory? A block of a module that had this number before, and is unloaded, is of an older
 * generation. Two words each: of -1 the vector's length, of 0 its generation, of a module its block or -1, and what is to be freed.
 */
static int has_block(const uint64_t *dtv, uint64_t module)
{
	const uint64_t *block = dtv + 2 * module;

	return dtv[-2] >= module && block[0] && block[0] != UINT64_MAX && (!block[1] || dtv[0] >= generation);
}

int spi_first_call_has_memory(void)
{
	const uint64_t *dtv = spi_thread_blocks();

	for (unsigned int i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (modules[i] && !has_block(dtv, modules[i]))
			return 0;
	return modules[0] != 0;
}

/*
 * What is tried is more than what is needed, as another thread may take what was free in this moment: two blocks of variables, 2.3 KB
 * and some bytes, a table of libc's for the thread's keys, and lttng-ust's list of threads, which doubles.
 */
#define ROOM_BYTES	16384u
#define ROOM_MAPPED	65536u

int spi_first_call_has_room(int has_memory)
{
	void *p = has_memory ? NULL : malloc(ROOM_BYTES);
	uint64_t mapped = has_memory || p ? spi_mmap(0, ROOM_MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1) : 0;

	free(p);
	if (mapped)
		spi_munmap(mapped, ROOM_MAPPED);
	return mapped != 0;
}

void spi_first_call_init(void)
{
	struct range hull = hull_of(functions, FUNCTIONS, HULL_MOST);

	if (hull.high)
		ranges[0] = hull;
}

static int is_mallocs(uint64_t address)
{
	for (unsigned int i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (is_of(&ranges[i], address))
			return 1;
	return 0;
}

/*
 * Is one of the callers malloc()'s? critical: or stdio's; or is the dynamic linker or the unwinder the caller, or calls
 * libc's function that is? These call constructors and personality routines as well, which are code like any other.
 */
static int is_within(struct spi_registers regs, int critical)
{
	int is_call = 1, is_chain = critical;

	for (unsigned int i = 0; i < FRAMES_MOST; i++) {
		uint64_t pc;

		if (spi_restorer_of(regs.r[SPI_DWARF_PC])) {
			if (spi_frame_load(&regs, regs.r[SPI_DWARF_SP]) < 0)
				return 0;
			is_call = 0;
		}
		pc = regs.r[SPI_DWARF_PC] = spi_behind_slots(regs.r[SPI_DWARF_PC]);
		if (is_mallocs(pc))
			return 1;
		if (critical && (is_of(&stdio_ranges[0], pc) || is_of(&stdio_ranges[1], pc) ||
				(is_chain && (is_of(&linker, pc) || is_of(&unwinder, pc)))))
			return 1;
		is_chain = is_chain && is_of(&libc, pc);
		if (spi_cfi_step(&regs, is_call) < 0)
			return 0;
		is_call = 1;
	}
	return 0;
}

static int call_is_within(uint64_t p, int critical)
{
	const struct spi_frame *frame = (const struct spi_frame *) (p - offsetof(struct spi_frame, ra));
	struct spi_registers regs;

	spi_frame_caller(frame, &regs);
	return is_within(regs, critical);
}

int spi_caller_is_critical(uint64_t from)
{
	for (uint32_t i = 0; i < caller_count; i++)
		if (is_of(&callers[i], from))
			return 1;
	return 0;
}

int spi_call_is_critical(uint64_t p)
{
	return spi_caller_is_critical(spi_behind_slots(*(const uint64_t *) p)) && call_is_within(p, 1);
}

int spi_first_call_is_in_malloc(uint64_t p)
{
	return call_is_within(p, 0);
}

int spi_is_in_malloc(const uint64_t *frame)
{
	struct spi_registers regs;

	spi_function_caller(frame, &regs);
	return is_within(regs, 0);
}

/* What close() asks is in the second library, which has its own memory. */
int spi_first_close_is_in_malloc(const uint64_t *frame)
{
	if (modules[1] && has_block(spi_thread_blocks(), modules[1]))
		return 0;
	return spi_is_in_malloc(frame);
}
