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
static uint64_t modules[2];		/* lttng-ust's, by the dynamic linker's numbers; 0: none */
static uint64_t generation;		/* of what is loaded, when these were */

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

void spi_mallocs_find(void)
{
	spi_first_call_init();
	find_others();
}

int spi_object_has_malloc(const struct spi_object *object)
{
	for (unsigned int i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (ranges[i].low >= object->low && ranges[i].low < object->high)
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
	uint64_t low = UINT64_MAX, high = 0;

	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		uint64_t at = (uint64_t) spi_find_in_libc(functions[i]);

		if (!at)
			continue;
		low = at < low ? at : low;
		high = at + LAST_BYTES > high ? at + LAST_BYTES : high;
	}
	if (low < high && high - low <= HULL_MOST)
		ranges[0] = (struct range) { low, high };
}

static int is_mallocs(uint64_t address)
{
	for (unsigned int i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (address >= ranges[i].low && address < ranges[i].high)
			return 1;
	return 0;
}

static int is_in_malloc(struct spi_registers regs)
{
	int is_call = 1;

	for (unsigned int i = 0; i < FRAMES_MOST; i++) {
		if (spi_restorer_of(regs.r[SPI_DWARF_PC])) {
			if (spi_frame_load(&regs, regs.r[SPI_DWARF_SP]) < 0)
				return 0;
			is_call = 0;
		}
		regs.r[SPI_DWARF_PC] = spi_behind_slots(regs.r[SPI_DWARF_PC]);
		if (is_mallocs(regs.r[SPI_DWARF_PC]))
			return 1;
		if (spi_cfi_step(&regs, is_call) < 0)
			return 0;
		is_call = 1;
	}
	return 0;
}

int spi_first_call_is_in_malloc(uint64_t p)
{
	const struct spi_frame *frame = (const struct spi_frame *) (p - offsetof(struct spi_frame, ra));
	struct spi_registers regs;

	spi_frame_caller(frame, &regs);
	return is_in_malloc(regs);
}

int spi_is_in_malloc(const uint64_t *frame)
{
	struct spi_registers regs;

	spi_function_caller(frame, &regs);
	return is_in_malloc(regs);
}

/* What close() asks is in the second library, which has its own memory. */
int spi_first_close_is_in_malloc(const uint64_t *frame)
{
	if (modules[1] && has_block(spi_thread_blocks(), modules[1]))
		return 0;
	return spi_is_in_malloc(frame);
}
